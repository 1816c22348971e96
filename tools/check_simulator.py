#!/usr/bin/env python3
"""Asks the binary for measured points as a stranger would, and says how far off it is.

    check_simulator.py POINTS.csv [MORE.csv ...] --assay build/release/assay [--families]

Knows nothing of the model: the columns of a table of measured points become flags of
`assay simulate`, the engine's release among them, one call for the concurrencies of a curve
(disaggregated rows one by one), all else left at its default. So a difference between these errors
and those that calibrate_serving_model.py reports is a fault of the command line's path: defaults,
sampling, names. The points are not part of the repository.
"""

import argparse
import collections
import csv
import json
import statistics
import subprocess
import sys

MODELS = {"dsr1": "deepseek-r1", "l70": "llama3.1-70b", "gptoss": "gpt-oss-120b",
          "q32": "qwen3-32b"}
BACKENDS = {"trtllm": "tensorrt-llm"}


def model_of(row):
    return MODELS.get(row["m"], row["m"])


def whole(row, name):
    return int(float(row[name]))


def layout(row, prefix=""):
    """dp and ep of 0 in the table mean that there is none."""
    tp, dp = whole(row, prefix + "tp_size"), max(1, whole(row, prefix + "attention_dp_size"))
    return tp, dp


def length(row, name):
    """Exactly the nominal one, or drawn from 0.8 to 1 of it."""
    tokens = int(row[name])
    return str(tokens) if row.get("lengths") == "fixed" else f"uniform:{int(0.8 * tokens)}-{tokens}"


def flags_of(row):
    """All that the concurrencies of one curve have in common."""
    flags = ["--model", model_of(row), "--hardware", row["system"].replace("_", "-"),
             "--backend", BACKENDS.get(row["backend"], row["backend"]), "--precision", row["prec"],
             "--isl", length(row, "isl"), "--osl", length(row, "osl")]
    if "decode_tp_size" not in row:
        tp, dp = layout(row)
        ep = max(1, whole(row, "moe_ep_size"))
        release = row["backend_version"]
        return [*flags, "--parallel", f"tp={tp},dp={dp},ep={ep}",
                *(["--backend-version", release] if release else [])]
    prefill, decode = layout(row, "prefill_"), layout(row, "decode_")
    split = (f"{whole(row, 'prefill_num_workers')}P:tp={prefill[0]},dp={prefill[1]}+"
             f"{whole(row, 'decode_num_workers')}D:tp={decode[0]},dp={decode[1]},"
             f"ep={max(1, whole(row, 'mep'))}")
    return [*flags, "--disagg", split]


def ask(assay, flags, levels):
    command = [assay, "simulate", *flags, "--concurrency", ",".join(map(str, levels)), "--json"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{answer.stderr}")
    return json.loads(answer.stdout)["points"]


def artefact(row):
    """Published times to the first token that are not serving: early SGLang rows on B200, whose
    first burst compiles kernels, and TensorRT-LLM at 1k/1k with few cards (the data's known
    defects); rows that say so."""
    early = row["m"] == "dsr1" and row["backend"] == "sglang" and row["system"] == "b200_sxm"
    return (row.get("suspect") == "ttft" or (early and not row["backend_version"])
            or (row["m"] == "l70" and row["backend"] == "trtllm" and whole(row, "tp_size") <= 4
                and row["isl"] == row["osl"] == "1024"))


def errors(row, point):
    tpot, ttft = float(row["silicon_tpot_ms"]), float(row["silicon_ttft_ms"])
    output = int(row["osl"]) * (1 if row.get("lengths") == "fixed" else 0.9)
    measured = whole(row, "C") * output * 1e3 / (ttft + output * tpot)
    return {"tpot": point["tpot_ms_mean"] / tpot - 1, "tps": point["system_tps"] / measured - 1,
            "ttft": point["ttft_ms_mean"] / ttft - 1}


def measure(rows, assay):
    curves = collections.defaultdict(list)
    for row in rows:
        alone = row["C"] if "decode_tp_size" in row else ""
        curves[tuple(flags_of(row)), alone].append(row)
    out = []
    for (flags, _), members in curves.items():
        levels = sorted({whole(row, "C") for row in members})
        points = dict(zip(levels, ask(assay, flags, levels)))
        out += [(row, errors(row, points[whole(row, "C")])) for row in members]
    return out


def median(chosen, key):
    return 100 * statistics.median(abs(e[key]) for _, e in chosen) if chosen else float("nan")


def table(groups):
    print("| points | n | TPOT | throughput | TTFT | TTFT without known defects | TPOT mean |"
          " bias |\n|---|---|---|---|---|---|---|---|")
    for name, chosen in groups:
        good = [c for c in chosen if not artefact(c[0])]
        shown = [median(chosen, "tpot"), median(chosen, "tps"), median(chosen, "ttft"),
                 median(good, "ttft"), 100 * statistics.mean(abs(e["tpot"]) for _, e in chosen)]
        bias = 100 * statistics.median(e["tpot"] for _, e in chosen)
        print(f"| {name} | {len(chosen)} | " + " | ".join(f"{x:.1f}" for x in shown)
              + f" | {bias:+.1f} |")


def grouped(measured, key):
    groups = collections.defaultdict(list)
    for row, e in measured:
        groups[key(row)].append((row, e))
    return sorted(groups.items())


def kind(row):
    return model_of(row) + (", disaggregated" if "decode_tp_size" in row else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="+", metavar="POINTS.csv")
    parser.add_argument("--assay", default="assay")
    parser.add_argument("--families", action="store_true", help="by card, backend and format too")
    parser.add_argument("--worst", type=int, default=0, metavar="N", help="the N worst points")
    args = parser.parse_args()
    rows = [row for path in args.tables for row in csv.DictReader(open(path, encoding="utf-8"))
            if row.get("suspect") != "all"]
    measured = measure(rows, args.assay)
    groups = grouped(measured, kind)
    if args.families:
        groups += grouped(
            measured, lambda r: f"{kind(r)}, {r['system']} {r['backend']} {r['prec']}")
    table(groups)
    measured.sort(key=lambda c: -abs(c[1]["tpot"]))
    for row, e in measured[:args.worst]:
        print(f"{100 * e['tpot']:+6.0f} % TPOT {100 * e['ttft']:+6.0f} % TTFT  C={whole(row, 'C')} "
              + " ".join(flags_of(row)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
