"""Seldon's MLServer on a model that adds up: KServe v2 over HTTP in JSON, and over gRPC. It
reads no tensors in bytes over HTTP."""

import json
import os

import numpy
import pytest

from servers.programs import beside_python, free_port, running

# The last of a row is the sum of the others. Anything else is an error of the model's.
CHECK = """
def checked(array):
    rows = array.reshape(-1, 3)
    if array.dtype != numpy.float32 or not (rows[:, :2].sum(axis=1) == rows[:, 2]).all():
        raise ValueError(f"not what was sent: {array.dtype} {rows.tolist()}")
    return rows[:, 2:].copy()
"""
MODEL = """
import numpy
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceResponse
""" + CHECK + """
class Sums(MLModel):
    async def load(self):
        return True

    async def predict(self, payload):
        sums = checked(NumpyCodec.decode_input(payload.inputs[0]))
        return InferenceResponse(model_name=self.name,
                                 outputs=[NumpyCodec.encode_output("sums", sums)])
"""
IN_JSON, GRPC = "kserve_json", "kserve_grpc"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlserver")
    (folder / "sums.py").write_text(MODEL)
    (folder / "model-settings.json").write_text(json.dumps({"name": "sums",
                                                            "implementation": "sums.Sums"}))
    http, grpc = free_port(), free_port()
    (folder / "settings.json").write_text(json.dumps({
        "host": "127.0.0.1", "http_port": http, "grpc_port": grpc, "metrics_port": free_port(),
        "parallel_workers": 0}))
    with running([beside_python("mlserver"), "start", folder], http, "/v2/health/ready", folder,
                 {**os.environ, "PYTHONPATH": str(folder)}):
        yield {"http": http, "grpc": grpc}


def url_of(server, api):
    return f"http://127.0.0.1:{server['grpc' if api == GRPC else 'http']}"


def measured(assay, server, api, folder, *flags, model="sums", **how):
    rows = numpy.array([(i, 0.5, i + 0.5) for i in range(6)], dtype=numpy.float32)
    numpy.savez(folder / "rows.npz", row=rows)
    return assay("run", "--endpoint", url_of(server, api), "--model", model, "--api-type", api,
                 "--dataset", folder / "rows.npz", "--samples", 24, "--concurrency", 3,
                 "--report-dir", folder / "run", "--quiet", "--json", "--allow-client-limited",
                 *flags, **how).json()


@pytest.mark.parametrize("api", [IN_JSON, GRPC])
def test_arrays_arrive_as_they_were_and_each_reply_is_an_inference(assay, server, tmp_path, api):
    summary = measured(assay, server, api, tmp_path)
    assert summary["n_samples_completed"] == 24 and summary["n_samples_failed"] == 0
    assert summary["assay"]["units"] | {"name": "inference", "completed": 24} == (
        summary["assay"]["units"])
    assert summary["latency"]["min"] > 0


@pytest.mark.parametrize("api", [IN_JSON, GRPC])
def test_a_model_that_is_not_there_is_named_in_the_servers_words(assay, server, tmp_path, api):
    summary = measured(assay, server, api, tmp_path, "--no-preflight", model="other", code=7)
    # After 20 in a row the run gives up, and ends what is in flight.
    failure = summary["assay"]["failures"][0]
    assert failure["count"] >= 20 and "other" in failure["examples"][0]["detail"]


def test_probe_says_what_it_is(assay, server):
    found = assay("probe", url_of(server, IN_JSON), "--api", IN_JSON, "--model", "sums",
                  "--json").json()
    assert found["answers"] and IN_JSON in found["kinds"], found
    assert assay("probe", url_of(server, GRPC), "--api", GRPC, "--model", "sums",
                 "--json").json()["answers"]
