"""The suite's benchmarks of tensors over KServe's protocol: DLRMv3's stream with its barriers, and
YOLO11 at the edge. The server is a stub that answers in the suite's payloads."""

import http.server
import io
import json
import math
import random
import struct
import threading
import zipfile

import pytest

LIKED = 1


class Stub(http.server.ThreadingHTTPServer):
    """A tensor server: answer({name: numbers}) -> the floats of its output. `asked` has each
    request with the number of requests that had been answered when it came."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self, answer, width):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer, self.width = answer, width
        self.lock = threading.Lock()
        self.asked = []
        self.answered = 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        size = int(self.headers["Inference-Header-Content-Length"])
        inputs, at = {}, size
        for one in json.loads(body[:size])["inputs"]:
            end = at + one["parameters"]["binary_data_size"]
            letter = {"INT64": "q", "FP32": "f"}[one["datatype"]]
            inputs[one["name"]] = struct.unpack(
                f"<{(end - at) // struct.calcsize(letter)}{letter}", body[at:end])
            at = end
        server = self.server
        with server.lock:
            server.asked.append((inputs, server.answered))
        floats = server.answer(inputs)
        data = struct.pack(f"<{len(floats)}f", *floats)
        shape = [len(floats) // server.width, server.width]
        head = json.dumps({"model_name": "m", "outputs": [
            {"name": "out", "datatype": "FP32", "shape": shape,
             "parameters": {"binary_data_size": len(data)}}]}).encode()
        with server.lock:
            server.answered += 1
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Inference-Header-Content-Length", str(len(head)))
        self.send_header("Content-Length", str(len(head) + len(data)))
        self.end_headers()
        self.wfile.write(head + data)


@pytest.fixture(name="stub")
def fixture_stub():
    servers = []

    def start(answer, width=1):
        servers.append(Stub(answer, width))
        threading.Thread(target=servers[-1].serve_forever).start()
        return servers[-1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def rank(inputs):
    """DLRMv3's payload with labels: sure of each label, and right."""
    labels = inputs["item_action_weights"]
    count = len(labels)
    return [inputs["ts_idx"][0], inputs["query_idx"][0],
            *(0.9 if label == LIKED else 0.1 for label in labels), *labels, *[1] * count, count]


@pytest.fixture(scope="module", name="stream")
def fixture_stream(tmp_path_factory):
    return tmp_path_factory.mktemp("dlrm") / "sampled-streaming-100b"


def users_of_steps(folder):
    rows = (folder / "users_cumsum_per_ts.csv").read_text().split()
    return [int(row.strip('"').split(",")[-1]) for row in rows[90:]]


def scores_of(run):
    (one,) = json.loads((run / "accuracy/accuracy_results.json").read_text())["accuracy_scores"]
    return one["score"]


def make(assay, folder):
    if not folder.exists():
        assay("dataset", "dlrm_v3", "--write", folder, "--users", 8, "--items", 12800, "--files", 2)
    return folder


@pytest.mark.parametrize("scenario, lines", [
    ("server", "*.Server.target_qps = 300\n*.Server.min_duration = 400\n"
     "*.Server.min_query_count = 150\n*.Server.target_latency = 60000\n"
     "*.Server.target_latency_percentile = 50\n"),
    ("offline", "*.Offline.target_qps = 100\n*.Offline.min_duration = 1\n"
     "*.Offline.min_query_count = 130\n")])
def test_dlrm_v3_is_asked_step_by_step_in_its_references_order(assay, stub, stream, tmp_path,
                                                               scenario, lines):
    make(assay, stream)
    conf = tmp_path / "user.conf"
    conf.write_text(lines)
    server = stub(rank)
    done = assay("run", "--workload", "dlrm-v3", "--scenario", scenario, "--config", conf,
                 "--dataset-dir", stream.parent, "--endpoint", server.url, "--no-preflight",
                 "--mode", "perf", "--report-dir", tmp_path / "run", "--json",
                 "--allow-client-limited")
    run = done.json()
    assert run["loadgen"]["valid"], run["loadgen"]
    assert "each waits until the one before is answered" in " ".join(done.err.split())
    steps = users_of_steps(stream)
    count = len(server.asked)
    assert count == run["loadgen"]["samples"] and count >= 130
    # The order of the reference: a shuffle a step, whole passes, the rest from the last step.
    reference = random.Random(123)
    repeats = max(1, count // sum(steps))
    wanted, ends = [], [0]
    for step, users in enumerate(steps):
        order = list(range(users))
        reference.shuffle(order)
        length = users * repeats + (count % sum(steps) if step == len(steps) - 1 else 0)
        wanted.append(sorted((step, order[i % users]) for i in range(length)))
        ends.append(ends[-1] + length)
    asked = [(inputs["ts_idx"][0], inputs["query_idx"][0]) for inputs, _ in server.asked]
    assert [sorted(asked[begin:end]) for begin, end in zip(ends, ends[1:])] == wanted
    for begin, end in zip(ends, ends[1:]):
        assert all(answered >= begin for _, answered in server.asked[begin:end])
    assay("verify", tmp_path / "run")


def test_dlrm_v3_is_scored_over_the_network(assay, stub, stream, tmp_path):
    make(assay, stream)
    conf = tmp_path / "user.conf"
    conf.write_text("*.*.mode = 1\n")
    server = stub(rank)
    assay("run", "--workload", "dlrm-v3", "--scenario", "offline", "--config", conf,
          "--dataset-dir", stream.parent, "--endpoint", server.url, "--no-preflight",
          "--report-dir", tmp_path / "run", "--quiet", "--allow-client-limited", code=None)
    steps = users_of_steps(stream)
    asked = [(inputs["ts_idx"][0], inputs["query_idx"][0]) for inputs, _ in server.asked]
    assert sorted(asked) == sorted((step, i) for step, n in enumerate(steps) for i in range(n))
    for step, n in enumerate(steps):
        first = sum(steps[:step])
        assert all(answered >= first for _, answered in server.asked[first:first + n])
    score = scores_of(tmp_path / "run")
    assert score["accuracy"] == 1 and score["gauc"] == pytest.approx(1)
    labels = [label for inputs, _ in server.asked for label in inputs["item_action_weights"]]
    share = sum(labels) / len(labels)
    base = -share * math.log2(share) - (1 - share) * math.log2(1 - share)
    assert score["normalised_entropy"] == pytest.approx(-math.log2(0.9) / base, rel=1e-6)


def npy(rows, letter, shape):
    out = io.BytesIO()
    header = (f"{{'descr': '<{letter}', 'fortran_order': False, "
              f"'shape': ({', '.join(map(str, shape))}), }}")
    header += " " * (-(len(header) + 11) % 64) + "\n"
    out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    for row in rows:
        out.write(struct.pack(f"<{len(row)}{'q' if letter == 'i8' else 'f'}", *row))
    return out.getvalue()


PICTURES = 16
WIDTH, HEIGHT = 64, 48


@pytest.fixture(name="pictures")
def fixture_pictures(tmp_path):
    """A folder with the annotations and the arrays of a few pictures, each with one thing in it."""
    (tmp_path / "annotations").mkdir()
    (tmp_path / "annotations/instances_val2017_safe.json").write_text(json.dumps({
        "images": [{"id": 1000 + i, "width": WIDTH, "height": HEIGHT} for i in range(PICTURES)],
        "annotations": [{"id": i + 1, "image_id": 1000 + i, "category_id": 1 + i % 2,
                         "bbox": [8, 6, 32, 24], "area": 768, "iscrowd": 0}
                        for i in range(PICTURES)],
        "categories": [{"id": 1}, {"id": 2}]}))
    with zipfile.ZipFile(tmp_path / "coco2017-safe.npz", "w") as archive:
        archive.writestr("images.npy", npy([[i / 16] * 12 for i in range(PICTURES)], "f4",
                                           (PICTURES, 3, 2, 2)))
        archive.writestr("qsl_idx.npy", npy([[i] for i in range(PICTURES)], "i8", (PICTURES, 1)))
    return tmp_path


def detect(inputs):
    """The thing of the picture, as the suite's harness sends it; one picture has none."""
    index = inputs["qsl_idx"][0]
    if index == 5:
        return []
    return [index, 6 / HEIGHT, 8 / WIDTH, 30 / HEIGHT, 40 / WIDTH, 0.9, 1 + index % 2]


@pytest.mark.parametrize("scenario", ["single_stream", "multi_stream", "offline"])
def test_yolo11_runs_in_its_three_scenarios_of_the_edge(assay, stub, pictures, tmp_path, scenario):
    conf = tmp_path / "user.conf"
    conf.write_text("*.*.min_duration = 1\n*.SingleStream.min_query_count = 70\n"
                    "*.SingleStream.target_latency = 1\n*.MultiStream.min_query_count = 20\n"
                    "*.MultiStream.target_latency = 1\n"
                    "*.MultiStream.target_latency_percentile = 50\n"
                    "*.Offline.target_qps = 10\n*.Offline.min_query_count = 64\n*.*.mode = 0\n")
    server = stub(detect, 7)
    run = assay("run", "--workload", "yolo11l", "--scenario", scenario, "--config", conf,
                "--dataset-dir", pictures, "--endpoint", server.url, "--no-preflight",
                "--report-dir", tmp_path / "run", "--json", "--allow-client-limited",
                code=None).json()
    assert run["loadgen"]["valid"], run["loadgen"]
    if scenario == "multi_stream":
        assert run["loadgen"]["samples"] == 8 * run["loadgen"]["queries"]
    for inputs, _ in server.asked:
        assert inputs["images"] == (inputs["qsl_idx"][0] / 16,) * 12
    assert len(server.asked) == run["loadgen"]["samples"] + PICTURES
    # One of two classes has seven of its eight things: 88 of 101 steps of recall are reached.
    assert scores_of(tmp_path / "run")["mAP"] == pytest.approx(100 * (1 + 88 / 101) / 2)


def short_conf(tmp_path, lines=""):
    conf = tmp_path / "user.conf"
    conf.write_text("*.*.min_duration = 1\n*.Offline.target_qps = 10\n"
                    "*.Offline.min_query_count = 20\n" + lines)
    return conf


def test_resnet50_is_asked_for_labels_and_not_told_them(assay, stub, tmp_path):
    labels = [3, 9, 1, 4, 4, 2, 8, 0, 5, 7]
    with zipfile.ZipFile(tmp_path / "imagenet2012.npz", "w") as archive:
        archive.writestr("image.npy", npy([[label, 0.5] for label in labels], "f4", (10, 2)))
        archive.writestr("truth.label.npy", npy([[label] for label in labels], "i8", (10,)))
    wrong = 7
    server = stub(lambda inputs: [inputs["image"][0] if inputs["image"][0] != wrong else 6])
    assay("run", "--workload", "resnet50", "--scenario", "offline", "--config",
          short_conf(tmp_path, "*.*.mode = 0\n"), "--dataset-dir", tmp_path, "--endpoint",
          server.url, "--no-preflight", "--report-dir", tmp_path / "run", "--quiet",
          "--allow-client-limited", code=None)
    assert all(list(inputs) == ["image"] for inputs, _ in server.asked)
    assert scores_of(tmp_path / "run") == pytest.approx(90)
    with zipfile.ZipFile(tmp_path / "imagenet2012.npz", "w") as archive:
        archive.writestr("truth.label.npy", npy([[1]], "i8", (1,)))
    done = assay("run", "--workload", "resnet50", "--scenario", "offline", "--config",
                 short_conf(tmp_path), "--dataset-dir", tmp_path, "--endpoint", server.url, code=2)
    assert "no input" in done.err


def test_whisper_and_sdxl_are_asked_by_the_kinds_that_serve_them(assay, endpoint, tmp_path):
    (tmp_path / "wav").mkdir()
    rows = []
    for i in range(4):
        (tmp_path / f"wav/{i}.wav").write_bytes(b"RIFF" + bytes(40) + bytes([i]) * 200)
        rows.append({"files": [{"fname": f"wav/{i}.wav", "duration": 1.0}],
                     "transcript": f"number {i}", "original_duration": 1.0})
    (tmp_path / "dev-all-repack.json").write_text(json.dumps(rows))
    (tmp_path / "captions").mkdir()
    (tmp_path / "captions/captions_source.tsv").write_text(
        "id\tcaption\n" + "".join(f"{i}\ta cat of {i} colours\n" for i in range(6)))
    server = endpoint("--ttft", "1ms", "--osl", 4)
    for name, mode in (("whisper", 0), ("stable-diffusion-xl", 2)):
        run = assay("run", "--workload", name, "--scenario", "offline", "--config",
                    short_conf(tmp_path, f"*.*.mode = {mode}\n"), "--dataset-dir", tmp_path,
                    "--endpoint", server.url, "--report-dir", tmp_path / name, "--json",
                    "--allow-client-limited", code=None).json()
        assert run["loadgen"]["samples"] >= 20 and run["n_samples_failed"] == 0, run["loadgen"]
    assert "word_accuracy" in json.dumps(scores_of(tmp_path / "whisper"))


def test_test08_passes_an_honest_and_fails_a_cheating_ranker(assay, stub, stream, tmp_path):
    make(assay, stream)

    def run(name, answer, lines, *flags):
        (tmp_path / "user.conf").write_text(lines)
        assay("run", "--workload", "dlrm-v3", "--scenario", "offline", "--config",
              tmp_path / "user.conf", "--dataset-dir", stream.parent, "--endpoint",
              stub(answer).url, "--no-preflight", "--report-dir", tmp_path / name, "--quiet",
              "--allow-client-limited", *flags, code=None)
        return tmp_path / name

    audit = tmp_path / "audit.config"
    audit.write_text(assay("loadgen", "compliance", "TEST08", "--audit-config").out)
    accuracy = run("accuracy", rank, "*.*.mode = 1\n")
    short = "*.Offline.min_duration = 1\n*.Offline.min_query_count = 90\n*.*.mode = 2\n"

    def predictions(inputs):
        return rank(inputs)[:2 + len(inputs["item_action_weights"])]

    honest = run("honest", predictions, short, "--audit-config", audit)
    assert "TEST PASS" in assay("loadgen", "compliance", "TEST08", honest, "--accuracy",
                                accuracy).out
    cheat = run("cheat", lambda inputs: [*predictions(inputs)[:2],
                                         *[0.5] * len(inputs["item_action_weights"])],
                short, "--audit-config", audit)
    assert "TEST FAIL" in assay("loadgen", "compliance", "TEST08", cheat, "--accuracy", accuracy,
                                code=1).out
