"""`assay mcp`: the commands as an agent's tools, over the program's standard input and output."""

import json
import os
import pathlib
import signal
import subprocess

import pytest

from conftest import program


class Agent:
    """Speaks to one `assay mcp`, message by message. Reads wait for the server, never for time."""

    def __init__(self, folder, *flags):
        self.process = subprocess.Popen([program(), "mcp", "--folder", folder, *flags], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.notes = []
        self.last = 0
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                "clientInfo": {"name": "test", "version": "0"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def begin(self, method, params):
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def read(self):
        line = self.process.stdout.readline()
        assert line, "the server has ended"
        return json.loads(line)

    def reply_of(self, number):
        while True:
            message = self.read()
            if message.get("id") == number:
                return message
            self.notes.append(message)

    def ask(self, method, params):
        return self.reply_of(self.begin(method, params))

    def call(self, name, **arguments):
        reply = self.ask("tools/call", {"name": name, "arguments": arguments})
        assert "result" in reply, reply
        return reply["result"]

    def endpoint(self, **arguments):
        """The number and the URL of an endpoint that the server runs."""
        ready = self.call("endpoint", port=0, **arguments)["structuredContent"]
        return ready["service"], ready["said"]


@pytest.fixture
def agent(tmp_path):
    started = []

    def start(*flags):
        started.append(Agent(tmp_path, *flags))
        return started[-1]

    yield start
    for one in started:
        one.process.stdin.close()
        one.process.wait(60)
        one.process.stdout.close()


def test_every_command_is_a_tool_with_a_schema(agent, assay):
    listed = agent("--allow-write").ask("tools/list", {})["result"]["tools"]
    tools = {tool["name"]: tool for tool in listed}
    table = assay("--help").out.split("Commands\n")[1].split("\n\n")[0]
    commands = [line.split()[0] for line in table.splitlines()]
    # What leaves a site is for a person to decide, and so is which program is started.
    not_tools = {"mcp", "site", "hub", "pipeline", "conformance", "launch"}
    assert set(commands) - not_tools <= set(tools) and not not_tools & set(tools)
    for tool in tools.values():
        schema = tool["inputSchema"]
        assert schema["type"] == "object" and schema["additionalProperties"] is False
        assert all(part.get("description") for part in schema["properties"].values()), tool["name"]
    assert tools["run"]["inputSchema"]["properties"]["concurrency"]


def test_no_tool_starts_a_program_of_the_agents_choice(agent, tmp_path):
    writer = agent("--allow-write", "--allow-remote")
    _, url = writer.endpoint(osl="4")
    mark = tmp_path / "mark"
    refused = writer.call("run", endpoint=url, model="m", samples=4, report_dir=str(tmp_path / "r"),
                          meter_command=f"touch {mark}")
    assert refused["structuredContent"]["exit_code"] == 2, refused
    assert "ASSAY_NO_PROGRAMS" in json.dumps(refused)
    assert not mark.exists()


def test_without_a_right_to_write_no_tool_leaves_a_file(agent, tmp_path):
    reader = agent()
    tools = reader.ask("tools/list", {})["result"]["tools"]
    assert not {"run", "curve", "pack", "import"} & {tool["name"] for tool in tools}
    # A flag of a reading command that writes: the kernel refuses it.
    _, url = reader.endpoint(osl="4")
    refused = reader.call("simulate", hardware="h100-sxm", model="llama-3.1-8b",
                          html=str(tmp_path / "x.html"))
    assert refused["structuredContent"]["exit_code"] == 3, refused
    assert url.startswith("http://127.0.0.1:")
    assert list(tmp_path.iterdir()) == []


def test_a_run_against_its_own_endpoint_with_progress(agent, tmp_path):
    worker = agent("--allow-write")
    service, url = worker.endpoint(osl="8", ttft="2ms", itl="1ms")
    number = worker.begin("tools/call", {
        "name": "run", "_meta": {"progressToken": "p"},
        "arguments": {"endpoint": url, "model": "assay", "samples": 40, "concurrency": "4",
                      "report_dir": "one", "allow_client_limited": True}})
    result = worker.reply_of(number)["result"]
    assert not result["isError"], result["content"]
    assert result["structuredContent"]["output"]["n_samples_completed"] == 40
    assert (tmp_path / "one" / "assay" / "run.json").exists()
    progress = [note["params"]["progress"] for note in worker.notes
                if note.get("method") == "notifications/progress"]
    assert progress == sorted(set(progress))
    report = worker.call("report", run="one")["structuredContent"]["output"]
    assert report["system_tps"] == result["structuredContent"]["output"]["system_tps"]
    assert worker.call("stop_service", service=service)["isError"] is False
    assert worker.call("list_services")["structuredContent"]["services"] == []


def test_a_reading_command_may_use_a_folder_that_it_throws_away(agent):
    reference = pathlib.Path(__file__).parent.parent / "data" / "reference_run"
    result = agent().call("report", run=str(reference))
    assert result["structuredContent"]["output"], result["content"]


def test_an_address_beyond_this_machine_is_refused(agent):
    reader = agent()
    result = reader.call("probe", url="http://192.0.2.1:8000", timeout="5s")
    assert "ASSAY_LOOPBACK_ONLY" in result["content"][0]["text"]


def test_a_cancelled_run_ends_and_its_call_gets_no_reply(agent, tmp_path):
    worker = agent("--allow-write")
    _, url = worker.endpoint(osl="8", ttft="5ms", itl="1ms")
    number = worker.begin("tools/call", {
        "name": "run", "arguments": {"endpoint": url, "model": "assay", "duration": "10m",
                                     "concurrency": "2", "report_dir": "long"}})
    log = tmp_path / "long" / "assay" / "events-0.alog"
    while not log.exists():
        worker.ask("ping", {})
    worker.send({"jsonrpc": "2.0", "method": "notifications/cancelled",
                 "params": {"requestId": number}})
    summary = tmp_path / "long" / "performance" / "result_summary.json"
    while not summary.exists():
        worker.ask("ping", {})
    assert all(note.get("id") != number for note in worker.notes)


def test_errors_reach_the_agent_in_the_programs_words(agent):
    reader = agent()
    missing = reader.call("report", run="nowhere")
    assert missing["isError"] and missing["structuredContent"]["exit_code"] == 2
    assert "nowhere" in missing["content"][0]["text"]
    assert "did you mean" in reader.call("probe", ur="http://127.0.0.1:1")["content"][0]["text"]
    assert reader.ask("tools/call", {"name": "nothing"})["error"]["code"] == -32602
    assert reader.ask("no/such", {})["error"]["code"] == -32601


def test_the_end_of_input_ends_what_was_started(tmp_path):
    one = Agent(tmp_path)
    _, url = one.endpoint(osl="4")
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(one.process.pid)],
                              capture_output=True, text=True).stdout.split()
    assert children
    one.process.stdin.close()
    assert one.process.wait(60) == 0
    one.process.stdout.close()
    for child in children:
        with pytest.raises(ProcessLookupError):
            os.kill(int(child), signal.SIGTERM)


def test_a_line_beyond_the_limit_is_refused_and_the_next_one_is_read(agent):
    reader = agent()
    reader.process.stdin.write('{"x": "' + "a" * (5 << 20) + '"}\n')
    assert reader.read()["error"]["code"] == -32700
    assert reader.ask("ping", {})["result"] == {}
