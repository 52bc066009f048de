"""Adapters: how does a framework for agents ask the engine before anything of an answer counts?

Each module is for one framework, and imports it: `rulebook.integrations.litellm`, `.langchain`, `.openai_agents`,
`.pydantic_ai`. `pip install` the framework beside this package; nothing here is needed without it.

    from rulebook.integrations import Conversation
    from rulebook.integrations.litellm import acompletion

    conversation = Conversation(program)
    response = await acompletion(conversation, model="gpt-5", messages=messages, tools=tools)

A `Conversation` is the program, and the session that goes on from answer to answer. What comes out of an adapter is
an answer in the framework's own form, of which only what was accepted is left: the message of the outcome, and the accepted
calls with their judged arguments. Errors of the model, and of the network, pass through as they are.
"""

from ._conversation import Conversation

__all__ = ["Conversation"]
