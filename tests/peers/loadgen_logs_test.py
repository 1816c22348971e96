"""LoadGen's four log files, ours against the stock library's: the same lines but for what differs
from run to run (times, numbers of processes and threads, what is computed from them) and for the
names of builds.

A null system under test in C++ answers through our library, one in Python through the stock one;
and the same program in Python through our module and the stock one.
"""

import json
import os
import pathlib
import pickle
import re
import subprocess
import sys

import pytest

from loadgen_test import SHORT, SMALL, SCENARIOS, detail, stock_run

NULL_SUT = pathlib.Path(os.environ.get("ASSAY_BIN", "build/release/assay")).with_name(
    "loadgen_null_sut")
OUR_MODULE = {**os.environ, "PYTHONPATH": str(NULL_SUT.with_name("python"))}
# Our own lines and values for these: the build's.
BUILD = re.compile(r"loadgen_(version|build_date|git|file_sha1)")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]\d+)?|-?inf|-?nan")
# The stock logger's own work.
OF_LOGGER = ("IOThreadLoop", "Wait", "Gather", "Process", "Thread", "FlushAll", "LogDetail",
             "LogSummary", "Abandoning Orphans", "FirstAllocation",
             "TlsLogger:ContentionCounters")


def cases():
    for scenario in SCENARIOS:
        # No limit that a slow machine would break.
        counted = ("*.*.min_duration = 0\n*.*.min_query_count = 100\n"
                   "*.Server.target_latency = 3600000\n*.Server.ttft_latency = 3600000\n"
                   "*.Server.tpot_latency = 3600000\n")
        for name, lines, more in [
                ("plain", counted, {}),
                ("few_loaded", counted, {"loaded": 32}),
                ("accuracy", counted + "*.*.mode = 1\n", {"loaded": 32, "payload": 1}),
                ("submission", counted + "*.*.mode = 0\n*.*.accuracy_log_sampling_target = 9\n",
                 {"loaded": 32, "payload": 1}),
                ("tokens", counted + "*.*.use_token_latencies = 1\n", {"tokens": 7}),
                ("tokens_accuracy", counted + "*.*.use_token_latencies = 1\n*.*.mode = 1\n",
                 {"tokens": 7, "payload": 1}),
                ("no_tokens", counted + "*.*.use_token_latencies = 1\n", {"tokens": 0}),
                ("one_token", counted + "*.*.use_token_latencies = 1\n", {"tokens": 1}),
                ("invalid", counted + "*.*.min_duration = 2000\n*.*.max_query_count = 20\n", {}),
                ("passes", SMALL.format(1) + counted, {}),
                ("audit", counted, {"audit_lines": "*.*.min_query_count = 130\n"}),
                ("peak", counted + "*.*.mode = 3\n*.Server.target_latency = 0\n", {})]:
            yield f"{scenario}-{name}", {"scenario": scenario, "model": "pointpainting",
                                         "samples": 64, "lines": lines, **more}


def our_run(spec, folder, **env):
    done = subprocess.run(
        [NULL_SUT, spec["scenario"], spec["model"], spec["config"], str(spec["samples"]),
         str(spec.get("loaded", spec["samples"])), str(spec.get("tokens", -1)),
         str(spec.get("payload", 0)), spec["audit"], folder, "1"],
        capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **env})
    assert done.returncode == 0, done.stderr


def detail_lines(folder):
    """(key, value, error, warning) of each line."""
    out = []
    for line in (folder / "mlperf_log_detail.txt").read_text().splitlines():
        found = re.fullmatch(
            r':::MLLOG \{"key": "([^"]+)", "value": (.*), "time_ms": -?\d+\.\d{6}, '
            r'"namespace": "mlperf::logging", "event_type": "POINT_IN_TIME", "metadata": '
            r'\{"is_error": (\w+), "is_warning": (\w+), "file": "[^"]*", "line_no": \d+, '
            r'"pid": \d+, "tid": \d+\}\}', line)
        assert found, line
        out.append(found.groups())
    return out


MEASURED = re.compile(r"result_.*(latency_ns|per_sec|per_second|overhead|throughput|"
                      r"percentile_ns|token_(min|max|mean))|early_stopping_latency|power_|"
                      r"test_datetime|get_sut_name_duration|early_stopping\w*_result|logger_")


# What the stock logger warns of when it needs more room than it has.
OF_ROOM = "Logging allocation detected"


def comparable(lines):
    """Figures that the run measured become their form. What is said while a series runs comes from
    several threads of the stock library, in any order."""
    out, said = [], []
    for key, value, error, warning in lines:
        if OF_ROOM in value:
            continue
        if BUILD.match(key):
            value = "build"
        elif MEASURED.match(key):
            value = NUMBER.sub("#", value)
        if key in ("generic_message", "error_runtime"):
            said.append((key, value, error, warning))
            continue
        out += sorted(said)
        said = []
        out.append((key, value, error, warning))
    return out


def summary_lines(folder):
    # From the parameters on every figure is a setting; before, most are measured.
    text = (folder / "mlperf_log_summary.txt").read_text()
    # The stock logger's own warnings count too.
    text = re.sub(r"\n(No|\d+) warnings? .*", "", text)
    head, *tail = text.split("Test Parameters Used\n")
    counted = re.compile(r"(queries|samples|at\n least|least|discard) \d+|\(\d+\)")
    kept = counted.sub("", head)
    return NUMBER.sub("#", kept).splitlines() + [line for part in tail
                                                 for line in part.splitlines()]


def trace_by_name(folder):
    """Name -> the lines of that name, without times; the file's frame."""
    text = (folder / "mlperf_log_trace.json").read_text()
    assert text.startswith('{"traceEvents":[\n')
    events, _, end = text.partition('{"name":"LastTrace"}\n')
    out = {}
    for line in events.splitlines()[1:]:
        name = re.match(r'\{"name":"([^"]*)"', line)[1]
        if name in OF_LOGGER:
            continue
        line = re.sub(r'"(ts|dur|pid|tid|issue_start_ns|complete_ns|issue_delay|issue_to_done)":'
                      r"-?[\d.]+", r'"\1":#', line)
        out.setdefault(name, []).append(line)
    return out, re.sub(r'"ts":[\d.]+', '"ts":#', end)


def prepared(spec, tmp_path):
    """The test with its files, and a folder for each side's logs."""
    config = tmp_path / "user.conf"
    config.write_text(SHORT + spec["lines"])
    audit = tmp_path / "audit.config"
    if "audit_lines" in spec:
        audit.write_text(spec["audit_lines"])
    folders = tmp_path / "ours", tmp_path / "stock"
    for folder in folders:
        folder.mkdir()
    return {**spec, "config": str(config), "audit": str(audit)}, *folders


def same_logs(ours, stock):
    assert comparable(detail_lines(ours)) == comparable(detail_lines(stock))
    assert summary_lines(ours) == summary_lines(stock)
    assert ((ours / "mlperf_log_accuracy.json").read_text()
            == (stock / "mlperf_log_accuracy.json").read_text())
    (mine, my_end), (theirs, their_end) = trace_by_name(ours), trace_by_name(stock)
    assert mine == theirs
    assert my_end == their_end


@pytest.mark.parametrize("spec", [pytest.param(spec, id=name) for name, spec in cases()])
def test_the_log_files_are_the_stock_librarys(tmp_path, spec):
    spec, ours, stock = prepared(spec, tmp_path)
    stock_run(spec, stock)
    our_run(spec, ours)
    same_logs(ours, stock)


@pytest.mark.parametrize("spec", [pytest.param(spec, id=name) for name, spec in cases()
                                  if name.endswith(("-submission", "-tokens_accuracy", "-peak"))])
def test_a_program_for_the_stock_module_runs_with_ours(tmp_path, spec):
    spec, ours, stock = prepared(spec, tmp_path)
    assert stock_run(spec, ours, OUR_MODULE) == stock_run(spec, stock)
    same_logs(ours, stock)


PEAK = pathlib.Path(__file__).with_name("loadgen_peak.py")


@pytest.mark.parametrize("capacity, base, step, decimals", [
    (7321.5, 2000, 1, 0), (2000, 2000, 1, 1), (5000.25, 3000, 3, 1), (2345.678, 2300, 1, 2)])
def test_the_search_for_the_peak_decides_as_the_stock_librarys(tmp_path, capacity, base, step,
                                                               decimals):
    """The same rates in the same order, the same bounds, and the system's capacity as the peak."""
    found = []
    for name, env in [("ours", OUR_MODULE), ("stock", None)]:
        folder = tmp_path / name
        folder.mkdir()
        subprocess.run([sys.executable, "-B", PEAK, str(capacity), str(base), str(step),
                        str(decimals), folder], check=True, timeout=120, env=env)
        found.append([value for key, value, _, _ in detail_lines(folder)
                      if key == "generic_message" and "FindPeak" in value or "FindBound" in value])
    assert found[0] == found[1]
    peak = float(re.search(r"peak performance field: ([\d.]+)", found[0][-1])[1])
    assert peak <= capacity < peak + 10 ** -decimals * 2


def python(program, env=None):
    done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, timeout=120,
                          env=env, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_our_module_has_all_names_of_the_stock_one():
    names = """
import sys
import mlperf_loadgen as module
for name in dir(module):
    if name.startswith("_"):
        continue
    thing = getattr(module, name)
    print(name, *([one for one in dir(thing) if not one.startswith("_")]
                  if isinstance(thing, type) else []))
"""
    ours = set(python(names, OUR_MODULE).decode().splitlines())
    stock = set(python(names).decode().splitlines())
    assert stock - ours == set()
    assert ours - stock == {"AbortTest", "RegisterIssueQueryThread"}


def test_what_a_system_raises_leaves_the_test_and_its_logs_are_written(tmp_path):
    program = f"""
import mlperf_loadgen as module
def issue(samples):
    raise KeyError("no such device")
sut = module.ConstructSUT(issue, lambda: None)
rows = module.ConstructQSL(5, 5, lambda rows: None, lambda rows: None)
logs = module.LogSettings()
logs.log_output.outdir = {str(tmp_path)!r}
try:
    module.StartTestWithLogSettings(sut, rows, module.TestSettings(), logs, "none")
except KeyError as error:
    print(error)
"""
    assert python(program, OUR_MODULE) == b"'no such device'\n"
    assert "IssueQuery threw an exception" in (tmp_path / "mlperf_log_detail.txt").read_text()


def test_a_lost_sample_is_named_after_the_stated_time(tmp_path):
    program = f"""
import mlperf_loadgen as module
asked = 0
def issue(samples):
    global asked
    asked += 1
    if asked != 4:
        module.QuerySamplesComplete([module.QuerySampleResponse(s.id, 0, 0) for s in samples])
settings = module.TestSettings()
settings.min_duration_ms = 0
sut = module.ConstructSUT(issue, lambda: None)
rows = module.ConstructQSL(9, 9, lambda rows: None, lambda rows: None)
logs = module.LogSettings()
logs.log_output.outdir = {str(tmp_path)!r}
module.StartTestWithLogSettings(sut, rows, settings, logs, "none")
print(asked)
"""
    assert python(program, {**OUR_MODULE, "ASSAY_LOADGEN_TIMEOUT_S": "2"}) == b"4\n"
    assert ("1 samples were lost: the system under test completed nothing for 2 s "
            "(ASSAY_LOADGEN_TIMEOUT_S)") in (tmp_path / "mlperf_log_detail.txt").read_text()
    assert "Result is : INVALID" in (tmp_path / "mlperf_log_summary.txt").read_text()


def test_samples_and_responses_can_be_pickled():
    program = """
import pickle, sys
import mlperf_loadgen as module
sys.stdout.buffer.write(pickle.dumps([
    (r.id, r.data, r.size, r.n_tokens)
    for r in [pickle.loads(pickle.dumps(module.QuerySampleResponse(1, 2, 3, 4)))]] + [
    (s.id, s.index) for s in [pickle.loads(pickle.dumps(module.QuerySample(8, 9)))]]))
"""
    assert pickle.loads(python(program, OUR_MODULE)) == [(1, 2, 3, 4), (8, 9)]


def test_a_response_callback_brings_the_bytes_that_are_logged(tmp_path):
    """As from a device: they are there when the callback has returned."""
    program = f"""
import array
import mlperf_loadgen as module
kept = []
def fetch(response):
    kept.append(array.array("B", [response.id % 1 + 0xab]))
    response.data, response.size = kept[-1].buffer_info()[0], 1
def issue(samples):
    module.QuerySamplesComplete([module.QuerySampleResponse(s.id, 0, 0) for s in samples], fetch)
settings = module.TestSettings()
settings.mode = module.TestMode.AccuracyOnly
sut = module.ConstructSUT(issue, lambda: None)
rows = module.ConstructQSL(3, 3, lambda rows: None, lambda rows: None)
logs = module.LogSettings()
logs.log_output.outdir = {str(tmp_path)!r}
module.StartTestWithLogSettings(sut, rows, settings, logs, "none")
"""
    said = []
    for env in (OUR_MODULE, None):
        python(program, env)
        said.append(json.loads((tmp_path / "mlperf_log_accuracy.json").read_text()))
    assert said[0] == said[1]
    assert [entry["data"] for entry in said[0]] == ["AB"] * 3


def test_a_query_dispatch_library_is_asked_for_its_name(tmp_path):
    program = f"""
import mlperf_loadgen as module
seen = []
def issue(ids, rows):
    seen.append(rows)
    module.QuerySamplesComplete([module.QuerySampleResponse(one, 0, 0) for one in ids])
def dispatch(samples):
    issue([s.id for s in samples], [s.index for s in samples])
settings = module.TestSettings()
settings.scenario = module.TestScenario.Offline
settings.min_duration_ms = 0
settings.min_query_count = 7
rows = module.ConstructQSL(7, 7, lambda rows: None, lambda rows: None)
logs = module.LogSettings()
logs.log_output.outdir = {str(tmp_path)!r}
for make, free in [(lambda: module.ConstructQDL(dispatch, lambda: None, lambda: "Far SUT"),
                    module.DestroyQDL),
                   (lambda: module.ConstructFastSUT(issue, lambda: None), module.DestroyFastSUT)]:
    sut = make()
    module.StartTestWithLogSettings(sut, rows, settings, logs, "none")
    free(sut)
    print(open(logs.log_output.outdir + "/mlperf_log_summary.txt").read().splitlines()[3])
print(sorted(seen[0]) == sorted(seen[1]) == list(range(7)))
"""
    assert python(program, OUR_MODULE).decode().splitlines() == [
        "SUT name : Far SUT", "SUT name : PyFastSUT", "True"]


def test_the_files_lie_where_the_settings_say(tmp_path):
    config = tmp_path / "user.conf"
    config.write_text(SHORT)
    our_run({"scenario": "Offline", "model": "m", "config": str(config), "samples": 5,
             "audit": ""}, tmp_path)
    assert detail(tmp_path)["generated_query_count"] == ["1"]
    assert json.loads((tmp_path / "mlperf_log_trace.json").read_text())["traceEvents"]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_tests_events_make_a_run_folder(assay, tmp_path, scenario):
    config = tmp_path / "user.conf"
    config.write_text(SHORT + "*.*.mode = 0\n")
    run = tmp_path / "run"
    our_run({"scenario": scenario, "model": "m", "config": str(config), "samples": 50, "loaded": 30,
             "payload": 1, "audit": ""}, tmp_path, ASSAY_LOADGEN_RUN_FOLDER=str(run))
    log = detail(tmp_path)
    figures = assay("report", run, "--publish", "--json").json()
    samples = int(log["result_query_count"][0]) * int(log["generated_samples_per_query"][-1])
    assert figures["n_samples_issued"] == figures["n_samples_completed"] == samples
    assert figures["complete"]
    assay("verify", run)
    assert "has its derived files" in assay("report", run, "--publish", code=2).err


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_run_over_a_network_logs_the_same_lines(assay, endpoint, tmp_path, scenario):
    conf = tmp_path / "user.conf"
    conf.write_text("*.*.min_duration = 0\n*.*.min_query_count = 100\n*.*.target_qps = 500\n")
    word = re.sub("(?<=[a-z])([A-Z])", r"_\1", scenario).lower()
    run = tmp_path / "run"
    assay("run", "--scenario", word, "--config", conf, "--endpoint",
          endpoint("--ttft", "1ms", "--osl", 1).url, "--model", "m", "--isl", 8, "--prompts", 64,
          "--report-dir", run, "--quiet", "--allow-client-limited", code=None)
    ours = [line for line in detail_lines(run / "performance") if line[0] != "generic_message"]
    folder = tmp_path / "stock"
    folder.mkdir()
    stock_run({"scenario": scenario, "model": "none", "samples": 64, "config": str(conf),
               "audit": "none"}, folder)
    stock = [line for line in detail_lines(folder)
             if line[0] not in ("generic_message", "error_runtime") and OF_ROOM not in line[1]
             and not line[0].startswith("logger_")]
    assert [key for key, *_ in ours] == [key for key, *_ in stock]
    said = re.compile("requested_|effective_|generated_|loaded_|qsl_reported")
    assert [line for line in ours if said.match(line[0])] == [
        line for line in stock if said.match(line[0])]
