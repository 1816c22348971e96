"""What replies make is kept by its hash: found by sample, the same bytes once, judged by programs,
verified, and a disk that takes no more is named."""

import hashlib
import json
import resource
import subprocess
import sys

import pytest

from conftest import TIMEOUT_S, program

JUDGE = """
import hashlib, json, sys
good = []
for line in open(sys.argv[1]):
    row = json.loads(line)
    found = row.get("artefacts", [])
    right = bool(found) and all(
        hashlib.sha256(open(one["path"], "rb").read()).hexdigest() == one["sha256"]
        for one in found)
    good.append({"sample": row["sample"], "score": 1 if right else 0})
score = sum(one["score"] for one in good) / len(good)
json.dump({"score": score, "samples": good}, open(sys.argv[2], "w"))
"""


def flags(url, folder, *more):
    return ["run", "--endpoint", url, "--model", "m", "--report-dir", folder, "--quiet", "--json",
            "--allow-client-limited", "--keep-artefacts", *more]


def index_of(folder):
    lines = (folder / "artefacts" / "index.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def expect_whole(folder):
    """Every line's file has the bytes that the line says; there is no other file."""
    lines = index_of(folder)
    for line in lines:
        content = (folder / line["file"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == line["sha256"]
        assert len(content) == line["bytes"]
    here = {f"artefacts/{path.name}" for path in (folder / "artefacts").iterdir()}
    assert here == {line["file"] for line in lines} | {"artefacts/index.jsonl"}
    return lines


@pytest.fixture
def pictures(tmp_path):
    path = tmp_path / "prompts.jsonl"
    path.write_text("".join(json.dumps({"prompt": f"picture {i}", "n": 2}) + "\n"
                            for i in range(4)))
    return path


def test_equal_pictures_are_one_file_and_every_reply_names_it(assay, endpoint, tmp_path, pictures):
    folder = tmp_path / "run"
    assay(*flags(endpoint().url, folder, "--api-type", "openai_images", "--dataset", pictures,
                 "--samples", 6, "--warmup", "--warmup-requests", 3))
    lines = expect_whole(folder)
    # Warm-up replies are in no count, and are not kept.
    assert len(lines) == 12
    assert {line["type"] for line in lines} == {"image/png"}
    assert len({line["file"] for line in lines}) == 1
    assert {line["sample"] for line in lines} <= set(range(4))
    assert sorted({line["query"] for line in lines}) == list(range(6))


@pytest.mark.parametrize("api, ending, more", [
    ("openai_videos", "mp4", ("--poll-interval", "10ms")),
    ("videogen", "mp4", ("--extra-body", '{"response_format": "video_bytes"}')),
    ("openai_speech", "pcm", ()),
    ("openai_speech", "wav", ("--extra-body", '{"response_format": "wav"}')),
    ("openai_speech", "pcm", ("--extra-body", '{"stream_format": "sse"}'))])
def test_videos_and_sounds_are_kept_as_they_came(assay, endpoint, tmp_path, api, ending, more):
    folder = tmp_path / "run"
    done = assay(*flags(endpoint("--osl", 5).url, folder, "--api-type", api, "--isl", 9, "--osl",
                        5, "--samples", 3, *more)).json()
    lines = expect_whole(folder)
    assert len(lines) == 3
    assert all(line["file"].endswith("." + ending) for line in lines)
    if api == "openai_videos":
        assert {line["bytes"] for line in lines} == {24 + 5 * 1024}
    if ending == "pcm":
        assert {line["bytes"] for line in lines} == {5 * 24 * 48}  # 24 ms a token, at 48 a ms
        assert done["assay"]["audio"]["seconds"] == pytest.approx(3 * 5 * 0.024)


def test_a_program_judges_what_was_made_and_a_changed_file_is_found(assay, endpoint, tmp_path,
                                                                    pictures):
    folder = tmp_path / "run"
    assay(*flags(endpoint().url, folder, "--api-type", "openai_images", "--dataset", pictures,
                 "--passes", 1))
    judge = tmp_path / "judge.py"
    judge.write_text(JUDGE)
    extras = json.dumps({"command": [sys.executable, str(judge), "{replies}", "{result}"],
                         "jail": False})
    said = assay("score", folder, "--scorer", "external", "--extras", extras, "--json").json()
    assert said["accuracy_scores"][0]["score"] == 1
    assert said["accuracy_scores"][0]["response_counts"] == {
        "issued": 4, "scored": 4, "empty": 0, "missing": 0}
    assay("verify", folder)
    kept = folder / index_of(folder)[0]["file"]
    kept.write_bytes(kept.read_bytes() + b"x")
    assert kept.name in assay("verify", folder, code=1).out


def test_kinds_that_make_no_files_are_refused_before_the_run(assay, endpoint, tmp_path):
    said = assay(*flags(endpoint().url, tmp_path / "run", "--isl", 5, "--samples", 1), code=2)
    assert "leave --keep-artefacts out" in said.err
    assert not (tmp_path / "run").exists()


def test_a_disk_that_takes_no_more_is_named_and_the_load_goes_on(endpoint, tmp_path):
    """Files up to a size stand for a disk that is full."""
    folder = tmp_path / "run"
    limit = 256 * 1024
    done = subprocess.run(
        [program(), *map(str, flags(endpoint("--osl", 512).url, folder, "--api-type",
                                    "openai_videos", "--isl", 9, "--samples", 3,
                                    "--poll-interval", "10ms"))],
        capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["n_samples_completed"] == 3
    assert "artefacts of 3 replies are lost" in done.stderr
    assert index_of(folder) == []
