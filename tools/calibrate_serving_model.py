#!/usr/bin/env python3
"""Fits the constants of the serving model (catalogue/calibration.yaml) to measured points.

    calibrate_serving_model.py POINTS.csv fit --out catalogue/calibration.yaml
    calibrate_serving_model.py POINTS.csv cv --plot docs/guide/serving_model_errors.svg
    calibrate_serving_model.py POINTS.csv check --assay build/release/assay
    calibrate_serving_model.py DISAGG.csv disagg --assay build/release/assay

A constant is a base times factors: one by architecture, one by backend and architecture, and
so on (LEVELS). Each factor's logarithm has a normal prior around 0, so what few points can not
tell stays with what many points share. The sum of squares is that of log TPOT and log TTFT, with
outliers damped (pseudo-Huber), solved by Gauss and Newton. `cv` leaves whole curves out: all
concurrencies of one model, card, backend, format, lengths and layout.

For development only; needs numpy, serving_schedule.py, serving_step.py and validation_plot.py. The
points are not part of the repository.
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

import validation_plot
from serving_schedule import Loop
from serving_step import BYTES, CARDS, MODELS, Points, kv_element_bytes

# name in catalogue/calibration.yaml, base, base of moe_mla over it, prior's spread
CONSTANTS = [
    ("weight_bandwidth", 0.8, 1, 0.2), ("compute", 0.6, 1, 0.3),
    ("attention_compute", 0.6, 1, 0.3), ("kv_bandwidth", 0.6, 1, 0.35),
    ("mla_compute", 0.5, 1, 0.35), ("prefill_attention", 0.6, 1, 0.35),
    ("expert_bandwidth", 0.6, 1, 0.35), ("expert_compute", 0.3, 0.5, 0.7),
    ("all_reduce_s", 7e-6, 1, 0.5), ("all_reduce_bandwidth", 0.7, 1, 0.35),
    ("all_to_all_s", 40e-6, 1, 0.6), ("all_to_all_bandwidth", 0.55, 1, 0.35),
    ("layer_s", 25e-6, 2, 0.7), ("step_s", 0.6e-3, 1, 0.9), ("sequence_s", 15e-6, 1, 0.8),
    ("prefill_step_s", 1e-3, 1, 1.0), ("prefill_token_s", 3e-7, 1, 0.9),
    ("draft_s", 0.3e-3, 1, 0.6), ("accept_first", 0.75, 1, 0.12), ("accept_decay", 0.85, 1, 0.12),
    ("accept_growth", 0.2, 1, 0.7), ("expert_split_loss", 0.05, 1, 1.0),
    ("expert_imbalance", 0.05, 1, 1.0), ("draft_coverage", 0.6, 1, 0.4),
    ("request_s", 0.025, 4, 0.9), ("draft_prefill_s", 0.05, 1, 0.9),
]
NAMES = [c[0] for c in CONSTANTS]
COMPUTE_BY_FORMAT = {"bf16": 1, "fp8": 0.62 / 0.6, "nvfp4": 0.75, "mxfp4": 0.4 / 0.6}
# Which factors there are, and how much of the spread each may take.
LEVELS = [
    (("architecture",), 0.6), (("architecture", "backend"), 0.45),
    (("architecture", "generation"), 0.4), (("backend", "generation"), 0.35),
    (("architecture", "precision"), 0.3), (("architecture", "backend", "generation"), 0.35),
    (("generation", "precision"), 0.25), (("architecture", "hardware"), 0.15),
    (("architecture", "hardware", "backend", "precision"), 0.25),
]
TPOT_SIGMA, TTFT_SIGMA, TPOT_KNEE, TTFT_KNEE = 0.06, 0.35, 0.08, 0.2
CLI = {"l70": "llama3.1-70b", "gptoss": "gpt-oss-120b", "dsr1": "deepseek-r1",
       "trtllm": "tensorrt-llm"}
GAIN = {0: 1.0, 1: 1.79, 3: 2.495}  # tokens a step that schedules are made with


def subject(point):
    """What a factor's key is made of."""
    return {"architecture": MODELS[point["m"]]["architecture"],
            "backend": CLI.get(point["backend"], point["backend"]),
            "generation": CARDS[point["card"]]["generation"],
            "hardware": point["card"].replace("_", "-"), "precision": point["precision"]}


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
    model, card = MODELS[point["m"]], CARDS[point["card"]]
    weights = model["weights"](point, BYTES[point["precision"]])
    each = kv_element_bytes(point) * model["kv_elements"](point["tp"])
    room = {"vllm": card["memory"] * 0.90 - weights - 5e9,
            "trtllm": (card["memory"] - weights - 6e9) * 0.90,
            "sglang": card["memory"] * 0.95 - weights - 2e9}[point["backend"]]
    room = max(room, 1e9) / each * max(1, point["dp"])
    return room if room < point["C"] * (point["isl"] + point["osl"]) else math.inf


def token_budget(point):
    """Tokens of one step: the rules of catalogue/backends."""
    if point["backend"] == "trtllm":
        return 20000 if point["m"] == "gptoss" else 8192
    if point["m"] != "dsr1" or point["backend"] != "sglang":
        return 8192
    if point["card"] == "h200_sxm":
        return 32768
    if point["precision"] == "fp8":
        return 32768 if point["tp"] == 8 else 8192
    return 16384


def poll_steps(point):
    """Decode steps between two looks for arrivals: the rules of catalogue/backends."""
    if point["m"] != "dsr1" or point["backend"] != "sglang" or point["card"] == "h200_sxm":
        return 1
    if point["precision"] == "fp8" and point["tp"] == 4:
        return 10
    return 10 if point["C"] < 16 else 30


def read_points(path):
    points = []
    for row in csv.DictReader(open(path)):
        if row["m"] not in MODELS:
            continue
        def whole(name, row=row):
            return int(float(row[name]))
        p = {"m": row["m"], "card": row["system"], "backend": row["backend"],
             "version": row["backend_version"], "precision": row["prec"],
             "isl": int(row["isl"]), "osl": int(row["osl"]), "C": whole("C"),
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
    return Loop(point, GAIN[point["drafts"]]).run()


def scheduled(point):
    """The point with what its layout and drafts decide: memory, scheduler rules, batches."""
    point["kv_tokens"] = kv_tokens(point)
    point["budget"], point["poll"] = token_budget(point), poll_steps(point)
    point["batches"], point["output"] = loop(tuple((k, point[k]) for k in (
        "C", "isl", "osl", "dp", "backend", "kv_tokens", "drafts", "budget", "poll")))
    return point


def curve(point):
    return tuple(point[k] for k in ("m", "card", "backend", "precision", "isl", "osl", "tp", "dp",
                                    "moe_tp", "ep"))


def family(point):
    return tuple(point[k] for k in ("m", "card", "backend", "precision"))


def ttft_is_an_artefact(p):
    """Known defects: early SGLang on B200, which compiles kernels in its first burst; TensorRT-LLM
    at 1k/1k; queues on full memory."""
    return ((p["backend"] == "sglang" and p["card"] == "b200_sxm" and not p["version"])
            or (p["m"] == "l70" and p["backend"] == "trtllm" and p["tp"] <= 4
                and p["isl"] == p["osl"] == 1024) or p["ttft"] > 15000)


class Fit:
    def __init__(self, everything):
        self.groups, self.offsets, size = [], [], 0
        for keys, _ in LEVELS:
            names = sorted({self.key(p, keys) for p in everything})
            self.groups.append({name: i for i, name in enumerate(names)})
            self.offsets.append(size)
            size += len(names) * len(NAMES)
        self.theta = np.zeros(size)
        self.spread = np.array([c[3] for c in CONSTANTS])

    @staticmethod
    def key(point, keys):
        s = subject(point)
        return tuple(s[k] for k in keys)

    @staticmethod
    def base(point):
        values = []
        for name, base, mla, _ in CONSTANTS:
            value = base * (mla if point["m"] == "dsr1" else 1)
            if name == "compute":
                value *= COMPUTE_BY_FORMAT[point["precision"]]
            values.append(value)
        return np.log(values)

    def logs(self, theta, points):
        out = np.array([self.base(p) for p in points])
        for (keys, share), groups, offset in zip(LEVELS, self.groups, self.offsets):
            index = np.array([groups[self.key(p, keys)] for p in points])
            table = theta[offset:offset + len(groups) * len(NAMES)].reshape(-1, len(NAMES))
            out += table[index] * self.spread * share
        return out

    def predict(self, points, batches=None):
        batches = batches or Points(points)
        return batches.predict(dict(zip(NAMES, np.exp(self.logs(self.theta, points)).T)))

    def solve(self, points, start=None, rounds=20):
        points = fitted(points)
        batches = Points(points)
        tpot = np.log([p["tpot"] for p in points])
        ttft = np.log([p["ttft"] for p in points])
        weight = np.array([0 if ttft_is_an_artefact(p) else 1 / TTFT_SIGMA for p in points])
        index = [np.array([g[self.key(p, keys)] for p in points])
                 for (keys, _), g in zip(LEVELS, self.groups)]

        def errors(logs):
            a, b = batches.predict(dict(zip(NAMES, np.exp(logs).T)))
            return np.log(a) - tpot, np.log(b) - ttft

        def cost(theta):
            e, f = errors(self.logs(theta, points))
            soft = 2 * TPOT_KNEE**2 * (np.sqrt(1 + (e / TPOT_KNEE)**2) - 1) / TPOT_SIGMA**2
            slow = 2 * TTFT_KNEE**2 * (np.sqrt(1 + (f / TTFT_KNEE)**2) - 1) * weight**2
            return soft.sum() + slow.sum() + (theta**2).sum(), e, f

        theta = np.zeros_like(self.theta) if start is None else start
        damping = 1.0 if start is None else 0.01
        value, e, f = cost(theta)
        for _ in range(rounds):
            jacobian_e, jacobian_f = self.jacobian(theta, points, errors, e, f, index)
            we = (1 + (e / TPOT_KNEE)**2)**-0.25 / TPOT_SIGMA
            wf = (1 + (f / TTFT_KNEE)**2)**-0.25 * weight
            j = np.vstack([jacobian_e * we[:, None], jacobian_f * wf[:, None]])
            right = j.T @ np.concatenate([e * we, f * wf]) + theta
            step = None
            while damping < 1e6:
                ridge = 1 + damping
                small = np.eye(len(j)) + j @ j.T / ridge
                move = -(right - j.T @ np.linalg.solve(small, j @ right) / ridge) / ridge
                lower, e2, f2 = cost(theta + move)
                if lower < value:
                    step = move
                    break
                damping *= 4
            if step is None:
                break
            gain, value, e, f, theta = value - lower, lower, e2, f2, theta + step
            damping = max(damping / 4, 1e-3)
            if gain < 0.3:
                break
        self.theta = theta
        return self

    def jacobian(self, theta, points, errors, e, f, index):
        logs, h = self.logs(theta, points), 1e-4
        by_constant = []
        for k in range(len(NAMES)):
            moved = logs.copy()
            moved[:, k] += h
            e2, f2 = errors(moved)
            by_constant.append(((e2 - e) / h * self.spread[k], (f2 - f) / h * self.spread[k]))
        de = np.array([d[0] for d in by_constant]).T
        df = np.array([d[1] for d in by_constant]).T
        je, jf = np.zeros((len(points), len(theta))), np.zeros((len(points), len(theta)))
        rows = np.arange(len(points))[:, None]
        for (_, share), offset, i in zip(LEVELS, self.offsets, index):
            columns = offset + i[:, None] * len(NAMES) + np.arange(len(NAMES))[None, :]
            je[rows, columns], jf[rows, columns] = de * share, df * share
        return je, jf

    def yaml(self, provenance, compared):
        lines = ["# The constants of the step-time model: the base times every adjustment that",
                 "# fits. Written by tools/calibrate_serving_model.py; method and errors are in",
                 "# docs/guide/serving_model.md.", "kind: calibration", "provenance: >-",
                 "  " + provenance,
                 *compared, "base:"]
        lines += [f"  {name}: {base:.4g}" for name, base, _, _ in CONSTANTS]
        lines += ["adjust:", "  # Starting points that differ by format and architecture."]

        def item(when, times):
            filters = ", ".join(f"{k}: {v}" for k, v in when.items())
            factors = ", ".join(f"{k}: {v:.4g}" for k, v in times.items())
            lines.append(f"  - {{when: {{{filters}}},\n     times: {{{factors}}}}}")

        for word, factor in COMPUTE_BY_FORMAT.items():
            if factor != 1:
                item({"precision": word}, {"compute": factor})
        item({"architecture": "moe_mla"}, {c[0]: c[2] for c in CONSTANTS if c[2] != 1})
        for (keys, share), groups, offset in zip(LEVELS, self.groups, self.offsets):
            lines.append(f"  # Fitted, by {' and '.join(keys)}.")
            for name, i in groups.items():
                at = offset + i * len(NAMES)
                logs = self.theta[at:at + len(NAMES)] * self.spread * share
                times = {n: math.exp(v) for n, v in zip(NAMES, logs) if abs(v) > 0.004}
                if times:
                    item(dict(zip(keys, name)), times)
        return "\n".join(lines) + "\n"


def report(points, errors, title):
    """errors: (tpot, throughput, ttft), as shares."""
    def median(chosen, k):
        return statistics.median(abs(errors[i][k]) for i in chosen) * 100 if chosen else 0

    def line(name, chosen):
        good = [i for i in chosen if not ttft_is_an_artefact(points[i])]
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
    for (model, card, backend, precision), members in sorted(families.items()):
        what = (f"model: {CLI[model]}, hardware: {card.replace('_', '-')}, "
                f"backend: {CLI.get(backend, backend)}, precision: {precision}, "
                f"generation: {CARDS[card]['generation']}")
        middle = statistics.median(abs(error[0]) for _, error in members)
        most = max(p["C"] / (p["tp"] * p["dp"]) for p, _ in members)
        lines.append(f"  - {{what: {{{what}}},\n     points: {len(members)}, "
                     f"tpot_error: {middle:.3g}, in_flight_max: {most:g}}}")
    return lines


def throughput(point, ttft, tpot):
    output = 0.9 * point["osl"]
    return point["C"] * output / (ttft + output * tpot)


def shares(point, ttft, tpot):
    return (tpot / point["tpot"] - 1,
            throughput(point, ttft, tpot) / throughput(point, point["ttft"], point["tpot"]) - 1,
            ttft / point["ttft"] - 1)


def by_rules(point):
    """The point as a stranger asks for it: the layout that the row says, the drafts that the recipe
    rules of catalogue/backends say."""
    out = dict(point, **point["recorded"], drafts=0)
    if point["m"] == "dsr1" and point["backend"] == "trtllm":
        if CARDS[point["card"]]["generation"] == "hopper":
            out["drafts"] = 1 if out["dp"] > 1 else 3 if out["ep"] > 1 else 0
        elif out["dp"] > 1 and point["precision"] == "fp8":
            out["drafts"] = 1
    return scheduled(out)


def cross_validate(points, folds, seed=0):
    """Errors of points whose whole curves the fit had not seen: with the drafts known, and by the
    recipe rules. `folds` 0: each curve alone is left out."""
    curves = sorted({curve(p) for p in points})
    order = np.random.default_rng(seed).permutation(len(curves))
    fold = {curves[j]: i % (folds or len(curves)) for i, j in enumerate(order)}
    asked = [by_rules(p) for p in points]
    everything = Fit(points).solve(points).theta  # only where the search begins
    known, ruled = [None] * len(points), [None] * len(points)
    for k in range(folds or len(curves)):
        kept = [p for p in points if fold[curve(p)] != k]
        held = [i for i, p in enumerate(points) if fold[curve(p)] == k]
        fit = Fit(points).solve(kept, everything)
        for errors, source in ((known, points), (ruled, asked)):
            tpot, ttft = fit.predict([source[i] for i in held])
            for i, a, b in zip(held, tpot, ttft):
                errors[i] = shares(points[i], b, a)
    return known, ruled


def report_unseen(points, plot):
    for folds, seed in ((0, 0), (5, 0), (5, 1)):
        known, ruled = cross_validate(points, folds, seed)
        how = f"{folds} folds of whole curves, seed {seed}" if folds else "each curve left out"
        report(points, known, f"Unseen: {how}; drafts known")
        report(points, ruled, f"Unseen: {how}; drafts by the recipe rules")
        if plot and not folds:
            with open(plot, "w", encoding="utf-8") as out:
                out.write(validation_plot.picture(points, ruled))


def simulate(assay, point, extra):
    isl, osl = point["isl"], point["osl"]
    command = [assay, "simulate", "--model", CLI[point["m"]], "--hardware",
               point["card"].replace("_", "-"), "--backend",
               CLI.get(point["backend"], point["backend"]), "--precision", point["precision"],
               "--isl", f"uniform:{int(0.8 * isl)}-{isl}", "--osl",
               f"uniform:{int(0.8 * osl)}-{osl}", "--concurrency", str(point["C"]), "--json",
               *extra]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)["points"][0]


def check(points, assay, drafts_known):
    errors = []
    for p in points:
        layout = f"tp={p['tp']},dp={p['dp']},ep={p['ep']}"
        known = ["--mtp", str(p["drafts"])] if drafts_known else []
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
    parser.add_argument("points")
    parser.add_argument("what", choices=["fit", "cv", "check", "disagg"])
    parser.add_argument("--out")
    parser.add_argument("--assay", default="assay")
    parser.add_argument("--provenance", default="")
    parser.add_argument("--plot", help="cv: an SVG of the errors of unseen curves")
    args = parser.parse_args()
    if args.what == "disagg":
        points, errors = check_disaggregated(args.points, args.assay)
        report(points, errors, "Disaggregated, nothing refitted, no drafts")
        return 0
    points = read_points(args.points)
    if args.what == "check":
        report(points, check(points, args.assay, True), "The binary, drafts as the versions say")
        report(points, check(points, args.assay, False), "The binary, drafts by the recipe rules")
    elif args.what == "cv":
        report_unseen(points, args.plot)
    else:
        fit = Fit(points).solve(points)
        tpot, ttft = fit.predict(points)
        errors = [shares(p, b, a) for p, a, b in zip(points, tpot, ttft)]
        report(points, errors, "Fitted points")
        if args.out:
            compared = compared_families(points, errors)
            points = fitted(points)
            count = len({curve(p) for p in points})
            text = args.provenance or (
                f"fitted to {len(points)} points of {count} measured closed-loop curves "
                "(InferenceX, as published with AIConfigurator, Apache-2.0): Llama 3.1 70B, "
                "GPT-OSS 120B, "
                "DeepSeek-R1; H100, H200, B200; vLLM, SGLang, TensorRT-LLM")
            with open(args.out, "w", encoding="utf-8") as out:
                out.write(fit.yaml(text, compared))
    return 0


if __name__ == "__main__":
    sys.exit(main())
