"""A small pack for the tests of the adapters, and the tools that it is about."""

from __future__ import annotations

import os
from typing import Any

# No framework may call anything but the server on loopback.
os.environ.update(
    OPENAI_API_KEY="none", OPENAI_AGENTS_DISABLE_TRACING="1", LANGSMITH_TRACING="false", LITELLM_LOCAL_MODEL_COST_MAP="True",
    DO_NOT_TRACK="1", NO_PROXY="*",
)

DESK = """
[pack]
name    = "desk"
pending = "keep"
[actions.look_up]
params  = { days = { type = "integer", required = true } }
[actions.refund]
params  = { amount = { type = "number", required = true } }
[actions.erase]
[modes.chat]
permits = ["look_up", { action = "refund", confirm = "Refund {{ params.amount }}?" }]
[degradation]
invalid-payload = ["coerce", "drop"]
unknown-action  = ["ask-again", "drop"]
[ask_again]
most = 2
[[guardrails]]
id       = "secret"
on       = "message"
matches  = "SECRET"
strategy = "refuse"
"""

TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": name, "description": name, "parameters": {"type": "object", "properties": properties}}}
    for name, properties in {
        "look_up": {"days": {"type": "integer"}},
        "refund": {"amount": {"type": "number"}},
        "erase": {},
    }.items()
]
