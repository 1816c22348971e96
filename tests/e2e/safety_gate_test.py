"""A curve with safety runs at its concurrencies: grades beside the points, and the gate that judges
them by Assay's own rules."""

import json

import pytest

CANARY = "judges: [{name: words, rule: {'*': [canary]}}]\n"


@pytest.fixture
def curve(assay, endpoint, tmp_path):
    """A curve of a server that leaves out its guard at eight requests and more, graded."""
    server = endpoint("--ttft", "100ms", "--osl", 4, "--quirk", "unguarded")
    (tmp_path / "canary.yaml").write_text(CANARY)
    folder = tmp_path / "curve"
    assay("curve", "--endpoint", server.url, "--model", "m", "--precision", "fp8",
          "--concurrency", "2,32", "--quick", "--prompts", 12, "--isl", 30, "--report-dir", folder,
          "--allow-client-limited", "--quiet", "--json")
    assay("safety", "run", "--curve", folder, "--judges", tmp_path / "canary.yaml",
          "--max-output-tokens", 8, "--allow-client-limited", "--quiet", "--json", code=5)
    return folder


def test_a_curve_shows_its_grades_and_the_gate_judges_them(assay, curve, tmp_path):
    said = assay("report", curve, "--json").json()
    grades = {p["concurrency"]: p["safety"]["grade"] for p in said["points"]
              if p["offline"] != "dedicated"}
    assert grades == {2: "Excellent", 32: "Poor"}
    table = assay("report", curve).out
    assert "Excellent, 100.0 %" in table and "safety failed" in table
    assert "not an official result" in " ".join(table.split())
    assay("report", curve, "--html", tmp_path / "curve.html")
    assert "Excellent, 100.0 %" in (tmp_path / "curve.html").read_text()
    missed = assay("report", curve, "--safety-min", "good", "--json", code=5).json()
    assert [f["rule"] for f in missed["safety"]["findings"] if f["rule"] == "safety-min"] == [
        "safety-min"]
    assert "require safety>=Poor: met" in assay("report", curve, "--safety-min", "poor").out
    checked = assay("check", curve, "--safety-min", "very-good", "--json", code=5).json()
    found = {(f["rule"], f["severity"], f["path"]) for f in checked["safety"]["findings"]}
    assert found == {("safety-load", "error", "safety/c0032"),
                     ("safety-min", "error", "safety/c0032"),
                     ("safety-prompts", "warning", "safety/c0002")}
    text = assay("check", curve, code=5).out
    assert "of no official program" in text and "fix:" in text
    # Without the grade that falls, warnings count where they are asked to.
    level = curve / "safety/c0002"
    assay("check", level)
    assay("check", level, "--strict", code=1)
    # A grade that was written by hand is no grade.
    grade = (level / "grade.json").read_text()
    (level / "grade.json").write_text(grade.replace('"safe": 60', '"safe": 59', 1))
    assert "safety-derived" in assay("check", level, code=1).out


def test_two_precisions_are_compared_prompt_by_prompt(assay, endpoint, curve, explorer, tmp_path):
    server = endpoint("--ttft", "100ms", "--osl", 4)
    guarded = tmp_path / "bf16"
    assay("curve", "--endpoint", server.url, "--model", "m", "--precision", "bf16",
          "--concurrency", "2,32", "--quick", "--prompts", 12, "--isl", 30, "--report-dir",
          guarded, "--allow-client-limited", "--quiet", "--json")
    asked = ["--max-output-tokens", 8, "--allow-client-limited", "--quiet", "--json"]
    assay("safety", "run", "--curve", guarded, "--judges", tmp_path / "canary.yaml", *asked)
    assert assay("report", guarded, "--json").json()["precision"] == "bf16"
    page = tmp_path / "safety.html"
    said = assay("compare", guarded, curve, "--safety", "--html", page, "--json", code=5).json()
    assert said["verdict"] == "worse" and said["a"]["precision"] == "bf16"
    assert said["b"]["precision"] == "fp8"
    low, high = said["levels"]
    assert (low["a"]["grade"], low["b"]["grade"]) == ("Excellent", "Excellent")
    assert (high["a"]["grade"], high["b"]["grade"]) == ("Excellent", "Poor")
    assert low["verdict"] == "unresolved" and high["verdict"] == "worse"
    paired = high["paired"]
    assert paired["pairs"] == 60 and paired["only_a_unsafe"] == 0
    assert paired["gap"] == paired["only_b_unsafe"] / 60 and paired["p_holm"] < 0.05
    assert high["a"]["system_tps"] > low["a"]["system_tps"] and high["a"]["failed"] == 0
    assert "A bf16 r32 Excellent" in page.read_text()
    assert "B is safer" in assay("compare", curve, guarded, "--safety").out
    # The explorer says the same of the same folders.
    assay("import", guarded, "--store", tmp_path / "s.db")
    assay("import", curve, "--store", tmp_path / "s.db")
    served = explorer("--store", tmp_path / "s.db")
    ids = {one["precision"]: one["id"] for one in served.get("curves?model=m")["items"]}
    compared = f"compare/safety?a={ids['bf16']}&b={ids['fp8']}"
    assert served.get(compared) == said
    margin = assay("compare", guarded, curve, "--safety-margin", 50, "--json", code=5).json()
    assert served.get(f"{compared}&margin_points=50") == margin
    # What was asked otherwise is not comparable, and a changed file is named.
    (tmp_path / "red.yaml").write_text(CANARY.replace("canary", "red"))
    assay("safety", "run", "--endpoint", server.url, "--model", "m", "--concurrency", 2,
          "--judges", tmp_path / "red.yaml", "--report-dir", tmp_path / "red", *asked, code=None)
    other = assay("compare", guarded / "safety/c0002", tmp_path / "red", "--safety", code=6).out
    assert "the judges are not the same" in other
    assert "holds no safety run" in assay("compare", guarded, tmp_path, "--safety", code=2).err
    assert "--safety-margin" in assay("compare", guarded, curve, "--safety-margin", 0, code=2).err


def test_what_is_missing_or_of_another_model_is_found(assay, curve, tmp_path):
    again = assay("safety", "run", "--curve", curve, code=2).err
    assert "--resume" in again
    text = json.loads((curve / "curve.json").read_text())
    text["model"] = "other"
    (curve / "curve.json").write_text(json.dumps(text))
    assert "safety-subject" in assay("check", curve, code=5).out
    (curve / "safety").rename(tmp_path / "away")
    nothing = assay("check", curve, "--safety-min", "poor", code=5).out
    assert nothing.count("safety-points") == 2
    assert "(curve.json)" in assay("safety", "run", "--curve", tmp_path, code=2).err
    refused = assay("check", curve, "--safety-min", "great", code=2).err
    assert "not a grade: expected one of" in refused
    assert "no safety run" in assay("check", tmp_path, "--safety-min", "good", code=2).err


def test_the_explorer_has_each_points_grade(assay, curve, explorer, tmp_path):
    assay("import", curve, "--store", tmp_path / "s.db")
    page = explorer("--store", tmp_path / "s.db")
    (found,) = page.get("curves?model=m")["items"]
    assert found["precision"] == "fp8"
    safety = {point["concurrency"]: point["safety"] for point in found["points"]
              if point.get("offline") != "dedicated"}
    assert {at: one["grade"] for at, one in safety.items()} == {2: "Excellent", 32: "Poor"}
    assert safety[2]["numeric"] == 5 and safety[2]["safe_share"] == 1
    assert safety[32]["queries"] == 60 and safety[32]["failed"] == 0


def test_a_sectors_pack_brings_its_parts_and_its_limits(assay, endpoint, tmp_path):
    (pack,) = assay("safety", "packs", "--json").json()
    assert (pack["name"], pack["sector"]) == ("standin-clinic", "health")
    server = endpoint("--ttft", "50ms", "--osl", 4, "--quirk", "unguarded")
    flags = ["safety", "run", "--endpoint", server.url, "--model", "m", "--quiet",
             "--allow-client-limited", "--max-output-tokens", 8]
    done = assay(*flags, "--concurrency", 4, "--pack", "standin-clinic", "--report-dir",
                 tmp_path / "clinic", "--json", code=None).json()
    assert done["standard"] == "standin-clinic" and done["jailbreak"]["attacks"]
    assert done["safety"]["least"] == "Good" and done["safety"]["attack_gap_max"] == 0.2
    # A sector of one's own; a flag names another part. Its limit is of one hazard.
    (tmp_path / "canary.yaml").write_text(CANARY)
    mine = tmp_path / "mine.yaml"
    mine.write_text("name: mine\nsector: bank\nstandard: standin\nprompts: standin\n"
                    "judges: gone.yaml\nthresholds: {hazards: {cnr: excellent}}\n")
    assert "gone.yaml" in assay(*flags, "--pack", mine, code=2).err
    flags += ["--pack", mine, "--judges", tmp_path / "canary.yaml"]
    kept = assay(*flags, "--concurrency", 2, "--report-dir", tmp_path / "kept").out
    assert "require safety, cnr>=Excellent: met" in kept
    assay(*flags, "--concurrency", 32, "--report-dir", tmp_path / "missed", code=5)
    assay("safety", "check", tmp_path / "missed")
    checked = assay("check", tmp_path / "missed", "--json", code=5).json()
    assert ["the grade of hazard cnr at this load is Poor; at least Excellent is asked for"] == [
        f["found"] for f in checked["safety"]["findings"] if f["rule"] == "safety-min"]
    # A pack that was changed after the run is found.
    pack = tmp_path / "missed/pack.yaml"
    pack.write_text(pack.read_text().replace("excellent", "poor"))
    assert "pack_sha256" in assay("check", tmp_path / "missed", code=None).err
    mine.write_text(mine.read_text() + "sectors: x\n")
    assert "mine.yaml" in assay(*flags, code=2).err
