#!/usr/bin/env python3
"""Quality's promises, each as a ratio to the field's own library in one run on one core.

ROUGE against rouge-score (20), COCO mAP on 5,000 images against pycocotools (10), tokens a second
against Hugging Face's tokenizers (2). Ours is timed as a whole process, files read and JSON parsed
included, which is to our disadvantage; each time is the best of three.

    build/venv/bin/python bench/quality.py            # the peers' environment; prints a table
"""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "peers"))
os.environ.setdefault("ASSAY_BIN", str(HERE.parent / "build" / "release" / "assay"))

import pycocotools.coco
import pycocotools.cocoeval
import rouge_score.rouge_scorer
import scores_test
import tokenizer_speed_test
import tokenizers_test

TIMES = 3


def best(work):
    """The shortest of TIMES runs, in seconds, and what the last one returned."""
    shortest, result = float("inf"), None
    for _ in range(TIMES):
        start = time.perf_counter()
        result = work()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest, result


def assay(*args):
    done = subprocess.run([os.environ["ASSAY_BIN"], *map(str, args)], capture_output=True,
                          check=True)
    return json.loads(done.stdout)


def rouge(folder):
    pairs = scores_test.summaries(4000, "bench")
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps({"target": t, "reply": g}) + "\n" for t, g in pairs))
    scorer = rouge_score.rouge_scorer.RougeScorer(list(scores_test.KEYS), use_stemmer=True)
    theirs, want = best(lambda: [scorer.score(t, g)["rougeLsum"].fmeasure for t, g in pairs])
    ours, got = best(lambda: assay("score", path, "--scorer", "rouge_lines", "--ground-truth",
                                   "target", "--json"))
    assert all(abs(a - b) <= 1e-9 for a, b in zip(got["score"]["rouge_l_sum"], want))
    return f"ROUGE, {len(pairs)} pairs", theirs, ours, 20, f"{len(pairs) / ours:,.0f} pairs/s"


def coco(folder):
    truth, results = scores_test.boxes(5000, "bench")
    (folder / "truth.json").write_text(json.dumps(truth))
    (folder / "results.json").write_text(json.dumps(results))

    def with_pycocotools():
        with contextlib.redirect_stdout(io.StringIO()):
            known = pycocotools.coco.COCO()
            known.dataset = truth
            known.createIndex()
            evaluation = pycocotools.cocoeval.COCOeval(known, known.loadRes(results), "bbox")
            evaluation.evaluate()
            evaluation.accumulate()
            evaluation.summarize()
        return list(evaluation.stats)

    theirs, want = best(with_pycocotools)
    ours, got = best(lambda: assay("score", folder / "results.json", "--scorer", "coco_map",
                                   "--annotations", folder / "truth.json", "--json"))
    assert all(abs(a - b) <= 1e-6 for a, b in zip(got["stats"], want))
    return "COCO mAP, 5,000 images", theirs, ours, 10, f"{5000 / ours:,.0f} images/s"


def tokens(folder, name):
    tokenizer = tokenizers_test.VOCABULARIES[name]()
    path = folder / f"{name}.json"
    path.write_text(tokenizer.to_str())
    docs = tokenizer_speed_test.documents()
    lines = folder / "docs.jsonl"
    lines.write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    theirs, encoded = best(lambda: tokenizer.encode_batch_fast(docs, add_special_tokens=False))
    ours, got = best(lambda: assay("tokens", lines, "--tokenizer", path, "--jsonl", "--json"))
    assert got["tokens"] == sum(len(one.ids) for one in encoded)
    return f"tokens, {name}", theirs, ours, 2, f"{got['tokens'] / ours / 1e6:.2f} M tokens/s"


def main():
    print("| | theirs | ours | ratio | floor | ours |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows = [rouge(folder), coco(folder)]
        rows += [tokens(folder, one) for one in ("llama3", "qwen2", "gpt_oss", "deepseek")]
    for what, theirs, ours, floor, rate in rows:
        print(f"| {what} | {theirs * 1e3:,.0f} ms | {ours * 1e3:,.0f} ms | {theirs / ours:.1f} | "
              f"{floor} | {rate} |")
    return 0 if all(row[1] / row[2] >= row[3] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
