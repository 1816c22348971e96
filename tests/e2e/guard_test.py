"""A guarded load: what failed is said first, and the exit code says how a run ended."""

import http.server
import json
import resource
import subprocess
import threading

import pytest

from conftest import TIMEOUT_S, program

TOO_MANY_FAILED = 7
EXHAUSTED = 8


def run_args(url, folder, *more):
    return ["run", "--endpoint", url, "--model", "m", "--report-dir", folder, "--quiet", "--json",
            "--allow-client-limited", *more]


class Model(http.server.ThreadingHTTPServer):
    """A chat endpoint of ours: `reply(number, body)` gives (status, document) of the number-th.

    `asked` has the bodies of all queries, the test query's first.
    """

    daemon_threads = True

    def __init__(self, reply):
        super().__init__(("127.0.0.1", 0), Handler)
        self.reply = reply
        self.asked = []
        self.lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            self.server.asked.append(body)
            number = len(self.server.asked)
        status, document = self.server.reply(number, body)
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def good():
    return 200, {"choices": [{"message": {"content": "hello there"}, "finish_reason": "stop"}],
                 "usage": {"prompt_tokens": 5, "completion_tokens": 2}}


def refused(status, message):
    return status, {"error": {"message": message}}


@pytest.fixture
def model():
    """model(reply) -> Model; each is closed when the test ends."""
    servers = []

    def start(reply):
        servers.append(Model(reply))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return servers[-1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def codes(result):
    return [cause["code"] for cause in result["exit"]["causes"]]


def warnings_of(text):
    return [line for line in text.splitlines() if line.strip().startswith("! warning")]


def test_a_run_that_failed_says_so_first_and_last_and_by_its_exit_code(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "1ms", "--osl", 4, "--fault", "http500=0.9", "--seed", 3)
    done = assay(*run_args(server.url, tmp_path / "r", "--samples", 200, "--concurrency", 2),
                 code=TOO_MANY_FAILED)
    result = done.json()
    failed, of = result["n_samples_failed"], result["n_samples_issued"]
    assert (of, failed > 100) == (200, True)
    words = f"{failed / of:.1%}".replace("%", " %") + f" of the queries failed, {failed} of 200"
    assert done.err.splitlines()[-1].startswith(f"warning: {words}: HTTP 500")
    assert result["exit"]["code"] == TOO_MANY_FAILED and codes(result) == [TOO_MANY_FAILED]
    assert result["exit"]["causes"][0]["why"].startswith(words)
    assert words in warnings_of(assay("report", tmp_path / "r").out)[0]
    assert result["assay"]["warnings"][0].startswith(words)


def test_up_to_10_percent_is_said_and_is_exit_0(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "1ms", "--osl", 4, "--fault", "http500=0.05", "--seed", 3)
    done = assay(*run_args(server.url, tmp_path / "r", "--samples", 400, "--concurrency", 2))
    assert 4 < done.json()["n_samples_failed"] <= 40 and codes(done.json()) == []
    assert "% of the queries failed" in done.err.splitlines()[-1]


def test_where_none_succeeded_the_cause_comes_before_the_client(assay, model, tmp_path):
    server = model(lambda number, body: refused(503, "Overloaded, come back later"))
    done = assay("run", "--endpoint", server.url, "--model", "m", "--samples", 4, "--streaming",
                 "off", "--concurrency", 2, "--report-dir", tmp_path / "r", code=TOO_MANY_FAILED)
    cause = "no query succeeded, 4 of 4 failed: HTTP 503: Overloaded, come back later"
    assert done.err.splitlines()[-1] == "warning: " + cause
    told = assay("report", tmp_path / "r").out
    first = " ".join(told[told.index("! warning"):].split())
    assert first.startswith("! warning " + cause), told
    summary = assay("report", tmp_path / "r", "--json").json()
    assert summary["client"] == {"client_limited": "no", "reasons": []}


def test_max_failures_is_exit_7_and_not_130(assay, model, tmp_path):
    server = model(lambda number, body: good() if number < 20 else refused(500, "no"))
    done = assay(*run_args(server.url, tmp_path / "r", "--samples", 1000, "--streaming", "off",
                           "--concurrency", 1, "--max-failures", 3), code=TOO_MANY_FAILED)
    assert any("--max-failures" in cause["why"] for cause in done.json()["exit"]["causes"])
    assert 130 not in codes(done.json())


def test_a_curve_has_the_causes_of_all_its_points(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "1ms", "--osl", 4, "--fault", "http500=0.5", "--seed", 3)
    done = assay("curve", "--endpoint", server.url, "--model", "m", "--isl", 8, "--osl", 4,
                 "--concurrency", "1,2", "--no-accuracy", "--quick", "--quiet", "--json",
                 "--allow-client-limited", "--report-dir", tmp_path / "c", code=TOO_MANY_FAILED)
    assert codes(done.json()) == [TOO_MANY_FAILED] * 2
    assert len(done.json()["points"]) == 2, "failures beside replies end no curve"


def test_out_of_memory_has_a_name_and_an_exit_code_of_its_own(tmp_path):
    rows = tmp_path / "rows.json"
    rows.write_text(json.dumps([{"prompt": "x" * (1 << 20)}] * 64))
    command = [program(), "convert", rows, tmp_path / "out"]
    limit = 100 << 20
    done = subprocess.run(command, capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS,
                                                                (limit, limit)))
    assert done.returncode == EXHAUSTED, done.stderr
    assert done.stderr.startswith("error: out of memory")
    assert subprocess.run(command, capture_output=True, check=False,
                          timeout=TIMEOUT_S).returncode == 2, "read whole, it is not a tool's file"


PLAIN = ("--streaming", "off", "--concurrency", 1)


@pytest.mark.parametrize("status, message, told", [
    (401, "Incorrect API key provided", "--api-key-env"),
    (404, "The model `m` does not exist", "--model: `assay probe"),
    (404, "Not Found", "--endpoint, --api-type"),
    (422, "Unexpected fields in the request: {'messages'}", "--extra-body"),
])
def test_one_refused_test_query_ends_the_run_before_it_begins(assay, model, tmp_path, status,
                                                             message, told):
    server = model(lambda number, body: refused(status, message))
    done = assay(*run_args(server.url, tmp_path / "r", "--samples", 50, *PLAIN), code=2)
    assert f"HTTP {status}: {message}" in done.err and told in done.err
    assert len(server.asked) == 1 and not (tmp_path / "r").exists()


def test_without_a_test_query_the_load_begins_at_once(assay, model, tmp_path):
    server = model(lambda number, body: good())
    for flags, asked in (((), 6), (("--no-preflight",), 5)):
        server.asked.clear()
        folder = tmp_path / str(asked)
        result = assay(*run_args(server.url, folder, "--samples", 5, *PLAIN, *flags)).json()
        assert (result["n_samples_issued"], len(server.asked)) == (5, asked)
        manifest = json.loads((folder / "assay/run.json").read_text())
        assert ("preflight" in result) == (asked == 6)
        assert ("preflight" in manifest["run"]["facts"]) == (asked == 6)
        if asked == 6:
            assert result["preflight"]["outcome"] == "ok"
            assert result["preflight"]["left_out"] == []


def test_the_test_query_is_the_runs_own_and_finds_no_prompt_cached(assay, model, tmp_path):
    server = model(lambda number, body: good())
    assay(*run_args(server.url, tmp_path / "r", "--samples", 3, *PLAIN))
    first, *load = server.asked
    assert set(first) == set(load[0])
    prompts = [body["messages"][-1]["content"] for body in server.asked]
    assert prompts[0] not in prompts[1:]
    assert prompts[0].endswith(prompts[1]), "the row with which the load begins, salted"


def test_what_passes_does_not_end_a_run(assay, model, tmp_path):
    server = model(lambda number, body: good() if number > 1 else refused(503, "warming up"))
    result = assay(*run_args(server.url, tmp_path / "r", "--samples", 4, *PLAIN)).json()
    assert result["n_samples_completed"] == 4 and result["preflight"]["http_status"] == 503
    assert any("test query" in w and "warming up" in w for w in result["assay"]["warnings"])


def strict(*unknown):
    """A server that refuses each of these fields, one at a time."""

    def reply(number, body):
        for field in unknown:
            if field in body:
                return refused(422, f"Unexpected fields in the request: {{'{field}'}}")
        return good()

    return reply


def test_a_field_sent_unasked_and_refused_is_left_out_and_told(assay, model, tmp_path):
    server = model(strict("ignore_eos", "stream_options"))
    flags = ("--isl", 8, "--osl", 4, "--samples", 4, *PLAIN)
    result = assay(*run_args(server.url, tmp_path / "r", *flags)).json()
    assert result["n_samples_completed"] == 4 and result["n_samples_failed"] == 0
    assert result["preflight"]["left_out"] == ["ignore_eos"]
    assert len(server.asked) == 2 + 4
    assert all("ignore_eos" not in body for body in server.asked[1:])
    assert "the endpoint refuses ignore_eos" in assay("report", tmp_path / "r").out
    assay("verify", tmp_path / "r")


@pytest.mark.parametrize("api, own, other", [("openai", "max_completion_tokens", "max_tokens"),
                                             ("openai_completions", "max_tokens",
                                              "max_completion_tokens")])
def test_a_refused_name_of_the_limit_is_replaced_by_the_other_and_told(assay, model, tmp_path, api,
                                                                       own, other):
    server = model(strict(own))
    flags = ("--api-type", api, "--isl", 8, "--osl", 4, "--samples", 4, *PLAIN)
    result = assay(*run_args(server.url, tmp_path / "r", *flags)).json()
    assert result["n_samples_completed"] == 4 and result["n_samples_failed"] == 0
    assert result["preflight"]["limit_field"] == other and result["preflight"]["left_out"] == []
    assert len(server.asked) == 2 + 4
    assert all(body[other] == 4 and own not in body for body in server.asked[1:])
    told = " ".join(assay("report", tmp_path / "r").out.split())
    assert f"refuses {own}: every request says its limit as {other}" in told
    assay("verify", tmp_path / "r")


def test_prompts_of_an_adapted_run_are_counted_later(assay, model, tmp_path):
    server = model(strict("ignore_eos", "max_completion_tokens"))
    run = tmp_path / "r"
    assay(*run_args(server.url, run, "--isl", 8, "--osl", 4, "--samples", 4, *PLAIN))
    words = tmp_path / "words"
    words.mkdir()
    (words / "tokenizer.json").write_text(json.dumps({
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0}}}))
    done = assay("report", run, "--tokenizer", words, code=None)
    assert "not counted" not in done.out + done.err


def test_a_limit_that_is_refused_by_either_name_or_for_its_value_ends_the_run(assay, model,
                                                                              tmp_path):
    both = model(strict("max_completion_tokens", "max_tokens"))
    done = assay(*run_args(both.url, tmp_path / "a", "--samples", 4, *PLAIN), code=2)
    assert "max_completion_tokens" in done.err and len(both.asked) == 2
    words = "max_completion_tokens is too large: this model supports at most 3"
    value = model(lambda number, body: refused(400, words))
    done = assay(*run_args(value.url, tmp_path / "b", "--samples", 4, *PLAIN), code=2)
    assert "too large" in done.err and len(value.asked) == 1
    named = model(strict("max_tokens"))
    assay(*run_args(named.url, tmp_path / "c", "--samples", 4, "--extra-body",
                    '{"max_tokens": 5, "max_completion_tokens": null}', *PLAIN), code=2)
    assert len(named.asked) == 1


def test_each_of_several_endpoints_gets_a_test_query(assay, model, tmp_path):
    servers = [model(lambda number, body: good()) for _ in range(3)]
    more = [part for server in servers[1:] for part in ("--endpoint", server.url)]
    result = assay(*run_args(servers[0].url, tmp_path / "r", *more, "--samples", 6, *PLAIN)).json()
    assert [len(server.asked) for server in servers] == [3, 3, 3]
    assert [one["outcome"] for one in result["preflight"]["endpoints"]] == ["ok"] * 3
    assert [one["endpoint"] for one in result["preflight"]["endpoints"]] == [
        server.url for server in servers]
    keyless = model(lambda number, body: refused(401, "no key"))
    done = assay(*run_args(servers[0].url, tmp_path / "s", "--endpoint", keyless.url, "--samples",
                           6, *PLAIN), code=2)
    assert keyless.url in done.err and "no key" in done.err
    assert len(keyless.asked) == 1 and len(servers[0].asked) == 4
    assert not (tmp_path / "s").exists()


def test_a_comparison_in_turns_sends_each_a_test_query(assay, model, tmp_path):
    servers = [model(strict("ignore_eos")), model(lambda number, body: good())]
    both = [part for server in servers for part in ("--endpoint", server.url)]
    flags = ("compare", "--interleave", *both, "--model", "m", "--isl", 8, "--osl", 4, "--samples",
             12, "--block", 2, "--quiet", "--report-dir")
    assay(*flags, tmp_path / "c", *PLAIN, code=None)
    assert [len(server.asked) for server in servers] == [2 + 12, 2 + 12]
    assert all("ignore_eos" not in body for server in servers for body in server.asked[1:])
    for side in "ab":
        manifest = json.loads((tmp_path / "c" / side / "assay/run.json").read_text())
        preflight = manifest["run"]["facts"]["preflight"]
        assert preflight["outcome"] == "ok" and preflight["left_out"] == ["ignore_eos"]
        assay("verify", tmp_path / "c" / side)
    keyless = model(lambda number, body: refused(401, "no key"))
    done = assay("compare", "--interleave", "--endpoint", servers[1].url, "--endpoint", keyless.url,
                 "--model", "m", "--isl", 8, "--samples", 12, "--block", 2, "--quiet",
                 "--report-dir", tmp_path / "d", *PLAIN, code=2)
    assert keyless.url in done.err and not (tmp_path / "d").exists()
    assert len(keyless.asked) == 1


def test_a_field_that_was_asked_for_is_never_left_out(assay, model, tmp_path):
    for i, flags in enumerate((("--extra-body", '{"ignore_eos": true}'), ("--ignore-eos",))):
        server = model(strict("ignore_eos"))
        done = assay(*run_args(server.url, tmp_path / str(i), "--isl", 8, "--osl", 4, "--samples",
                               4, *PLAIN, *flags), code=2)
        assert "ignore_eos" in done.err and len(server.asked) == 1


def test_a_curve_sends_one_test_query(assay, model, tmp_path):
    server = model(strict("ignore_eos"))
    result = assay("curve", "--endpoint", server.url, "--model", "m", "--isl", 8, "--osl", 4,
                   "--prompts", 4, "--concurrency", "1,2", "--no-accuracy", "--quick", "--quiet",
                   "--json", "--streaming", "off", "--allow-client-limited", "--report-dir",
                   tmp_path / "c", code=None).json()
    assert len(result["points"]) == 2
    assert sum("ignore_eos" in body for body in server.asked) == 1
    gone = model(lambda number, body: refused(401, "no key"))
    assay("curve", "--find", "max-concurrency", "--endpoint", gone.url, "--model", "m", "--isl", 8,
          "--osl", 4, "--quiet", "--report-dir", tmp_path / "f", code=2)
    assert len(gone.asked) == 1


def test_tls_and_plain_ports_are_told_apart(assay, endpoint, tmp_path):
    tls = endpoint("--tls", "--osl", 4)
    done = assay(*run_args(tls.url.replace("https", "http"), tmp_path / "a", "--samples", 5),
                 code=3)
    assert "this port speaks TLS: https://" in done.err
    plain = endpoint("--osl", 4)
    done = assay(*run_args(plain.url.replace("http", "https"), tmp_path / "b", "--samples", 5),
                 code=3)
    assert "http:// in place of https://" in done.err


@pytest.mark.parametrize("command", ["run", "curve"])
def test_an_ending_before_the_load_is_one_json_document_too(assay, model, tmp_path, command):
    server = model(lambda number, body: refused(401, "no such key"))
    for url, code, words in ((server.url, 2, "the test query got HTTP 401"),
                             ("http://127.0.0.1:1", 3, "refused"), ("nonsense://x", 2, "nonsense")):
        done = assay(command, "--endpoint", url, "--model", "m", "--quiet", "--json",
                     "--report-dir", tmp_path / words.split()[-1], code=code)
        ending = done.json()
        assert list(ending) == ["exit"] and ending["exit"]["code"] == code
        assert codes(ending) == [code] and "error: " in done.err
        assert words in ending["exit"]["causes"][0]["why"]
    # Before a flag is read nobody knows that JSON is wanted.
    assert assay(command, "--json", "--no-such-flag", code=2).out == ""
