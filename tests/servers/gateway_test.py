"""LiteLLM as a gateway before `assay endpoint`: each kind that it passes on is measured so."""

import json
import os

import pytest
from programs import beside_python, free_port, running

MODELS = {"m": ("openai/m", "chat"), "vectors": ("openai/vectors", "embedding"),
          "pictures": ("openai/dall-e-3", "image_generation"),
          "ears": ("openai/whisper-1", "audio_transcription"),
          "voice": ("openai/tts-1", "audio_speech")}
TTFT_MS = 20
KEY = "sk-" + "7" * 32  # the gateway wants one


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    from conftest import Server
    server = Server(["--ttft", f"{TTFT_MS}ms", "--itl", "1ms", "--osl", "8"])
    folder = tmp_path_factory.mktemp("litellm")
    # JSON is YAML.
    (folder / "config.yaml").write_text(json.dumps({"model_list": [
        {"model_name": name,
         "litellm_params": {"model": model, "api_base": f"{server.url}/v1", "api_key": "any"},
         "model_info": {"mode": mode}} for name, (model, mode) in MODELS.items()]}))
    port = free_port()
    with running([beside_python("litellm"), "--config", folder / "config.yaml", "--port", port,
                  "--host", "127.0.0.1"], port, "/health/liveliness", folder,
                 {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MASTER_KEY": KEY}):
        yield f"http://127.0.0.1:{port}"
    server.stop()


def measured(assay, gateway, folder, api, model, *flags):
    return assay("run", "--endpoint", gateway, "--model", model, "--api-type", api, "--samples", 8,
                 "--concurrency", 2, "--report-dir", folder, "--quiet", "--json",
                 "--allow-client-limited", "--api-key-env", "GATEWAY_KEY", *flags,
                 env={"GATEWAY_KEY": KEY}).json()


@pytest.mark.parametrize("api", ["openai", "openai_responses", "anthropic_messages"])
def test_text(assay, gateway, tmp_path, api):
    summary = measured(assay, gateway, tmp_path / "run", api, "m", "--isl", 20, "--osl", 8)
    assert summary["n_samples_completed"] == 8 and summary["n_samples_failed"] == 0
    assert summary["output_sequence_lengths"]["total"] == 8 * 8
    # The gateway adds to what the endpoint takes.
    assert summary["ttft"]["min"] >= TTFT_MS * 1e6


@pytest.mark.parametrize("api, model, flags", [
    ("openai_embeddings", "vectors", ["--isl", 20]),
    ("openai_images", "pictures", ["--isl", 20]),
    ("openai_speech", "voice", ["--isl", 20])])
def test_what_is_no_text(assay, gateway, tmp_path, api, model, flags):
    summary = measured(assay, gateway, tmp_path / "run", api, model, *flags)
    assert summary["n_samples_completed"] == 8 and summary["n_samples_failed"] == 0
    if api != "openai_speech":
        assert summary["assay"]["units"]["completed"] == 8


def test_transcripts(assay, gateway, tmp_path):
    summary = measured(assay, gateway, tmp_path / "run", "openai_transcriptions", "ears",
                       "--streaming", "off", "--class", "one,audio=200ms,isl=4", "--class",
                       "two,audio=1s,isl=4")
    assert summary["n_samples_completed"] == 8
    assert [one["name"] for one in summary["classes"]["classes"]] == ["one", "two"]
