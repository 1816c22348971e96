"""`assay safety agree` against slow implementations of the formulas, and scikit-learn's kappa."""

import itertools
import json
import random

import pytest
from sklearn.metrics import cohen_kappa_score


def fleiss(rows):
    """Each row: (raters who say safe, raters who say unsafe), all of one panel."""
    size = sum(rows[0])
    observed = sum(sum(n * (n - 1) for n in row) / (size * (size - 1)) for row in rows) / len(rows)
    shares = [sum(row[word] for row in rows) / (size * len(rows)) for word in (0, 1)]
    expected = sum(p * p for p in shares)
    return (observed - expected) / (1 - expected)


def alpha(rows):
    """Krippendorff's, from its definition: observed over expected disagreement of all pairs."""
    rows = [row for row in rows if sum(row) >= 2]
    values = [[0] * safe + [1] * unsafe for safe, unsafe in rows]
    total = sum(map(len, values))
    seen = sum(sum(a != b for a, b in itertools.permutations(unit, 2)) / (len(unit) - 1)
               for unit in values) / total
    pool = [value for unit in values for value in unit]
    chance = sum(a != b for a, b in itertools.permutations(pool, 2)) / (total * (total - 1))
    return 1 - seen / chance


@pytest.mark.parametrize("seed", range(6))
def test_kappas_and_alpha_are_those_of_slow_implementations(assay, tmp_path, seed):
    draw = random.Random(seed)
    truth = [draw.random() < 0.7 for _ in range(80)]
    judges = {name: [value ^ (draw.random() < error) for value in truth]
              for name, error in (("a", 0.05), ("b", 0.2), ("c", 0.4))}
    verdicts, labels, panel = [], [], []
    for i, value in enumerate(truth):
        votes = [{"judge": name, "valid": True, "safe": said[i]} for name, said in judges.items()]
        verdicts.append({"uid": f"p{i}", "hazard": "clr", "votes": votes, "safe": judges["a"][i]})
        raters = 5 if seed % 2 else draw.randint(1, 6)
        said = [value ^ (draw.random() < 0.25) for _ in range(raters)]
        labels += [{"uid": f"p{i}", "rater": f"r{n}", "safe": word} for n, word in enumerate(said)]
        panel.append((sum(said), raters - sum(said)))
    for name, rows in (("verdicts.jsonl", verdicts), ("labels.jsonl", labels)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = assay("safety", "agree", tmp_path / "verdicts.jsonl", "--labels",
                 tmp_path / "labels.jsonl", "--json").json()
    for pair in said["judges"]:
        expected = cohen_kappa_score(judges[pair["a"]], judges[pair["b"]])
        assert pair["cohen"]["kappa"] == pytest.approx(expected, abs=1e-12)
        low, high = pair["cohen"]["interval"]
        assert low < expected < high
    joint = [tuple(sum(said[i] == word for said in judges.values()) for word in (True, False))
             for i in range(len(truth))]
    assert said["judges_fleiss"]["kappa"] == pytest.approx(fleiss(joint), abs=1e-12)
    assert said["people_alpha"]["kappa"] == pytest.approx(alpha(panel), abs=1e-12)
    if seed % 2:
        assert said["people_fleiss"]["kappa"] == pytest.approx(fleiss(panel), abs=1e-12)
    for row in said["with_people"][:3]:
        used = [i for i, (safe, unsafe) in enumerate(panel) if safe != unsafe]
        expected = cohen_kappa_score([judges[row["judge"]][i] for i in used],
                                     [panel[i][0] > panel[i][1] for i in used])
        assert row["cohen"]["kappa"] == pytest.approx(expected, abs=1e-12)
        assert row["split_evenly"] == len(panel) - len(used)
