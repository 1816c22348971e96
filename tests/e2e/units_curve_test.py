"""Curves of replies without tokens: measured, gated by latency and the completion rate, reported in
their unit, decided, packed, checked and shown; and the form of replies judged at each point."""

import json
import wave

import pytest

LEVELS = "1,4"
SERVICE_S = 0.04


@pytest.fixture
def curve(assay, endpoint, tmp_path):
    """curve(api, flags) -> the folder of a quick curve."""

    def go(api, *flags, server=(), levels=LEVELS):
        url = endpoint("--ttft", f"{SERVICE_S}s", *server).url
        folder = tmp_path / f"{api}-{len(list(tmp_path.iterdir()))}"
        assay("curve", "--endpoint", url, "--model", "m", "--api-type", api, "--concurrency",
              levels, "--quick", "--report-dir", folder, "--allow-client-limited", *flags)
        return folder

    return go


def points_of(assay, folder, *flags):
    summary = assay("report", folder, "--json", *flags).json()
    return summary, {point["name"]: point for point in summary["points"]}


def units_rule(assay, tree):
    """How often the rule on units was asked of a packed tree, and how many errors it found."""
    (rule,) = [rule for rule in assay("check", tree, "--json", code=1).json()["rules"]
               if rule["rule"] == "metric-consistency-units"]
    return rule["asked"], rule["errors"]


def test_a_curve_of_images_has_its_unit_from_the_plan_to_the_explorer(assay, curve, explorer,
                                                                      tmp_path):
    folder = curve("openai_images", "--prompts", 12, "--isl", 20)
    limits = ("--price", "10", "--slo", "latency_p90<=10s")
    summary, points = points_of(assay, folder, *limits)
    assert summary["unit"] == "image"
    for name, level in (("r1", 1), ("r4", 4)):
        figures = points[name]["official"]
        # A slot ends one image in a service time: known, less what the client and the machine add.
        assert 0 < figures["units_per_s"] <= level / SERVICE_S
        assert figures["latency_p90_ms"] >= 1000 * SERVICE_S
        assert figures["system_tps"] is None and figures["tps_per_user"] is None
        thousand = 10 / 3600 / figures["units_per_s"] * 1000
        assert points[name]["dollars_per_thousand_units"] == pytest.approx(thousand)
        run = json.loads(
            (folder / f"points/{name}/performance/result_summary.json").read_text())
        steady = run["steady_state"]
        assert [metric["name"] for metric in steady["metrics"]] == ["latency_p90",
                                                                    "completion_rate"]
        assay("verify", folder / f"points/{name}")
    told = assay("report", folder, *limits).out
    assert "images/s" in told and "latency P90" in told and "$/1000 images" in told
    assert "tok/s" not in told and "TTFT" not in told
    page = tmp_path / "curve.html"
    assay("report", folder, "--html", page)
    assert "images/s" in page.read_text() and "tok/s" not in page.read_text()
    answer = assay("decide", f"{folder},price=10", "--slo", "latency_p90<=10s").out
    assert "a thousand images" in answer and "4 users at once" in answer
    tree = tmp_path / "tree"
    answers = tmp_path / "answers.yaml"
    answers.write_text("system: {division: Standardized, system_name: Example}\n")
    assay("pack", folder, "--out", tree, "--answers", answers)
    assert units_rule(assay, tree) == (2, 0)
    (file,) = tree.rglob("r4/result_summary.json")
    packed = json.loads(file.read_text())
    packed["assay"]["units"]["per_second"] *= 1.05
    file.write_text(json.dumps(packed))
    assert units_rule(assay, tree) == (2, 1)
    store = tmp_path / "store.sqlite"
    assay("import", folder / "points/r4", "--store", store)
    shown = explorer("--store", store).get("curves?model=m")
    (point,) = shown["items"][0]["points"]
    assert point["unit"] == "image" and point["units_per_s"] > 0


def test_rows_of_documents_and_sounds_warm_up_with_themselves(assay, curve, tmp_path, sounds):
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(
        json.dumps({"prompt": f"question {i}", "documents": ["a", "b", "c"]}) + "\n"
        for i in range(8)))
    summary, points = points_of(assay, curve("rerank", "--dataset", rows, levels=4))
    assert summary["unit"] == "document"
    assert points["r4"]["official"]["units_per_s"] > 0
    summary, points = points_of(
        assay, curve("openai_transcriptions", "--dataset", sounds,
                     server=("--osl", 4, "--itl", "1ms"), levels=4))
    # Transcripts are tokens.
    assert summary["unit"] is None
    assert points["r4"]["official"]["system_tps"] > 0


@pytest.fixture
def sounds(tmp_path):
    rows = []
    for i in range(4):
        with wave.open(str(tmp_path / f"{i}.wav"), "wb") as sound:
            sound.setnchannels(1)
            sound.setsampwidth(2)
            sound.setframerate(8000)
            sound.writeframes(bytes(1600))
        rows.append({"audio": f"{i}.wav"})
    path = tmp_path / "sounds.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


TOOL = {"type": "function", "function": {
    "name": "weather",
    "parameters": {"type": "object", "required": ["city"],
                   "properties": {"city": {"type": "string"}}}}}


def test_tool_calls_are_judged_at_each_point(assay, curve, tmp_path):
    rows = tmp_path / "tools.jsonl"
    # The endpoint calls the tool with the smallest arguments that fit: right for one row in two.
    rows.write_text("".join(
        json.dumps({"prompt": f"the weather of {i}?", "tools": [TOOL],
                    "expected_calls": [{"name": "weather", "arguments": {
                        "city": "lorem ipsum" if i % 2 else "Bern"}}]}) + "\n"
        for i in range(8)))
    folder = curve("openai", "--keep-text", "on", "--dataset",
                   f"perf:{rows},accuracy_config.eval_method=tool_calls")
    _, points = points_of(assay, folder)
    for name in ("r1", "r4"):
        shares = {one["metric"]: one["score"] for one in points[name]["accuracy"]}
        assert shares == {"called": 100, "right_tool": 100, "valid": 100, "right_arguments": 50}


def test_structured_output_is_judged_by_the_schema_that_was_sent(assay, endpoint, tmp_path):
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    sent = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    replies = ['{"n": 1}', '{"n": "one"}', "n is 1", '{"n": 2}']
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(
        json.dumps({"prompt": f"number {i} please", "body.response_format": sent,
                    "expected": {"n": 1}, "reply": reply}) + "\n"
        for i, reply in enumerate(replies)))
    server = endpoint("--answers", f"{rows},prompt=prompt,answer=reply")
    folder = tmp_path / "run"
    assay("run", "--endpoint", server.url, "--model", "m", "--samples", 8, "--concurrency", 2,
          "--osl", 32, "--keep-text", "on", "--report-dir", folder, "--allow-client-limited",
          "--dataset", f"perf:{rows},accuracy_config.eval_method=json_schema")
    (entry,) = json.loads((folder / "accuracy/accuracy_results.json").read_text())[
        "accuracy_scores"]
    assert entry["score"] == {"json": 75, "valid": 50, "equal": 25}
    verdicts = tmp_path / "verdicts.jsonl"
    assay("score", folder, "--verdicts", verdicts)
    why = {line["sample"]: line["rule"] for line in map(json.loads,
                                                        verdicts.read_text().splitlines())}
    assert why == {0: "valid", 1: '/n: "one" is not of type integer', 2: "no JSON", 3: "valid"}
