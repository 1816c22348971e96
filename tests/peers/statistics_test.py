"""Intervals of scores and paired tests against scipy; Newcombe's interval by exact fractions."""

import fractions
import json
import math
import random

import pytest
import scipy.stats

CASES = [(0, 1), (1, 1), (0, 7), (7, 7), (1, 2), (3, 10), (50, 100), (99, 100), (4, 1319),
         (999, 1319)]


def interval(done, figure="score"):
    return done["uncertainty"][figure]["interval"]


def write_rows(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("right, n", CASES)
def test_a_share_has_wilsons_interval(assay, tmp_path, right, n):
    rows = write_rows(tmp_path / "rows.jsonl",
                      [{"reply": "a" if i < right else "b", "ground_truth": "a"}
                       for i in range(n)])
    done = assay("score", rows, "--scorer", "string_match", "--extractor", "identity_extractor",
                 "--json").json()
    assert done["score"] == pytest.approx(right / n, abs=1e-12)
    want = scipy.stats.binomtest(right, n).proportion_ci(0.95, method="wilson")
    assert interval(done) == pytest.approx([want.low, want.high], abs=1e-12)


@pytest.mark.parametrize("seed, n", [(1, 2), (2, 3), (3, 30), (4, 1000)])
def test_a_mean_has_students_interval(assay, tmp_path, seed, n):
    chance = random.Random(seed)
    tokens = [chance.randint(1, 500) for _ in range(n)]
    rows = write_rows(tmp_path / "rows.jsonl", [{"reply": "x", "tokens": t} for t in tokens])
    done = assay("score", rows, "--scorer", "token_bounds", "--json").json()
    mean, error = sum(tokens) / n, scipy.stats.sem(tokens)
    want = scipy.stats.t.interval(0.95, n - 1, loc=mean, scale=error)
    assert interval(done, "tokens_per_sample") == pytest.approx(want, rel=1e-9)
    assert done["uncertainty"]["tokens_per_sample"]["standard_error"] == pytest.approx(error,
                                                                                       rel=1e-12)


def compared(assay, folder, kind, a, b):
    """Two runs' folders with what each sample added to one figure, and their comparison."""
    for name, values in (("a", a), ("b", b)):
        head = {"dataset": "d", "dataset_sha256": "", "scorer": "s", "extractor": "",
                "ground_truth": "", "figure": "score", "kind": kind, "scale": 1,
                "lower_is_better": False, "samples": len(values)}
        path = folder / name / "accuracy" / "sample_scores.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_rows(path, [head] + [[i, value, 1] for i, value in enumerate(values)])
    (figure,) = assay("compare", folder / "a", folder / "b", "--accuracy", "--json",
                      code=None).json()["accuracy"]
    return figure


def wilson(right, n):
    """The bounds of right of n as fractions: all but the root is exact."""
    z = fractions.Fraction(scipy.stats.norm.ppf(0.975))
    p, z2 = fractions.Fraction(right, n), z * z
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    root = fractions.Fraction(math.sqrt(p * (1 - p) / n + z2 / (4 * n * n)))
    reach = z * root / (1 + z2 / n)
    return middle - reach, middle + reach


def newcombe(both, only_a, only_b, neither):
    """Method 10 of Newcombe 1998 for the share of B less that of A."""
    n = both + only_a + only_b + neither
    share_a, share_b = fractions.Fraction(both + only_a, n), fractions.Fraction(both + only_b, n)
    (low_a, high_a), (low_b, high_b) = wilson(both + only_a, n), wilson(both + only_b, n)
    product = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    excess = both * neither - only_a * only_b
    if excess > 0:
        excess = max(fractions.Fraction(excess) - fractions.Fraction(n, 2), 0)
    phi = float(excess) / math.sqrt(product) if product else 0.0
    difference = float(share_b - share_a)

    def reach(one, other):
        return math.sqrt(max(0.0, float(one * one + other * other) -
                             2 * phi * float(one) * float(other)))

    return (difference - reach(share_b - low_b, high_a - share_a),
            difference + reach(high_b - share_b, share_a - low_a))


@pytest.mark.parametrize("both, only_a, only_b, neither", [
    (40, 5, 1, 10), (0, 3, 3, 0), (10, 0, 0, 0), (100, 30, 12, 50), (1, 0, 9, 1),
    (700, 41, 60, 199)])
def test_right_or_wrong_has_mcnemars_exact_test(assay, tmp_path, both, only_a, only_b, neither):
    a = [1] * both + [1] * only_a + [0] * only_b + [0] * neither
    b = [1] * both + [0] * only_a + [1] * only_b + [0] * neither
    figure = compared(assay, tmp_path, "proportion", a, b)
    assert figure["test"] == "mcnemar_exact"
    want = 1.0
    if only_a + only_b:
        want = scipy.stats.binomtest(only_a, only_a + only_b, 0.5).pvalue
    assert figure["p"] == pytest.approx(want, rel=1e-9)
    low, high = newcombe(both, only_a, only_b, neither)
    assert figure["interval_points"] == pytest.approx([100 * low, 100 * high], abs=1e-6)


@pytest.mark.parametrize("seed, n", [(1, 2), (2, 5), (3, 100), (4, 2000)])
def test_graded_scores_have_the_paired_t_test(assay, tmp_path, seed, n):
    chance = random.Random(seed)
    a = [chance.random() for _ in range(n)]
    b = [x + chance.gauss(0.02, 0.1) for x in a]
    figure = compared(assay, tmp_path, "mean", a, b)
    assert figure["test"] == "paired_t"
    want = scipy.stats.ttest_rel(b, a)
    assert figure["p"] == pytest.approx(want.pvalue, rel=1e-6)
    bounds = want.confidence_interval(0.95)
    want = [100 * bounds.low, 100 * bounds.high]
    assert figure["interval_points"] == pytest.approx(want, rel=1e-6)
