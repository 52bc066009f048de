"""Adapters: how does a framework for agents ask the engine before anything of an answer counts?

Each module is for one framework, and imports it: `rulebook.integrations.litellm`, `.langchain`, `.openai_agents`,
`.pydantic_ai`. `pip install` the framework beside this package; nothing here is needed without it.

    from rulebook.integrations import Gate
    from rulebook.integrations.litellm import acompletion

    gate = Gate(program)  # One for each conversation.
    response = await acompletion(gate, model="gpt-5", messages=messages, tools=tools)

A `Gate` is one conversation: the program, and the session that goes on from answer to answer. What comes out of an adapter is
an answer in the framework's own form, of which only what was accepted is left: the message of the outcome, and the accepted
calls with their judged arguments. Errors of the model, and of the network, pass through as they are.
"""

from ._gate import Gate

__all__ = ["Gate"]
