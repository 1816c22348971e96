"""A run beside a power analyzer: the conversation with PTDaemon, as its documentation has it, and
the energy that follows. The daemon is simulated; it refuses every command that is out of order."""

import datetime
import json
import socketserver
import time

import pytest

from conftest import serving

WATTS, VOLTS, AMPS = 500.0, 227.37, 2.2
SAMPLE_S = 0.02  # a daemon makes one a second; a test has not the time


class Conversation(socketserver.StreamRequestHandler):
    def handle(self):
        daemon = self.server
        for line in self.rfile:
            command = line.decode().strip()
            daemon.heard.append(command)
            self.wfile.write("".join(text + "\r\n" for text in daemon.reply(command)).encode())


class Daemon(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    greeting = "Hello, PTDaemon here!"

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Conversation)
        self.heard, self.begun, self.given = [], None, 0
        self.volts, self.amps = "300", "0.5"
        # An analyzer's clock has a zone and an error of its own.
        self.ahead = datetime.timedelta(hours=-7, seconds=1.7)

    def samples(self):
        due = int((time.monotonic() - self.begun) / SAMPLE_S)
        now = datetime.datetime.now() + self.ahead
        out = []
        for number in range(self.given, due):
            at = now - datetime.timedelta(seconds=(due - 1 - number) * SAMPLE_S)
            stamp = at.strftime("%m-%d-%Y %H:%M:%S.") + f"{at.microsecond // 1000:03}"
            out.append(f"Time,{stamp},Watts,{WATTS},Volts,{VOLTS},Amps,{AMPS},PF,0.9,Mark,assay")
        self.given = due
        return out

    def reply(self, command):
        words = command.split(",")
        if command == "Hello":
            return [self.greeting]
        if command == "Identify":
            return ["YokogawaWT310E,version=1.11.1-3b5a2a2"]
        if command == "RR":
            return [f"Ranges,0,{self.amps},0,{self.volts}"]
        if words[0] == "SR" and self.begun is None:
            return [f"Range {words[1]} changed"]
        if words[0] == "Go" and self.begun is None:
            self.begun = time.monotonic()
            return ["Starting untimed measurement, maximum 500000 samples at 1000ms with 0 rampup "
                    "samples"]
        if command == "RL" and self.begun is not None:
            samples = self.samples()
            return [f"Last {len(samples)} samples", *samples]
        if command == "Stop" and self.begun is not None:
            self.begun = None
            return ["Stopping untimed measurement"]
        return ["Error: not now"]


@pytest.fixture(name="daemon")
def a_daemon():
    with serving(Daemon()) as daemon:
        yield daemon


def run(assay, server, folder, meter, code=0):
    return assay("run", "--endpoint", server.url, "--model", "m", "--concurrency", 4, "--samples",
                 80, "--osl", 20, "--report-dir", folder, "--quiet", "--json", "--meter", meter,
                 "--metrics-interval", "50ms", "--allow-client-limited", code=code)


def test_ranging_then_testing(assay, endpoint, tmp_path, daemon):
    server = endpoint("--ttft", "5ms", "--itl", "2ms", "--osl", 20)
    done = run(assay, server, tmp_path / "ranging", f"ptd:{daemon.place}")
    heard = [command for command in daemon.heard if command != "RL"]
    assert heard == ["Hello", "Identify", "RR", "SR,V,Auto", "SR,A,Auto", "Go,1000,0,assay", "Stop",
                     "SR,V,300", "SR,A,0.5"]
    said = assay("report", tmp_path / "ranging").out
    assert "/227.370/2.4200" in " ".join(said.split())
    summary = json.loads(done.out)
    (window,) = summary["observed"]["windows"]
    (energy,) = window["energy"]
    seconds = (window["to_ns"] - window["from_ns"]) / 1e9
    assert energy["boundary"] == "meter" and energy["watts"] == pytest.approx(WATTS)
    assert energy["joules"] == pytest.approx(WATTS * seconds)

    power = json.loads((tmp_path / "ranging/power.json").read_text())
    tokens = summary["output_sequence_lengths"]["total"]
    assert power["totals"]["output_tokens"] == tokens
    assert power["totals"]["energy_per_output_token_j"] == pytest.approx(
        WATTS * seconds / tokens)
    assert power["window"]["duration_s"] == pytest.approx(seconds)
    assert abs(power["window"]["end_epoch_s"] - time.time()) < 600
    assert power["sources"][0]["power_w"]["p95"] == WATTS
    assert power["sources"][0]["sample_count"] == power["provenance"]["samples_in_window"] > 2
    assay("verify", tmp_path / "ranging")

    daemon.heard.clear()
    daemon.given = 0
    run(assay, server, tmp_path / "testing", f"ptd:{daemon.place}/227.37/2.42")
    assert daemon.heard[3:5] == ["SR,V,227.37", "SR,A,2.42"]


def test_a_daemon_that_refuses_is_named_before_the_load(assay, endpoint, tmp_path, daemon):
    server = endpoint("--ttft", "5ms", "--itl", "1ms")
    daemon.greeting = "220 mail"
    done = run(assay, server, tmp_path / "run", f"ptd:{daemon.place}", code=3)
    assert "it is not a PTDaemon" in done.err
    daemon.greeting = Daemon.greeting
    daemon.begun = time.monotonic()  # another client measures
    done = run(assay, server, tmp_path / "run", f"ptd:{daemon.place}", code=3)
    assert "Error: not now" in done.err
    assert not (tmp_path / "run").exists()
