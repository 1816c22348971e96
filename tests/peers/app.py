"""A small OpenAI-compatible application for other people's servers: ASGI, and plain functions.

It answers as vLLM does: a role-only first event, a token an event, a finish, the usage where it was
asked for, [DONE]. Every reply has TOKENS tokens, so a client's count can be held against it.
"""

import json

TOKENS = 12


def event(**fields):
    body = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return f"data: {json.dumps({**body, **fields})}\n\n".encode()


def choice(delta, finish=None):
    return [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]


def events(request):
    """The bytes of one streamed reply, an event each."""
    usage = {"prompt_tokens": 5, "total_tokens": 5 + TOKENS, "completion_tokens": TOKENS}
    yield event(choices=choice({"role": "assistant", "content": ""}))
    for i in range(TOKENS):
        yield event(choices=choice({"content": f" word{i}"}))
    yield event(choices=choice({}, "stop"))
    if (request.get("stream_options") or {}).get("include_usage"):
        yield event(choices=[], usage=usage)
    yield b"data: [DONE]\n\n"


def whole(request):
    """The bytes of one plain reply."""
    text = "".join(f" word{i}" for i in range(TOKENS))
    return json.dumps({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": request["model"],
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text},
                     "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "total_tokens": 5 + TOKENS, "completion_tokens": TOKENS},
    }).encode()


async def asgi(scope, receive, send):
    """For uvicorn and hypercorn."""
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    body = b""
    more = True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    request = json.loads(body)
    streamed = request.get("stream", False)
    kind = b"text/event-stream; charset=utf-8" if streamed else b"application/json"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
    for piece in events(request) if streamed else [whole(request)]:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})
