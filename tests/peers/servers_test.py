"""`assay run` against the field's own servers: what vLLM, SGLang and others stand on."""

import pathlib
import signal
import subprocess
import sys

import app
import pytest

HERE = pathlib.Path(__file__).resolve().parent
QUERIES = 60


@pytest.fixture
def server():
    """server("uvicorn") -> the port that serves app.py behind it."""
    running = []

    def start(*args):
        process = subprocess.Popen([sys.executable, "-B", HERE / "serve.py", *map(str, args)],
                                   stdout=subprocess.PIPE, text=True, cwd=HERE)
        running.append(process)
        line = process.stdout.readline()
        assert line.strip().isdigit(), f"{args[0]} did not start"
        return int(line)

    yield start
    for process in running:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-keyout", folder / "key.pem", "-out", folder / "cert.pem", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
                   check=True, capture_output=True)
    return folder / "cert.pem", folder / "key.pem"


def measure(assay, tmp_path, url, *flags):
    return assay("run", "--endpoint", url, "--model", "m", "--samples", QUERIES, "--concurrency", 8,
                 "--report-dir", tmp_path / "run", "--quiet", "--json", "--allow-client-limited",
                 *flags).json()


def check_whole(result, streamed):
    assert result["n_samples_issued"] == QUERIES
    assert result["n_samples_completed"] == QUERIES
    assert result["n_samples_failed"] == 0
    lengths = result["output_sequence_lengths"]
    assert (lengths["min"], lengths["max"]) == (app.TOKENS, app.TOKENS)
    if streamed:
        assert result["ttft"]["min"] > 0
        assert result["tpot"]["min"] >= 0


@pytest.mark.parametrize("streaming", ["on", "off"])
@pytest.mark.parametrize("name", ["uvicorn", "aiohttp", "http10", "hypercorn"])
def test_http_1(assay, server, tmp_path, name, streaming):
    url = f"http://127.0.0.1:{server(name)}"
    check_whole(measure(assay, tmp_path, url, "--streaming", streaming), streaming == "on")


@pytest.mark.parametrize("streaming", ["on", "off"])
def test_http_2_with_prior_knowledge(assay, server, tmp_path, streaming):
    url = f"http://127.0.0.1:{server('hypercorn')}"
    result = measure(assay, tmp_path, url, "--http", "2", "--streaming", streaming)
    check_whole(result, streaming == "on")


def test_http_2_over_tls_by_negotiation(assay, server, certificate, tmp_path):
    port = server("hypercorn", *certificate)
    url = f"https://127.0.0.1:{port}"
    check_whole(measure(assay, tmp_path, url, "--ca-file", certificate[0]), True)
