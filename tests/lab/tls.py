"""Evil servers behind TLS, and TLS where none belongs. Certificates are made by the openssl program
when the laboratory opens."""

import socket
import ssl
import struct
import subprocess

from . import http1, http2
from .wire import FIRST, Gone, Mode, STREAM

ALERT = b"\x15\x03\x01\x00\x02\x02\x46"  # protocol_version
RECORD_GARBAGE = b"\x17\x03\x03\x00\x20" + b"\xee" * 32


class Certificates:
    def __init__(self, folder):
        self.folder = folder
        self.good = self.make("good", "localhost", "IP:127.0.0.1,DNS:localhost")
        self.other = self.make("other", "elsewhere.example", "DNS:elsewhere.example")
        self.expired = self.make("expired", "localhost", "IP:127.0.0.1", expired=True)

    def make(self, name, subject, names, expired=False):
        key, pem, request = (self.folder / f"{name}.{end}" for end in ("key", "pem", "csr"))

        def run(*args):
            subprocess.run(["openssl", *map(str, args)], check=True, capture_output=True)

        run(
            "req",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-keyout",
            key,
            "-out",
            request,
            "-subj",
            f"/CN={subject}",
        )
        extensions = self.folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName={names}\nbasicConstraints=critical,CA:TRUE\n")
        run(
            "x509",
            "-req",
            "-in",
            request,
            "-signkey",
            key,
            "-out",
            pem,
            "-extfile",
            extensions,
            "-days",
            "-1" if expired else "3650",
        )
        return pem, key


def context(pair, alpn=("http/1.1",), version=None):
    out = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    out.load_cert_chain(*pair)
    out.set_alpn_protocols(list(alpn))
    if version:
        out.minimum_version = out.maximum_version = version
    return out


def answers(data, then=None):
    def serve(peer):
        while True:
            peer.request()
            peer.send(data)
            if then:
                then(peer)

    return serve


def without_farewell(peer):
    """Closes TCP and says no close_notify."""
    peer.sock.shutdown(socket.SHUT_RDWR)
    raise Gone


def farewell(peer):
    peer.sock.unwrap()
    raise Gone


def below(peer, data):
    """Bytes that pass TLS by."""
    raw = socket.socket(fileno=socket.dup(peer.sock.fileno()))
    raw.sendall(data)
    raw.close()


def modes(folder):
    certificates = Certificates(folder)
    trust = ("--ca-file", str(certificates.good[0]))
    good = context(certificates.good)
    half = http1.BEGUN + http1.chunk(FIRST)
    out = []

    def add(name, serve, expect="ok", with_context=good, flags=trust, **how):
        wrap = (
            (lambda sock: with_context.wrap_socket(sock, server_side=True))
            if with_context
            else None
        )
        out.append(
            Mode(
                name="tls_" + name,
                serve=serve,
                expect=expect,
                scheme=how.pop("scheme", "https"),
                wrap=wrap,
                flags=flags,
                **how,
            )
        )

    add("good", answers(http1.GOOD))
    add(
        "good_of_1_2",
        answers(http1.GOOD),
        with_context=context(certificates.good, version=ssl.TLSVersion.TLSv1_2),
    )
    add(
        "every_byte_in_a_record",
        lambda peer: [peer.request(), peer.send_each_byte(http1.GOOD)] and peer.silence(),
        samples=2,
    )
    add(
        "good_http2",
        next(m.serve for m in http2.MODES if m.name == "http2_good"),
        with_context=context(certificates.good, ("h2",)),
    )
    add(
        "another_name",
        answers(http1.GOOD),
        "unreachable",
        context(certificates.other),
        ("--ca-file", str(certificates.other[0])),
        detail="ertificate",
    )
    add(
        "expired",
        answers(http1.GOOD),
        "unreachable",
        context(certificates.expired),
        ("--ca-file", str(certificates.expired[0])),
        detail="expired",
    )
    add("signed_by_itself", answers(http1.GOOD), "unreachable", flags=(), detail="ertificate")
    add("plain_http_on_the_port", answers(http1.GOOD), "unreachable", None)
    add(
        "handshake_that_is_garbage",
        lambda peer: [
            peer.more(),
            peer.send(b"\x16\x03\x03\x00\x10" + b"\xee" * 16),
            peer.silence(),
        ],
        "unreachable",
        None,
    )
    add(
        "handshake_that_stops",
        lambda peer: peer.silence(),
        "unreachable",
        None,
        (*trust, "--connect-timeout", "1s"),
    )
    add("handshake_that_ends", lambda peer: [peer.more(), peer.close()], "unreachable", None)
    add("handshake_that_is_reset", lambda peer: [peer.more(), peer.reset()], "unreachable", None)
    add(
        "handshake_alert",
        lambda peer: [peer.more(), peer.send(b"\x15\x03\x03\x00\x02\x02\x28"), peer.silence()],
        "unreachable",
        None,
    )
    add(
        "on_a_plain_port",
        lambda peer: [peer.request(), peer.send(ALERT), peer.silence()],
        "bad_reply",
        None,
        (),
        scheme="http",
        detail="TLS",
    )
    add("end_without_farewell_in_the_reply", answers(half, without_farewell), "truncated")
    add(
        "end_without_farewell_behind_done",
        answers(http1.BEGUN + http1.chunk(STREAM), without_farewell),
    )
    add("farewell_in_the_reply", answers(half, farewell), "truncated")
    add(
        "farewell_behind_a_body_until_close",
        answers(http1.HEAD + http1.SSE + b"\r\n" + STREAM, farewell),
    )
    add("reset_in_the_reply", answers(half, lambda peer: peer.reset()), "reset")
    add(
        "garbage_in_the_reply",
        answers(half, lambda peer: [below(peer, RECORD_GARBAGE), peer.silence()]),
        "tls_failed",
    )
    add(
        "plain_text_in_the_reply",
        answers(half, lambda peer: [below(peer, http1.GOOD), peer.silence()]),
        "tls_failed",
    )
    add(
        "a_record_too_long",
        answers(
            half,
            lambda peer: [
                below(peer, b"\x17\x03\x03" + struct.pack(">H", 65535) + b"\xee" * 20_000),
                peer.silence(),
            ],
        ),
        "tls_failed",
    )
    add(
        "alpn_h2_and_http1_bytes",
        lambda peer: [peer.more(), peer.send(http1.GOOD), peer.silence()],
        "unreachable",
        context(certificates.good, ("h2",)),
        detail="HTTP/1",
    )
    add("alpn_http1_and_h2_bytes", answers(http2.settings()), "bad_reply", detail="HTTP/2")
    add(
        "no_alpn_though_http2_is_wanted",
        answers(http1.GOOD),
        "unreachable",
        context(certificates.good, ()),
        (*trust, "--http", "2"),
        detail="ALPN",
    )
    return out
