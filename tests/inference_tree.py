"""A small valid submission to MLPerf Inference v6.1, with invented results, and damages to it.

`write(root)` lays out a closed system of a data centre (llama3.1-8b, gpt-oss-120b, dlrm-v3), one at
the edge (resnet, bert-99), an open and a network system; `DAMAGES` names changes, each with a
function of the tree's root.
"""

import calendar
import hashlib
import json
import pathlib
import re
import shutil
import time

ROUNDS = json.loads((pathlib.Path(__file__).parent / "data/checker_constants.json").read_text(
    encoding="utf-8"))
FIELDS = """division submitter status system_name number_of_nodes host_processor_model_name
host_processors_per_node host_processor_core_count host_memory_capacity host_storage_capacity
host_storage_type accelerators_per_node accelerator_model_name accelerator_memory_capacity framework
operating_system system_type other_software_stack host_processor_frequency host_processor_caches
host_memory_configuration host_processor_interconnect host_networking host_networking_topology
accelerator_frequency accelerator_host_interconnect accelerator_interconnect
accelerator_interconnect_topology accelerator_memory_configuration accelerator_on-chip_memories
cooling hw_notes sw_notes host_network_card_count system_type_detail""".split()
# Of each metric a line as the model's accuracy script prints it.
LINES = {"acc": "accuracy={}%, good=38000, total=50000", "F1": '{{"exact_match": 83.5, "f1": {}}}',
         "ROUGE1": "'rouge1': '{}'", "ROUGE2": "'rouge2': '{}'", "ROUGEL": "'rougeL': '{}'",
         "ROUGELSUM": "'rougeLsum': '{}'", "GEN_LEN": "'gen_len': {}",
         "TOKENS_PER_SAMPLE": "'tokens_per_sample': {}", "DICE": "Accuracy: mean = {}, kidney = 1",
         "mAP": "mAP={}%", "ACCURACY": "Word Error Rate: 2.1%, accuracy={}%",
         "exact_match": "'exact_match': {}", "vbench_score": "'vbench_score': {}",
         "F1_HIERARCHICAL": '{{"f1": {}}}', "E2E_ACCURACY": "Accuracy: {}",
         "CLIP_SCORE": "'CLIP_SCORE': '{}'", "FID_SCORE": "'FID_SCORE': '{}'",
         "DLRM_NE": "metric/lifetime_ne/rating: {}",
         "DLRM_ACC": "metric/lifetime_accuracy/rating: {}",
         "DLRM_AUC": "metric/lifetime_gauc/rating: {}"}


def log_line(key, value, error=False):
    return ":::MLLOG " + json.dumps({
        "key": key, "value": value, "time_ms": 1.5, "namespace": "mlperf::logging",
        "event_type": "POINT_IN_TIME",
        "metadata": {"is_error": error, "is_warning": False, "file": "loadgen.cc", "line_no": 1,
                     "pid": 1, "tid": 1}})


def performance_log(model, scenario, version="v6.1"):
    one = ROUNDS[version]["models"][model]
    seeds = ROUNDS[version]["seeds"]
    run = "Server" if scenario == "Interactive" else scenario
    language = "tokens_ns" in one or model == "llama3.1-8b-edge"
    values = {"sut_name": "Invented", "qsl_reported_total_count": one["rows"],
              "requested_use_token_latencies": language, "effective_scenario": run,
              "effective_test_mode": "PerformanceOnly",
              "effective_samples_per_query": {"Offline": one.get("offline_samples_min", 100),
                                              "MultiStream": 8}.get(run, 1),
              "effective_target_latency_ns": one.get("latency_ns", {}).get(run, 100),
              "effective_min_duration_ms": 600000, "effective_min_query_count": 1000,
              **{f"effective_{name}": seed for name, seed in seeds.items()},
              "effective_performance_sample_count": one["performance_samples"],
              "power_begin": "11-23-2026 10:00:00.000", "power_end": "11-23-2026 10:10:00.000",
              "result_validity": "VALID", "early_stopping_met": True, "result_query_count": 24576,
              "early_stopping_result": "", "result_99.00_percentile_latency_ns": 90,
              "result_mean_latency_ns": 50, "result_mean_query_latency_ns": 50,
              "result_qps_without_loadgen_overhead": 200.0}
    if run == "Offline":
        values |= {"result_samples_per_second": 123.5, "result_tokens_per_second": 12350.0}
    elif run == "Server":
        limits = one.get("tokens_ns", {}).get(scenario, {"ttft": 1000, "tpot": 1000})
        values |= {"result_completed_samples_per_sec": 23.5,
                   "result_completed_tokens_per_second": 2350.0,
                   "result_first_token_99.00_percentile_latency_ns": limits["ttft"] - 1,
                   "result_time_per_output_token_99.00_percentile_ns": limits["tpot"] - 1}
    else:
        values |= {"early_stopping_latency_ss": 5_000_000, "early_stopping_latency_ms": 9_000_000,
                   "result_90.00_percentile_latency_ns": 4_900_000}
    values["num_errors"] = 0
    return "\n".join(log_line(key, value) for key, value in values.items()) + "\n"


def accuracy_text(model, scenario, version="v6.1"):
    one = ROUNDS[version]["models"][model]
    bounds = one["at_least"]
    if isinstance(next(iter(bounds.values())), dict):
        bounds = bounds[scenario]
    return "".join(LINES[name].format(value[0] if name in ("CLIP_SCORE", "FID_SCORE")
                                      else value[0] * 1.001) + "\n"
                   for name, value in bounds.items()) + "hash=0a1b2c\n"


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_result(folder, model, scenario, version="v6.1", tests=True):
    one = ROUNDS[version]["models"][model]
    put(folder / RUN, performance_log(model, scenario, version))
    put(folder / "performance/run_1/mlperf_log_summary.txt", "Result is : VALID\n")
    counts = one.get("accuracy_samples", one["rows"])
    count = counts[scenario] if isinstance(counts, dict) else counts
    put(folder / "accuracy/mlperf_log_detail.txt",
        "\n".join([log_line("effective_scenario", "Offline" if scenario == "Offline" else "Server"),
                   log_line("effective_accuracy_sample_count", count)]) + "\n")
    put(folder / "accuracy/mlperf_log_summary.txt", "\n")
    put(folder / "accuracy/mlperf_log_accuracy.json", "[\n]\n")
    put(folder / "accuracy/accuracy.txt", accuracy_text(model, scenario, version))
    for kind, names in one.get("accuracy_files", {}).items():
        for name in names:
            put(folder / "accuracy" / kind / f"{name}.png", "p")
    put(folder / "measurements.json", json.dumps(dict.fromkeys(
        ["input_data_types", "retraining", "starting_weights_filename", "weight_data_types",
         "weight_transformations"], "fp8"), indent=1))
    put(folder / "user.conf", "*.Offline.target_qps = 100\n")
    put(folder / "README.md", "How to run it.\n")
    for test in one.get("tests", []) if tests else []:
        at = folder / test
        if test == "TEST09":
            put(at / "verify_output_len.txt", "TEST PASS\n")
        elif test == "TEST06":
            put(at / "verify_accuracy.txt", "First token check pass: True\nEOS check pass: True\n"
                "Sample length check pass: True\nTEST06 verification complete\n")
        elif test != "TEST04":
            put(at / "verify_accuracy.txt", "TEST PASS\n")
        if test in ("TEST01", "TEST04"):
            put(at / "verify_performance.txt", "TEST PASS\n")
            for name in ("mlperf_log_detail.txt", "mlperf_log_summary.txt"):
                put(at / "performance/run_1" / name,
                    (folder / "performance/run_1" / name).read_text(encoding="utf-8"))


def describe(path, division, kind, **more):
    put(path, json.dumps({**dict.fromkeys(FIELDS, "as built"), "division": division,
                          "submitter": "Invented", "status": "available", "number_of_nodes": 1,
                          "accelerators_per_node": 8, "system_type": kind, **more}, indent=1))


# The published sources of the power tools.
SOURCES = {"__init__.py": "da39a3ee5e6b4b0d3255bfef95601890afd80709",
           "client.py": "33ca4f26368777ac06e01f9567b714a4b8063886",
           "lib/__init__.py": "da39a3ee5e6b4b0d3255bfef95601890afd80709",
           "lib/client.py": "ac2aa093c8e8bbc9569b9e2a3471bc64e58a2258",
           "lib/common.py": "611d8b29633d331eb19c9455ea3b5fa3284ed6df",
           "lib/external/__init__.py": "da39a3ee5e6b4b0d3255bfef95601890afd80709",
           "lib/external/ntplib.py": "4da8f970656505a40483206ef2b5d3dd5e81711d",
           "lib/server.py": "9bc9a3b6b9b716520658ac175913bcbbdb354336",
           "lib/source_hashes.py": "60a2e02193209e8d392803326208d5466342da18",
           "lib/summary.py": "602a9fedfa503e5544d27ab3b0067f235047efc3",
           "lib/time_sync.py": "80894ef2389e540781ff78de94db16aa4203a14e",
           "server.py": "c3f90f2f7eeb4db30727556d0c815ebc89b3d28b",
           "tests/unit/__init__.py": "da39a3ee5e6b4b0d3255bfef95601890afd80709",
           "tests/unit/test_server.py": "948c1995d4008bc2aa6c4046a34ffa3858d6d671",
           "tests/unit/test_source_hashes.py": "00468a2907583c593e6574a1f6b404e4651c221a"}
DIGESTED = ["power/client.log", "power/ptd_logs.txt", "power/server.log",
            *(f"{run}/{name}" for run in ("ranging", "run_1")
              for name in ("mlperf_log_detail.txt", "mlperf_log_summary.txt", "spl.txt"))]
GO = "Starting untimed measurement, maximum 500000 samples at 1000ms with 0 rampup samples"
REPLIES = {"SR,A": "Range A changed", "SR,V": "Range V changed", "Go,1": GO,
           "Stop": "Stopping untimed measurement"}


def epoch(clock):
    return calendar.timegm(time.strptime(f"2026-11-23 {clock}", "%Y-%m-%d %H:%M"))


def samples(hour, watts):
    return "".join(f"Time,11-23-2026 {hour}:{minute:02}:30.000,Watts,{watts},Volts,230,Amps,2,"
                   "PF,0.99,Mark,m\n" for minute in range(60))


def sign(folder):
    """Records the digests of the session's files again."""
    for name in ("client.json", "server.json"):
        session = json.loads((folder / "power" / name).read_text(encoding="utf-8"))
        session["results"] = {one: hashlib.sha1((folder / one).read_bytes()).hexdigest()
                              for one in DIGESTED}
        put(folder / "power" / name, json.dumps(session, indent=1))


def write_power(folder):
    """A measurement around the run in folder/run_1, as director and client leave it."""
    log = (folder / "run_1/mlperf_log_detail.txt").read_text(encoding="utf-8")
    put(folder / "ranging/mlperf_log_detail.txt",
        log.replace("10:00:00.000", "08:00:00.000").replace("10:10:00.000", "08:10:00.000"))
    put(folder / "ranging/mlperf_log_summary.txt", "Result is : VALID\n")
    put(folder / "ranging/spl.txt", samples("08", 400))
    put(folder / "run_1/spl.txt", samples("10", 399))
    for name in ("client.log", "server.log"):
        put(folder / "power" / name, "log\n")
    put(folder / "power/ptd_logs.txt",
        "11-23-2026 07:50:00.000: Uncertainty checking for YokogawaWT310E is activated\n"
        "11-23-2026 07:58:00.000: Go with mark 's1_ranging'\n"
        "11-23-2026 08:20:00.000: Completed test\n")
    commands = ["Hello", "Identify", "RL", "SR,V,Auto", "SR,A,Auto", "Go,1000,0,s1_ranging", "Stop",
                "SR,V,300", "SR,A,5", "Go,1000,0,s1_testing", "Stop", "SR,V,Auto", "SR,A,Auto",
                "SR,A,Auto", "Stop"]
    replies = [REPLIES.get(command[:4], "Hello") for command in commands]
    replies[1] = "YokogawaWT310E,version=1.11.1-a1b2"
    replies[2] = "Ranges,1,0,1,0"
    replies[-1] = "Error: no measurement to stop"
    client = {
        "version": 1, "timezone": 0, "modules": {}, "sources": SOURCES,
        "messages": [{"cmd": "mlcommons/power client v3", "reply": "mlcommons/power server v3"},
                     {"cmd": "time", "reply": "1"}, {"cmd": "session,s1,done", "reply": "OK"}],
        "uuid": {"client": "12345678-1234-5678-1234-567812345678",
                 "server": "12345678-1234-5678-1234-567812345679"},
        "session_name": "s1", "results": {},
        "phases": {mode: [[epoch(clock) + .5, 1.0] for clock in clocks] for mode, clocks in [
            ("ranging", ["07:57", "07:59", "08:15", "08:16"]),
            ("testing", ["09:57", "09:59", "10:15", "10:16"])]}}
    server = json.loads(json.dumps(client)) | {
        "debug": False, "ptd_config": [{"device_type": 49, "command": [], "channel": []}],
        "ptd_messages": [{"cmd": command, "reply": reply}
                         for command, reply in zip(commands, replies)]}
    server["messages"][1]["reply"] = "2"
    for marks in server["phases"].values():
        for mark in marks:
            mark[0] += .3
    put(folder / "power/client.json", json.dumps(client, indent=1))
    put(folder / "power/server.json", json.dumps(server, indent=1))
    sign(folder)


PLAN = {"closed": {"server": ("datacenter", {"llama3.1-8b": ["Offline", "Server", "Interactive"],
                                             "gpt-oss-120b": ["Offline", "Interactive"],
                                             "dlrm-v3": ["Offline", "Server"]}),
                   "box": ("edge", {"resnet": ["SingleStream", "MultiStream", "Offline"],
                                    "bert-99": ["SingleStream", "Offline"]})},
        "open": {"server": ("datacenter", {"mine": ["Offline"]})},
        "network": {"cluster": ("datacenter", {"whisper": ["Offline"]})}}
NETWORK = dict.fromkeys("""network_type network_media network_rate nic_loadgen number_nic_loadgen
net_software_stack_loadgen network_protocol number_connections nic_sut number_nic_sut
net_software_stack_sut network_topology""".split(), "as built") | {"is_network": "true"}


def write(root):
    for division, systems in PLAN.items():
        submitter = root / division / "Invented"
        put(submitter / "src/README.md", "code\n")
        if division == "open":
            put(submitter / "model_mapping.json", json.dumps({"mine": "llama3.1-8b"}))
        for system, (kind, models) in systems.items():
            describe(submitter / f"systems/{system}.json", division, kind,
                     **(NETWORK if division == "network" else {}))
            for model, scenarios in models.items():
                official = "llama3.1-8b" if model == "mine" else model
                for scenario in scenarios:
                    write_result(submitter / "results" / system / model / scenario, official,
                                 scenario, tests=division != "open")
    write_power(root / POWERED)
    description = json.loads((root / BOX).read_text(encoding="utf-8"))
    put(root / BOX, json.dumps(description | dict.fromkeys(POWER_FIELDS, "as built"), indent=1))
    log = root / CLUSTER / "performance/run_1/mlperf_log_detail.txt"
    for one in [log, root / CLUSTER / "TEST01/performance/run_1/mlperf_log_detail.txt"]:
        put(one, one.read_text(encoding="utf-8").replace('"Invented"', '"Network SUT of nodes"'))
    return root


LLAMA = "closed/Invented/results/server/llama3.1-8b/"
OSS = "closed/Invented/results/server/gpt-oss-120b/Offline/"
DLRM = "closed/Invented/results/server/dlrm-v3/"
RESNET = "closed/Invented/results/box/resnet/"
CLUSTER = "network/Invented/results/cluster/whisper/Offline"
BOX = "closed/Invented/systems/box.json"
POWERED = "closed/Invented/results/box/bert-99/Offline/performance/"
POWER_FIELDS = """power_management filesystem boot_firmware_version management_firmware_version
other_hardware number_of_type_nics_installed nics_enabled_firmware nics_enabled_os
nics_enabled_connected network_speed_mbit power_supply_quantity_and_rating_watts
power_supply_details disk_drives disk_controllers system_power_only system_power_capacity""".split()
SYSTEM = "closed/Invented/systems/server.json"
RUN = "performance/run_1/mlperf_log_detail.txt"


def drop(path):
    def damage(root):
        one = root / path
        shutil.rmtree(one) if one.is_dir() else one.unlink()
    return damage


def edit(path, old, new, count=1):
    def damage(root):
        text = (root / path).read_text(encoding="utf-8")
        changed = re.sub(old, new, text, count=count, flags=re.M)
        assert changed != text, (path, old)
        put(root / path, changed)
    return damage


def value(path, key, new):
    """Another value in a log."""
    return edit(path, rf'("key": "{re.escape(key)}", "value": )([^,]+)', rf"\g<1>{new}")


def field(path, key, new):
    def damage(root):
        data = json.loads((root / path).read_text(encoding="utf-8"))
        if new is None:
            del data[key]
        else:
            data[key] = new
        put(root / path, json.dumps(data, indent=1))
    return damage


def move(old, new):
    def damage(root):
        (root / old).rename(root / new)
    return damage


def copy(old, new):
    return lambda root: shutil.copyfile(root / old, root / new)


def add(path, text="x\n"):
    return lambda root: put(root / path, text)


def append(path, text):
    return lambda root: put(root / path, (root / path).read_text(encoding="utf-8") + text)


# Name -> (damage, the rule of ours that names it).
DAMAGES = {
    "no_code": (drop("closed/Invented/src"), "inf-code"),
    "no_results": (drop("closed/Invented/results"), "inf-results-dir"),
    "no_description": (drop(SYSTEM), "inf-system-described"),
    "description_is_no_json": (edit(SYSTEM, r"^\{", "{{"), "inf-system-described"),
    "field_missing": (field(SYSTEM, "cooling", None), "inf-system-fields"),
    "field_empty": (field(SYSTEM, "framework", ""), "inf-system-fields"),
    "notes_empty": (field(SYSTEM, "hw_notes", ""), None),
    "status_unknown": (field(SYSTEM, "status", "soon"), "inf-system-status"),
    "type_unknown": (field(SYSTEM, "system_type", "phone"), "inf-system-type"),
    "another_submitter": (field(SYSTEM, "submitter", "Someone"), "inf-system-submitter"),
    "another_division": (field(SYSTEM, "division", "open"), "inf-system-division"),
    "nodes_in_words": (field(SYSTEM, "number_of_nodes", "two"), "inf-system-counts"),
    "network_in_closed": (field(SYSTEM, "is_network", "true"), "inf-system-network"),
    "network_fields_missing": (field("network/Invented/systems/cluster.json", "nic_sut", None),
                               "inf-system-network"),
    "no_network_name": (value(CLUSTER + "/" + RUN, "sut_name", '"Plain"'), "inf-network-sut"),
    "model_unknown": (move("closed/Invented/results/server/dlrm-v3",
                           "closed/Invented/results/server/dlrm-v4"), "inf-model"),
    "own_name_unmapped": (field("open/Invented/model_mapping.json", "mine", None), "inf-model"),
    "scenario_missing": (drop(RESNET + "MultiStream"), "inf-scenario-required"),
    "scenario_unknown": (move(RESNET + "MultiStream", RESNET + "Burst"), "inf-scenario-known"),
    "neither_server_nor_interactive": (
        drop("closed/Invented/results/server/gpt-oss-120b/Interactive"), "inf-scenario-one-of"),
    "only_interactive": (drop(LLAMA + "Server"), None),
    "no_measurements": (drop(LLAMA + "Server/measurements.json"), "inf-measurements"),
    "measurements_field_missing": (field(LLAMA + "Server/measurements.json", "retraining", None),
                                   "inf-measurements"),
    "measurements_field_empty": (field(LLAMA + "Server/measurements.json", "weight_data_types", ""),
                                 "inf-measurements"),
    "no_user_conf": (drop(LLAMA + "Server/user.conf"), "inf-measurement-files"),
    "readme_empty": (add(LLAMA + "Server/README.md", ""), "inf-measurement-files"),
    "no_performance_log": (drop(LLAMA + "Server/" + RUN), "inf-performance-log"),
    "performance_log_is_no_log": (add(LLAMA + "Server/" + RUN, "hello\n"), "inf-performance-log"),
    "performance_log_cut": (edit(LLAMA + "Server/" + RUN, r'^(.*"num_errors".{9}).*$', r"\1"),
                            "inf-performance-log"),
    "seed": (value(LLAMA + "Offline/" + RUN, "effective_qsl_rng_seed", 1), "inf-seeds"),
    "schedule_seed": (value(LLAMA + "Offline/" + RUN, "effective_schedule_rng_seed", 1),
                      "inf-seeds"),
    "seeds_of_v6_0": (value(LLAMA + "Offline/" + RUN, "effective_sample_index_rng_seed",
                            14276810075590677512), "inf-seeds"),
    "few_loaded": (value(LLAMA + "Offline/" + RUN, "effective_performance_sample_count", 100),
                   "inf-performance-samples"),
    "short": (value(LLAMA + "Server/" + RUN, "effective_min_duration_ms", 60000), "inf-duration"),
    "short_in_open": (value("open/Invented/results/server/mine/Offline/" + RUN,
                            "effective_min_duration_ms", 60000), "inf-duration"),
    "small_offline_query": (value(LLAMA + "Offline/" + RUN, "effective_samples_per_query", 5000),
                            "inf-queries"),
    "small_offline_query_in_open": (value("open/Invented/results/server/mine/Offline/" + RUN,
                                          "effective_samples_per_query", 5000), None),
    "early_stopping": (value(RESNET + "SingleStream/" + RUN, "early_stopping_met", "false"),
                       "inf-early-stopping"),
    "wide_latency": (value(DLRM + "Server/" + RUN, "effective_target_latency_ns", 60000000001),
                     "inf-latency"),
    "no_token_latencies": (value(LLAMA + "Server/" + RUN, "requested_use_token_latencies", "false"),
                           "inf-token-latencies"),
    "ttft": (value(LLAMA + "Server/" + RUN, "result_first_token_99.00_percentile_latency_ns",
                   2000000000), "inf-token-limits"),
    "tpot": (value(LLAMA + "Server/" + RUN, "result_time_per_output_token_99.00_percentile_ns",
                   100000001), "inf-token-limits"),
    "interactive_ttft": (value(LLAMA + "Interactive/" + RUN,
                               "result_first_token_99.00_percentile_latency_ns", 500000001),
                         "inf-token-limits"),
    "invalid": (value(LLAMA + "Server/" + RUN, "result_validity", '"INVALID"'), "inf-result-valid"),
    "error_in_the_log": (append(LLAMA + "Server/" + RUN,
                                log_line("error_runtime", "Ran out", True) + "\n"), None),
    "no_metric": (value(LLAMA + "Server/" + RUN, "result_completed_tokens_per_second", "null"),
                  "inf-metric"),
    "inferred_at_the_edge": (copy(RESNET + "SingleStream/" + RUN, RESNET + "Offline/" + RUN), None),
    "inferred_without_its_figure": (value(RESNET + "Offline/" + RUN, "effective_scenario",
                                          '"SingleStream"'), "inf-metric"),
    "inferred_in_the_datacenter": (value(DLRM + "Offline/" + RUN, "effective_scenario",
                                         '"SingleStream"'), "inf-inferred"),
    "inferred_the_wrong_way": (value(RESNET + "SingleStream/" + RUN, "effective_scenario",
                                     '"MultiStream"'), "inf-inferred"),
    "no_accuracy_text": (drop(LLAMA + "Offline/accuracy/accuracy.txt"), "inf-accuracy-text"),
    "accuracy_low": (edit(LLAMA + "Offline/accuracy/accuracy.txt", r"'rougeL': '\d+",
                          "'rougeL': '9"), "inf-accuracy"),
    "accuracy_too_long": (edit(LLAMA + "Offline/accuracy/accuracy.txt", r"'gen_len': \d+",
                               "'gen_len': 9984408"), "inf-accuracy"),
    "metric_missing": (edit(LLAMA + "Offline/accuracy/accuracy.txt", r"^'rouge2'.*\n", ""),
                       "inf-accuracy"),
    "accuracy_low_in_open": (edit("open/Invented/results/server/mine/Offline/accuracy/accuracy.txt",
                                  r"'rougeL': '\d+", "'rougeL': '9"), None),
    "no_hash": (edit(LLAMA + "Offline/accuracy/accuracy.txt", r"^hash.*\n", ""),
                "inf-accuracy-hash"),
    "accuracy_log_whole": (add(LLAMA + "Offline/accuracy/mlperf_log_accuracy.json", "x" * 10241),
                           "inf-accuracy-json"),
    "no_accuracy_json": (drop(LLAMA + "Offline/accuracy/mlperf_log_accuracy.json"),
                         "inf-accuracy-json"),
    "accuracy_error": (append(LLAMA + "Offline/accuracy/mlperf_log_detail.txt",
                              log_line("error_runtime", "late", True) + "\n"), "inf-accuracy-log"),
    "part_of_the_dataset": (value(LLAMA + "Offline/accuracy/mlperf_log_detail.txt",
                                  "effective_accuracy_sample_count", 13367),
                            "inf-accuracy-samples"),
    "no_test": (drop(LLAMA + "Offline/TEST06"), "inf-test-present"),
    "test06_eos": (edit(LLAMA + "Offline/TEST06/verify_accuracy.txt", "EOS check pass: True",
                        "EOS check pass: False"), "inf-test-answers"),
    "test06_skipped_tokens": (edit(LLAMA + "Offline/TEST06/verify_accuracy.txt",
                                   "First token check pass: True",
                                   "First token check pass: Skipped"),
                              None),
    "test07_fails": (add(OSS + "TEST07/verify_accuracy.txt", "TEST FAIL\n"), "inf-test-answers"),
    "test08_fails": (add(DLRM + "Offline/TEST08/verify_accuracy.txt", "TEST FAIL\n"),
                     "inf-test-answers"),
    "test09_missing": (drop(OSS + "TEST09/verify_output_len.txt"), "inf-test-present"),
    "test01_slow": (add(RESNET + "Offline/TEST01/verify_performance.txt", "TEST FAIL\n"),
                    "inf-test-runs"),
    "test01_other_bytes": (add(RESNET + "Offline/TEST01/verify_accuracy.txt", "TEST FAIL\n"),
                           "inf-test-answers"),
    "test04_extra_file": (add(RESNET + "Offline/TEST04/performance/run_1/notes.txt"),
                          "inf-test-runs"),
    "test04_seed": (value(RESNET + "Offline/TEST04/" + RUN, "effective_qsl_rng_seed", 1),
                    "inf-seeds"),
    "test04_no_log": (drop(RESNET + "Offline/TEST04/" + RUN), "inf-test-present"),
}


def near_scores(root):
    """TEST01 of a system whose bytes differ, with accuracies that agree."""
    at = root / RESNET / "Offline/TEST01"
    put(at / "verify_accuracy.txt", "TEST FAIL\n")
    for name in ("accuracy.txt", "baseline_accuracy.txt", "compliance_accuracy.txt"):
        put(at / "accuracy" / name, accuracy_text("resnet", "Offline"))
    put(at / "accuracy/mlperf_log_accuracy.json", "[]\n")


def far_scores(root):
    near_scores(root)
    put(root / RESNET / "Offline/TEST01/accuracy/compliance_accuracy.txt", "accuracy=70.0%\n")


DAMAGES["test01_near_scores"] = (near_scores, None)
DAMAGES["test01_far_scores"] = (far_scores, "inf-test-answers")


def signed(change):
    """A damage to a measured file that the session's digests follow."""
    def damage(root):
        change(root)
        sign(root / POWERED)
    return damage


def in_sessions(change, *names):
    def damage(root):
        for name in names or ("client.json", "server.json"):
            path = root / POWERED / "power" / name
            session = json.loads(path.read_text(encoding="utf-8"))
            change(session)
            put(path, json.dumps(session, indent=1))
    return damage


def with_reply(command, reply):
    def change(session):
        for message in session["ptd_messages"]:
            if message["cmd"] == command:
                message["reply"] = reply
    return in_sessions(change, "server.json")


LOG = POWERED + "power/ptd_logs.txt"
DAMAGES |= {
    "power_file_missing": (drop(POWERED + "power/client.log"), "inf-power-files"),
    "power_extra_file": (add(POWERED + "power/notes.txt"), "inf-power-files"),
    "power_no_ranging_samples": (drop(POWERED + "ranging/spl.txt"), "inf-power-files"),
    "power_samples_changed": (edit(POWERED + "run_1/spl.txt", ",399,", ",398,"),
                              "inf-power-digests"),
    "power_lower_by_6_percent": (signed(edit(POWERED + "run_1/spl.txt", ",399,", ",376,", 0)),
                                 "inf-power-samples"),
    "power_lower_by_4_percent": (signed(edit(POWERED + "run_1/spl.txt", ",399,", ",384,", 0)),
                                 None),
    "power_no_samples_in_the_run": (signed(add(POWERED + "run_1/spl.txt", samples("12", 400))),
                                    "inf-power-samples"),
    "power_another_session": (in_sessions(lambda one: one.update(session_name="s2"), "client.json"),
                              "inf-power-session"),
    "power_another_uuid": (in_sessions(
        lambda one: one["uuid"].update(client="12345678-1234-5678-1234-567812345670"),
        "client.json"), "inf-power-session"),
    "power_message_missing": (in_sessions(lambda one: one["messages"].pop(), "client.json"),
                              "inf-power-session"),
    "power_other_versions": (in_sessions(
        lambda one: one["messages"][0].update(reply="mlcommons/power server v4")),
        "inf-power-session"),
    "power_other_sources": (in_sessions(lambda one: one["sources"].update({"client.py": "0"})),
                            "inf-power-session"),
    "power_field_missing": (in_sessions(lambda one: one.pop("modules"), "client.json"),
                            "inf-power-session"),
    "power_clocks_apart": (in_sessions(
        lambda one: one["phases"]["testing"][1].__setitem__(0, epoch("09:59") - .4),
        "client.json"), "inf-power-phases"),
    "power_run_outside_its_phase": (in_sessions(
        lambda one: one["phases"]["testing"][2].__setitem__(0, epoch("10:05"))),
        "inf-power-phases"),
    "power_debug": (in_sessions(lambda one: one.update(debug=True), "server.json"),
                    "inf-power-analyzer"),
    "power_unknown_analyzer": (in_sessions(
        lambda one: one["ptd_config"][0].update(device_type=7), "server.json"),
        "inf-power-analyzer"),
    "power_unknown_model": (with_reply("Identify", "Meter9,version=1.11.1-a"),
                            "inf-power-replies"),
    "power_old_daemon": (with_reply("Identify", "YokogawaWT310E,version=1.9.2-a"),
                         "inf-power-replies"),
    "power_range_refused": (with_reply("SR,A,5", "Error"), "inf-power-replies"),
    "power_range_not_set_back": (in_sessions(
        lambda one: one["ptd_messages"][11].update(cmd="SR,V,300"), "server.json"),
        "inf-power-replies"),
    "power_unchecked": (signed(edit(LOG, r"^.*Uncertainty.*\n", "")), "inf-power-log"),
    "power_no_ranging_in_the_log": (signed(edit(LOG, "s1_ranging", "s9_ranging")),
                                    "inf-power-log"),
    "power_error_while_testing": (signed(append(
        LOG, "11-23-2026 10:05:00.000: ERROR: Bad watts reading nan from x\n")), "inf-power-log"),
    "power_error_while_ranging": (signed(append(
        LOG, "11-23-2026 08:05:00.000: ERROR: Bad watts reading nan from x\n")), None),
    "power_usb_error": (signed(append(LOG, "11-23-2026 10:05:00.000: ERROR: USB.\n")), None),
}
