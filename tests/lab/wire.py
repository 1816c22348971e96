"""The laboratory's sockets: listeners on loopback, a thread for each connection, and the words in
which a mode says what it does to its client. Nothing here sleeps; a server that is to be silent
waits until the client has gone or the laboratory closes."""

import dataclasses
import json
import select
import socket
import struct
import threading


class Gone(Exception):
    """The client has closed or reset the connection."""


class Peer:
    """One connection, from the server's end."""

    def __init__(self, sock, nth, closing):
        self.sock = sock
        self.nth = nth  # of its listener's connections
        self.closing = closing  # the laboratory ends
        self.buffer = b""

    def send(self, data):
        try:
            self.sock.sendall(data)
        except OSError as error:
            raise Gone from error

    def send_each_byte(self, data):
        for at in range(len(data)):
            self.send(data[at : at + 1])

    def send_for_ever(self, data, most=1 << 30):
        """Until the client has had enough of it; an end all the same, if it never has."""
        for _ in range(most // len(data) + 1):
            self.send(data)

    def more(self):
        try:
            got = self.sock.recv(65536)
        except OSError as error:
            raise Gone from error
        if not got:
            raise Gone
        self.buffer += got

    def read_to(self, end):
        while end not in self.buffer:
            self.more()
        head, self.buffer = self.buffer.split(end, 1)
        return head

    def read(self, size):
        while len(self.buffer) < size:
            self.more()
        got, self.buffer = self.buffer[:size], self.buffer[size:]
        return got

    def request(self):
        """One request of HTTP/1.1: its body as JSON."""
        head = self.read_to(b"\r\n\r\n")
        size = 0
        for line in head.split(b"\r\n")[1:]:
            name, value = line.split(b":", 1)
            if name.lower() == b"content-length":
                size = int(value)
        return json.loads(self.read(size) or b"null")

    def reset(self):
        """RST in place of FIN."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()
        raise Gone

    def close(self):
        raise Gone

    def half_close(self):
        self.sock.shutdown(socket.SHUT_WR)

    def silence(self):
        """Says nothing more, and takes what comes, until one of the ends is closed."""
        while not self.closing.is_set():
            if select.select([self.sock], [], [], 0.1)[0]:
                self.more()
        raise Gone


class Listener:
    """Calls serve(peer) in a thread for each connection."""

    def __init__(self, serve, wrap=None):
        self.serve = serve
        self.wrap = wrap  # makes a TLS socket of a plain one
        self.closing = threading.Event()
        self.connections = 0
        self.sock = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.sock.getsockname()[1]
        self.threads = []
        self.acceptor = threading.Thread(target=self.accept, daemon=True)
        self.acceptor.start()

    def accept(self):
        while not self.closing.is_set():
            try:
                sock, _ = self.sock.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            thread = threading.Thread(target=self.one, args=(sock, self.connections), daemon=True)
            self.connections += 1
            self.threads.append(thread)
            thread.start()

    def one(self, sock, nth):
        raw = sock
        try:
            if self.wrap:
                sock = self.wrap(sock)
            self.serve(Peer(sock, nth, self.closing))
        except (Gone, OSError, ValueError):
            pass
        finally:
            sock.close()
            raw.close()

    def close(self):
        self.closing.set()
        self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()
        self.acceptor.join()
        for thread in self.threads:
            thread.join()


@dataclasses.dataclass
class Mode:
    """A way to serve, and what a right client makes of it."""

    name: str
    serve: object
    # ok: every query completes, with `tokens` each. A name, or several: every query fails as one of
    # them. "any": each completes or fails, and nothing else is asked.
    expect: object
    tokens: int = 3
    ttft: bool = True
    detail: str = ""  # is in the words of a failure
    flags: tuple = ()
    samples: int = 4
    concurrency: int = 2
    scheme: str = "http"
    wrap: object = None
    heavy: bool = False


# What an honest server says: three fragments, an end, counts.
def event(data):
    return b"data: " + (data if isinstance(data, bytes) else json.dumps(data).encode()) + b"\n\n"


def delta(content=None, finish=None, index=0):
    return {
        "id": "x",
        "object": "chat.completion.chunk",
        "model": "m",
        "choices": [
            {
                "index": index,
                "delta": {} if content is None else {"content": content},
                "finish_reason": finish,
            }
        ],
    }


USAGE = {
    "id": "x",
    "object": "chat.completion.chunk",
    "model": "m",
    "choices": [],
    "usage": {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8},
}
DONE = event(b"[DONE]")
FIRST = event(delta("a"))
TEXT = FIRST + event(delta("b")) + event(delta("c"))
FINISH = event(delta(finish="stop")) + event(USAGE)
STREAM = TEXT + FINISH + DONE
OBJECT = json.dumps(
    {
        "id": "x",
        "object": "chat.completion",
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "a b c"},
                "finish_reason": "stop",
            }
        ],
        "usage": USAGE["usage"],
    }
).encode()
