"""assay client: MLPerf Client's prompts and figures, of an endpoint whose truth is known.

How long a reply takes is the machine's affair. That the figures are Client's means of what the
event log has, that the log is asked in Client's order, and that all of it can be checked again:
that is tested here.
"""

import http.client
import json
import math
import os
import re
import signal
import statistics
import subprocess
import urllib.parse

import pytest

from conftest import instants

REQUIRED = ["Content Generation", "Creative Writing", "Structured Text", "Code Analysis",
            "Summarization, Intermediate"]
TOKENS = 8
HELD_UP = None  # a busy machine may make the client guilty in truth, which is exit code 4


@pytest.fixture
def measure(assay, endpoint, tmp_path):
    """measure(flags, served=…) -> the result, the run's folder, what was printed."""

    def go(*flags, served=(), name="run"):
        server = endpoint("--ttft", "3ms", "--itl", "1ms", "--osl", TOKENS, "--model", "tiny",
                          *served)
        folder = tmp_path / name
        done = assay("client", *flags, "--port", server.url.rsplit(":", 1)[1], "--report-dir",
                     folder, code=HELD_UP)
        assert done.code in (0, 4), done.err
        return json.loads((folder / "client_result.json").read_text()), folder, done

    return go


def inferences(assay, folder):
    """[(sent, first token, done)] in ns, in the order asked, from the run's events."""
    return [(one["sample.issued"], one["sample.recv_first"], one["sample.complete"])
            for one in instants(assay, folder).values()]


def by_hand(runs):
    """(TTFT, rate) of one prompt: means over its iterations, in seconds and tokens a second."""
    ttft = statistics.fmean((first - sent) / 1e9 for sent, first, _ in runs)
    latency = statistics.fmean((done - first) / 1e9 / (TOKENS - 1) for _, first, done in runs)
    return ttft, 1 / latency


def test_figures_are_clients_means_of_what_the_log_has(assay, measure):
    result, folder, done = measure()
    asked = inferences(assay, folder)
    assert len(asked) == 10 * 4
    # One after the other: none is sent before the one before it has ended.
    assert all(a[2] <= b[0] for a, b in zip(asked, asked[1:]))
    prompts = [by_hand(asked[4 * i + 1:4 * i + 4]) for i in range(10)]
    categories = {name: prompts[2 * i:2 * i + 2] for i, name in enumerate(REQUIRED)}
    assert [one["name"] for one in result["categories"]] == REQUIRED
    for one in result["categories"]:
        (ttft_a, rate_a), (ttft_b, rate_b) = categories[one["name"]]
        assert abs(one["ttft_s"] - (ttft_a + ttft_b) / 2) < 1e-4
        assert math.isclose(one["tokens_per_s"], (rate_a + rate_b) / 2, rel_tol=1e-3)
        assert one["tokens_out"] == TOKENS and one["why"] == ""
        assert all(p["measured"] == p["planned"] == 3 for p in one["prompts"])
    ttft = math.prod(one["ttft_s"] for one in result["categories"]) ** (1 / 5)
    rate = math.prod(one["tokens_per_s"] for one in result["categories"]) ** (1 / 5)
    assert math.isclose(result["overall"]["ttft_s"], ttft, rel_tol=1e-9)
    assert math.isclose(result["overall"]["tokens_per_s"], rate, rel_tol=1e-9)
    # The truth of the endpoint: no token earlier than it was made.
    assert result["overall"]["ttft_s"] >= 0.003
    client = result["mlperf_client"]["overall_results"]
    assert client["Geomean Time to First Token"] == round(result["overall"]["ttft_s"], 3)
    for word in REQUIRED + ["overall (geometric mean)", "* enters the overall", str(folder)]:
        assert word in done.out
    assert result["asked"]["server"] == "Ollama"  # which the endpoint speaks too


def test_every_figure_can_be_derived_again_and_a_changed_one_is_found(assay, measure):
    _, folder, _ = measure("--iterations", 1)
    assert "every figure" in assay("verify", folder).out
    path = folder / "client_result.json"
    result = json.loads(path.read_text())
    result["overall"]["tokens_per_s"] *= 1.01
    path.write_text(json.dumps(result, indent=2) + "\n")
    assert "is not what the events come to" in assay("verify", folder, code=1).out


def test_no_two_inferences_begin_alike_unless_asked(measure):
    def texts(folder):
        rows = (folder / "client_prompts.jsonl").read_text().splitlines()
        return [json.dumps(json.loads(row)["messages"]) for row in rows]

    _, salted, _ = measure("--iterations", 2, name="salted")
    assert len(set(texts(salted))) == 30
    result, plain, _ = measure("--iterations", 2, "--no-salt", name="plain")
    assert len(set(texts(plain))) == 10 and not result["asked"]["salted"]


def config_of(folder, **changes):
    """A config as MLPerf Client has it, with two prompts and one of a second set beside it."""
    folder.mkdir()
    for name, category in (("a", "Code Analysis"), ("b", "Structured Text"), ("c", "Other")):
        folder.joinpath(name + ".json").write_text(json.dumps({
            "model_config": {"context_length": 4096, "search": {
                "method": "greedy", "temperature": 0.6, "stop_on_eos": True, "max_length": 32}},
            "prompts": [{"system": "s", "user": "u"}], "category": category,
            "apply_chat_template": True}))
    scenario = {"Name": "Llama3", "Models": [{"ModelName": "M", "FilePath": "https://h/m.gguf"}],
                "InputFilePath": {"base": ["file://a.json", "b.json"], "extended": ["c.json"]},
                "AssetsPath": [], "ResultsVerificationFile": "", "DataVerificationFile": "",
                "Iterations": 2, "WarmUp": 1, "Delay": 0.02,
                "ExecutionProviders": [{"Name": "llama-cpp", "Config": {"backend": "CUDA"}}]}
    scenario.update(changes)
    path = folder / "config.json"
    path.write_text("\ufeff" + json.dumps({"SystemConfig": {"TempPath": ""},
                                           "Scenarios": [scenario]}))
    return path


def test_a_config_of_client_is_asked_as_it_stands(assay, measure, tmp_path):
    config = config_of(tmp_path / "config")
    result, folder, done = measure(config)
    assert [one["name"] for one in result["categories"]] == ["Code Analysis", "Structured Text"]
    assert result["overall"]["ttft_s"] is None
    assert "Content Generation was not asked" in result["overall"]["why"]
    assert "llama-cpp" in done.err  # not an endpoint's provider: the user is told what it means
    asked = inferences(assay, folder)
    assert len(asked) == 6
    # The pause stands before each inference of a prompt that follows another of it.
    for i in (1, 2, 4, 5):
        assert asked[i][0] - asked[i - 1][2] >= 20e6
    both, _, _ = measure(config, "--set", "both", "--delay", 0, "--warmups", 0, name="both")
    assert [one["name"] for one in both["categories"]][2] == "Other"
    assay("verify", folder)


def test_an_agents_turns_have_their_recorded_history(measure):
    result, folder, _ = measure("--agentic", "--iterations", 2)
    assert [one["name"] for one in result["categories"]] == ["SWE Agent"]
    turns = result["categories"][0]["prompts"]
    assert [turn["number"] for turn in turns] == [1, 2, 3]
    rows = [json.loads(row)["messages"]
            for row in (folder / "client_prompts.jsonl").read_text().splitlines()]
    assert [len(row) for row in rows] == [1, 2, 4, 6] * 2
    assert [m["role"] for m in rows[3]] == ["system", "user", "assistant", "user", "assistant",
                                            "user"]
    assert rows[3][1:4] == rows[2][1:]
    # Each turn has a salt of its own, so that no server has its beginning in a cache.
    systems = [row[0]["content"].split("\n", 1) for row in rows[1:4]]
    assert len({salt for salt, _ in systems}) == 3 and len({text for _, text in systems}) == 1


def test_an_agents_recorded_tool_calls_run_on_a_copy_and_are_timed(assay, measure, tmp_path):
    def call(command):
        return json.dumps({"type": "tool_use", "name": "execute", "input": {"command": command}})

    config = config_of(tmp_path / "config", IsAgentic=True, Delay=0, Iterations=1)
    agent = json.loads((config.parent / "a.json").read_text())
    agent["prompts"] = [{"system": "wake"}, {"user": "q"}, {"agent": "See:\n```\n" + call(
        "cat tools_sandbox/a && touch tools_sandbox/b") + "\n```"}, {"user": "r"}, {"agent": "end"}]
    for name in "abc":
        (config.parent / f"{name}.json").write_text(json.dumps(agent))
    box = tmp_path / "tools_sandbox"
    box.mkdir()
    (box / "a").write_text("one")
    refused = assay("client", config, "--tools", box, "--endpoint", "http://127.0.0.1:9",
                    "--model", "m", code=2)
    assert "--allow-code" in refused.err
    plain, _, done = measure(config, name="plain")
    assert plain["categories"][0]["tools_s"] is None and "2 recorded tool calls" in done.err
    result, folder, _ = measure(config, "--tools", box, "--allow-code")
    turns = [turn["tools_s"] for turn in result["categories"][0]["prompts"]]
    assert len(turns) == 4  # two of each of the two files: one with a call, one without
    assert turns[0] > 0 and turns[1] == 0 and turns[2] > 0 and turns[3] == 0
    assert result["categories"][0]["tools_s"] == pytest.approx(sum(turns))
    assert result["mlperf_client"]["category_results"]["Code Analysis"]["Is Agentic"]
    assert [one.name for one in box.iterdir()] == ["a"]
    assay("verify", folder)


def test_energy_of_a_meter_stands_in_the_result(measure):
    meter = 'while :; do echo "{\\"value\\": 50}"; sleep 0.02; done'
    result, _, done = measure("--meter-command", meter, "--delay", "20ms")
    (energy,) = result["energy"]
    assert energy["boundary"] == "meter" and energy["watts"] == pytest.approx(50)
    assert energy["joules"] > 0 and "50.0 W" in done.out
    assert energy["joules_per_output_token"] == pytest.approx(energy["joules"] / (40 * TOKENS))


def test_a_run_that_never_began_leaves_nothing(assay, endpoint, tmp_path):
    server = endpoint("--model", "tiny", "--strict-model")
    folder = tmp_path / "none"
    assay("client", "--endpoint", server.url, "--model", "other", "--report-dir", folder,
          code=2)
    assert not folder.exists()


def test_without_a_server_it_says_what_to_start(assay, endpoint, tmp_path):
    refused = assay("client", "--port", 1, code=3)
    assert "--endpoint" in refused.err
    assert "no server" in assay("client", "--list", "--port", 1, code=3).out
    server = endpoint("--model", "tiny")
    listed = assay("client", "--list", "--json", "--port", server.url.rsplit(":", 1)[1]).json()
    assert listed[0]["models"] == ["tiny"] and listed[0]["url"] == server.url


def test_what_cannot_be_honoured_is_refused_with_words(assay, tmp_path):
    images = config_of(tmp_path / "images", Name="txt2img")
    assert "makes images" in assay("client", images, "--port", 1, code=2).err
    far = config_of(tmp_path / "far", InputFilePath=["https://host/prompts/a.json"])
    assert "nothing is downloaded" in assay("client", far, "--port", 1, code=2).err
    wrong = config_of(tmp_path / "wrong", Iterations=0, Delay=9)
    err = assay("client", wrong, "--port", 1, code=2).err
    assert "Scenarios[0].Iterations" in err and "Scenarios[0].Delay" in err
    assert "--scenario" in assay("client", config_of(tmp_path / "one"), "--scenario", "Other",
                                 "--port", 1, code=2).err


class Watched:
    """A client run in the background with its page; ended as Ctrl-C does."""

    def __init__(self, port, folder):
        self.process = subprocess.Popen(
            [os.environ["ASSAY_BIN"], "client", "--port", str(port), "--page", "0", "--quiet",
             "--report-dir", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True)
        self.url = None
        for line in self.process.stderr:
            if found := re.search(r"page at (http://\S+)", line):
                self.url = urllib.parse.urlsplit(found.group(1))
                break
        assert self.url, "it ended before it named its page"
        self.token = self.url.query.removeprefix("token=")

    def ask(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection(self.url.netloc, timeout=30)
        connection.request(method, path, headers={k.title(): v for k, v in headers.items()})
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        return reply.status, reply.headers, text

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.stderr.read()
        return self.process.wait(60)


@pytest.fixture
def watched(endpoint, tmp_path):
    server = endpoint("--ttft", "20ms", "--itl", "20ms", "--osl", 20, "--model", "tiny")
    run = Watched(server.url.rsplit(":", 1)[1], tmp_path / "run")
    yield run
    if run.process.poll() is None:
        run.stop()


def test_the_page_shows_the_run_only_to_a_browser_with_the_token(watched, tmp_path):
    for path in ("/", "/figures", "/live.js", "/?token=wrong", "/?token="):
        assert watched.ask(path)[0] == 401, path
    status, headers, _ = watched.ask("/?token=" + watched.token)
    assert status == 303 and headers["Location"] == "/"
    cookie = headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    ours = {"cookie": cookie.split(";")[0]}
    assert watched.ask("/figures", cookie=ours["cookie"] + "x")[0] == 401
    assert watched.ask("/figures", host="evil.example", **ours)[0] == 403
    assert watched.ask("/figures", method="POST", **ours)[0] == 405
    assert watched.ask("/../etc/passwd", **ours)[0] == 404
    status, headers, page = watched.ask("/", **ours)
    assert status == 200 and "default-src 'none'" in headers["Content-Security-Policy"]
    assert "://" not in page  # nothing is loaded from elsewhere
    told = json.loads(watched.ask("/figures", **ours)[2])
    while told["done"] < 1:  # each answer is another look at the run
        told = json.loads(watched.ask("/figures", **ours)[2])
    assert told["planned"] == 40 and told["running"] and told["model"] == "tiny"
    assert told["category"].startswith("Content Generation")
    assert told["ttft_ms"] >= 20 and 0 < told["tokens_per_s"] <= 50.5
    assert watched.stop() == 130
    result = json.loads((tmp_path / "run" / "client_result.json").read_text())
    assert result["state"] == "interrupted" and "not asked as often" in result["overall"]["why"]
