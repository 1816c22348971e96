#!/usr/bin/env python3
"""Fits the constants of the serving model (catalogue/calibration.yaml) to measured points.

    calibrate_serving_model.py POINTS.csv MODELS.csv fit --out catalogue/calibration.yaml
    calibrate_serving_model.py POINTS.csv MODELS.csv cv --plot docs/guide/serving_model_errors.svg
    calibrate_serving_model.py POINTS.csv MODELS.csv doubt --out catalogue/doubt.yaml \\
        --apart DISAGG.csv --assay build/release/assay
    calibrate_serving_model.py POINTS.csv MODELS.csv check --assay build/release/assay
    calibrate_serving_model.py DISAGG.csv disagg --assay build/release/assay

`cv` leaves out a fifth of the whole curves at a time (all concurrencies of one model, card,
backend, format, lengths and layout), then whole models. The fit itself is serving_fit.py; what a
release of the engine changes is serving_release.py's.

For development only; needs numpy, PyYAML, serving_catalogue.py, serving_schedule.py,
serving_step.py and validation_plot.py. The points are not part of the repository.
"""

import argparse
import collections
import csv
import functools
import json
import math
import statistics
import subprocess
import sys

import numpy as np

import serving_doubt
import validation_plot
from serving_catalogue import NAMES as CLI
from serving_catalogue import STATE_BYTES, card, model
from serving_fit import COMPUTE_BY_FORMAT, CONSTANTS, NAMES, Fit
from serving_release import Releases
from serving_schedule import Loop
from serving_step import kv_element_bytes

GAIN = {0: 1.0, 1: 1.79, 3: 2.495}  # tokens a step that schedules are made with


def drafts_of(point):
    """The data do not say whether drafts were on. Versions that differ by two at one layout do."""
    if point["m"] != "dsr1" or point["backend"] != "trtllm":
        return 0
    some = 1 if point["dp"] > 1 else 3
    version = point["version"]
    if "post3" in version:
        return some
    if "1.1.0rc2" not in version:
        return 0
    if point["card"] == "h200_sxm":  # one point of a curve came without: its TTFT is a third
        return 0 if point["C"] == 64 and point["ttft"] < 400 and point["osl"] == 8192 else some
    if point["isl"] == 8192:
        return some if point["C"] <= 16 else 0
    return some if point["ep"] > 1 else 0


def early_attention_dp(point):
    """Rows without a version recorded only tp, whatever ran. The recipes of that time turned on
    attention DP from these concurrencies, and the rows show it: at 8k/1k the TTFT of 64 is four
    times that of 32."""
    if point["m"] != "dsr1" or point["backend"] != "trtllm" or point["precision"] != "nvfp4":
        return False
    return not point["version"] and point["C"] >= (64 if point["isl"] == 8192 else 256)


def fitted(points):
    return [p for p in points if not early_attention_dp(p)]


def kv_tokens(point):
    """Memory for KV, in tokens: the rules of catalogue/backends."""
    shape, memory = model(point["m"]), card(point["card"])["memory"]
    weights = shape.weight_bytes(point["precision"], point["tp"], point["moe_tp"], point["ep"])
    each = kv_element_bytes(point) * shape.kv_elements(point["tp"])
    room = {"vllm": memory * 0.90 - weights - 5e9,
            "trtllm": (memory - weights - 6e9) * 0.90,
            "sglang": memory * 0.95 - weights - 2e9}[point["backend"]]
    room = max(room, 1e9) / each * max(1, point["dp"])
    fixed = shape.state_elements(point["tp"]) * STATE_BYTES / each
    needed = point["C"] * (point["isl"] + point["osl"] + fixed)
    return room - point["C"] * fixed if room < needed else math.inf


def token_budget(point):
    """Tokens of one step: the rules of catalogue/backends."""
    if point["backend"] == "trtllm":
        return 20000 if point["m"] == "gptoss" else 8192
    if point["m"].startswith("qwen3.5"):
        return 16384
    if point["m"] != "dsr1" or point["backend"] != "sglang":
        return 8192
    if point["card"] == "h200_sxm":
        return 32768
    if point["precision"] == "fp8":
        return 32768 if point["tp"] == 8 else 8192
    return 16384


def prompts_max(point):
    """Prompts of one step, 0 for any number: the rules of catalogue/backends. Recipes of B200 had
    max_num_tokens of a prompt and the batch before 1.2 too."""
    if point["backend"] != "trtllm" or point["m"] != "dsr1":
        return 0
    hopper = card(point["card"])["generation"] == "hopper"
    return 1 if point["drafts"] or hopper or point["early"] else 0


def poll_steps(point):
    """Decode steps between two looks for arrivals: the rules of catalogue/backends."""
    if point["backend"] != "sglang" or card(point["card"])["generation"] != "blackwell":
        return 1
    if point["m"].startswith("qwen3.5"):
        return 10 if point["C"] < 16 else 30
    if point["m"] != "dsr1":
        return 1
    if point["precision"] == "fp8" and point["tp"] == 4:
        return 10
    return 10 if point["C"] < 16 else 30


def read_points(paths):
    return [point for path in paths for point in read_table(path)]


def read_table(path):
    points = []
    for row in csv.DictReader(open(path)):
        if row.get("suspect") == "all" or row["system"] == "gb200":
            continue
        def whole(name, row=row):
            return int(float(row[name]))
        fixed = row.get("lengths") == "fixed"
        p = {"m": row["m"], "card": row["system"], "backend": row["backend"],
             "version": row["backend_version"], "early": "1.2" not in row["backend_version"],
             "precision": row["prec"],
             "isl": int(row["isl"]), "osl": int(row["osl"]), "C": whole("C"),
             "fixed": fixed, "output": int(row["osl"]) * (1 if fixed else 0.9),
             "no_ttft": row.get("suspect") == "ttft",
             "tp": whole("tp_size"), "dp": max(1, whole("attention_dp_size")),
             "moe_tp": max(1, whole("moe_tp_size")), "ep": max(1, whole("moe_ep_size")),
             "ttft": float(row["silicon_ttft_ms"]), "tpot": float(row["silicon_tpot_ms"])}
        p["recorded"] = {name: p[name] for name in ("tp", "dp", "moe_tp", "ep")}
        if early_attention_dp(p):
            p.update(tp=1, dp=p["tp"], moe_tp=1, ep=p["tp"])
        p["drafts"] = drafts_of(p)
        points.append(scheduled(p))
    return points


@functools.cache
def loop(how):
    point = dict(how)
    return Loop(point, GAIN[point["drafts"]]).run()[0]


def scheduled(point):
    """The point with what its layout and drafts decide: memory, scheduler rules, batches."""
    point["kv_tokens"] = kv_tokens(point)
    point["budget"], point["poll"] = token_budget(point), poll_steps(point)
    point["prompts"] = prompts_max(point)
    point["batches"] = loop(tuple((k, point[k]) for k in (
        "C", "isl", "osl", "fixed", "dp", "backend", "kv_tokens", "drafts", "budget", "poll",
        "prompts")))
    return point


def curve(point):
    return tuple(point[k] for k in ("m", "card", "backend", "precision", "isl", "osl", "tp", "dp",
                                    "moe_tp", "ep"))


def family(point):
    return tuple(point[k] for k in ("m", "card", "backend", "precision"))


def ttft_counts(p):
    """False for known defects: early SGLang on B200, which compiles kernels in its first burst;
    TensorRT-LLM at 1k/1k; queues on full memory; rows whose queries may have stayed in step."""
    early = p["m"] == "dsr1" and p["backend"] == "sglang" and p["card"] == "b200_sxm"
    return not (p["no_ttft"] or (early and not p["version"])
                or (p["m"] == "l70" and p["backend"] == "trtllm" and p["tp"] <= 4
                    and p["isl"] == p["osl"] == 1024) or p["ttft"] > 15000)


def noticeable(logs):
    return {n: math.exp(v) for n, v in zip(NAMES, logs) if abs(v) > 0.004}


def calibration_yaml(fit, releases, provenance, compared):
    lines = ["# The constants of the step-time model: the base times every adjustment that",
             "# fits. Written by tools/calibrate_serving_model.py; method and errors are in",
             "# docs/guide/serving_model.md.", "kind: calibration", "provenance: >-",
             "  " + provenance,
             *compared, "base:"]
    lines += [f"  {name}: {base:.4g}" for name, base, _, _ in CONSTANTS]
    lines += ["adjust:", "  # Starting points that differ by format and architecture."]

    def item(when, times):
        if not times:
            return
        filters = ", ".join(f"{k}: {v}" for k, v in when.items())
        factors = ", ".join(f"{k}: {v:.4g}" for k, v in times.items())
        lines.append(f"  - {{when: {{{filters}}},\n     times: {{{factors}}}}}")

    for word, factor in COMPUTE_BY_FORMAT.items():
        if factor != 1:
            item({"precision": word}, {"compute": factor})
    item({"architecture": "moe_mla"}, {c[0]: c[2] for c in CONSTANTS if c[2] != 1})
    for (keys, _), share, groups, table in zip(fit.levels, fit.shares, fit.groups, fit.theta):
        lines.append(f"  # Fitted, by {' and '.join(keys)}.")
        for name, i in groups.items():
            logs = table[i] * fit.spread * share
            item(dict(zip(keys, name)), noticeable(logs))
    lines.append("  # Of releases, fitted to what all the above leaves.")
    for when, logs in releases.adjustments():
        item(when, noticeable(logs))
    return "\n".join(lines) + "\n"


def report(points, errors, title):
    """errors: (tpot, throughput, ttft), as shares."""
    def median(chosen, k):
        return statistics.median(abs(errors[i][k]) for i in chosen) * 100 if chosen else 0

    def line(name, chosen):
        good = [i for i in chosen if ttft_counts(points[i])]
        shown = [median(chosen, 0), median(chosen, 1), median(chosen, 2), median(good, 2),
                 100 * statistics.mean(abs(errors[i][0]) for i in chosen)]
        bias = 100 * statistics.median(errors[i][0] for i in chosen)
        print(f"| {name} | {len(chosen)} | " + " | ".join(f"{x:.1f}" for x in shown)
              + f" | {bias:+.1f} |")
    print(f"\n{title}\n\n| points | n | TPOT | throughput | TTFT | without known defects |"
          " TPOT mean | TPOT bias |\n|---|---|---|---|---|---|---|---|")
    families = collections.defaultdict(list)
    models = collections.defaultdict(list)
    for i, p in enumerate(points):
        families[" ".join(family(p))].append(i)
        models[p["m"]].append(i)
    for name in sorted(families):
        line(name, families[name])
    for name in sorted(models):
        line(f"**{name}**", models[name])


def compared_families(points, errors):
    """What `assay simulate` says of its trust: which families were fitted, and how well."""
    families = collections.defaultdict(list)
    for point, error in zip(points, errors):
        families[family(point)].append((point, error))
    lines = ["compared:  # what was fitted, and the median TPOT error after the fit"]
    for (name, hardware, backend, precision), members in sorted(families.items()):
        what = (f"model: {model(name).name}, hardware: {hardware.replace('_', '-')}, "
                f"backend: {CLI.get(backend, backend)}, precision: {precision}, "
                f"generation: {card(hardware)['generation']}")
        middle = statistics.median(abs(error[0]) for _, error in members)
        most = max(p["C"] / (p["tp"] * p["dp"]) for p, _ in members)
        lines.append(f"  - {{what: {{{what}}},\n     points: {len(members)}, "
                     f"tpot_error: {middle:.3g}, in_flight_max: {most:g}}}")
    return lines


def throughput(point, ttft, tpot):
    output = point["output"]
    return point["C"] * output / (ttft + output * tpot)


def shares(point, ttft, tpot):
    return (tpot / point["tpot"] - 1,
            throughput(point, ttft, tpot) / throughput(point, point["ttft"], point["tpot"]) - 1,
            ttft / point["ttft"] - 1)


def by_rules(point):
    """The point as a stranger asks for it: the layout and the release that the row says, the drafts
    that the recipe rules of catalogue/backends say."""
    release = point["version"]
    out = dict(point, **point["recorded"], drafts=0, early=release.startswith("1.1."))
    if point["m"] == "dsr1" and point["backend"] == "trtllm":
        if card(point["card"])["generation"] == "hopper":
            out["drafts"] = 1 if out["dp"] > 1 else 3 if out["ep"] > 1 else 0
        elif release == "1.2.0rc6.post3":
            out["drafts"] = 1 if out["dp"] > 1 else 3
        elif release != "1.2.0rc6.post2" and out["dp"] > 1 and point["precision"] == "fp8":
            out["drafts"] = 1
    return scheduled(out)


def unseen(points, parts, start=None):
    """Errors of each part's points when the fit had not seen them, asked by the recipe rules; in
    the order of `points`. A part is a set of their indices."""
    kept = fitted(points)
    start = start or Fit(points).solve(kept, ttft_counts).theta  # only where the search begins
    errors = [None] * len(points)
    for part in parts:
        seen = [p for i, p in enumerate(points) if i not in part and not early_attention_dp(p)]
        fit = Fit(points).solve(seen, ttft_counts, start)
        fit = Releases(fit, seen).solve(seen, ttft_counts)
        held = sorted(part)
        tpot, ttft = fit.predict([by_rules(points[i]) for i in held])
        for i, a, b in zip(held, tpot, ttft):
            errors[i] = shares(points[i], b, a)
    return errors


def parts_by(points, key):
    out = collections.defaultdict(set)
    for i, p in enumerate(points):
        out[key(p)].add(i)
    return [out[k] for k in sorted(out)]


def folds_of_curves(points, folds, seed=0):
    curves = sorted({curve(p) for p in points})
    order = np.random.default_rng(seed).permutation(len(curves))
    fold = {curves[j]: i % folds for i, j in enumerate(order)}
    return parts_by(points, lambda p: fold[curve(p)])


def busiest(points):
    """Of each family the points with more in flight than half of its most."""
    most = collections.defaultdict(float)
    for p in points:
        most[family(p)] = max(most[family(p)], serving_doubt.in_flight(p))
    return [{i for i, p in enumerate(points) if serving_doubt.in_flight(p) > most[family(p)] / 2}]


def measured_over_simulated(point, tpot, ttft):
    """Logarithms by serving_doubt.NAMES, of logarithms of simulated over measured; nan where the
    time to the first token does not count."""
    first = point["ttft"] * (1 if math.isnan(ttft) else math.exp(ttft))
    rate = math.log(throughput(point, first, point["tpot"] * math.exp(tpot))
                    / throughput(point, point["ttft"], point["tpot"]))
    return -tpot, -rate, -ttft


def without_release(point):
    """The point as somebody asks for it who does not know the engine's release."""
    return by_rules(dict(point, version=""))


def doubts(points, apart, assay):
    """Everything left out that a simulated point may be new in. No release is given: the intervals
    are for all who ask, and wide for who gives one."""
    out, points, generation = serving_doubt.Doubts(), fitted(points), serving_doubt.generation
    fit = Fit(points).solve(points, ttft_counts)
    known, ruled = fit.predict(points), fit.predict([without_release(p) for p in points])
    rules = [np.log(r / k) for r, k in zip(ruled, known)]  # what asking as a stranger adds

    def cases(parts, part_of):
        asked = [(part, sorted(part)) if isinstance(part, set) else part for part in parts]
        found = []
        for (_, held), off in zip(asked, fit.held_out(points, ttft_counts, asked)):
            found += [(points[i], part_of(points[i]), measured_over_simulated(
                points[i], tpot + rules[0][i], ttft + rules[1][i]))
                      for i, (tpot, ttft) in zip(held, off)]
        return found

    def anew(parts, part_of):
        """The same with a fit for each part: where a whole model or card is left out, the fit goes
        elsewhere."""
        found = []
        for left, held in ((p, sorted(p)) if isinstance(p, set) else p for p in parts):
            again = Fit(points).solve([p for i, p in enumerate(points) if i not in left],
                                      ttft_counts, fit.theta, rounds=3)
            tpot, ttft = again.predict([without_release(points[i]) for i in held])
            found += [(points[i], part_of(points[i]), measured_over_simulated(
                points[i], math.log(a / points[i]["tpot"]),
                math.log(b / points[i]["ttft"]) if ttft_counts(points[i]) else math.nan))
                      for i, a, b in zip(held, tpot, ttft)]
        return found

    def add(name, filters, found):
        out.add(name, filters, [(c[1], c[2]) for c in found])

    folds = folds_of_curves(points, 5)
    number = {id(points[i]): k for k, part in enumerate(folds) for i in part}
    serving_doubt.by_architecture(out, "compared", "compared",
                                  cases(folds, lambda p: number[id(p)]))
    add("beyond", {"trust": "beyond"}, cases(busiest(points), family))
    add("new mix", {"trust": "new mix"}, cases(parts_by(points, family), family))
    add("new card", {"trust": "new card", "generation_known": "true"},
        anew(parts_by(points, lambda p: p["card"]), lambda p: p["card"]))
    add("new card of a new generation", {"trust": "new card"},
        anew(parts_by(points, generation), lambda p: (generation(p), p["m"])))
    add("new model", {"trust": "new model"},
        anew(parts_by(points, lambda p: p["m"]), lambda p: p["m"]))
    both = [max((part for part in parts_by(points, lambda p: (p["m"], generation(p)))
                 if points[min(part)]["m"] == name), key=len)
            for name in sorted({p["m"] for p in points})]
    around = [({i for i, p in enumerate(points) if p["m"] == points[min(part)]["m"]
                or generation(p) == generation(points[min(part)])}, sorted(part))
              for part in both]
    add("unproven", {"trust": "unproven"}, anew(around, lambda p: p["m"]))
    if apart:
        said, errors = check_disaggregated(apart, assay)
        add("prefill and decode apart", {"apart": "true"},
            [(p, family(p), measured_over_simulated(p, math.log1p(e[0]), math.log1p(e[2])))
             for p, e in zip(said, errors)])
    return out


def report_unseen(points, plot):
    for seed in (0, 1):
        errors = unseen(points, folds_of_curves(points, 5, seed))
        report(points, errors, f"Unseen: five folds of whole curves, seed {seed}")
        if plot and seed == 0:
            with open(plot, "w", encoding="utf-8") as out:
                out.write(validation_plot.picture(points, errors))
    errors = unseen(points, parts_by(points, lambda p: p["m"]))
    report(points, errors, "Unseen: each model left out")


def simulate(assay, point, extra):
    def length(tokens):
        return str(tokens) if point["fixed"] else f"uniform:{int(0.8 * tokens)}-{tokens}"

    command = [assay, "simulate", "--model", model(point["m"]).name, "--hardware",
               point["card"].replace("_", "-"), "--backend",
               CLI.get(point["backend"], point["backend"]), "--precision", point["precision"],
               "--isl", length(point["isl"]), "--osl", length(point["osl"]),
               "--concurrency", str(point["C"]), "--json", *extra]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)["points"][0]


def check(points, assay, drafts_known):
    errors = []
    for p in points:
        layout = f"tp={p['tp']},dp={p['dp']},ep={p['ep']}"
        known = ["--mtp", str(p["drafts"])] if drafts_known else []
        if p["version"]:
            known += ["--backend-version", p["version"]]
        said = simulate(assay, p, ["--parallel", layout, *known])
        errors.append(shares(p, said["ttft_ms_mean"], said["tpot_ms_mean"]))
    return errors


def check_disaggregated(path, assay):
    points, errors = [], []
    for row in csv.DictReader(open(path)):
        def whole(name, row=row):
            return int(float(row[name]))
        p = {"m": "dsr1", "card": row["system"], "backend": row["backend"],
             "precision": row["prec"], "isl": int(row["isl"]), "osl": int(row["osl"]),
             "version": row.get("backend_version", ""), "C": whole("C"),
             "fixed": False, "no_ttft": False, "output": 0.9 * int(row["osl"]),
             "ttft": float(row["silicon_ttft_ms"]),
             "tpot": float(row["silicon_tpot_ms"])}
        split = (f"{whole('prefill_num_workers')}P:tp={whole('prefill_tp_size')},"
                 f"dp={whole('prefill_attention_dp_size')}+{whole('decode_num_workers')}D:"
                 f"tp={whole('decode_tp_size')},dp={whole('decode_attention_dp_size')},"
                 f"ep={whole('mep')}")
        said = simulate(assay, p, ["--disagg", split, "--mtp", "0"])
        points.append(p)
        errors.append(shares(p, said["ttft_ms_mean"], said["tpot_ms_mean"]))
    return points, errors


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("points", nargs="+")
    parser.add_argument("what", choices=["fit", "cv", "doubt", "check", "disagg"])
    parser.add_argument("--out")
    parser.add_argument("--assay", default="assay")
    parser.add_argument("--apart", help="doubt: disaggregated points, asked of --assay")
    parser.add_argument("--provenance", default="")
    parser.add_argument("--plot", help="cv: an SVG of the errors of unseen curves")
    args = parser.parse_args()
    if args.what == "disagg":
        points, errors = check_disaggregated(args.points[0], args.assay)
        report(points, errors, "Disaggregated, nothing refitted, no drafts")
        return 0
    points = read_points(args.points)
    if args.what == "check":
        report(points, check(points, args.assay, True), "The binary, drafts as the versions say")
        report(points, check(points, args.assay, False), "The binary, drafts by the recipe rules")
    elif args.what == "doubt":
        found = doubts(points, args.apart, args.assay)
        if args.out:
            with open(args.out, "w", encoding="utf-8") as out:
                out.write(found.text())
    elif args.what == "cv":
        report_unseen(points, args.plot)
    else:
        points = fitted(points)
        fit = Fit(points).solve(points, ttft_counts)
        tpot, ttft = fit.predict(points)
        errors = [shares(p, b, a) for p, a, b in zip(points, tpot, ttft)]
        report(points, errors, "Fitted points, no release told")
        releases = Releases(fit, points).solve(points, ttft_counts)
        tpot, ttft = releases.predict(points)
        report(points, [shares(p, b, a) for p, a, b in zip(points, tpot, ttft)],
               "Fitted points, releases told")
        if args.out:
            count = len({curve(p) for p in points})
            names = ", ".join(sorted({model(p["m"]).name for p in points}))
            cards = ", ".join(sorted({p["card"].replace("_", "-") for p in points}))
            text = args.provenance or (
                f"fitted to {len(points)} points of {count} measured closed-loop curves "
                f"(InferenceX and others, as published with AIConfigurator, Apache-2.0): {names}; "
                f"{cards}; vLLM, SGLang, TensorRT-LLM")
            with open(args.out, "w", encoding="utf-8") as out:
                out.write(calibration_yaml(fit, releases, text,
                                           compared_families(points, errors)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
