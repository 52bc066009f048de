"""A model server on loopback: OpenAI's chat completions, whole and as a stream, from a script."""

from __future__ import annotations

import contextlib
import http.server
import json
import threading
from typing import Any, Iterator


class Server(http.server.ThreadingHTTPServer):
    """Answers each request with the next of `script`: a message, the status of an error, or what makes one of the request.

    The last one is repeated.
    """

    daemon_threads = True
    script: list[Any]
    requests: list[dict[str, Any]]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = self.server.script[min(len(self.server.requests), len(self.server.script) - 1)]
        self.server.requests.append(request)
        answer = answer(request) if callable(answer) else answer
        if isinstance(answer, int):
            self.reply(answer, "application/json", json.dumps({"error": {"message": "out of order", "type": "fault"}}))
        elif request.get("stream"):
            self.reply(200, "text/event-stream", "".join(f"data: {json.dumps(one)}\n\n" for one in chunks(answer)) + "data: [DONE]\n\n")
        else:
            choice = {"index": 0, "finish_reason": reason(answer), "message": {"role": "assistant", **answer}}
            self.reply(200, "application/json", json.dumps(envelope("chat.completion", [choice], usage=USAGE)))

    def reply(self, status: int, kind: str, body: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def envelope(kind: str, choices: list[Any], **others: Any) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": "fake", "choices": choices, **others}


def reason(answer: dict[str, Any]) -> str:
    return "tool_calls" if answer.get("tool_calls") else "stop"


def chunks(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A message in pieces, as OpenAI cuts it."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    content = answer.get("content") or ""
    deltas += [{"content": content[at : at + 5]} for at in range(0, len(content), 5)]
    for index, call in enumerate(answer.get("tool_calls") or []):
        text = call["function"]["arguments"]
        deltas.append({"tool_calls": [{"index": index, **call, "function": {"name": call["function"]["name"], "arguments": ""}}]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": text[at : at + 4]}}]} for at in range(0, len(text), 4)
        ]
    for delta in deltas:
        yield envelope("chat.completion.chunk", [{"index": 0, "delta": delta, "finish_reason": None}])
    yield envelope("chat.completion.chunk", [{"index": 0, "delta": {}, "finish_reason": reason(answer)}])
    yield envelope("chat.completion.chunk", [], usage=USAGE)


def calls(*named: tuple[str, dict[str, Any] | str], content: str | None = None) -> dict[str, Any]:
    """A message with these native tool calls: names, and arguments or their JSON."""
    return {"content": content, "tool_calls": [
        {"id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": text if isinstance(text, str) else json.dumps(text)}}
        for index, (name, text) in enumerate(named)
    ]}


@contextlib.contextmanager
def serve(*script: Any) -> Iterator[Server]:
    """A server with this script, until the block is left."""
    server = Server(("127.0.0.1", 0), Handler)
    server.script, server.requests = list(script), []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
