"""A run folder of the reference client for endpoints, as it stands: every command on runs takes it,
says what it lacks, and writes nothing into it."""

import json
import pathlib
import shutil

import pytest

KEPT = ["config.yaml", "events.jsonl", "sample_idx_map.json", "report.txt",
        "performance/result_summary.json", "metrics/final_snapshot.json"]
CLIENTS_OWN = pathlib.Path(__file__).resolve().parent.parent / "data" / "reference_run"


def without_our_files(run, folder):
    """The folder as the reference client would have left it: no event log of ours."""
    for name in KEPT:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(run / name, folder / name)
    return folder


def listing(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file()}


@pytest.fixture
def runs(assay, endpoint, tmp_path):
    """One run: ours, and the reference client's files of it."""
    server = endpoint("--ttft", "4ms", "--itl", "1ms", "--osl", "6")
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(json.dumps({"prompt": f"say {i}", "answer": str(i)}) + "\n"
                            for i in range(8)))
    ours = tmp_path / "ours"
    assay("run", "--endpoint", server.url, "--model", "m", "--dataset", data, "--concurrency", 4,
          "--samples", 40, "--events-jsonl", "--keep-text", "on", "--report-dir", ours, "--quiet",
          "--allow-client-limited")
    return ours, without_our_files(ours, tmp_path / "theirs")


def test_report_and_definitions_have_the_same_figures(assay, runs):
    ours, theirs = runs
    before = listing(theirs)
    a = assay("report", ours, "--json").json()
    b = assay("report", theirs, "--json").json()
    for series in ("ttft", "latency"):
        assert b[series]["percentiles"] == a[series]["percentiles"], series
    assert b["n_samples_completed"] == 40 and b["finish_reason_counts"] == a["finish_reason_counts"]
    assert b["qps"] == a["qps"] and b["assay"]["arrival"]["itl"]["percentiles"] == a["assay"][
        "arrival"]["itl"]["percentiles"]
    told = assay("report", theirs).out
    assert "kernel stamps" in told and "a verdict on the client" in told
    assert str(theirs) in told and "assay-run-" not in told, "not the copy's name"
    defined = [assay("report", run, "--definitions", "endpoints,vllm", "--json").json()
               for run in runs]
    assert defined[0]["endpoints"]["ttft_ns"] == defined[1]["endpoints"]["ttft_ns"]
    page = theirs.parent / "page.html"
    assay("report", theirs, "--html", page)
    assert "a verdict on the client" in page.read_text()
    csv = assay("report", theirs, "--format", "csv").out
    assert csv.count("\n") == 41
    assert "has this file already" in assay("report", theirs, "--events-jsonl", page, code=2).err
    assert listing(theirs) == before


def test_verify_computes_its_summary_again(assay, runs):
    _, theirs = runs
    done = assay("verify", theirs)
    assert "40 queries" in done.out and "token figures are not checked" in done.err
    summary = json.loads((theirs / "performance/result_summary.json").read_text())
    for path, name in [(("ttft", "percentiles", "90.0"), "ttft.percentiles.90.0"),
                       (("latency", "max"), "latency.max"), (("qps",), "qps"),
                       (("n_samples_failed",), "n_samples_failed"),
                       (("finish_reason_counts", "length"), "finish_reason_counts.length")]:
        damaged = json.loads(json.dumps(summary))
        here = damaged
        for key in path[:-1]:
            here = here[key]
        here[path[-1]] += 1
        (theirs / "performance/result_summary.json").write_text(json.dumps(damaged))
        found = assay("verify", theirs, code=1).out
        assert f"{name}: kept" in found and found.count("\n") == 1, found
    (theirs / "performance/result_summary.json").unlink()
    assert "missing" in assay("verify", theirs, code=1).out


def test_compare_score_bundle_and_import(assay, runs, tmp_path):
    ours, theirs = runs
    before = listing(theirs)
    done = assay("compare", theirs, theirs, "--json").json()
    assert done["refusals"] == [] and done["verdict"] != "worse", done
    scored = [assay("score", run, "--scorer", "string_match", "--ground-truth", "answer",
                    "--phase", "performance", "--json").json()["accuracy_scores"][0]
              for run in (ours, theirs)]
    scored[0].pop("output_sequence_lengths")  # of the server's usage, which events do not have
    assert scored[0] == scored[1] and scored[1]["response_counts"]["scored"] == 40
    assay("bundle", theirs, "--output", tmp_path / "theirs.tar")
    assay("verify", tmp_path / "theirs.tar")
    told = assay("import", theirs, "--store", tmp_path / "store.db", "--json").json()
    assert told["points"] == 1
    assert listing(theirs) == before


def test_convert_makes_a_run_of_it(assay, runs, tmp_path):
    _, theirs = runs
    a = assay("convert", theirs, tmp_path / "folder", "--json").json()
    b = assay("convert", theirs / "events.jsonl", tmp_path / "file", "--json").json()
    assert a["ttft"] == b["ttft"] and a["n_samples_completed"] == 40
    assay("verify", tmp_path / "folder")
    assay("compare", tmp_path / "folder", tmp_path / "file")


def test_damage_is_named_by_file_line_and_field(assay, runs):
    _, theirs = runs
    events = theirs / "events.jsonl"
    lines = events.read_text().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if "recv_first" in line)
    damaged = lines[at].replace('"timestamp_ns":', '"timestamp_ns":-')
    events.write_text("".join([*lines[:at], damaged, *lines[at + 1:]]))
    for command in ("report", "verify"):
        err = assay(command, theirs, code=2).err
        assert f"events.jsonl:{at + 1}: timestamp_ns" in err
    events.write_text("".join(lines[:at]))
    assert "cut off" in assay("report", theirs).out


def test_pack_of_its_runs_keeps_the_summaries(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "1ms", "--itl", "1ms", "--osl", "4")
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(json.dumps({"prompt": f"say {i}"}) + "\n" for i in range(48)))
    folders = []
    for level in (2, 40):
        run = tmp_path / f"run{level}"
        assay("run", "--endpoint", server.url, "--model", "llama3.1-8b", "--dataset", data,
              "--concurrency", level, "--samples", 96, "--events-jsonl", "--report-dir", run,
              "--quiet", "--allow-client-limited")
        folders.append(without_our_files(run, tmp_path / f"theirs{level}"))
    assay("pack", *folders, "--max-concurrency", 40, "--out", tmp_path / "tree")
    for level, folder in zip((2, 40), folders):
        point = next((tmp_path / "tree/results").glob(f"*/*/r{level}"))
        packed = json.loads((point / "result_summary.json").read_text())
        assert packed == json.loads((folder / "performance/result_summary.json").read_text())
        assert (point / "config.yaml").read_bytes() == (folder / "config.yaml").read_bytes()
        assert (point / "sample_idx_map.json").exists()


@pytest.fixture
def levels(assay, endpoint, tmp_path):
    """A folder with runs of the reference client at three levels, and an offline one."""
    server = endpoint("--ttft", "2ms", "--itl", "1ms", "--osl", "4")
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(json.dumps({"prompt": f"say {i}"}) + "\n" for i in range(12)))
    theirs = tmp_path / "theirs"
    for level in (1, 4, 12):
        run = tmp_path / f"run{level}"
        assay("run", "--endpoint", server.url, "--model", "m", "--dataset", data, "--concurrency",
              level, "--samples", 24, "--events-jsonl", "--report-dir", run, "--quiet",
              "--allow-client-limited")
        without_our_files(run, theirs / f"c{level}")
    return theirs


def test_a_folder_of_its_runs_is_a_curve(assay, levels, tmp_path):
    before = listing(levels)
    told = assay("report", levels, "--json").json()
    assert [point["name"] for point in told["points"]] == ["r1", "r4", "r12"]
    for point in told["points"]:
        kept = json.loads((levels / f"c{point['concurrency']}/performance/result_summary.json"
                           ).read_text())
        assert point["total"]["qps"] == kept["qps"], point["name"]
        assert point["total"]["system_tps"] == kept["tps"], "its own count: events have none"
        assert point["total"]["tps_per_user"] == kept["tps_per_user"], point["name"]
    assert "reference client" in assay("report", levels).out
    limits = ("--slo", "ttft_p90<=10s")
    answer = assay("decide", levels, *limits, "--json").json()
    assert answer["systems"][0]["served"]["users"] == 12, answer["systems"][0]
    made = tmp_path / "curve"
    runs = sorted(path for path in levels.iterdir())
    assay("convert", *runs, made)
    again = assay("report", made, "--json").json()
    assert [point["total"] for point in again["points"]] == [p["total"] for p in told["points"]]
    assay("verify", made / "points/r4")
    for folder in (made, levels):
        store = tmp_path / f"{folder.name}.db"
        assert assay("import", folder, "--store", store, "--json").json()["points"] == 3
    assay("pack", levels, "--out", tmp_path / "tree")
    point = next((tmp_path / "tree/results").glob("*/*/r4"))
    assert ((point / "result_summary.json").read_text()
            and (point / "config.yaml").read_bytes() == (levels / "c4/config.yaml").read_bytes())
    assert listing(levels) == before


def test_runs_that_make_no_curve_are_refused_with_the_reason(assay, levels, tmp_path):
    shutil.copytree(levels / "c4", levels / "c4 again")
    assert "both are the point r4" in assay("report", levels, code=2).err
    assert "both are the point r4" in assay("convert", levels, tmp_path / "x", code=2).err
    assert not (tmp_path / "x").exists()
    err = assay("convert", levels / "c1", tmp_path / "run1", tmp_path / "x", code=2).err
    assert "run1' is not a run of the reference client" in err
    assert "RUN: is missing" in assay("convert", levels, code=2).err


def test_what_is_no_run_of_it_is_refused_with_a_way_out(assay, runs):
    _, theirs = runs
    (theirs / "events.jsonl").unlink()
    err = assay("report", theirs, code=2).err
    assert "without its events (events.jsonl)" in err and "assay import" in err


def test_the_clients_own_folder_verifies_to_the_last_digit(assay, tmp_path):
    """60 queries, four of them failed, after a warm-up: made by the reference client itself."""
    assert "60 queries" in assay("verify", CLIENTS_OWN).out
    kept = json.loads((CLIENTS_OWN / "performance/result_summary.json").read_text())
    defined = assay("report", CLIENTS_OWN, "--definitions", "endpoints", "--json").json()
    defined = defined["endpoints"]
    for name in ("ttft", "latency"):
        for percentile in ("50.0", "90.0", "99.0", "99.9"):
            assert (defined[f"{name}_ns"]["percentiles"][percentile]
                    == kept[name]["percentiles"][percentile])
    ours = assay("report", CLIENTS_OWN, "--json").json()
    assert (ours["n_samples_completed"], ours["n_samples_failed"]) == (56, 4)
    assert ours["assay"]["failures"][0]["outcome"] == "http_error"
    assert ours["assay"]["arrival"]["itl"] == {}, "only first chunks have an instant there"
    assert ours["ttft"]["max"] == kept["ttft"]["max"]
    told = assay("import", CLIENTS_OWN, "--store", tmp_path / "store.db", "--json").json()
    assert told["points"] == 1
