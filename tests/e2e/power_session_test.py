"""A power session with MLCommons' director: hand-shake, two runs of one load, the session's files.
The director is simulated from its documented conversation; it refuses what is out of order."""

import datetime
import json
import socketserver
import time

import pytest

from conftest import serving

WATTS = 640.0


class Conversation(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            command = line.decode().strip()
            self.server.heard.append(command)
            reply = self.server.reply(command)
            self.wfile.write(reply if isinstance(reply, bytes) else f"{reply}\r\n".encode())


class Director(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    session = "2026-11-26_20-00-00_night"

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Conversation)
        self.heard, self.begun, self.logs = [], None, {}
        self.expected = ["mlcommons/power client v3"]
        # A director's clock is near ours; its analyzer's log has a zone of its own.
        self.apart_s, self.zone = 0.05, datetime.timedelta(hours=5, minutes=30)

    def log(self, mark):
        """A sample each 20 ms from the start of the measurement until now."""
        now, lines = time.time(), []
        at = self.begun
        while at <= now:
            stamp = datetime.datetime.fromtimestamp(at, datetime.timezone.utc) + self.zone
            text = stamp.strftime("%m-%d-%Y %H:%M:%S.") + f"{stamp.microsecond // 1000:03}"
            lines.append(f"Time,{text},Watts,{WATTS},Volts,230.1,Amps,3.1,PF,0.9,Mark,{mark}\n")
            at += 0.02
        return "".join(lines)

    def reply(self, command):
        words = command.split(",")
        if command == "mlcommons/power client v3":
            return "mlcommons/power server v3"
        if command == "time":
            return f"{time.time() + self.apart_s}"
        if command == "set_ntp":
            self.apart_s = min(self.apart_s, 0.1) if self.apart_s < 100 else self.apart_s
            return "OK"
        if words[0] == "new":
            return f"OK {self.session},7f3a2c00-0000-4000-8000-000000000001"
        if words[:2] == ["session", self.session]:
            return self.act(words[2:])
        if words[:2] == ["download", self.session]:
            data = self.logs.get(words[2], f"{words[2]}\n").encode()
            return b"".join(b"%d\r\n%s" % (len(data[i:i + 1000]), data[i:i + 1000])
                            for i in range(0, len(data), 1000)) + b"0\r\n"
        return "OK" if words[:2] == ["cleanup", self.session] else "Error: not understood"

    def act(self, words):
        if words[0] == "start" and self.begun is None:
            self.begun = time.time()
            return "OK"
        if words[0] == "stop" and self.begun is not None:
            folder = "ranging" if words[1] == "ranging" else "run_1"
            self.logs[f"{folder}/spl.txt"] = self.log(words[1])
            self.begun = None
            return "OK"
        return "OK" if words == ["done"] else "Error: out of order"


@pytest.fixture(name="director")
def a_director():
    with serving(Director()) as director:
        yield director


def run(assay, server, folder, place, code=0):
    return assay("run", "--endpoint", server.url, "--model", "m", "--concurrency", 4, "--samples",
                 80, "--osl", 20, "--report-dir", folder, "--quiet", "--json", "--power-director",
                 place, "--allow-client-limited", code=code)


def test_a_session_is_ranging_and_testing_of_one_load(assay, endpoint, tmp_path, director):
    server = endpoint("--ttft", "5ms", "--itl", "2ms", "--osl", 20)
    folder = tmp_path / "session"
    done = run(assay, server, folder, director.place + "/night").json()
    heard = [command.split(",")[0] if command.startswith("new") else command
             for command in director.heard]
    session = Director.session
    files = ["ranging/spl.txt", "run_1/spl.txt", "power/ptd_logs.txt", "power/server.json",
             "power/server.log"]
    assert heard == ["mlcommons/power client v3", "time", "new",
                     f"session,{session},start,ranging", f"session,{session},stop,ranging",
                     f"session,{session},start,testing", f"session,{session},stop,testing",
                     f"session,{session},done", *[f"download,{session},{name}" for name in files],
                     f"cleanup,{session}"]
    assert director.heard[2].split(",")[1] == "night"
    for name in ("ranging/spl.txt", "run_1/spl.txt"):
        assert (folder / name).read_text() == director.logs[name]
    client = json.loads((folder / "power/client.json").read_text())
    assert client["session_name"] == session and client["uuid"]["server"].startswith("7f3a")
    assert [len(client["phases"][phase]) for phase in ("ranging", "testing")] == [4, 4]
    assert [message["cmd"] for message in client["messages"]][1] == "time"
    # Both runs sent the same load, and the energy is of the testing run's measured phase.
    both = [json.loads((folder / name / "performance/result_summary.json").read_text())
            for name in ("ranging", "run_1")]
    assert both[0]["n_samples_issued"] == both[1]["n_samples_issued"] == 80
    power = json.loads((folder / "run_1/power.json").read_text())
    assert power == done["power"] and power["status"] == "ok"
    totals, window = power["totals"], power["window"]
    assert totals["mean_power_w"] == pytest.approx(WATTS)
    assert totals["energy_j"] == pytest.approx(WATTS * window["duration_s"])
    assert totals["energy_per_output_token_j"] == pytest.approx(
        WATTS * window["duration_s"] / totals["output_tokens"])


def test_a_clock_that_is_apart_is_set_or_refused_before_the_load(assay, endpoint, tmp_path,
                                                                director):
    server = endpoint("--ttft", "5ms", "--itl", "2ms", "--osl", 20)
    director.apart_s = 2.0
    run(assay, server, tmp_path / "set", director.place)
    assert director.heard[1:4] == ["time", "set_ntp", "time"]
    director.heard.clear()
    director.apart_s = 3600.0
    refused = run(assay, server, tmp_path / "refused", director.place, code=3)
    assert "ms apart" in refused.err and not (tmp_path / "refused/ranging").exists()
    wrong = run(assay, server, tmp_path / "wrong", "host:0", code=2)
    assert "no port" in wrong.err
