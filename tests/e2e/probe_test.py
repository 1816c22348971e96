"""`assay probe` against every quirk of the built-in endpoint: what it must say of each."""

import re
import subprocess

import pytest

from conftest import program

# What the findings must hold (None: nothing but good ones), and whether it answers at all.
EXPECTED = {
    "role-first": "note first event: is empty (role): tools that time the first event",
    "empty-first": "note first event: is empty (role)",
    "finish-with-last": None,
    "reasoning-field": None,
    "always-usage": None,
    "cached-replies": None,
    "unguarded": None,
    "usage-with-finish": None,
    "usage-every-event": "note usage: ",
    "no-usage": "bad usage: stream_options asked for token counts, and none came",
    "no-done": "note end: finish reason 'length', but no [DONE]",
    "late-done": "note end: comes ",
    "error-in-stream": "bad error: HTTP 200, then an error inside the stream",
    "crlf": "note line ends: CR LF",
    "comments": "good comments: ",
    "pings": "good events: ",
    "sse-fields": None,
    "no-space": None,
    "spaced-json": None,
    "multi-data": None,
    "split-event": None,
    "split-utf8": None,
    "joined-events": "note pace: ",
    "ragged-chunks": None,
    "wrong-content-type": "bad content type: 'application/json' on a stream",
    "gzip": None,
    "gzip-forced": "bad compression: ",
    "chunked-plain": None,
    "close-delimited": "note framing: the stream ends where the connection ends",
    "http10": "bad connection: HTTP/1.0",
    "interim": None,
    "slow-headers": " pace: ",
    "stall": "note pace: the longest gap between tokens is",
    "silent-close": "whose head promised to keep it",
    "cut-reset": "bad framing: the connection broke inside the stream",
    "cut-close": "bad framing: the connection broke inside the stream",
    "http429": "bad stream: HTTP 429",
    "http500": "bad stream: HTTP 500",
    "usage-inflated": "asked for at most 12 tokens, got 12000",
    "usage-zero": "bad usage: prompt 17, completion 0, though 12 fragments came",
    "first-burst": "note tokens: 2.40 an event",
    "hidden-reasoning": None,
    "empty-reply": "bad text: no event brought any text",
    "not-streamed": "bad stream: asked for a stream, got one whole reply",
    "goes-on-after-done": "note end: 1 event after [DONE]",
}
ANSWERS_NOT = {"error-in-stream", "gzip-forced", "cut-reset", "cut-close", "http429", "http500"}


def letter(findings):
    return "\n".join(f"{f['verdict']} {f['topic']}: {f['text']}" for f in findings)


def test_every_quirk_of_the_endpoint_has_a_case():
    said = subprocess.run([program(), "endpoint", "--quirk", "help"], capture_output=True,
                          text=True, check=True).stdout
    assert set(re.findall(r"^([a-z][\w-]+) ", said, re.M)) == set(EXPECTED)


@pytest.mark.parametrize("quirk", EXPECTED)
def test_quirk(assay, endpoint, quirk):
    server = endpoint("--ttft", "30ms", "--itl", "8ms", "--quirk", quirk, "--stall", "400ms")
    code = 3 if quirk in ANSWERS_NOT else 0
    report = assay("probe", server.url, "--osl", "12", "--timeout", "20s", "--json",
                   code=code).json()
    assert report["answers"] == (code == 0)
    found = letter(report["findings"])
    if EXPECTED[quirk] is None:
        # A busy machine may gather events or delay one: that is for `pace` to say, here as well.
        strange = [f for f in report["findings"] if f["verdict"] != "good" and f["topic"] != "pace"]
        assert not strange, found
    else:
        assert EXPECTED[quirk] in found, found


def test_a_sane_endpoint_gets_a_short_letter(assay, endpoint):
    server = endpoint("--ttft", "10ms", "--itl", "2ms")
    done = assay("probe", server.url + "/v1")
    assert "It answers, and its stream is sane" in done.out
    assert "counted by the server: prompt" in done.out
    assert max(map(len, done.out.splitlines())) <= 100
    for api in ("openai_completions", "sglang"):
        report = assay("probe", server.url, "--api", api, "--json").json()
        assert not [f for f in report["findings"] if f["verdict"] == "bad"], report["findings"]
        assert report["streamed"]["usage"]["completion_tokens"] == 32


def test_over_tls(assay, endpoint):
    server = endpoint("--tls")
    done = assay("probe", server.url, code=3)
    assert "certificate" in done.err
    done = assay("probe", server.url, "--insecure")
    assert "over TLSv1.3" in done.out and "its certificate was not checked" in done.out


def test_a_key_is_read_from_the_environment(assay, endpoint):
    server = endpoint("--api-key", "sesame")
    assert "give a key by --api-key-env" in assay("probe", server.url, code=3).out
    assay("probe", server.url, "--api-key-env", "ASSAY_TEST_KEY", env={"ASSAY_TEST_KEY": "sesame"})
    err = assay("probe", server.url, "--api-key-env", "ASSAY_TEST_KEY", code=2).err
    assert "ASSAY_TEST_KEY is not set" in err


def test_nobody_there(assay):
    done = assay("probe", "http://127.0.0.1:1", code=3)
    assert "is the server running" in done.err
    assert "write http://" in assay("probe", "127.0.0.1:1", code=2).err
