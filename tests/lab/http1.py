"""Evil servers of HTTP/1.1: a function a mode. Each is given a request that was read, and answers
it; those marked `raw` get the connection as it was accepted."""

import gzip
import itertools
import zlib

from .wire import DONE, FINISH, FIRST, Mode, OBJECT, STREAM, TEXT, USAGE, delta, event

MODES = []
HEAD = b"HTTP/1.1 200 OK\r\n"
SSE = b"Content-Type: text/event-stream\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
BEGUN = HEAD + SSE + CHUNKED + b"\r\n"
LAST = b"0\r\n\r\n"


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def whole(data):
    """A reply of known length."""
    return HEAD + SSE + b"Content-Length: %d\r\n\r\n%s" % (len(data), data)


GOOD = BEGUN + chunk(STREAM) + LAST


def mode(expect="ok", raw=False, **how):
    def take(function):
        def each_request(peer):
            while True:
                function(peer, peer.request())

        MODES.append(
            Mode(
                name="http1_" + function.__name__,
                expect=expect,
                serve=function if raw else each_request,
                **how,
            )
        )
        return function

    return take


def says(name, data, expect="ok", then=None, **how):
    """A mode that answers each request with the same bytes. `then`: a method of Peer."""

    def serve(peer):
        while True:
            peer.request()
            peer.send(data)
            if then:
                getattr(peer, then)()

    MODES.append(Mode(name="http1_" + name, serve=serve, expect=expect, **how))


# ---- status lines
says("status_without_reason", b"HTTP/1.1 200\r\n" + GOOD[len(HEAD) :])
says("status_of_a_long_reason", b"HTTP/1.1 200 " + b"x" * 4000 + b"\r\n" + GOOD[len(HEAD) :])
says("status_of_http_1_0", b"HTTP/1.0 200 OK\r\n" + SSE + b"\r\n" + STREAM, then="close")
for name, line in {
    "missing": b"",
    "of_http_2": b"HTTP/2 200 OK\r\n",
    "of_two_digits": b"HTTP/1.1 20 OK\r\n",
    "of_four_digits": b"HTTP/1.1 2000 OK\r\n",
    "negative": b"HTTP/1.1 -20 OK\r\n",
    "of_zeros": b"HTTP/1.1 000 OK\r\n",
    "with_a_tab": b"HTTP/1.1\t200 OK\r\n",
    "behind_a_blank": b" HTTP/1.1 200 OK\r\n",
    "behind_an_empty_line": b"\r\n" + HEAD,
    "in_lower_case": b"http/1.1 200 ok\r\n",
    "of_words": b"HTTP/1.1 two hundred\r\n",
}.items():
    says("status_" + name, line + GOOD[len(HEAD) :], "bad_reply")
says("status_999", b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n", "http_error")
says("garbage_then_close", b"\xff" * 4000, "bad_reply", then="close")
says("garbage_then_silence", b"\xff" * 4000, "bad_reply", then="silence")
says("garbage_of_one_byte", b"\xff", "bad_reply", then="close")
says("another_protocol", b"SSH-2.0-OpenSSH_9.2\r\n", "bad_reply", then="silence", detail="SSH")
says(
    "tls_alert",
    b"\x15\x03\x03\x00\x02\x02\x46\x00\x00\x00",
    "bad_reply",
    then="silence",
    detail="TLS",
)
says("http2_settings", b"\0\0\0\x04\0\0\0\0\0", "bad_reply", then="silence", detail="HTTP/2")

# ---- header fields
for name, field in {
    "without_a_colon": b"nonsense\r\n",
    "with_a_blank_before_the_colon": b"X : y\r\n",
    "without_a_name": b": y\r\n",
}.items():
    says("header_" + name, HEAD + field + GOOD[len(HEAD) :], "bad_reply")
says("header_folded", HEAD + b"X: a\r\n b\r\n" + GOOD[len(HEAD) :])
says("header_with_a_zero_byte", HEAD + b"X: a\0b\r\n" + GOOD[len(HEAD) :])
says("headers_of_60_kb", HEAD + b"X: " + b"y" * 60_000 + b"\r\n" + GOOD[len(HEAD) :])
says("header_lines_end_in_lf", GOOD.replace(b"\r\n", b"\n"))
says(
    "headers_in_capitals",
    HEAD
    + b"CONTENT-TYPE: TEXT/EVENT-STREAM\r\nTRANSFER-ENCODING: CHUNKED\r\n\r\n"
    + chunk(STREAM)
    + LAST,
)


@mode("bad_reply")
def header_lines_without_end(peer, _):
    peer.send(HEAD)
    peer.send_for_ever(b"X-Line: y\r\n" * 500)


@mode("bad_reply")
def a_header_line_without_end(peer, _):
    peer.send(HEAD + b"X: ")
    peer.send_for_ever(b"y" * 16384)


@mode("bad_reply")
def interim_heads_without_end(peer, _):
    peer.send_for_ever(b"HTTP/1.1 100 Continue\r\n\r\n" * 200)


@mode()
def every_byte_alone(peer, _):
    peer.send_each_byte(GOOD)


says("early_hints", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + GOOD)
says("continue_before_the_reply", b"HTTP/1.1 100 Continue\r\n\r\n" * 3 + GOOD)
says("continue_and_no_reply", b"HTTP/1.1 100 Continue\r\n\r\n", "truncated", then="close")
says(
    "switching_protocols",
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n" b"Connection: Upgrade\r\n\r\n",
    "bad_reply",
    then="silence",
    detail="101",
)

# ---- chunks
for name, size in {
    "negative": b"-5",
    "with_a_plus": b"+5",
    "with_0x": b"0x5",
    "empty": b"",
    "of_a_word": b"five",
    "beyond_64_bits": b"F" * 17,
}.items():
    says("chunk_size_" + name, BEGUN + size + b"\r\nhello\r\n" + LAST, "bad_reply", then="silence")
says("chunk_size_of_2_64_minus_1", BEGUN + b"F" * 16 + b"\r\n" + TEXT, "truncated", then="close")
says("chunk_size_in_blanks", BEGUN + b" %x \r\n%s\r\n" % (len(STREAM), STREAM) + LAST)
says("chunk_extension", BEGUN + b'%x;a=b;c="d;e"\r\n%s\r\n' % (len(STREAM), STREAM) + LAST)
says("chunk_longer_than_said", BEGUN + b"5\r\n" + TEXT, "bad_reply", then="silence")
says("chunk_lines_end_in_lf", BEGUN + b"%x\n%s\n0\n\n" % (len(STREAM), STREAM))
says("chunk_cut_short", BEGUN + b"ffff\r\n" + TEXT, "truncated", then="close")
says(
    "chunk_without_its_line_end",
    BEGUN + b"%x\r\n%sXY" % (len(TEXT), TEXT) + LAST,
    "bad_reply",
    then="silence",
)
says("chunks_of_one_byte", BEGUN + b"".join(chunk(bytes([c])) for c in STREAM) + LAST)
says("no_last_chunk_behind_done", BEGUN + chunk(STREAM), then="close")
says("no_last_chunk_before_done", BEGUN + chunk(TEXT), "truncated", then="close")
says("silence_behind_done", BEGUN + chunk(STREAM), then="silence")
says("trailers", BEGUN + chunk(STREAM) + b"0\r\nX-Sum: 5\r\n\r\n")


@mode("bad_reply")
def a_chunk_size_line_without_end(peer, _):
    peer.send(BEGUN + b"5;")
    peer.send_for_ever(b"x" * 16384)


@mode("bad_reply")
def trailers_without_end(peer, _):
    peer.send(BEGUN + chunk(TEXT + FINISH) + b"0\r\n")
    peer.send_for_ever(b"X-Trailer: " + b"y" * 2000 + b"\r\n")


@mode()
def trailers_without_end_behind_done(peer, _):
    peer.send(BEGUN + chunk(STREAM) + b"0\r\n")
    peer.send_for_ever(b"X-Trailer: " + b"y" * 2000 + b"\r\n")


# ---- lengths
says(
    "length_and_chunks",
    HEAD + SSE + b"Content-Length: 5\r\n" + CHUNKED + b"\r\n" + chunk(STREAM) + LAST,
)
says(
    "length_twice_the_same",
    HEAD + SSE + b"Content-Length: %d\r\n" % len(STREAM) * 2 + b"\r\n" + STREAM,
)
says(
    "lengths_that_differ",
    HEAD + SSE + b"Content-Length: 5\r\n" + b"Content-Length: 6\r\n\r\n" + STREAM,
    "bad_reply",
    then="silence",
)
for name, length in {
    "negative": b"-5",
    "with_a_plus": b"+5",
    "of_a_word": b"many",
    "beyond_64_bits": b"9" * 30,
    "in_hexadecimal": b"0x10",
    "of_a_list_that_differs": b"5, 6",
}.items():
    says(
        "length_" + name,
        HEAD + SSE + b"Content-Length: " + length + b"\r\n\r\n" + STREAM,
        "bad_reply",
        then="silence",
    )
says(
    "length_too_short",
    HEAD + SSE + b"Content-Length: %d\r\n\r\n" % len(TEXT) + STREAM,
    "truncated",
)
says(
    "length_too_long_behind_done",
    HEAD + SSE + b"Content-Length: 99999\r\n\r\n" + STREAM,
    then="close",
)
says(
    "length_too_long",
    HEAD + SSE + b"Content-Length: 99999\r\n\r\n" + TEXT,
    "truncated",
    then="close",
)
says("length_of_zero_with_a_body", HEAD + SSE + b"Content-Length: 0\r\n\r\n" + STREAM, "truncated")
says("until_close", HEAD + SSE + b"\r\n" + STREAM, then="close")
says(
    "transfer_coding_gzip",
    HEAD + SSE + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + LAST,
    "bad_reply",
)

# ---- what is not a reply of 200
for status in (201, 204, 205, 206, 304, 400, 401, 404, 429, 500, 503):
    says(f"status_{status}", b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % status, "http_error")
says(
    "redirect_to_itself",
    b"HTTP/1.1 307 X\r\nLocation: /v1/chat/completions\r\nContent-Length: 0\r\n\r\n",
    "http_error",
    detail="moved",
)
says(
    "error_page_that_never_comes",
    b"HTTP/1.1 500 X\r\nContent-Length: 100\r\n\r\n",
    "http_error",
    then="silence",
)
says(
    "error_in_gzip",
    b"HTTP/1.1 500 X\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08",
    "http_error",
)
says("empty", HEAD + b"Content-Length: 0\r\n\r\n", "truncated", detail="empty")
says("empty_stream", BEGUN + LAST, "truncated")
says("nothing_until_close", HEAD + SSE + b"\r\n", "truncated", then="close")


@mode("http_error")
def an_error_page_without_end(peer, _):
    peer.send(b"HTTP/1.1 500 X\r\n\r\n")
    peer.send_for_ever(b"<p>sorry</p>" * 500)


# ---- types and codings
says("no_type", HEAD + CHUNKED + b"\r\n" + chunk(STREAM) + LAST)
says(
    "type_of_json_for_a_stream",
    HEAD + b"Content-Type: application/json\r\n" + CHUNKED + b"\r\n" + chunk(STREAM) + LAST,
)
says(
    "type_of_text",
    HEAD + b"Content-Type: text/plain\r\n" + CHUNKED + b"\r\n" + chunk(STREAM) + LAST,
)
says(
    "an_object_for_a_stream",
    HEAD + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(OBJECT) + OBJECT,
    ttft=False,
)
says("an_object_said_to_be_a_stream", whole(OBJECT), "truncated")
says(
    "a_web_page",
    HEAD + b"Content-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>",
    "bad_reply",
)
says(
    "an_object_of_something_else", HEAD + b"Content-Length: 12\r\n\r\n{\"data\": []}", "bad_reply"
)
for coding, data in {
    "gzip": gzip.compress(STREAM),
    "deflate": zlib.compress(STREAM),
    "br": b"\x8b\x01\x80",
    "zstd": b"\x28\xb5\x2f\xfd",
}.items():
    says(
        "coding_" + coding,
        HEAD
        + SSE
        + b"Content-Encoding: "
        + coding.encode()
        + b"\r\n"
        + CHUNKED
        + b"\r\n"
        + chunk(data),
        "bad_reply",
        then="silence",
        detail="not asked for",
    )
says(
    "coding_that_brings_nothing",
    HEAD + SSE + b"Content-Encoding: gzip\r\n" + CHUNKED + b"\r\n",
    "bad_reply",
    then="silence",
    detail="not asked for",
)

# ---- server-sent events
for name, stream in {
    "byte_order_mark": b"\xef\xbb\xbf" + STREAM,
    "lines_end_in_cr": STREAM.replace(b"\n", b"\r"),
    "lines_end_in_crlf": STREAM.replace(b"\n", b"\r\n"),
    "no_blank_behind_the_colon": STREAM.replace(b"data: ", b"data:"),
    "comments": b": hello\n\n" * 50 + STREAM.replace(b"\n\n", b"\n: x\n\n"),
    "events_without_data": b"event: ping\n\nid: 5\n\n" + STREAM,
    "retry": b"retry: 1\n\n" + STREAM,
    "a_huge_id": b"id: " + b"9" * 1_000_000 + b"\n" + STREAM,
    "unknown_fields": b"x: y\nz\n" + STREAM,
    "data_in_two_lines": STREAM.replace(b', "model"', b',\ndata: "model"'),
    "no_blank_line_at_the_end": STREAM.rstrip(b"\n"),
    "done_twice": STREAM + DONE,
    "no_done": TEXT + FINISH,
    "a_fragment_behind_done": STREAM + event(delta("d")),
    "zero_bytes_between_events": STREAM.replace(b"\n\n", b"\n\n\0:\n\n"),
    "keys_twice": TEXT.replace(b'"delta"', b'"delta": {"content": "no"}, "delta"') + FINISH + DONE,
    "a_lone_surrogate_and_control_bytes": event(
        b'{"choices":[{"index":0,"delta":{"content":"a\0\x01\\u0000\\ud800"}}]}'
    )
    + event(delta("b"))
    + event(delta("c"))
    + FINISH
    + DONE,
    "no_utf_8": event(b'{"choices":[{"index":0,"delta":{"content":"\xff\xfe\xed\xa0\x80"}}]}')
    + event(delta("b"))
    + event(delta("c"))
    + FINISH
    + DONE,
}.items():
    says("sse_" + name, BEGUN + chunk(stream) + LAST)
says("sse_done_alone", BEGUN + chunk(DONE) + LAST, "bad_reply")
says("sse_no_finish", BEGUN + chunk(TEXT) + LAST, "truncated")
says(
    "sse_an_event_cut_in_two",
    BEGUN + chunk(FIRST + b'data: {"choices": [{"de\n\n' + FINISH + DONE) + LAST,
    "bad_reply",
)
says(
    "sse_an_event_that_is_no_json_and_silence",
    BEGUN + chunk(FIRST + b"data: {\n\n"),
    "bad_reply",
    then="silence",
)
says("sse_nesting_without_end", BEGUN + chunk(event(b'{"a":' + b"[" * 50_000)) + LAST, "bad_reply")
says(
    "sse_an_error",
    BEGUN + chunk(FIRST + event({"error": {"message": "engine died"}}) + DONE) + LAST,
    "stream_error",
    detail="engine died",
)
says(
    "sse_an_error_and_silence",
    BEGUN + chunk(FIRST + event({"error": {"message": "engine died"}})),
    "stream_error",
    then="silence",
)
says(
    "sse_numbers_beyond_all_bounds",
    BEGUN
    + chunk(
        TEXT
        + event(delta(finish="stop"))
        + event(b'{"choices":[],"usage":{"prompt_tokens":1e999,"completion_tokens":3}}')
        + DONE
    )
    + LAST,
)


says(
    "sse_two_choices_in_turns",
    BEGUN
    + chunk(b"".join(event(delta(word, index=at)) for word in "abc" for at in (0, 1)))
    + chunk(event(delta(finish="stop")) + event(delta(finish="stop", index=1)))
    + chunk(event({**USAGE, "usage": {"prompt_tokens": 5, "completion_tokens": 6}}) + DONE)
    + LAST,
    tokens=6,
    flags=("--extra-body", '{"n": 2}'),
)
says(
    "sse_one_choice_ends_and_the_other_is_cut",
    BEGUN
    + chunk(b"".join(event(delta(word, index=at)) for word in "abc" for at in (0, 1)))
    + chunk(event(delta(finish="stop", index=1)))
    + LAST,
    "truncated",
    flags=("--extra-body", '{"n": 2}'),
)
# A server whose model is dead: it completes, and says nothing.
says("sse_no_content", BEGUN + chunk(event(delta(finish="stop")) + DONE) + LAST, "any")


@mode("timed_out", flags=("--query-timeout", "1s"), samples=2)
def comments_without_end(peer, _):
    # Somebody is there, and may yet answer: the time limit is the judge.
    peer.send(BEGUN)
    while True:
        peer.send(chunk(b": still here\n\n"))
        peer.closing.wait(0.05)


@mode("timed_out", flags=("--query-timeout", "1s"), samples=2)
def silence(peer, _):
    peer.silence()


# ---- ends, at each stage
says("close_behind_the_request", b"", "truncated", then="close")
says("close_in_the_status_line", b"HTTP/1.1 2", "truncated", then="close")
says("close_in_the_head", HEAD + b"Content-Ty", "truncated", then="close")
says("close_in_a_chunk_size", BEGUN + b"2", "truncated", then="close")
says("close_in_an_event", BEGUN + chunk(FIRST + b'data: {"cho'), "truncated", then="close")
says("reset_behind_the_request", b"", "reset", then="reset")
says("reset_in_the_head", HEAD, ("reset",), then="reset")
says("reset_in_the_body", BEGUN + chunk(FIRST), "reset", then="reset")


# Whether the connections that are opened ahead of the run see it already is chance.
@mode(("truncated", "reset", "connect_failed", "unreachable"), raw=True)
def close_when_accepted(peer):
    peer.close()


# Whether the connections that are opened ahead of the run see it already is chance.
@mode(("truncated", "reset", "connect_failed", "unreachable"), raw=True)
def reset_when_accepted(peer):
    peer.reset()


@mode("ok")
def half_close_behind_the_reply(peer, _):
    peer.send(BEGUN + chunk(STREAM))
    peer.half_close()
    peer.silence()


@mode("truncated")
def half_close_in_the_reply(peer, _):
    peer.send(BEGUN + chunk(FIRST))
    peer.half_close()
    peer.silence()


@mode("any", raw=True)
def an_answer_before_the_request(peer):
    # Where the request crosses with it, it is an answer; TTFT is never below 0.
    peer.send(GOOD)
    peer.request()


@mode(("http_error", "reset"), raw=True)
def an_answer_before_the_body(peer):
    peer.read_to(b"\r\n\r\n")
    peer.send(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    peer.half_close()
    peer.silence()


says("two_answers_to_one_request", GOOD + GOOD)
says("bytes_behind_the_reply", whole(STREAM) + b"and more")
says("close_after_each_reply_though_kept", whole(STREAM), then="close")
says(
    "kept_though_said_to_close",
    HEAD + SSE + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(STREAM) + STREAM,
)


@mode("any", raw=True, samples=9)
def close_in_place_of_the_third_reply(peer):
    for _ in range(2):
        peer.request()
        peer.send(whole(STREAM))
    peer.request()


@mode("over_memory", flags=("--memory-max", "4M"))
def a_line_without_end(peer, _):
    peer.send(BEGUN + b"ffffffff\r\ndata: {\"x\": \"")
    peer.send_for_ever(b"y" * 65536)


@mode("over_memory", flags=("--memory-max", "4M"))
def an_object_without_end(peer, _):
    peer.send(HEAD + b"Content-Type: application/json\r\n\r\n{\"x\": \"")
    peer.send_for_ever(b"y" * 65536)


@mode("over_memory", flags=("--memory-max", "4M"))
def a_cumulative_text_without_end(peer, _):
    peer.send(BEGUN)
    text = b""
    for _ in itertools.count():
        text += b"y" * 200_000
        peer.send(chunk(event(b'{"text": "' + text + b'", "meta_info": {}}')))


@mode(("bad_reply", "over_memory"), heavy=True, samples=3, concurrency=3)
def heavy_one_line_of_1_gb(peer, _):
    peer.send(BEGUN + b"ffffffff\r\ndata: {\"x\": \"")
    peer.send_for_ever(b"y" * (1 << 20))


@mode(("bad_reply", "over_memory"), heavy=True, samples=3, concurrency=3)
def heavy_one_object_of_1_gb(peer, _):
    peer.send(HEAD + b"Content-Type: application/json\r\n\r\n{\"x\": \"")
    peer.send_for_ever(b"y" * (1 << 20))


@mode("bad_reply", heavy=True, samples=3, concurrency=3)
def heavy_trailers_of_256_mb(peer, _):
    peer.send(BEGUN + chunk(TEXT + FINISH) + b"0\r\n")
    peer.send_for_ever(b"X-Trailer: " + b"y" * 4000 + b"\r\n", most=256 << 20)
