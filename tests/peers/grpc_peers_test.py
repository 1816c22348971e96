"""KServe's inference over gRPC against gRPC's own library: Triton's client of our endpoint, and a
server of `grpcio` under `assay run` and `assay probe`. The messages are those that Triton's client
was generated with."""

import json
from concurrent import futures

import grpc
import httpx
import numpy
import pytest
import tritonclient.grpc
import tritonclient.http
from tritonclient.grpc import service_pb2, service_pb2_grpc
from tritonclient.utils import InferenceServerException

VALUES = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)


@pytest.fixture
def triton(endpoint):
    """triton(flags of the endpoint...) -> Triton's client of it."""
    clients = []

    def connect(*flags):
        url = endpoint(*flags).url.removeprefix("http://")
        clients.append(tritonclient.grpc.InferenceServerClient(url))
        return clients[-1]

    yield connect
    for client in clients:
        client.close()


def inputs_of(kind):
    numbers = kind.InferInput("x", [2, 3], "FP32")
    numbers.set_data_from_numpy(VALUES)
    words = kind.InferInput("s", [2, 1], "BYTES")
    words.set_data_from_numpy(numpy.array([["a"], ["longer"]], dtype=object))
    return [numbers, words]


def test_tritons_client_finds_a_server_that_is_ready(triton):
    client = triton("--model", "m", "--strict-model")
    assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("m")
    assert client.get_server_metadata().name == "assay"
    output, = client.get_model_metadata("m").outputs
    assert (output.name, output.datatype, list(output.shape)) == ("scores", "FP32", [-1, 10])
    with pytest.raises(InferenceServerException, match="unknown model: 'other'"):
        client.get_model_metadata("other")


def test_an_inference_is_the_same_over_grpc_and_over_http(endpoint):
    url = endpoint().url.removeprefix("http://")
    seen = []
    for kind in (tritonclient.grpc, tritonclient.http):
        client = kind.InferenceServerClient(url)
        wanted = [kind.InferRequestedOutput("y"), kind.InferRequestedOutput("z")]
        reply = client.infer("m", inputs_of(kind), outputs=wanted, request_id="7")
        seen.append([reply.as_numpy(name) for name in ("y", "z")])
        client.close()
    assert seen[0][0].shape == (2, 10)
    numpy.testing.assert_array_equal(seen[0], seen[1])
    assert not numpy.array_equal(seen[0][0], seen[0][1])


def test_many_calls_at_once_share_one_connection(triton):
    client = triton("--ttft", "20ms")
    waiting = [futures.Future() for _ in range(200)]
    for future in waiting:
        client.async_infer(
            "m", inputs_of(tritonclient.grpc),
            callback=lambda result, error, future=future: future.set_result((result, error)))
    done = [future.result(60) for future in waiting]
    assert all(error is None for _, error in done)
    scores = [result.as_numpy("scores") for result, _ in done]
    assert all(numpy.array_equal(scores[0], one) for one in scores)


def test_a_large_tensor_passes_the_windows_of_both_ends(triton):
    values = numpy.ones((1, 3_000_000), dtype=numpy.float32)
    whole = tritonclient.grpc.InferInput("x", values.shape, "FP32")
    whole.set_data_from_numpy(values)
    assert triton().infer("m", [whole]).as_numpy("scores").shape == (1, 10)


@pytest.mark.parametrize("flags,words", [
    (["--quirk", "http500"], "INTERNAL"), (["--quirk", "http429"], "RESOURCE_EXHAUSTED"),
    (["--quirk", "error-in-stream"], "aborted"), (["--api-key", "k"], "UNAUTHENTICATED")])
def test_tritons_client_reads_a_failure(triton, flags, words):
    with pytest.raises(InferenceServerException, match=words):
        triton(*flags).infer("m", inputs_of(tritonclient.grpc))


def test_tritons_client_reads_a_refusal_and_a_deadline(triton):
    with pytest.raises(InferenceServerException, match="1 to 64 tensors"):
        triton().infer("m", [])
    with pytest.raises(InferenceServerException, match="[Dd]eadline"):
        triton("--ttft", "30s").infer("m", inputs_of(tritonclient.grpc), client_timeout=0.3)


@pytest.mark.parametrize("tls", [False, True])
def test_a_client_of_http_2_reads_a_chat_stream(endpoint, tls):
    server = endpoint("--osl", 12, *(["--tls"] if tls else []))
    with httpx.Client(http1=tls, http2=True, verify=False, timeout=30) as client:
        question = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
        with client.stream("POST", f"{server.url}/v1/chat/completions", json=question) as reply:
            assert reply.http_version == "HTTP/2" and reply.status_code == 200
            lines = [line for line in reply.iter_lines() if line]
        assert lines[-1] == "data: [DONE]"
        assert client.get(f"{server.url}/v1/models").json()["data"]
        assert client.head(f"{server.url}/health").status_code == 200


class Service(service_pb2_grpc.GRPCInferenceServiceServicer):
    """Adds up each input; FP32 out. Typed or raw as it was asked to be."""

    def __init__(self, raw):
        self.raw = raw
        self.asked = []

    def ServerReady(self, request, context):
        return service_pb2.ServerReadyResponse(ready=True)

    def ServerMetadata(self, request, context):
        return service_pb2.ServerMetadataResponse(name="peer", version="9")

    def ModelReady(self, request, context):
        return service_pb2.ModelReadyResponse(ready=request.name == "m")

    def ModelMetadata(self, request, context):
        reply = service_pb2.ModelMetadataResponse(name=request.name)
        reply.inputs.add(name="image", datatype="FP32", shape=[-1, 3])
        return reply

    def ModelInfer(self, request, context):
        self.asked.append(request)
        if request.model_name != "m":
            context.abort(grpc.StatusCode.NOT_FOUND, "no model: 100 % sure ✓")
        reply = service_pb2.ModelInferResponse(model_name="m", id=request.id)
        sums = numpy.array([float(len(request.inputs))], dtype=numpy.float32)
        output = reply.outputs.add(name="sums", datatype="FP32", shape=[1])
        if self.raw:
            reply.raw_output_contents.append(sums.tobytes())
        else:
            output.contents.fp32_contents.extend(sums)
        return reply


@pytest.fixture
def service():
    """service(raw) -> (URL, what it was asked) of a server of grpcio."""
    running = []

    def start(raw=True):
        server = grpc.server(futures.ThreadPoolExecutor(4))
        own = Service(raw)
        service_pb2_grpc.add_GRPCInferenceServiceServicer_to_server(own, server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        running.append(server)
        return f"http://127.0.0.1:{port}", own.asked

    yield start
    for server in running:
        server.stop(None).wait()


def infer(assay, tmp_path, url, dataset, *flags, code=0):
    return json.loads(assay("run", "--endpoint", url, "--api-type", "kserve_grpc", "--dataset",
                            dataset, "--report-dir", tmp_path / "run", "--quiet", "--json",
                            "--allow-client-limited", *flags, code=code).out)


@pytest.fixture
def arrays(tmp_path):
    numpy.savez(tmp_path / "arrays.npz", image=numpy.arange(18, dtype=numpy.float32).reshape(6, 3))
    return tmp_path / "arrays.npz"


@pytest.mark.parametrize("raw", [True, False])
def test_a_server_of_grpcio_gets_the_arrays_and_its_replies_are_read(assay, tmp_path, service,
                                                                     arrays, raw):
    url, asked = service(raw)
    summary = infer(assay, tmp_path, url, arrays, "--model", "m", "--samples", 60, "--concurrency",
                    8)
    assert summary["n_samples_completed"] == 60
    rows = {request.raw_input_contents[0] for request in asked}
    assert rows == {numpy.arange(i, i + 3, dtype=numpy.float32).tobytes() for i in range(0, 18, 3)}
    one = asked[0].inputs[0]
    assert (one.name, one.datatype, list(one.shape)) == ("image", "FP32", [1, 3])


def test_a_server_of_grpcio_gets_typed_contents_and_parameters(assay, tmp_path, service):
    url, asked = service()
    row = {"inputs": [{"name": "x", "shape": [2], "datatype": "INT8", "data": [-3, 4],
                       "parameters": {"kind": "a"}},
                      {"name": "b", "shape": [2], "datatype": "BOOL", "data": [True, False]},
                      {"name": "d", "shape": [1], "datatype": "FP64", "data": [0.1]},
                      {"name": "u", "shape": [1], "datatype": "UINT64", "data": [7]},
                      {"name": "t", "shape": [1], "datatype": "BYTES", "data": ["é"]}],
           "outputs": [{"name": "sums"}], "parameters": {"deep": True, "rate": 0.5, "n": -4}}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    summary = infer(assay, tmp_path, url, tmp_path / "rows.jsonl", "--model", "m", "--samples", 2)
    assert summary["n_samples_completed"] == 2
    request = asked[0]
    ints, bools, doubles, unsigned, texts = (one.contents for one in request.inputs)
    assert list(ints.int_contents) == [-3, 4] and list(bools.bool_contents) == [True, False]
    assert list(doubles.fp64_contents) == [0.1] and list(unsigned.uint64_contents) == [7]
    assert list(texts.bytes_contents) == ["é".encode()]
    assert request.inputs[0].parameters["kind"].string_param == "a"
    assert request.parameters["deep"].bool_param and request.parameters["n"].int64_param == -4
    assert request.parameters["rate"].double_param == 0.5
    assert [one.name for one in request.outputs] == ["sums"] and not request.raw_input_contents


def test_a_status_of_grpcio_is_named_with_its_words(assay, tmp_path, service, arrays):
    url, _ = service()
    summary = infer(assay, tmp_path, url, arrays, "--model", "other", "--samples", 1,
                    "--no-preflight", code=7)
    failure, = summary["assay"]["failures"]
    assert failure["outcome"] == "stream_error"
    assert "gRPC NOT_FOUND (5): no model: 100 % sure ✓" in failure["examples"][0]["detail"]


def test_probe_reads_what_a_server_of_grpcio_says(assay, service):
    url, _ = service()
    found = assay("probe", url, "--api", "kserve_grpc", "--model", "m", "--json").json()
    said = {one["topic"]: one["text"] for one in found["findings"]}
    assert found["answers"] and said["server"] == "it is peer 9"
    assert said["tensors"] == "inputs image FP32[-1,3]; outputs any"
