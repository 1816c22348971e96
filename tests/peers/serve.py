"""Runs app.py behind one of the field's servers, and prints the port.

    serve.py uvicorn|hypercorn|aiohttp|http10 [CERTIFICATE KEY]
"""

import asyncio
import http.server
import json
import socket
import sys

import app


def listener():
    """A bound socket, so that the port is known before the server starts."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("127.0.0.1", 0))
    sock.listen(128)
    sock.set_inheritable(True)
    print(sock.getsockname()[1], flush=True)
    return sock


def uvicorn():
    import uvicorn as server
    config = server.Config(app.asgi, log_level="error", timeout_keep_alive=60)
    server.Server(config).run(sockets=[listener()])


def hypercorn(certificate=None, key=None):
    import hypercorn.asyncio
    import hypercorn.config
    config = hypercorn.config.Config()
    config.bind = [f"fd://{listener().detach()}"]
    config.certfile, config.keyfile = certificate, key
    config.errorlog = None
    if certificate:
        # Binding by descriptor is for plain sockets; the TLS ones are named the same way.
        config.bind, config.insecure_bind = config.bind, []
    asyncio.run(hypercorn.asyncio.serve(app.asgi, config))


def aiohttp():
    from aiohttp import web

    async def chat(request):
        question = await request.json()
        if not question.get("stream"):
            return web.Response(body=app.whole(question), content_type="application/json")
        reply = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await reply.prepare(request)
        for piece in app.events(question):
            await reply.write(piece)
        await reply.write_eof()
        return reply

    site = web.Application()
    site.router.add_post("/v1/chat/completions", chat)
    web.run_app(site, sock=listener(), print=None)


class Closing(http.server.BaseHTTPRequestHandler):
    """HTTP/1.0: the end of the reply is the end of the connection."""

    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        streamed = question.get("stream", False)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
        self.end_headers()
        for piece in app.events(question) if streamed else [app.whole(question)]:
            self.wfile.write(piece)

    def log_message(self, *args):
        pass


def http10():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Closing)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    {"uvicorn": uvicorn, "hypercorn": hypercorn, "aiohttp": aiohttp, "http10": http10}[sys.argv[1]](
        *sys.argv[2:])
