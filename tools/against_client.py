#!/usr/bin/env python3
"""MLPerf Client's published configs, asked by `assay client`, and its figures by hand.

    tools/against_client.py --client DIR [--only GLOB] [--set base|extended|both]
                            [--llama | --endpoint URL]

DIR is a checkout of mlcommons/mlperf_client. Each config of data/configs (or those that match GLOB)
is asked as it stands, but for its pause, of the built-in endpoint, or with --llama of llama.cpp's
server on a model with random weights (run it by the Python of `./assay.sh test servers`), or of a
server that runs. What was asked, in which order, and each figure are then computed here from the
prompt files and the event log by Client's definitions: TTFT and time of a token must agree to
0.1 ms, the geometric means with those of the categories to 1e-9. The tool calls of agents run, on
scripts that stand in for those of Client's tools_sandbox; but for llama.cpp, a token is a word,
and expected durations must agree to 0.1 ms too. A config that makes images must be refused. It
prints a line for each config and every difference; the exit code is 1 where there is one.
"""

import argparse
import contextlib
import csv
import io
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
from decimal import ROUND_HALF_UP, Decimal

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROMPTS = {"llama3": "llama_3_1_8b_instruct", "phi4mini": "phi_4_mini_instruct",
           "phi4reason": "phi_4_reasoning_14b", "qwen3": "qwen_3_8b"}
REQUIRED = {"Content Generation", "Creative Writing", "Structured Text", "Code Analysis",
            "Summarization, Intermediate"}
TENTH_OF_A_MS = 1e-4
# What the recorded calls ask for; each is there and does a little.
TOOLS = ["bootstrap_mean_ci.py", "bootstrap_test.py", "01_profile_csv.py", "02_channel_mix.py",
         "03_supplier_concentration.py", "04_anomalies.py", "05_trend_by_month.py"]
CALLS = {"SWE Agent": [1, 2, 0], "Data Analyst Agent": [1, 2, 2, 0]}  # of each turn


def json_of(path):
    return json.loads(path.read_text(encoding="utf-8-sig"))


def write_tools(folder):
    folder.mkdir()
    for name in TOOLS:
        (folder / name).write_text("import sys\nprint(sum(range(1000)), *sys.argv)\n")
    (folder / "Warehouse_and_Retail_Sales.csv").write_text("SUPPLIER,YEAR\na,2020\n")
    return folder


def write_words(folder):
    """A tokenizer whose tokens are words."""
    folder.mkdir()
    (folder / "tokenizer.json").write_text(json.dumps({
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0}}}))
    return folder


def recorded_words(scenario, prompts, chosen):
    """{category: [words of each recorded answer]}"""
    out = {}
    for group, addresses in scenario["InputFilePath"].items():
        for address in addresses if chosen in (group, "both") else []:
            path = prompts.joinpath(*address.split("/")[-2:])
            file = json_of(path)
            out[file["category"]] = [
                len(path.with_name(entry["agent"]).read_text("utf-8", "replace").split())
                for entry in file["prompts"] if "agent" in entry]
    return out


def agent_differences(result, words):
    """Durations of agents, from the figures of each turn, and which turns had tools to run."""
    for one in result["categories"]:
        name, turns = one["name"], one["prompts"]
        if [turn["tools_s"] > 0 for turn in turns] != [calls > 0 for calls in CALLS[name]]:
            yield f"{name}: tools took {[turn['tools_s'] for turn in turns]} s: {one['why']}"
            continue
        tools = sum(turn["tools_s"] for turn in turns)
        if abs(one["tools_s"] - tools) >= TENTH_OF_A_MS:
            yield f"{name}: tools took {one['tools_s']} s, by hand {tools}"
        if one["context_tokens"] != turns[-1]["tokens_in"]:
            yield f"{name}: context {one['context_tokens']}, by hand {turns[-1]['tokens_in']}"
        if words is None:
            continue
        by_hand = tools + sum(turn["ttft_s"] + count / turn["tokens_per_s"]
                              for turn, count in zip(turns, words[name], strict=True))
        if abs(one["expected_duration_s"] - by_hand) >= TENTH_OF_A_MS:
            yield f"{name}: expected {one['expected_duration_s']} s, by hand {by_hand}"


def asked_items(scenario, prompts, chosen):
    """[(category, [positions of its measured inferences])], and how many are asked in all."""
    files = scenario["InputFilePath"]
    if isinstance(files, dict):
        files = [one for name in ("base", "extended") if chosen in (name, "both")
                 for one in files.get(name, [])]
    iterations, warmups = scenario.get("Iterations", 3), scenario.get("WarmUp", 1)
    items, at = [], 0
    for address in files:
        file = json_of(prompts.joinpath(*address.split("/")[-2:]))
        if scenario.get("IsAgentic"):  # each iteration: a warm-up, then every turn
            turns = (len(file["prompts"]) - 1) // 2
            items += [(file["category"], [at + k * (turns + 1) + 1 + turn
                                          for k in range(iterations)]) for turn in range(turns)]
            at += iterations * (turns + 1)
        else:
            for _ in file["prompts"]:
                items.append((file["category"], list(range(at + warmups,
                                                           at + warmups + iterations))))
                at += warmups + iterations
    return items, at


def inferences(program, folder):
    """[(TTFT, seconds after the first token, tokens)] in the order asked; None: nothing came."""
    def report(*flags):
        return subprocess.run([program, "report", folder, *flags], capture_output=True, text=True,
                              check=False).stdout

    events = folder / "events.jsonl"
    report("--events-jsonl", events)
    seen = {}
    for event in map(json.loads, events.read_text().splitlines()):
        if event["sample_uuid"]:
            one = seen.setdefault(event["sample_uuid"], {})
            one.setdefault(event["event_type"], event["timestamp_ns"])
    rows = list(csv.DictReader(io.StringIO(report("--format", "csv"))))
    return [((one["sample.recv_first"] - one["sample.issued"]) / 1e9,
             (one["sample.complete"] - one["sample.recv_first"]) / 1e9, int(row["output_tokens"]))
            if "sample.recv_first" in one else None
            for one, row in zip(seen.values(), rows, strict=True)]


def by_hand(items, runs):
    """{category: (TTFT, rate, whether each prompt was answered)}. A prompt with a reply of nothing
    is left out; a category where a reply has fewer than two tokens has no rate."""
    parts, failed = {}, set()
    for category, places in items:
        of = [runs[i] for i in places]
        parts.setdefault(category, [])
        if None in of:
            failed.add(category)
            continue
        latency = None
        if all(tokens > 1 for _, _, tokens in of):
            latency = statistics.fmean(after / (tokens - 1) for _, after, tokens in of)
        parts[category].append((statistics.fmean(one[0] for one in of), latency))

    def mean(values):
        values = list(values)
        return None if not values or None in values else statistics.fmean(values)

    return {category: (mean(ttft for ttft, _ in all_of),
                       mean(latency and 1 / latency for _, latency in all_of),
                       category not in failed) for category, all_of in parts.items()}


def rounded(value):
    return float(Decimal(value).quantize(Decimal("0.001"), ROUND_HALF_UP))


def differences(result, items, total, runs):
    if len(runs) != total:
        yield f"{len(runs)} inferences, not {total}"
        return
    figures = by_hand(items, runs)
    ours = {one["name"]: one for one in result["categories"]}
    if list(ours) != list(figures):
        yield f"categories {list(ours)}, not {list(figures)}"
        return
    for name, (ttft, rate, _) in figures.items():
        told = ours[name]["ttft_s"]
        if (told is None) != (ttft is None) or (ttft and abs(told - ttft) >= TENTH_OF_A_MS):
            yield f"{name}: TTFT {told} s, by hand {ttft}"
        told = ours[name]["tokens_per_s"]
        if (told is None) != (rate is None) or (
                rate and abs(1 / told - 1 / rate) >= TENTH_OF_A_MS / 10):
            yield f"{name}: {told} tokens/s, by hand {rate}"
    overall = result["overall"]
    whole = REQUIRED <= set(figures) and all(figures[name][1] and figures[name][2]
                                             for name in REQUIRED)
    for key in ("ttft_s", "tokens_per_s"):
        if not whole:
            if overall[key] is not None:
                yield f"overall {key}: {overall[key]} without all of its categories"
            continue
        mean = math.prod(ours[name][key] for name in REQUIRED) ** (1 / len(REQUIRED))
        if not math.isclose(overall[key], mean, rel_tol=1e-9):
            yield f"overall {key}: {overall[key]}, by hand {mean}"
        name = {"ttft_s": "Geomean Time to First Token",
                "tokens_per_s": "Geomean 2nd+ Token Generation Rate"}[key]
        told = result["mlperf_client"]["overall_results"][name]
        if abs(told - rounded(overall[key])) > 1e-9:
            yield f"{name}: {told}, by hand {rounded(overall[key])}"


@contextlib.contextmanager
def served(program, options, folder):
    """The URL of what is asked."""
    if options.endpoint:
        yield options.endpoint
        return
    if options.llama:
        sys.path.insert(0, str(ROOT / "tests/servers"))
        import tiny_llama  # pylint: disable=import-outside-toplevel
        with tiny_llama.served(folder, n_parallel=1) as port:
            yield f"http://127.0.0.1:{port}"
        return
    process = subprocess.Popen([program, "endpoint", "--port", "0", "--model", "tiny", "--ttft",
                                "3ms", "--itl", "1ms", "--osl", "8"], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    try:
        yield next(found.group() for line in process.stdout
                   if (found := re.search(r"http://[\w.]+:\d+", line)))
    finally:
        process.terminate()
        process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--client", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="**/*.json", help="of data/configs")
    parser.add_argument("--set", default="both", choices=["base", "extended", "both"])
    parser.add_argument("--llama", action="store_true")
    parser.add_argument("--endpoint", metavar="URL")
    options = parser.parse_args()
    program = os.environ.get("ASSAY_BIN", ROOT / "build/release/assay")
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        tools, counted = write_tools(work / "tools_sandbox"), write_words(work / "words")
        with served(program, options, work) as url:
            for number, path in enumerate(sorted((options.client / "data/configs").glob(
                    options.only))):
                scenario, = json_of(path)["Scenarios"]
                kind = scenario["Name"].lower()
                prompts = options.client / "data/prompts" / PROMPTS.get(kind, kind)
                folder = work / str(number)
                agent = scenario.get("IsAgentic", False)
                more = ["--tools", tools, "--allow-code"] if agent else []
                if agent and not options.llama:
                    more += ["--tokenizer", counted]
                done = subprocess.run(
                    [program, "client", path, "--prompts", prompts, "--set", options.set, "--delay",
                     "0", "--endpoint", url, "--model", "tiny", "--report-dir", folder, "--quiet",
                     "--allow-client-limited", *more], capture_output=True, text=True, check=False)
                if kind not in PROMPTS:
                    found = [] if done.returncode == 2 and "makes images" in done.stderr else [
                        f"exit {done.returncode}: {done.stderr}"]
                elif done.returncode:
                    found = [f"exit {done.returncode}: {done.stderr}"]
                else:
                    result = json_of(folder / "client_result.json")
                    items, total = asked_items(scenario, prompts, options.set)
                    found = list(differences(result, items, total, inferences(program, folder)))
                    if agent:
                        words = None if options.llama else recorded_words(scenario, prompts,
                                                                          options.set)
                        found += agent_differences(result, words)
                bad += len(found)
                asked = f"{total} inferences" if kind in PROMPTS and not done.returncode else (
                    "refused: it makes images" if not found else "")
                print(f"{path.relative_to(options.client / 'data/configs')}: {asked}, "
                      f"{len(found)} differences", *found, sep="\n  ", flush=True)
    print(f"{bad} differences")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
