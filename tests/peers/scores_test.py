"""Scores against the public libraries: rouge-score, pycocotools, scikit-learn, jiwer."""

import collections
import contextlib
import io
import json
import random
import re
import string
import time

import jiwer
import math_verify
import pydantic
import pytest
from nltk.stem.porter import PorterStemmer
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from rouge_score import rouge_scorer
from sklearn.metrics import log_loss, roc_auc_score

import texts

KEYS = {"rouge1": "rouge1", "rouge2": "rouge2", "rougeL": "rouge_l", "rougeLsum": "rouge_l_sum"}


@pytest.fixture
def score(assay, tmp_path):
    def run(rows, *flags, name="rows.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return assay("score", path, *flags, "--json").json()

    return run


def summaries(count, seed):
    """Pairs of a text and a shortened, shuffled and changed copy of it."""
    chance = random.Random(seed)
    words = [word for line in texts.corpus() for word in line.split()]
    pairs = []
    for _ in range(count):
        target = [" ".join(chance.choices(words, k=chance.randint(3, 30)))
                  for _ in range(chance.randint(1, 5))]
        guess = [" ".join(w if chance.random() < 0.7 else chance.choice(words) for w in s.split()
                          if chance.random() < 0.8) for s in target]
        chance.shuffle(guess)
        pairs.append(("\n".join(target), "\n".join(guess)))
    return pairs


def test_rouge_is_the_same_to_1e_9(score):
    pairs = summaries(400, "rouge") + [("", "a"), ("a", ""), ("\u212a", "k"), ("a\n\nb", "b\na")]
    scorer = rouge_scorer.RougeScorer(list(KEYS), use_stemmer=True)
    rows = [{"target": t, "reply": g} for t, g in pairs]
    got = score(rows, "--scorer", "rouge_lines", "--ground-truth", "target")["score"]
    for key, ours in KEYS.items():
        want = [scorer.score(t, g)[key].fmeasure for t, g in pairs]
        assert got[ours] == pytest.approx(want, abs=1e-9)


def test_every_word_has_nltks_stem(score):
    stemmer = PorterStemmer()
    words = {w for line in texts.corpus() for w in line.lower().split()
             if w.isascii() and w.isalpha()}
    endings = ("s es ies ed ied ing ation ational tional ence ance izer ably ally ently ousli "
               "ization ator alism iveness fulness ousness ality ivity ibility icate ative alize "
               "icity ical ful ness ement ment ion ism ate iti ous ive ize logy ying y ll ee "
               "eed").split()
    words |= {w + e for w in list(words)[:800] for e in endings}
    words |= {"sky", "skies", "dying", "news", "innings", "yyyy", "syzygy", "by", "toy", "succeeds"}
    scorer = rouge_scorer.RougeScorer(["rouge1"], use_stemmer=True)
    rows = [{"target": stemmer.stem(w) if len(w) > 3 else w, "reply": w} for w in sorted(words)]
    # A word matches its own stem where that stem is its own, which is most; the library says.
    want = [scorer.score(r["target"], r["reply"])["rouge1"].fmeasure for r in rows]
    got = score(rows, "--scorer", "rouge_lines", "--ground-truth", "target")["score"]["rouge1"]
    assert [r for r, a, b in zip(rows, got, want) if a != b] == []


def test_rouge_is_the_same_on_many_and_says_how_much_faster(assay, tmp_path):
    pairs = summaries(600, "speed")
    scorer = rouge_scorer.RougeScorer(list(KEYS), use_stemmer=True)
    start = time.perf_counter()
    want = [scorer.score(t, g)["rougeL"].fmeasure for t, g in pairs]
    theirs = time.perf_counter() - start
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"target": t, "reply": g}) + "\n" for t, g in pairs))
    start = time.perf_counter()
    out = assay("score", path, "--scorer", "rouge_lines", "--ground-truth", "target",
                "--json").json()
    ours = time.perf_counter() - start
    assert out["score"]["rouge_l"] == pytest.approx(want, abs=1e-9)
    # Said, not asserted: the machine may be busy. The aim is 20 (bench/quality.py measures it).
    print(f"rouge: {theirs / ours:.0f} times theirs, process and files included")


def boxes(images, seed):
    """COCO annotations and detections: near and far boxes, crowds, ties, empty images."""
    chance = random.Random(seed)
    annotations, results = [], []
    categories = [1, 2, 3, 17, 90]
    for image in range(1, images + 1):
        for _ in range(chance.randint(0, 8)):
            side = chance.choice([12, 40, 150])
            box = [chance.uniform(0, 400), chance.uniform(0, 400), chance.uniform(4, side),
                   chance.uniform(4, side)]
            crowd = int(chance.random() < 0.05)
            category = chance.choice(categories)
            annotations.append({"id": len(annotations) + 1, "image_id": image, "bbox": box,
                                "category_id": category, "iscrowd": crowd,
                                "area": box[2] * box[3] * chance.choice([1, 0.7])})
            for _ in range(chance.randint(0, 3)):
                near = [v + chance.gauss(0, side * 0.06) for v in box]
                results.append({"image_id": image, "category_id": category, "bbox": near[:2] +
                                [max(1.0, near[2]), max(1.0, near[3])],
                                "score": round(chance.random(), 2)})
        for _ in range(chance.randint(0, 6)):
            results.append({"image_id": image, "category_id": chance.choice(categories + [5]),
                            "bbox": [chance.uniform(0, 400), chance.uniform(0, 400),
                                     chance.uniform(1, 90), chance.uniform(1, 90)],
                            "score": round(chance.random(), 2)})
    return {"images": [{"id": i} for i in range(1, images + 1)], "annotations": annotations,
            "categories": [{"id": c} for c in categories + [5]]}, results


def with_pycocotools(truth, results):
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = truth
        coco.createIndex()
        start = time.perf_counter()
        evaluation = COCOeval(coco, coco.loadRes(results), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return list(evaluation.stats), time.perf_counter() - start


@pytest.mark.parametrize("seed", range(5))
def test_coco_map_is_the_same_to_1e_6(assay, tmp_path, seed):
    truth, results = boxes(120, seed)
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    (tmp_path / "results.json").write_text(json.dumps(results))
    got = assay("score", tmp_path / "results.json", "--scorer", "coco_map", "--annotations",
                tmp_path / "truth.json", "--json").json()
    assert got["stats"] == pytest.approx(with_pycocotools(truth, results)[0], abs=1e-6)


def test_coco_map_is_the_same_on_5000_images_and_says_how_much_faster(assay, tmp_path):
    truth, results = boxes(5000, "speed")
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    (tmp_path / "results.json").write_text(json.dumps(results))
    want, theirs = with_pycocotools(truth, results)
    start = time.perf_counter()
    got = assay("score", tmp_path / "results.json", "--scorer", "coco_map", "--annotations",
                tmp_path / "truth.json", "--json").json()
    ours = time.perf_counter() - start
    assert got["stats"] == pytest.approx(want, abs=1e-6)
    print(f"mAP: {theirs / ours:.0f} times theirs, reading the files included")


def test_auc_and_entropy_are_scikit_learns(score):
    chance = random.Random(3)
    rows = [{"predictions": [round(chance.random(), 2) for _ in range(200)],
             "labels": [chance.randint(0, 1) for _ in range(200)]} for _ in range(20)]
    got = score(rows, "--scorer", "dlrm")["score"]
    predictions = [p for row in rows for p in row["predictions"]]
    labels = [y for row in rows for y in row["labels"]]
    assert got["auc"] == pytest.approx(roc_auc_score(labels, predictions), abs=1e-9)
    base = sum(labels) / len(labels)
    clipped = [min(max(p, 1e-12), 1 - 1e-12) for p in predictions]
    want = log_loss(labels, clipped) / log_loss(labels, [base] * len(labels))
    assert got["normalised_entropy"] == pytest.approx(want, abs=1e-9)


def test_word_error_rate_is_jiwers(score):
    pairs = [(t.replace("\n", " "), g.replace("\n", " ")) for t, g in summaries(200, "wer")]
    got = score([{"text": t, "reply": g} for t, g in pairs], "--scorer", "wer")["score"]
    assert got == pytest.approx(jiwer.wer([t for t, _ in pairs], [g for _, g in pairs]), abs=1e-9)


def squad_words(text):
    """SQuAD's normal form: lower case, no punctuation, no articles, single spaces."""
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def squad(reply, answers):
    def f1(got, wanted):
        same = sum((collections.Counter(got) & collections.Counter(wanted)).values())
        return 2 * same / (len(got) + len(wanted)) if same else 0.0
    got = squad_words(reply)
    return (max(float(got == squad_words(a)) for a in answers),
            max(f1(got, squad_words(a)) for a in answers))


def test_squads_f1_is_the_published_formula(score):
    chance = random.Random("squad")
    words = "The a an cat's Dog, dog red the-red U.S. (blue) 1,000 \u00e9t\u00e9 A. an".split()
    rows, want = [], []
    for _ in range(500):
        def some(most):
            return " ".join(chance.choices(words, k=chance.randint(1, most)))
        answers = [some(5) for _ in range(chance.randint(1, 3))]
        reply = chance.choice(answers) if chance.random() < 0.3 else some(6)
        if not squad_words(reply) or not all(map(squad_words, answers)):
            continue
        rows.append({"answers": answers, "reply": reply})
        want.append(squad(reply, answers))
    got = score(rows, "--scorer", "squad_f1")["score"]
    assert got["exact_match"] == pytest.approx(100 * sum(w[0] for w in want) / len(want), abs=1e-9)
    assert got["f1"] == pytest.approx(100 * sum(w[1] for w in want) / len(want), abs=1e-9)


class Product(pydantic.BaseModel):
    """What Qwen3-VL is asked for; read as laxly as the suite reads it."""
    model_config = pydantic.ConfigDict(extra="forbid")
    category: str
    brand: str
    is_secondhand: bool


def test_hierarchical_f1_is_the_suites(score):
    chance = random.Random("shopify")
    levels = ["Home", "Home > Garden", "Toys > Games > Cards", "Toys > Games", "A>B", " Toys > X "]
    flags = [True, False, 1, 0, 1.0, 2, "yes", "OFF", "1.0", "", None, "t", " t"]
    rows, agree, said, true = [], 0, 0, 0
    for _ in range(600):
        reply = json.dumps({"category": chance.choice(levels), "brand": "b",
                            "is_secondhand": chance.choice(flags)})
        reply = chance.choice([reply] * 6 + [f"```json\n{reply}\n```", reply + " ", reply[:-1],
                                            reply.replace("brand", "maker"), "{}", "Toys"])
        truth = chance.choice(levels)
        rows.append({"ground_truth_category": truth, "reply": reply})
        wanted = [part.strip() for part in truth.strip().split(" > ")]
        try:
            path = Product.model_validate_json(reply).category.strip().split(" > ")
            got = [part.strip() for part in path]
        except pydantic.ValidationError:
            got = [None] * len(wanted)
        same = 0
        while same < min(len(got), len(wanted)) and got[same] == wanted[same]:
            same += 1
        agree, said, true = agree + same, said + len(got), true + len(wanted)
    p, r = agree / said, agree / true
    got = score(rows, "--scorer", "shopify_category_f1")["score"]
    assert got == pytest.approx(2 * p * r / (p + r), abs=1e-9)


EQUAL = [r"\frac{1}{2}|0.5", r"\frac12|\dfrac{2}{4}", r"2\sqrt{3}|\sqrt{12}", r"1,000|1000",
         r"(1, 2)|(1,2)", r"x^2+2x+1|x^2 + 2x + 1", r"50\%|50", r"\pi|\pi", r"-3|-3.0",
         r"\text{Evelyn}|Evelyn", r"3\pi/4|\frac{3\pi}{4}", r"10^{2}|100", r"2^{10}|1024"]
APART = [r"\frac{1}{2}|0.6", r"2\sqrt{3}|\sqrt{13}", r"(1,2)|(2,1)", r"7|8", r"\pi|3",
         r"x+1|x-1", r"10^{2}|1000"]


def test_expressions_are_equal_as_math_verify_has_them(score):
    for pairs, wanted in ((EQUAL, 1), (APART, 0)):
        rows = []
        for left, right in (pair.split("|") for pair in pairs):
            verdict = math_verify.verify(math_verify.parse(f"${right}$"),
                                         math_verify.parse(f"${left}$"))
            if verdict is bool(wanted):  # it does not see all of them, nor does it have to
                rows.append({"ground_truth": right, "reply": f"So \\boxed{{{left}}}."})
        assert len(rows) >= len(pairs) // 2
        for row in rows:
            assert score([row], "--scorer", "math500")["score"] == wanted, row
