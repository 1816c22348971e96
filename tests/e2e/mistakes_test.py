"""What a person types wrongly, or aims at the wrong thing: told what it is and what to do, and
nothing that was there is harmed."""

import json
import os
import signal
import stat
import subprocess
import threading

import pytest
from conftest import TIMEOUT_S, program, wait_for_log


@pytest.fixture
def run_folder(assay, endpoint, tmp_path):
    """A small run, to be reported, bundled and compared."""
    folder = tmp_path / "run"
    assay("run", "--endpoint", endpoint("--osl", 4).url, "--model", "m", "--samples", 8, "--quiet",
          "--report-dir", folder, "--allow-client-limited")
    return folder


def read_all(path, into):
    with open(path, encoding="utf-8") as pipe:
        into.append(pipe.read())


@pytest.mark.parametrize("args", [("--html",), ("--format", "csv", "--out"),
                                  ("--events-jsonl",)])
def test_a_pipe_is_written_to_and_stays_a_pipe(assay, run_folder, tmp_path, args):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    said = []
    reader = threading.Thread(target=read_all, args=(pipe, said))
    reader.start()
    assay("report", run_folder, *args, pipe)
    reader.join()
    assert said[0]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_standard_output_can_be_named_as_a_file(assay, run_folder):
    out = assay("report", run_folder, "--html", "/dev/stdout").out
    assert out.startswith("<!doctype html>") or out.lower().startswith("<!doctype html")


def test_a_link_is_followed_and_stays_a_link(assay, run_folder, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("old")
    link = tmp_path / "link.html"
    link.symlink_to(page)
    assay("report", run_folder, "--html", link)
    assert link.is_symlink()
    assert page.read_text() != "old"


def test_a_folder_in_place_of_a_file_is_bad_input_and_leaves_nothing(assay, run_folder, tmp_path):
    folder = tmp_path / "dir"
    folder.mkdir()
    before = sorted(tmp_path.iterdir())
    for args in (("report", run_folder, "--html", folder), ("bundle", run_folder, "-o", folder),
                 ("report", run_folder, "--events-jsonl", folder)):
        assert f"'{folder}' is a folder" in assay(*args, code=2).err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("command", ["report", "verify", "bundle", "score", "compare"])
def test_what_is_no_run_is_named_with_what_makes_one(assay, tmp_path, command):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("<html>")
    more = [tmp_path / "empty"] if command == "compare" else []
    err = assay(command, tmp_path / "empty", *more, code=2).err
    assert "is not a run's folder" in err and "assay run" in err
    assert "no such" in assay(command, tmp_path / "none", *more, code=2).err.lower()
    if command in ("report", "bundle"):
        assert "is a file, and a run is a folder" in assay(command, tmp_path / "file", code=2).err
    if command == "verify":
        assert "is not a bundle" in assay(command, tmp_path / "file", code=2).err


def test_a_store_that_cannot_be_opened_is_found_before_anything_is_asked(assay, tmp_path):
    (tmp_path / "dir").mkdir()
    done = assay("run", "--endpoint", "http://127.0.0.1:1", "--model", "m", "--samples", 2,
                 "--store", tmp_path / "dir", "--report-dir", tmp_path / "r", code=3)
    assert "--store" in done.err and "cannot reach" not in done.err
    assert not (tmp_path / "r").exists()


def test_a_folder_for_the_certificate_is_tried_before_anything_is_measured(assay):
    done = assay("calibrate", "--folder", "/proc/none", "--streams", 1, code=3)
    assert "/proc/none" in done.err and "ceiling" not in done.err


def test_a_store_that_does_not_exist_is_not_exported(assay, tmp_path):
    err = assay("export", tmp_path / "out", "--store", tmp_path / "typo.db", code=2).err
    assert "does not exist" in err and "assay import" in err
    assert not (tmp_path / "typo.db").exists()


def test_nothing_is_exported_where_nothing_was_ever_imported(assay, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for store in ([], ["--store", "default"]):
        err = assay("export", tmp_path / "out", *store, code=2).err
        assert "store.db' does not exist" in err and "`assay import RESULTS` makes it" in err
        assert not (tmp_path / "data").exists() and not (tmp_path / "out").exists()


def test_a_port_that_is_taken_has_a_way_out(assay, endpoint, tmp_path):
    port = endpoint().url.rsplit(":", 1)[1]
    for command in (["endpoint"], ["serve", "--store", tmp_path / "s.db"]):
        assert "--port 0 takes a free one" in assay(*command, "--port", port, code=3).err


def test_a_scenario_is_no_config_and_a_load_that_nobody_named_is_said(assay, endpoint, tmp_path):
    scenario = tmp_path / "system.yaml"
    scenario.write_text("model: gpt-oss-120b\nhardware: h100-sxm\nbackend: vllm\n")
    err = assay("run", "--config", scenario, code=2).err
    assert "assay simulate --scenario" in err and "unknown key" not in err
    config = tmp_path / "config.yaml"
    url = endpoint("--osl", "4").url
    config.write_text("model_params: {name: m}\n"
                      "datasets: [{synthetic: {isl: 8, count: 5}}]\n"
                      f"endpoint_config: {{endpoints: ['{url}']}}\n")
    note = "no load is named: max_throughput, 7 queries at once"
    assert note in assay("run", "--config", config, "--samples", 7, "--report-dir",
                         tmp_path / "run", "--allow-client-limited").err
    assert note not in assay("run", "--config", config, "--samples", 7, "--concurrency", 2,
                             "--report-dir", tmp_path / "two", "--allow-client-limited").err


def test_import_refuses_what_cannot_be_true(assay, run_folder, tmp_path):
    store = tmp_path / "s.db"
    for args, words in (
            (("--price", "-4"), "--price: must not be below 0"),
            (("--accelerators", "-1"), "--accelerators: must not be below 0"),
            (("--division", "Standardised"), 'did you mean "Standardized"?'),
            (("--system-desc", tmp_path / "none.json"), "--system-desc"),
    ):
        assert words in assay("import", run_folder, "--store", store, *args, code=2).err
    assert not store.exists()


def test_pack_refuses_folders_that_are_not_there(assay, run_folder, tmp_path):
    for flag in ("--src", "--docs"):
        err = assay("pack", run_folder, "--out", tmp_path / "tree", flag, tmp_path / "none",
                    code=2).err
        assert f"{flag}: '{tmp_path / 'none'}' is not a folder" in err
    assert not (tmp_path / "tree").exists()


def test_pack_leaves_links_out_and_says_so(assay, run_folder, tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "notes.txt").write_text("mine")
    (docs / "secret").symlink_to("/etc/passwd")
    os.mkfifo(docs / "pipe")
    err = assay("pack", run_folder, "--out", tmp_path / "tree", "--docs", docs, "--max-concurrency",
                1).err
    assert "secret: left out: a link" in err and "pipe: left out: neither" in err
    assert (tmp_path / "tree/docs/notes.txt").exists()
    assert not (tmp_path / "tree/docs/secret").is_symlink()


def test_a_score_of_nothing_is_no_score(assay, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"answer": "A", "said": "A"}\n')
    how = ("--scorer", "gpqa", "--ground-truth", "answer")
    assert "no row has a column 'reply'" in assay("score", rows, *how, code=2).err
    assert assay("score", rows, *how, "--reply", "said").out.startswith("1.0\n")
    rows.write_text("")
    assert "holds no rows to score" in assay("score", rows, *how, code=2).err
    rows.write_text('{"answer": "A", "reply": "A"}\n')
    err = assay("score", rows, "--scorer", "gpqa", code=2).err
    assert "there are: answer, reply" in err and "--ground-truth COLUMN" in err


def test_a_simulation_that_serves_nobody_is_no_row_of_zeros(assay):
    done = assay("simulate", "--model", "gpt-oss-120b", "--hardware", "h200-sxm", "--isl",
                 9_000_000, "--concurrency", 2, "--queries", 1, code=2)
    assert "no query was served" in done.err and done.out == ""


def test_a_report_of_a_run_is_not_silently_one_of_a_curve(assay, tmp_path):
    curve = tmp_path / "c"
    assay("curve", "--endpoint", "http://127.0.0.1:1", "--model", "m", "--concurrency", 1,
          "--quick", "--quiet", "--report-dir", curve, code=3)
    assert "--definitions: applies to one run" in assay("report", curve, "--definitions", "all",
                                                   code=2).err
    assert "assay run" not in assay("verify", curve, code=2).err.split("its runs lie")[0]


def test_numbers_out_of_range_are_told_the_range(assay):
    run = ("run", "--endpoint", "http://127.0.0.1:1", "--model", "m")
    for args, words in (
            (("--prompts", "99999999999"), "--prompts: must be at most 4294967295"),
            (("--isl", "99999999999"), "from 1 to 10000000"),
            (("--run-seed", "9" * 30), "--run-seed: must be at most 18446744073709551615"),
    ):
        err = assay(*run, *args, code=2).err
        assert words in err and err.count("error:") == 1, err


def test_names_that_lead_nowhere_are_said_to(assay, tmp_path):
    (tmp_path / "mine.json").write_text("{}")
    assert "no such folder: " + str(tmp_path / "none") in assay("check", tmp_path / "none",
                                                                code=2).out
    assert "its file ends in .yaml" in assay("workloads", tmp_path / "mine.json", code=2).err
    assert "no such file" in assay("dataset", tmp_path / "none", code=2).err
    assert "export NO_SUCH_KEY=" in assay("probe", "http://127.0.0.1:1", "--api-key-env",
                                          "NO_SUCH_KEY", code=2).err


def test_negative_numbers_are_values(assay):
    assert "must be 1..32, is -8" in assay("regions", 1024, -8, code=2).err


def test_bytes_of_a_file_do_not_reach_the_terminal(assay, tmp_path):
    (tmp_path / "h").write_bytes(b"\x1b]0;title\x07\xff\n")
    err = assay("serve", "--holidays", tmp_path / "h", code=2).err
    assert "\x1b" not in err and "\\x1b" in err


def start_run(url, folder, duration, **streams):
    return subprocess.Popen([program(), "run", "--endpoint", url, "--model", "m", "--concurrency",
                             "8", "--duration", duration, "--json", "--report-dir", str(folder),
                             "--allow-client-limited"], text=True, **streams)


def test_a_terminal_that_closes_ends_a_run_in_order(endpoint, tmp_path):
    server = endpoint("--osl", 16, "--itl", "1ms")
    process = start_run(server.url, tmp_path / "r", "600s", stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL)
    wait_for_log(tmp_path / "r", process)
    process.send_signal(signal.SIGHUP)
    out, _ = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 130
    assert json.loads(out)["state"] == "interrupted"
    assert (tmp_path / "r" / "report.html").exists()


def test_a_run_outlives_the_reader_of_its_talk(endpoint, tmp_path):
    server = endpoint("--osl", 16, "--itl", "1ms")
    process = start_run(server.url, tmp_path / "r", "6s", stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE)
    for line in process.stderr:
        if line.startswith("performance"):
            break
    process.stderr.close()  # the next line of talk, five seconds later, has no reader
    out = process.stdout.read()
    process.stdout.close()
    assert process.wait(TIMEOUT_S) == 0
    assert json.loads(out)["complete"] is True
