"""Evil servers of HTTP/2, in the clear and with prior knowledge: frames written by hand. A mode is
a function that is given the stream of a request that has come whole; those marked `raw` get the
connection behind the client's preface."""

import struct

from .wire import DONE, FINISH, FIRST, Mode, STREAM, TEXT, event

MODES = []
DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END_STREAM, END_HEADERS, PADDED, ACK = 1, 4, 8, 1
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags=0, stream=0, payload=b"", length=None):
    size = len(payload) if length is None else length
    return struct.pack(">I", size)[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    """A field that neither end remembers."""

    def text(t):
        assert len(t) < 127
        return bytes([len(t)]) + t

    return b"\0" + text(name) + text(value)


STATUS_200 = b"\x88"
FIELDS = STATUS_200 + literal(b"content-type", b"text/event-stream")


def head(stream, fields=FIELDS, flags=END_HEADERS):
    return frame(HEADERS, flags, stream, fields)


def data(stream, body, flags=0):
    return frame(DATA, flags, stream, body)


def good(stream):
    return head(stream) + data(stream, STREAM, END_STREAM)


def settings(*pairs):
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", *pair) for pair in pairs))


def u32(value):
    return struct.pack(">I", value)


def read_frame(peer):
    top = peer.read(9)
    return (
        top[3],
        top[4],
        struct.unpack(">I", top[5:])[0],
        peer.read(int.from_bytes(top[:3], "big")),
    )


def mode(expect="ok", opening=None, raw=False, **how):
    begun = settings() if opening is None else opening

    def take(function):
        def serve(peer):
            peer.read(len(PREFACE))
            peer.send(begun)
            if raw:
                function(peer)
                return
            while True:
                kind, flags, stream, payload = read_frame(peer)
                if kind == SETTINGS and not flags & ACK:
                    peer.send(frame(SETTINGS, ACK))
                if kind in (DATA, HEADERS) and flags & END_STREAM:
                    function(peer, stream)

        how.setdefault("flags", ())
        MODES.append(
            Mode(
                name="http2_" + function.__name__,
                expect=expect,
                serve=serve,
                **{**how, "flags": ("--http", "2", *how["flags"])},
            )
        )
        return function

    return take


def says(name, answer, expect="ok", then=None, **how):
    """A mode that answers each request with the same frames: answer(stream)."""

    def function(peer, stream):
        peer.send(answer(stream))
        if then:
            getattr(peer, then)()

    function.__name__ = name
    mode(expect, **how)(function)


BAD = "bad_reply"

says("good", good)
says(
    "good_with_padding",
    lambda s: head(s, b"\x05" + FIELDS + b"\0" * 5, END_HEADERS | PADDED)
    + data(s, b"\x07" + STREAM + b"\0" * 7, END_STREAM | PADDED),
)
says(
    "good_in_frames_of_one_byte",
    lambda s: head(s) + b"".join(data(s, bytes([c])) for c in STREAM) + data(s, b"", END_STREAM),
)
says(
    "good_with_trailers",
    lambda s: head(s)
    + data(s, STREAM)
    + head(s, literal(b"x-sum", b"5"), END_HEADERS | END_STREAM),
)
says(
    "good_with_a_head_in_pieces",
    lambda s: head(s, FIELDS[:5], 0)
    + frame(CONTINUATION, 0, s, FIELDS[5:9])
    + frame(CONTINUATION, END_HEADERS, s, FIELDS[9:])
    + data(s, STREAM, END_STREAM),
)
says("good_behind_early_hints", lambda s: head(s, b"\x08\x03103") + good(s))
says(
    "good_among_unknown_frames",
    lambda s: frame(77, 255, s, b"x" * 100)
    + head(s)
    + frame(200, 0, 0, b"")
    + data(s, STREAM, END_STREAM),
)
says(
    "good_among_pings_and_settings",
    lambda s: frame(PING, 0, 0, b"12345678") * 20 + settings((3, 100)) * 5 + good(s),
)
says("good_with_a_priority", lambda s: frame(PRIORITY, 0, s, b"\0\0\0\0\x10") + good(s))
says("no_end_behind_done", lambda s: head(s) + data(s, STREAM), concurrency=1)

# ---- frames that are no frames
for name, bytes_of in {
    "garbage": lambda s: b"\xff" * 5000,
    "a_frame_of_16_mb": lambda s: frame(DATA, 0, s, b"", 0xFFFFFF),
    "a_ping_of_7_bytes": lambda s: frame(PING, 0, 0, b"1234567"),
    "a_ping_on_a_stream": lambda s: frame(PING, 0, s, b"12345678"),
    "settings_of_5_bytes": lambda s: frame(SETTINGS, 0, 0, b"12345"),
    "settings_on_a_stream": lambda s: frame(SETTINGS, 0, s),
    "an_acknowledgement_with_settings": lambda s: frame(SETTINGS, ACK, 0, b"\0\3\0\0\0\1"),
    "a_window_beyond_31_bits": lambda s: settings((4, 0x80000000)),
    "a_frame_size_of_100": lambda s: settings((5, 100)),
    "a_push_setting_of_7": lambda s: settings((2, 7)),
    "a_window_update_of_0": lambda s: frame(WINDOW, 0, 0, u32(0)),
    "a_window_update_of_3_bytes": lambda s: frame(WINDOW, 0, 0, b"\0\0\1"),
    "a_window_overflow": lambda s: frame(WINDOW, 0, 0, u32(0x7FFFFFFF)) * 3,
    "a_goaway_of_3_bytes": lambda s: frame(GOAWAY, 0, 0, b"\0\0\0"),
    "a_goaway_on_a_stream": lambda s: frame(GOAWAY, 0, s, u32(0) * 2),
    "a_reset_of_3_bytes": lambda s: frame(RST, 0, s, b"\0\0\0"),
    "a_reset_of_no_stream": lambda s: frame(RST, 0, 0, u32(0)),
    "a_reset_of_an_idle_stream": lambda s: frame(RST, 0, s + 100, u32(8)),
    "data_on_no_stream": lambda s: data(0, b"x"),
    "data_on_an_idle_stream": lambda s: data(s + 100, b"x"),
    "data_before_the_head": lambda s: data(s, b"x"),
    "a_head_on_no_stream": lambda s: head(0),
    "a_head_on_an_idle_stream": lambda s: head(s + 100),
    "a_head_on_a_stream_of_its_own": lambda s: head(2),
    "a_push": lambda s: frame(PUSH, END_HEADERS, s, u32(2) + STATUS_200),
    "padding_longer_than_the_data": lambda s: head(s) + frame(DATA, PADDED, s, b"\xff123"),
    "padding_longer_than_the_head": lambda s: frame(
        HEADERS, PADDED | END_HEADERS, s, b"\xff" + FIELDS
    ),
    "padding_without_a_length": lambda s: head(s) + frame(DATA, PADDED, s, b""),
    "a_continuation_of_nothing": lambda s: frame(CONTINUATION, END_HEADERS, s, FIELDS),
    "a_continuation_of_another_stream": lambda s: head(s, FIELDS[:5], 0)
    + frame(CONTINUATION, END_HEADERS, s + 2, FIELDS[5:]),
    "a_head_that_is_interrupted": lambda s: head(s, FIELDS[:5], 0)
    + frame(PING, 0, 0, b"12345678"),
    "an_index_that_nothing_has": lambda s: head(s, b"\xfe"),
    "an_index_of_0": lambda s: head(s, b"\x80"),
    "an_integer_without_end": lambda s: head(s, b"\xff" + b"\xff" * 20),
    "a_field_that_is_cut": lambda s: head(s, b"\x88\0\x7f\x01a"),
    "bad_huffman": lambda s: head(s, b"\x88\0\x01a\x84\xff\xff\xff\xff"),
    "a_table_larger_than_allowed": lambda s: head(s, b"\x3f\xff\xff\xff\x07" + FIELDS),
    "a_name_in_capitals": lambda s: head(s, STATUS_200 + literal(b"X-Upper", b"y")),
    "no_status": lambda s: head(s, literal(b"x", b"y")),
    "two_statuses": lambda s: head(s, STATUS_200 * 2),
    "a_status_of_zeros": lambda s: head(s, literal(b":status", b"000"))
    + data(s, STREAM, END_STREAM),
    "a_status_of_words": lambda s: head(s, literal(b":status", b"okay")),
    "a_pseudo_field_of_a_request": lambda s: head(s, FIELDS + literal(b":path", b"/")),
    "a_status_behind_fields": lambda s: head(s, literal(b"x", b"y") + STATUS_200),
    "a_field_of_the_connection": lambda s: head(
        s, FIELDS + literal(b"transfer-encoding", b"chunked")
    ),
    "a_length_that_is_too_long": lambda s: head(s, FIELDS + literal(b"content-length", b"999"))
    + data(s, FIRST, END_STREAM),
    "a_length_that_is_too_short": lambda s: head(s, FIELDS + literal(b"content-length", b"3"))
    + data(s, STREAM, END_STREAM),
    "trailers_that_end_nothing": lambda s: head(s) + data(s, FIRST) + head(s, literal(b"x", b"y")),
    "a_status_in_the_trailers": lambda s: head(s)
    + data(s, FIRST)
    + head(s, FIELDS, END_HEADERS | END_STREAM),
}.items():
    says(name, bytes_of, BAD)

# ---- floods, and what grows
for name, one in {
    "empty_data": lambda s: data(s, b""),
    "pings": lambda s: frame(PING, 0, 0, b"12345678"),
    "settings": lambda s: settings((3, 100)),
    "priorities": lambda s: frame(PRIORITY, 0, s, b"\0\0\0\0\x10"),
    "window_updates": lambda s: frame(WINDOW, 0, s, u32(1)),
    "unknown_frames": lambda s: frame(99, 0, 0, b"x" * 100),
    "interim_heads": lambda s: head(s, b"\x08\x03103"),
}.items():

    def flood(peer, stream, one=one):
        peer.send(b"" if one(1)[3] != DATA else head(stream))
        peer.send_for_ever(one(stream) * 100)

    flood.__name__ = "a_flood_of_" + name
    mode(BAD)(flood)


@mode(BAD)
def continuations_without_end(peer, stream):
    peer.send(head(stream, FIELDS, 0))
    peer.send_for_ever(frame(CONTINUATION, 0, stream, literal(b"x", b"y" * 100) * 20))


@mode(BAD)
def empty_continuations_without_end(peer, stream):
    peer.send(head(stream, FIELDS, 0))
    peer.send_for_ever(frame(CONTINUATION, 0, stream) * 100)


@mode(BAD)
def a_small_head_of_a_megabyte(peer, stream):
    # One field of 100 bytes is remembered, and then named 10,000 times by its index.
    big = b"\x40\x01x" + b"\x64" + b"y" * 100
    peer.send(head(stream, STATUS_200 + big + b"\xbe" * 10_000))
    peer.silence()


# It goes on sending though its stream was reset: then the connection is given up, and what else
# was on it.
@mode(("over_memory", "bad_reply"), flags=("--memory-max", "4M"))
def data_without_end(peer, stream):
    peer.send(head(stream) + data(stream, b"data: "))
    peer.send_for_ever(data(stream, b"y" * 16384))


@mode("over_memory", flags=("--memory-max", "4M"), samples=12, concurrency=6)
def many_streams_of_data_without_end(peer, stream):
    peer.send(head(stream) + data(stream, b"data: "))
    for _ in range(400):
        peer.send(data(stream, b"y" * 16384))


# ---- ends
says(
    "a_reset_before_the_head", lambda s: frame(RST, 0, s, u32(2)), "reset", detail="INTERNAL_ERROR"
)
says("a_reset_behind_the_head", lambda s: head(s) + frame(RST, 0, s, u32(8)), "reset")
says("a_reset_in_the_data", lambda s: head(s) + data(s, FIRST) + frame(RST, 0, s, u32(2)), "reset")
says("a_reset_behind_done", lambda s: head(s) + data(s, STREAM) + frame(RST, 0, s, u32(2)))
says("a_reset_behind_the_end", lambda s: good(s) + frame(RST, 0, s, u32(0)))
says("data_behind_the_end", lambda s: good(s) + data(s, b"x"), ("any",), concurrency=1)
says("refused", lambda s: frame(RST, 0, s, u32(7)), "reset", detail="REFUSED_STREAM")
says("an_end_in_the_head", lambda s: head(s, FIELDS, END_HEADERS | END_STREAM), "truncated")
says("close_before_the_head", lambda s: b"", "truncated", then="close")
says(
    "close_in_a_frame",
    lambda s: head(s) + frame(DATA, 0, s, b"data: ", 5000),
    "truncated",
    then="close",
)
says(
    "close_in_the_data",
    lambda s: head(s) + data(s, FIRST),
    "truncated",
    then="close",
    concurrency=1,
)
says(
    "reset_of_tcp_in_the_data",
    lambda s: head(s) + data(s, FIRST),
    "reset",
    then="reset",
    concurrency=1,
)
says(
    "a_goaway_with_an_error",
    lambda s: frame(GOAWAY, 0, 0, u32(s) + u32(11) + b"calm down"),
    ("reset", "any"),
    then="close",
    detail="",
    concurrency=1,
)
says("a_goaway_behind_each_reply", lambda s: good(s) + frame(GOAWAY, 0, 0, u32(s) + u32(0)))
says("status_500", lambda s: head(s, b"\x8e", END_HEADERS | END_STREAM), "http_error")
says("status_500_and_silence", lambda s: head(s, b"\x8e"), "http_error")
says("status_101", lambda s: head(s, literal(b":status", b"101")), BAD)
says("status_204", lambda s: head(s, b"\x89", END_HEADERS | END_STREAM), "http_error")
says(
    "coding_gzip",
    lambda s: head(s, FIELDS + literal(b"content-encoding", b"gzip")),
    BAD,
    detail="not asked for",
)
says(
    "an_error_in_the_stream_and_silence",
    lambda s: head(s) + data(s, FIRST + event({"error": {"message": "died"}})),
    "stream_error",
)
says("no_done", lambda s: head(s) + data(s, TEXT + FINISH, END_STREAM))
says("no_finish", lambda s: head(s) + data(s, TEXT, END_STREAM), "truncated")
says("done_alone", lambda s: head(s) + data(s, DONE, END_STREAM), BAD)


# ---- beginnings
# The connections that are opened ahead of a run meet these: the run ends before its first query.
@mode("unreachable", opening=b"HTTP/1.1 400 Bad Request\r\n\r\n", raw=True, detail="HTTP/1")
def an_answer_in_http_1(peer):
    peer.silence()


@mode("unreachable", opening=b"", raw=True, flags=("--connect-timeout", "1s"), detail="SETTINGS")
def no_settings(peer):
    peer.silence()


@mode(
    "unreachable",
    opening=settings((3, 0)),
    raw=True,
    flags=("--connect-timeout", "1s"),
    detail="STREAMS",
)
def no_streams_allowed(peer):
    peer.silence()


@mode(
    "unreachable", opening=settings() + frame(GOAWAY, 0, 0, u32(0) * 2), raw=True, detail="GOAWAY"
)
def a_goaway_at_once(peer):
    peer.silence()


@mode("unreachable", opening=good(1), raw=True)
def a_reply_before_the_request(peer):
    peer.silence()


@mode(("over_memory", "bad_reply"), heavy=True, samples=3, concurrency=3)
def heavy_data_of_1_gb(peer, stream):
    peer.send(head(stream) + data(stream, b"data: "))
    peer.send_for_ever(data(stream, b"y" * 16384))
