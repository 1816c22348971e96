"""The constants of the serving model, fitted to measured points all at once.

A constant is a base times factors: one by architecture, one by model, one by backend and
architecture, and so on (LEVELS). Each factor's logarithm has a normal prior around 0, so what few
points can not tell stays with what many points share. The sum of squares is that of log TPOT and
log TTFT, with outliers damped (pseudo-Huber), solved by Gauss and Newton. As the factors enter
linearly, a step needs only the derivatives by a point's own constants and which points share which
factor. Only tools/calibrate_serving_model.py uses it.
"""

import numpy as np

from serving_catalogue import card, model
from serving_catalogue import NAMES as CLI
from serving_step import Points

# name in catalogue/calibration.yaml, base, base of moe_mla over it, prior's spread
CONSTANTS = [
    ("weight_bandwidth", 0.8, 1, 0.2), ("compute", 0.6, 1, 0.3),
    ("attention_compute", 0.6, 1, 0.3), ("kv_bandwidth", 0.6, 1, 0.35),
    ("mla_compute", 0.5, 1, 0.35), ("prefill_attention", 0.6, 1, 0.35),
    ("expert_bandwidth", 0.6, 1, 0.35), ("expert_compute", 0.3, 0.5, 0.7),
    ("all_reduce_s", 7e-6, 1, 0.5), ("all_reduce_bandwidth", 0.7, 1, 0.35),
    ("all_to_all_s", 40e-6, 1, 0.6), ("all_to_all_bandwidth", 0.55, 1, 0.35),
    ("layer_s", 25e-6, 1.7, 0.7), ("step_s", 0.6e-3, 1, 0.9), ("sequence_s", 15e-6, 1, 0.8),
    ("prefill_step_s", 1e-3, 1, 1.0), ("activation_passes", 3.7, 1, 0.9),
    ("draft_s", 0.3e-3, 1, 0.6), ("accept_first", 0.75, 1, 0.12), ("accept_decay", 0.85, 1, 0.12),
    ("accept_growth", 0.2, 1, 0.7), ("expert_thin_columns", 100, 1, 1.0),
    ("expert_imbalance", 0.05, 1, 1.0), ("draft_coverage", 0.6, 1, 0.4),
    ("request_s", 0.025, 2, 0.9), ("eager_layer_s", 0.1e-3, 6, 0.9),
    ("linear_extra", 0.5, 1, 0.8), ("norm_extra", 0.2, 1, 0.7),
    ("requantise_extra", 0.2, 1, 0.7),
]
NAMES = [c[0] for c in CONSTANTS]
COMPUTE_BY_FORMAT = {"bf16": 1, "fp8": 0.62 / 0.6, "nvfp4": 0.75, "mxfp4": 0.4 / 0.6}
# Which factors there are, and how much of the spread each may take. Those of a model take what is
# its own, so that what is left of the others holds for models that were never seen.
LEVELS = [
    (("architecture",), 0.6), (("backend",), 0.5), (("generation",), 0.4), (("hardware",), 0.15),
    (("precision",), 0.3), (("architecture", "backend"), 0.25),
    (("architecture", "generation"), 0.25), (("architecture", "precision"), 0.2),
    (("backend", "generation"), 0.3), (("generation", "precision"), 0.25), (("model",), 0.5),
    (("model", "backend"), 0.3), (("model", "generation"), 0.25), (("model", "precision"), 0.2),
    (("model", "hardware", "backend", "precision"), 0.25),
]
# What a model's own factors may take of the constants of experts over what they may of others: two
# mixtures differ more in how their experts run than in the rest.
OWN_EXPERTS = 1.5
TPOT_SIGMA, TTFT_SIGMA, TPOT_KNEE, TTFT_KNEE = 0.06, 0.35, 0.08, 0.2


def subject(point):
    """What a factor's key is made of."""
    shape = model(point["m"])
    return {"architecture": shape.architecture, "model": shape.name,
            "backend": CLI.get(point["backend"], point["backend"]),
            "generation": card(point["card"])["generation"],
            "hardware": point["card"].replace("_", "-"), "precision": point["precision"]}


def base(point):
    values = []
    for name, value, mla, _ in CONSTANTS:
        value *= mla if model(point["m"]).architecture == "moe_mla" else 1
        if name == "compute":
            value *= COMPUTE_BY_FORMAT[point["precision"]]
        values.append(value)
    return np.log(values)


def shares(levels):
    """How much of each constant's spread each level may take."""
    return np.array([[share * (OWN_EXPERTS if "model" in keys and name.startswith("expert_") else 1)
                      for name in NAMES] for keys, share in levels])


class Fit:
    def __init__(self, everything, levels=None):
        self.levels = levels or LEVELS
        self.shares = shares(self.levels)
        self.groups = []
        for keys, _ in self.levels:
            names = sorted({self.key(p, keys) for p in everything})
            self.groups.append({name: i for i, name in enumerate(names)})
        self.theta = [np.zeros((len(g), len(NAMES))) for g in self.groups]
        self.spread = np.array([c[3] for c in CONSTANTS])

    @staticmethod
    def key(point, keys):
        s = subject(point)
        return tuple(s[k] for k in keys)

    def index(self, points):
        return [np.array([g[self.key(p, keys)] for p in points])
                for (keys, _), g in zip(self.levels, self.groups)]

    def logs(self, theta, bases, index):
        out = bases.copy()
        for share, table, i in zip(self.shares, theta, index):
            out += table[i] * self.spread * share
        return out

    def products(self, d, which, index):
        """J J^T, where row r of d are point which[r]'s derivatives by its own constants: those of
        two points meet in the factors that both have."""
        out = np.zeros((len(d), len(d)))
        for share in np.unique(self.shares, axis=1).T:
            columns = d[:, (self.shares.T == share).all(axis=1)]
            alike = np.zeros((len(index[0]), len(index[0])))
            for part, i in zip(share, index):
                alike += part**2 * (i[:, None] == i[None, :])
            out += (columns @ columns.T) * alike[np.ix_(which, which)]
        return out

    def bases(self, points):
        return np.array([base(p) for p in points])

    def logs_of(self, points):
        """Logarithms of each point's constants."""
        return self.logs(self.theta, self.bases(points), self.index(points))

    def predict(self, points, batches=None):
        batches = batches or Points(points)
        return batches.predict(dict(zip(NAMES, np.exp(self.logs_of(points)).T)))

    def solve(self, points, ttft_counts, start=None, rounds=25, batches=None):
        batches = batches or Points(points)
        bases, index = self.bases(points), self.index(points)
        tpot = np.log([p["tpot"] for p in points])
        ttft = np.log([p["ttft"] for p in points])
        weight = np.array([1 / TTFT_SIGMA if ttft_counts(p) else 0 for p in points])
        n = len(points)
        rows = np.concatenate([np.arange(n), n + np.flatnonzero(weight)])

        def errors(logs):
            a, b = batches.predict(dict(zip(NAMES, np.exp(logs).T)))
            return np.log(a) - tpot, np.log(b) - ttft

        def cost(theta):
            e, f = errors(self.logs(theta, bases, index))
            soft = 2 * TPOT_KNEE**2 * (np.sqrt(1 + (e / TPOT_KNEE)**2) - 1) / TPOT_SIGMA**2
            slow = 2 * TTFT_KNEE**2 * (np.sqrt(1 + (f / TTFT_KNEE)**2) - 1) * weight**2
            prior = sum((t**2).sum() for t in theta)
            return soft.sum() + slow.sum() + prior, e, f

        theta = [t.copy() for t in (start or self.theta)]
        damping = 1.0 if start is None else 0.01
        value, e, f = cost(theta)
        for _ in range(rounds):
            de, df = self.derivatives(self.logs(theta, bases, index), errors, e, f)
            we = (1 + (e / TPOT_KNEE)**2)**-0.25 / TPOT_SIGMA
            wf = (1 + (f / TTFT_KNEE)**2)**-0.25 * weight
            d = np.vstack([de * we[:, None], df * wf[:, None]])
            gram = self.products(d[rows], rows % n, index)

            def back(v):  # J^T v
                dv = d * v[:, None]
                dv = dv[:n] + dv[n:]
                out = []
                for share, i, t in zip(self.shares, index, theta):
                    grad = np.zeros_like(t)
                    np.add.at(grad, i, share * dv)
                    out.append(grad)
                return out

            def forth(tables):  # J t
                s = np.zeros((n, len(NAMES)))
                for share, i, t in zip(self.shares, index, tables):
                    s += share * t[i]
                return (d * np.vstack([s, s])).sum(axis=1)

            right = [g + t for g, t in zip(back(np.concatenate([e * we, f * wf])), theta)]
            moved = None
            while damping < 1e6:
                ridge = 1 + damping
                solved = np.zeros(2 * n)
                solved[rows] = np.linalg.solve(np.eye(len(rows)) + gram / ridge,
                                               forth(right)[rows])
                inner = back(solved)
                move = [-(r - i / ridge) / ridge for r, i in zip(right, inner)]
                trial = [t + m for t, m in zip(theta, move)]
                lower, e2, f2 = cost(trial)
                if lower < value:
                    moved = trial
                    break
                damping *= 4
            if moved is None:
                break
            gain, value, e, f, theta = value - lower, lower, e2, f2, moved
            damping = max(damping / 4, 1e-3)
            if gain < 0.5:
                break
        self.theta, self.cost = theta, value
        return self

    def held_out(self, points, ttft_counts, parts):
        """What log TPOT and log TTFT (nan where it does not count) of each part's points would be
        off by, had the fit not seen the part; for each part an array over its points. To first
        order around the fit (so for parts that leave others like them), where leaving rows out of
        a least-squares fit has a closed form: with K = 1 + J J^T and r the residuals, those of a
        part g are inverse(K)_gg^-1 r_g. A part is (indices left out, indices asked)."""
        batches = Points(points)
        bases, index = self.bases(points), self.index(points)
        tpot = np.log([p["tpot"] for p in points])
        ttft = np.log([p["ttft"] for p in points])

        def errors(logs):
            a, b = batches.predict(dict(zip(NAMES, np.exp(logs).T)))
            return np.log(a) - tpot, np.log(b) - ttft
        logs = self.logs(self.theta, bases, index)
        e, f = errors(logs)
        de, df = self.derivatives(logs, errors, e, f)
        counts = np.array([ttft_counts(p) for p in points])
        which = np.concatenate([np.arange(len(points)), np.flatnonzero(counts)])
        weight = np.concatenate([
            (1 + (e / TPOT_KNEE)**2)**-0.25 / TPOT_SIGMA,
            ((1 + (f / TTFT_KNEE)**2)**-0.25 / TTFT_SIGMA)[counts]])
        d = np.vstack([de, df[counts]]) * weight[:, None]
        inverse = np.linalg.inv(np.eye(len(d)) + self.products(d, which, index))
        residual = np.concatenate([e, f[counts]]) * weight
        is_tpot = np.arange(len(d)) < len(points)
        out = []
        for left, asked in parts:
            rows = np.flatnonzero(np.isin(which, list(left)))
            off = np.linalg.solve(inverse[np.ix_(rows, rows)], residual[rows]) / weight[rows]
            found = {name: {which[r]: o for r, o in zip(rows, off) if is_tpot[r] == name}
                     for name in (True, False)}
            out.append(np.array([[found[True][i], found[False].get(i, np.nan)] for i in asked]))
        return out

    def derivatives(self, logs, errors, e, f):
        h, by_constant = 1e-4, []
        for k in range(len(NAMES)):
            moved = logs.copy()
            moved[:, k] += h
            e2, f2 = errors(moved)
            by_constant.append(((e2 - e) / h * self.spread[k], (f2 - f) / h * self.spread[k]))
        return np.array([d[0] for d in by_constant]).T, np.array([d[1] for d in by_constant]).T
