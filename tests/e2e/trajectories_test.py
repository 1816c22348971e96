"""Trajectories of agents, replayed as graphs at the built-in endpoint."""

import http.server
import json
import threading
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "data" / "trajectories"


def config_of(tmp_path, server, data, agentic="{inject_tool_delay: true}", concurrency=1,
              api="openai"):
    config = tmp_path / "config.yaml"
    config.write_text(f"""
model_params: {{name: m, streaming: 'on', max_new_tokens: 32}}
datasets:
  - {{name: agents, path: {data}, type: performance, agentic_inference: {agentic}}}
settings:
  load_pattern: {{type: agentic_inference, target_concurrency: {concurrency}}}
endpoint_config: {{endpoints: ['{server.url}'], api_type: {api}}}
""")
    return config


def run(assay, config, folder, code=0):
    done = assay("run", "--config", config, "--report-dir", folder, "--json",
                 "--allow-client-limited", code=code)
    return done.json() if code == 0 else done


def test_branches_run_side_by_side_and_each_agent_has_its_figures(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "40ms", "--osl", 4)
    folder = tmp_path / "run"
    config = config_of(tmp_path, server, EXAMPLES / "own.jsonl",
                       "{inject_tool_delay: true, num_trajectories_to_issue: 4}")
    figures = run(assay, config, folder)["trajectories"]
    assert (figures["planned"], figures["begun"], figures["succeeded"]) == (4, 4, 4)
    assert figures["nodes"]["sent"] == figures["nodes"]["planned"] == 14
    agents = {one["name"]: one for one in figures["agents"]}
    assert agents["main"]["nodes"]["succeeded"] == 10
    assert agents["search"]["nodes"]["succeeded"] == 4
    path = figures["critical_path"]
    assert sum(path.values()) == pytest.approx(1)
    assert sum(one["critical_share"] for one in agents.values()) == pytest.approx(
        path["replies_share"])
    # Two of a trajectory's four replies overlap: the sum of the replies is above the path's.
    assert figures["parallel"]["max"] > 1 and figures["parallel"]["count"] == 4
    assert path["tools_share"] > 0
    text = assay("report", folder).out
    for line in ("trajectories", "critical path", "agent", "search: 4 of 4 queries", "digest"):
        assert line in text
    assay("verify", folder)
    # Nobody may change what the log does not say.
    summary = folder / "performance/result_summary.json"
    summary.write_text(summary.read_text().replace('"critical_share"', '"critical_part"', 1))
    assay("verify", folder, code=1)


@pytest.mark.parametrize("name, nodes", [("own.jsonl", 7), ("weka.json", 3), ("otel.jsonl", 4),
                                         ("mooncake.jsonl", 3)])
def test_each_kind_of_trace_is_sent_twice_the_same(assay, endpoint, tmp_path, name, nodes):
    server = endpoint("--ttft", "1ms", "--osl", 3)
    config = config_of(tmp_path, server, EXAMPLES / name,
                       "{inject_tool_delay: true, idle_cap_s: 0.01}")
    first, second = (run(assay, config, tmp_path / folder)["trajectories"] for folder in "ab")
    assert first["nodes"]["sent"] == first["nodes"]["succeeded"] == nodes
    assert first["sent_digest"] == second["sent_digest"]
    assert first["dropped"] == second["dropped"]


def test_other_work_has_another_digest_and_is_not_compared(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "1ms", "--osl", 3)
    one = json.loads((EXAMPLES / "own.jsonl").read_text().splitlines()[0])
    data = tmp_path / "many.jsonl"
    folders = []
    for change in ("", "!"):
        one["nodes"][3]["messages"][0]["content"] += change
        data.write_text(json.dumps(one) + "\n")
        folders.append(tmp_path / f"run{change or 'a'}")
        config = config_of(tmp_path, server, data, "{num_trajectories_to_issue: 10}")
        run(assay, config, folders[-1])
    done = assay("compare", *folders, code=None)
    assert done.code != 0 and "what was sent" in done.out + done.err


class FailsOnWord(http.server.BaseHTTPRequestHandler):
    """A chat API that answers 500 where the request says `unlucky`."""
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
        body = json.dumps({"choices": [{"index": 0, "finish_reason": "stop",
                                        "message": {"role": "assistant", "content": "ok"}}],
                           "usage": {"prompt_tokens": 3, "completion_tokens": 1}}).encode()
        self.send_response(500 if "unlucky" in asked else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def moody():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), FailsOnWord)
    server.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_what_waits_for_a_failed_query_is_given_up_and_counted(assay, moody, tmp_path):
    ask = [{"role": "user", "content": "x"}]
    data = tmp_path / "fails.jsonl"
    data.write_text(json.dumps({"trajectory": "t", "nodes": [
        {"id": "plan", "messages": ask},
        {"id": "bad", "agent": "search", "after": ["plan"],
         "messages": [{"role": "user", "content": "unlucky"}]},
        {"id": "good", "agent": "other", "after": ["plan"], "messages": ask},
        {"id": "merge", "after": ["bad", "good"], "messages": ask}]}) + "\n")
    config = config_of(tmp_path, moody, data)
    config.write_text(config.read_text().replace("streaming: 'on'", "streaming: 'off'"))
    run(assay, config, tmp_path / "run", code=None)
    summary = json.loads((tmp_path / "run/performance/result_summary.json").read_text())
    figures = summary["trajectories"]
    nodes = figures["nodes"]
    assert (nodes["sent"], nodes["succeeded"], nodes["failed"], nodes["given_up"]) == (3, 2, 1, 1)
    assert (figures["succeeded"], figures["failed"]) == (0, 1)
    assert [(one["name"], one["nodes"]["given_up"]) for one in figures["agents"]] == [
        ("main", 1), ("search", 0), ("other", 0)]


def test_a_cycle_is_refused_before_anything_is_asked(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "1ms", "--osl", 3)
    ask = [{"role": "user", "content": "x"}]
    data = tmp_path / "cycle.jsonl"
    data.write_text(json.dumps({"trajectory": "t", "nodes": [
        {"id": "a", "after": ["b"], "messages": ask},
        {"id": "b", "after": ["a"], "messages": ask}]}) + "\n")
    done = run(assay, config_of(tmp_path, server, data), tmp_path / "run", code=2)
    assert "cycle.jsonl:1" in done.err and "wait for each other (a after b after a)" in done.err


def test_token_ids_are_exactly_as_many_as_a_trace_says(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "1ms", "--osl", 3)
    config = config_of(tmp_path, server, EXAMPLES / "mooncake.jsonl", "{}",
                       api="openai_completions")
    summary = run(assay, config, tmp_path / "run")
    counted = json.loads((tmp_path / "run/performance/result_summary.json").read_text())
    assert summary["trajectories"]["nodes"]["succeeded"] == 3
    assert counted["input_sequence_lengths"]["max"] in (600, 1100)
