"""MLServer, as KServe deploys it: tensors that come back as they went, over HTTP and over gRPC."""

import json

import numpy
import pytest
from programs import beside_python, free_port, running

ECHO = '''
from mlserver import MLModel
from mlserver.types import InferenceResponse, ResponseOutput


class Echo(MLModel):
    async def load(self):
        return True

    async def predict(self, payload):
        outputs = [ResponseOutput(name="out_" + one.name, shape=one.shape, datatype=one.datatype,
                                  data=one.data, parameters=one.parameters)
                   for one in payload.inputs]
        return InferenceResponse(model_name=self.name, outputs=outputs)
'''


@pytest.fixture(scope="module")
def ports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlserver")
    http_port, grpc_port = free_port(), free_port()
    (folder / "echo.py").write_text(ECHO)
    (folder / "settings.json").write_text(json.dumps({
        "http_port": http_port, "grpc_port": grpc_port, "metrics_port": free_port(),
        "host": "127.0.0.1", "parallel_workers": 0}))
    (folder / "model-settings.json").write_text(json.dumps(
        {"name": "echo", "implementation": "echo.Echo"}))
    with running([beside_python("mlserver"), "start", "."], http_port, "/v2/models/echo/ready",
                 folder):
        yield {"kserve_json": http_port, "kserve_grpc": grpc_port}


@pytest.mark.parametrize("api", ["kserve_json", "kserve_grpc"])
def test_tensors(assay, ports, tmp_path, api):
    rows = numpy.random.default_rng(3).normal(size=(5, 4, 3)).astype(numpy.float32)
    numpy.savez(tmp_path / "x.npz", pixels=rows)
    folder = tmp_path / "run"
    summary = assay("run", "--endpoint", f"http://127.0.0.1:{ports[api]}", "--model", "echo",
                    "--api-type", api, "--dataset", tmp_path / "x.npz", "--samples", 10,
                    "--concurrency", 2, "--keep-text", "on", "--events-jsonl", "--report-dir",
                    folder, "--quiet", "--json", "--allow-client-limited").json()
    assert summary["n_samples_completed"] == 10 and summary["n_samples_failed"] == 0
    assay("verify", folder)
    found = assay("probe", f"http://127.0.0.1:{ports[api]}", "--api", api, "--model", "echo",
                  "--json").json()
    assert found["answers"]
