"""`--profile vllm`: the server's own profiler is started before the measured queries and stopped
after them, and a server without one does not end the run."""

import http.server
import json

import pytest

from conftest import serving


class Profiler(http.server.BaseHTTPRequestHandler):
    """Answers /start_profile and /stop_profile, and keeps what was asked."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.server.asked.append((self.path, self.headers.get("Content-Length")))
        known = self.path.endswith(("/start_profile", "/stop_profile"))
        self.send_response(self.server.status if known else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.fixture
def profiler():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Profiler)
    server.asked, server.status = [], 200
    with serving(server):
        yield server


def run(assay, server, profiler, folder, *flags):
    return assay("run", "--endpoint", server.url, "--model", "m", "--concurrency", 2,
                 "--samples", 8, "--osl", 2, "--profile", "vllm", "--profile-urls",
                 profiler.url + "/v1", "--report-dir", folder, "--allow-client-limited", *flags)


@pytest.mark.parametrize("flags", [[], ["--warmup", "--warmup-requests", "4"]],
                         ids=["at once", "after a warm-up"])
def test_the_profiler_is_started_and_stopped(assay, endpoint, profiler, tmp_path, flags):
    server = endpoint("--ttft", "2ms", "--itl", "1ms")
    done = run(assay, server, profiler, tmp_path / "run", *flags)
    assert "profiler" not in done.err
    assert profiler.asked == [("/start_profile", "0"), ("/stop_profile", "0")]
    told = json.loads((tmp_path / "run/profiling.json").read_text())
    assert told["engine"] == "vllm"
    assert [call["status"] for call in told["starts"] + told["stops"]] == [200, 200]
    assert told["starts"][0]["url"] == profiler.url + "/start_profile"
    assert told["stops"][0]["stop_reason"] == "phase_end"
    assert told["starts"][0]["sent_at_ns"] < told["stops"][0]["sent_at_ns"]
    assay("verify", tmp_path / "run")


def test_a_server_without_a_profiler_does_not_end_the_run(assay, endpoint, profiler, tmp_path):
    server = endpoint("--ttft", "2ms", "--itl", "1ms")
    profiler.status = 404
    done = run(assay, server, profiler, tmp_path / "run")
    assert "started without its profiler" in done.err
    told = json.loads((tmp_path / "run/profiling.json").read_text())
    assert told["starts"][0]["error"] == "HTTP 404" and told["stops"] == []
