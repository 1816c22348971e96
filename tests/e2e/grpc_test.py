"""KServe's inference over gRPC, and HTTP/2 on `assay endpoint`: from `assay run` to the built-in
endpoint and back, with and without TLS."""

import json
import struct
import zipfile

import pytest

MS = 1e6  # result files count nanoseconds
TYPED = [{"name": "x", "shape": [2, 1], "datatype": "INT32", "data": [1, -2]},
         {"name": "s", "shape": [1], "datatype": "BYTES", "data": ["a text"]}]


@pytest.fixture
def tensors(tmp_path):
    """A data set of one array of six rows."""
    values = [float(i) for i in range(18)]
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (6, 3), }\n"
    path = tmp_path / "tensors.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("image.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
                         + header.encode() + struct.pack("<18f", *values))
    return path


@pytest.fixture
def infer(assay, tmp_path, tensors):
    """infer(server, flags...) -> the summary of a run over gRPC."""

    def go(server, *flags, code=0, dataset=tensors):
        folder = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        done = assay("run", "--endpoint", server.url, "--model", "m", "--api-type", "kserve_grpc",
                     "--dataset", dataset, "--report-dir", folder, "--quiet", "--json",
                     "--allow-client-limited", *flags, code=code)
        return json.loads(done.out)

    return go


def failures(summary):
    return [(one["outcome"], one["count"], one["examples"][0]["detail"])
            for one in summary["assay"]["failures"]]


def test_tensors_are_asked_over_grpc_and_counted_as_inferences(infer, endpoint):
    summary = infer(endpoint("--ttft", "5ms"), "--concurrency", 2, "--samples", 12)
    assert summary["n_samples_completed"] == 12
    assert summary["assay"]["units"]["name"] == "inference"
    assert summary["assay"]["units"]["completed"] == 12
    assert summary["latency"]["min"] >= 5 * MS


def test_many_calls_share_connections_and_come_with_tls_too(infer, endpoint):
    server = endpoint("--ttft", "2ms", "--tls")
    summary = infer(server, "--concurrency", 150, "--samples", 600, "--insecure")
    assert summary["n_samples_completed"] == 600


def test_a_rows_inputs_go_as_typed_contents(infer, endpoint, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"inputs": TYPED}) + "\n")
    assert infer(endpoint(), "--samples", 3, dataset=rows)["n_samples_completed"] == 3
    wrong = [{**TYPED[0], "data": [1, 2, 3]}]
    rows.write_text(json.dumps({"inputs": wrong}) + "\n")
    with pytest.raises(AssertionError, match="tensor 'x'.*3 elements, and the shape has 2"):
        infer(endpoint(), "--samples", 3, dataset=rows)


@pytest.mark.parametrize("name,outcome,words", [
    ("http500", "stream_error", "gRPC INTERNAL (13)"),
    ("http429", "stream_error", "gRPC RESOURCE_EXHAUSTED (8)"),
    ("error-in-stream", "stream_error", "gRPC INTERNAL (13): The request was aborted"),
    ("cut-close", "reset", "stream reset"),
    ("cut-reset", "reset", "stream reset")])
def test_a_call_that_fails_is_named(infer, endpoint, name, outcome, words):
    summary = infer(endpoint("--quirk", name), "--samples", 2, "--no-preflight", code=7)
    (seen, count, said), = failures(summary)
    assert (seen, count) == (outcome, 2) and words in said


def test_a_key_that_is_missing_is_unauthenticated(infer, endpoint):
    summary = infer(endpoint("--api-key", "secret"), "--samples", 1, "--no-preflight", code=7)
    (outcome, _, said), = failures(summary)
    assert outcome == "stream_error" and "gRPC UNAUTHENTICATED (16)" in said


def test_a_time_limit_ends_a_call(infer, endpoint):
    summary = infer(endpoint("--ttft", "30s"), "--samples", 1, "--no-preflight",
                    "--query-timeout", "300ms", code=7)
    assert failures(summary)[0][0] == "timed_out"


def test_http_1_cannot_carry_it(assay, endpoint, tensors):
    said = assay("run", "--endpoint", endpoint().url, "--model", "m", "--api-type", "kserve_grpc",
                 "--dataset", tensors, "--http", "1.1", "--samples", 1, code=2).err
    assert "HTTP/2" in said and "--http" in said


def test_probe_asks_whether_server_and_model_are_ready(assay, endpoint):
    url = endpoint().url
    found = assay("probe", url, "--api", "kserve_grpc", "--model", "m", "--json").json()
    assert found["answers"]
    said = {one["topic"]: one["text"] for one in found["findings"]}
    assert said["ready"] == "the server is ready" and said["model"] == "the model is ready"
    assert said["tensors"] == "inputs any; outputs scores FP32[-1,10]"
    assert "kserve_grpc" in assay("probe", url, "--json").json()["kinds"]


def test_probe_names_the_status_of_a_refusal(assay, endpoint):
    url = endpoint("--api-key", "secret").url
    out = assay("probe", url, "--api", "kserve_grpc", "--model", "m", code=None)
    assert out.code != 0 and "UNAUTHENTICATED (16)" in out.out


@pytest.mark.parametrize("tls", [False, True])
def test_chat_over_http_2_is_measured_as_the_endpoint_wrote_it(assay, endpoint, tmp_path, tls):
    truth, folder = tmp_path / "truth.log", tmp_path / "run"
    server = endpoint("--osl", 20, "--ttft", "20ms", "--itl", "2ms", "--truth-log", truth,
                      *(["--tls"] if tls else []))
    summary = json.loads(
        assay("run", "--endpoint", server.url, "--model", "m", "--http", "2", "--concurrency", 30,
              "--samples", 90, "--report-dir", folder, "--quiet", "--json", "--insecure",
              "--allow-client-limited").out)
    server.stop()
    assert summary["n_samples_completed"] == 90
    assert summary["output_sequence_lengths"]["total"] == 90 * 20
    assert summary["ttft"]["min"] >= 20 * MS
    errors = assay("report", folder, "--truth", truth, "--json").json()
    assert (errors["replies"], errors["unmatched"]) == (90, 0)
    assert errors["token"]["count"] == 90 * 20


@pytest.mark.parametrize("name,outcome", [("gzip-forced", "bad_reply"), ("no-done", "ok"),
                                          ("http500", "http_error"), ("cut-close", "reset"),
                                          ("split-utf8", "ok"), ("not-streamed", "ok"),
                                          ("close-delimited", "ok")])
def test_quirks_come_over_http_2_as_far_as_it_has_them(assay, endpoint, tmp_path, name, outcome):
    server = endpoint("--osl", 8, "--quirk", name)
    done = assay("run", "--endpoint", server.url, "--model", "m", "--http", "2", "--samples", 2,
                 "--report-dir", tmp_path / "run", "--quiet", "--json", "--no-preflight",
                 "--allow-client-limited", code=0 if outcome == "ok" else 7)
    summary = json.loads(done.out)
    seen = {"ok": summary["n_samples_completed"],
            **{one["outcome"]: one["count"] for one in summary["assay"]["failures"]}}
    assert seen.get(outcome) == 2, seen
