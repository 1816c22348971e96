"""How far unseen points lie from what is simulated for them: catalogue/doubt.yaml.

For each kind of trust the points that such a point is like: left out of the fit by whole curves
(compared), by what is most in flight (beyond), by family (new mix), by card and by generation of
cards (new card), by model (new model), by model and generation (unproven). Kept are the 5th and the
95th percentile of measured over simulated, or the next wider ones at which nine of ten points lie
between the percentiles of others: of other folds, families, cards or models, each of which weighs
the same.
Only tools/calibrate_serving_model.py uses it.
"""

import collections
import math

import numpy as np

from serving_catalogue import card, model

TAILS = (0.05, 0.04, 0.03, 0.02, 0.01, 0)  # on each side; the first that covers nine of ten
NAMES = ("tpot", "throughput", "ttft")
FEW = 16  # in flight on each accelerator: below it few


def in_flight(point):
    return point["C"] / (point["tp"] * point["dp"])


def percentiles(values, weights, tail):
    """Weighted, and no narrower than the data."""
    order = np.argsort(values)
    values, weights = np.asarray(values)[order], np.asarray(weights)[order]
    share = np.cumsum(weights) / weights.sum()
    low = values[max(0, np.searchsorted(share, tail, side="right") - 1)]
    high = values[min(len(values) - 1, np.searchsorted(share, 1 - tail))]
    return low, high


def of(cases, k):
    """(part, ratio) of one figure. Cases are (part, ratios), ratios by NAMES or nan."""
    return [(part, ratios[k]) for part, ratios in cases if not math.isnan(ratios[k])]


def bounds(chosen, tail):
    """Each part weighs the same."""
    count = collections.Counter(part for part, _ in chosen)
    return percentiles([r for _, r in chosen], [1 / count[p] for p, _ in chosen], tail)


def covered(chosen, tail):
    """The share of points inside the percentiles of the other parts."""
    inside, total = 0, 0
    for held in {part for part, _ in chosen}:
        others = [c for c in chosen if c[0] != held]
        if others:
            low, high = bounds(others, tail)
            own = [r for part, r in chosen if part == held]
            inside += sum(low <= r <= high for r in own)
            total += len(own)
    return inside / max(1, total)


def ranges(cases):
    """For each figure its bounds, and the share of points that they cover; None without data."""
    out = []
    for k in range(len(NAMES)):
        chosen = of(cases, k)
        if not chosen:
            return None
        tail = next((t for t in TAILS if covered(chosen, t) >= 0.895), TAILS[-1])
        out.append((*bounds(chosen, tail), covered(chosen, tail)))
    return out


def item(filters, cases):
    shown = "".join(f"{key}: {value}, " for key, value in filters.items())
    values = ", ".join(f"{name}: [{math.exp(low):.3g}, {math.exp(high):.3g}]"
                       for name, (low, high, _) in zip(NAMES, ranges(cases)))
    return f"  - {{{shown}points: {len(cases)}, {values}}}"


class Doubts:
    """Items in the order in which the program tries them, and the table of the guide."""

    def __init__(self):
        self.lines, self.table = [], []

    def add(self, name, filters, cases):
        self.lines.append(item(filters, cases))
        shares = " | ".join(f"{100 * share:.0f}" for _, _, share in ranges(cases))
        middle = " | ".join(f"{math.exp(low):.2f} – {math.exp(high):.2f}"
                            for low, high, _ in ranges(cases))
        self.table.append(f"| {name} | {len(cases)} | {middle} | {shares} |")
        print(self.table[-1], flush=True)

    def text(self):
        return "\n".join([
            "# Measured over simulated: nine of ten points lay between, when the fit had not seen",
            "# them. Written by tools/calibrate_serving_model.py; method and coverage are in",
            "# docs/guide/serving_model.md.",
            "kind: doubt", "doubt:", *self.lines]) + "\n"


def by_architecture(doubts, name, trust, cases):
    """cases: (point, part, ratios). By architecture and load where there are enough, then by
    architecture for the load that has too few of its own, then all."""
    for architecture in ("dense", "moe", "moe_mla"):
        alike = [c for c in cases if model(c[0]["m"]).architecture == architecture]
        loads = [("few", [c for c in alike if in_flight(c[0]) < FEW]),
                 ("many", [c for c in alike if in_flight(c[0]) >= FEW])]
        if len(loads[1][1]) < 40:
            loads[1] = ("any number", alike)
        for word, chosen in loads:
            if len(chosen) < 40 or len({c[1] for c in chosen}) < 2:
                continue
            if ranges([(c[1], c[2]) for c in chosen]) is None:
                continue
            filters = {"trust": trust, "what": f"{{architecture: {architecture}}}"}
            if word == "few":
                filters["below"] = FEW
            doubts.add(f"{name}, {architecture}, {word} in flight", filters,
                       [(c[1], c[2]) for c in chosen])
    doubts.add(f"{name}, others", {"trust": trust}, [(c[1], c[2]) for c in cases])


def generation(point):
    return card(point["card"])["generation"]
