#!/usr/bin/env python3
"""Replies judged twice: by lm-evaluation-harness's IFEval and GSM8K, and by `assay score --task`.

    tools/against_harness.py [--assay build/release/assay] [--replies 6600] [--seed S] [--keep FILE]

Needs lm-eval 0.4.13, nltk, immutabledict and langdetect on Python's path (pip install --no-deps is
enough, with regex and six). Nothing of them is copied: their functions are called. Replies are made
up. It prints how many verdicts differ and the first of them; exit code 1 when one does.

--keep FILE writes a sample of the verdicts, which the end-to-end tests read (tests/data/judges).

Left out: the three kinds that ask for a language, because langdetect's verdict is drawn at random.
One reply in some thousands differs in capital_word_frequency with NLTK 3.10 and later, which treats
an apostrophe inside a word otherwise than the releases before it, as ours does.
"""

import argparse
import importlib
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import types
from importlib.metadata import distribution

import nltk
import yaml
from nltk.tabdata import TabEncoder
from nltk.tokenize.punkt import PunktSentenceTokenizer, PunktTrainer

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORDS = ("the cloud River bridge and NASA don't CAN'T it's cat, Cat dogs. END! why? (see) U.S. "
         "A-B I'll cannot e-mail 3,000 x;y \"quoted\" — naïve Section SECTION P.S. p. s. "
         "[name] * ** *** ****** - # <<Title>> <<>> 12 42 $5 Mr. Smith ... Well, wanna").split()

LANGUAGE = {"language:response_language", "change_case:english_capital",
            "change_case:english_lowercase"}


def package(name):
    """A package of the harness without its __init__, which imports much that is not needed."""
    module = types.ModuleType(name)
    module.__path__ = [str(distribution("lm-eval").locate_file(name.replace(".", "/")))]
    sys.modules[name] = module


def original(folder):
    """The authors' program; its sentences are cut by a model that is trained here, in `folder`."""
    trainer = PunktTrainer()
    corpus = (ROOT / "tests/peers/corpus.txt").read_text(encoding="utf-8")
    trainer.train(corpus + " Mr. Smith met Dr. Jones." * 40, finalize=True)
    params = trainer.get_params()
    params.abbrev_types |= {"mr", "dr", "u.s"}
    encoder = TabEncoder()
    (folder / "abbrev_types.txt").write_text(encoder.set2txt(params.abbrev_types))
    (folder / "sent_starters.txt").write_text(encoder.set2txt(params.sent_starters))
    (folder / "collocations.tab").write_text(encoder.tups2tab(params.collocations))
    (folder / "ortho_context.tab").write_text(encoder.ivdict2tab(params.ortho_context))
    tokenizer = PunktSentenceTokenizer(params)
    for name in ("lm_eval", "lm_eval.tasks", "lm_eval.tasks.ifeval"):
        package(name)
    nltk.data.find = lambda *_, **__: ""
    nltk.data.load = lambda *_, **__: tokenizer
    nltk.tokenize.sent_tokenize = lambda text, *_: tokenizer.tokenize(text)
    return importlib.import_module("lm_eval.tasks.ifeval.utils")


def arguments(chance, name):
    relation = chance.choice(["less than", "at least"])
    few = chance.randint(1, 4)
    return {
        "keywords:existence": {"keywords": chance.sample(["cat", "river", "NASA", "it"], 2)},
        "keywords:frequency": {"keyword": chance.choice(["cat", "the", "it"]), "frequency": few,
                               "relation": relation},
        "keywords:forbidden_words": {"forbidden_words": [chance.choice(["cat", "dog", "well"])]},
        "keywords:letter_frequency": {"letter": chance.choice("eaTz"), "let_frequency": 2 * few,
                                      "let_relation": relation},
        "length_constraints:number_sentences": {"num_sentences": few, "relation": relation},
        "length_constraints:number_paragraphs": {"num_paragraphs": chance.randint(1, 3)},
        "length_constraints:number_words": {"num_words": 4 * few, "relation": relation},
        "length_constraints:nth_paragraph_first_word": {
            "num_paragraphs": 2, "nth_paragraph": chance.randint(1, 2),
            "first_word": chance.choice(["Well", "the", "cloud"])},
        "detectable_content:number_placeholders": {"num_placeholders": few},
        "detectable_content:postscript": {"postscript_marker": chance.choice(["P.S.", "P.P.S"])},
        "detectable_format:number_bullet_lists": {"num_bullets": few},
        "detectable_format:number_highlighted_sections": {"num_highlights": few},
        "detectable_format:multiple_sections": {
            "section_spliter": chance.choice(["Section", "SECTION"]), "num_sections": few},
        "combination:repeat_prompt": {"prompt_to_repeat": "the Cloud "},
        "startend:end_checker": {"end_phrase": chance.choice(["END!", "cat", "why?"])},
        "change_case:capital_word_frequency": {"capital_frequency": few,
                                               "capital_relation": relation},
    }.get(name, {})


def reply(chance):
    """Some of what the instructions look for, in an order of chance."""
    words = chance.choices(WORDS, k=chance.randint(0, 30))
    breaks = [" ", " ", " ", "\n", "\n\n", "  ", "\n* ", "\n- ", "\n***\n", "*"]
    text = "".join(word + chance.choice(breaks) for word in words)
    for change in (str.upper, str.lower, lambda t: f'"{t}"', lambda t: f"Sure:\n{t}\nBye",
                   lambda t: "The cloud " + t, lambda t: t + " P.P.S. more",
                   lambda t: "".join(f"{one} {i} {t[:9]}" for i in range(1, 5)
                                     for one in ["Section", "SECTION"]),
                   lambda t: "```json\n" + json.dumps({"a": t}) + "\n```",
                   lambda t: t + "My answer is yes.", lambda t: t + " END!",
                   lambda t: t.strip() + "******" + t[:20]):
        if chance.random() < 0.12:
            text = change(text)
    return text


def score(assay, rows, folder, *flags):
    """The verdict and the verdicts of the replies."""
    path, verdicts = folder / "rows.jsonl", folder / "verdicts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command = [assay, "score", path, *flags, "--json", "--verdicts", verdicts]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = verdicts.read_text(encoding="utf-8").splitlines()
    return json.loads(done.stdout)["score"], [json.loads(line) for line in lines]


def ifeval(options, folder):
    """[(row, our verdict, theirs)]"""
    theirs = original(folder)
    registry = sys.modules["lm_eval.tasks.ifeval.instructions_registry"].INSTRUCTION_DICT
    names = sorted(set(registry) - LANGUAGE)
    chance = random.Random(options.seed)
    rows = []
    for i in range(options.replies):
        name = names[i % len(names)]
        rows.append({"key": i, "prompt": "p", "instruction_id_list": [name],
                     "kwargs": [arguments(chance, name)], "reply": reply(chance)})
    extras = json.dumps({"punkt": str(folder)})
    _, verdicts = score(options.assay, rows, folder, "--task", "ifeval", "--extras", extras)
    out = []
    for row, verdict in zip(rows, verdicts, strict=True):
        judged = theirs.process_results(row, [row["reply"]])
        want = {"strict": judged["inst_level_strict_acc"], "loose": judged["inst_level_loose_acc"]}
        want = {key: list(map(bool, value)) for key, value in want.items()}
        out.append((row, json.loads(verdict["extracted"]), want))
    seen = {name: {want["strict"][0] for row, _, want in out
                   if row["instruction_id_list"] == [name]} for name in names}
    print("kinds that no reply followed, or each:",
          [name for name, both in seen.items() if len(both) < 2] or "none")
    return out


def harness_answer(reply, pattern, select):
    """The harness's regex filter."""
    found = re.compile(pattern).findall(reply)
    if not found:
        return "[invalid]"
    one = found[select]
    if isinstance(one, tuple):
        one = next((part for part in one if part), "[invalid]")
    return one.strip()


def numbers(chance):
    parts = ["#### ", "12", "1,200", "-3", "$5.", "7.5", " is ", "\n", "the answer", ".", "#### 12"]
    return "".join(chance.choices(parts, k=chance.randint(0, 8)))


def gsm8k(options, folder):
    """[(filter, our share of right answers, theirs)], with the patterns of its own file."""
    path = distribution("lm-eval").locate_file("lm_eval/tasks/gsm8k/gsm8k.yaml")
    task = yaml.safe_load(pathlib.Path(path).read_text(encoding="utf-8"))
    ignored = task["metric_list"][0]["regexes_to_ignore"]
    chance = random.Random(options.seed)
    truths = ["x\n#### 12", "#### 1,200", "#### -3", "#### 5", "#### 7.5"]
    rows = [{"question": "q", "reply": numbers(chance), "answer": chance.choice(truths)}
            for _ in range(options.replies)]
    ours, _ = score(options.assay, rows, folder, "--task", "gsm8k")

    def plain(text):
        for pattern in ignored:
            text = re.sub(pattern, "", text)
        return text.lower()

    out = []
    for filters in task["filter_list"]:
        how = filters["filter"][0]
        right = sum(plain(harness_answer(row["reply"], how["regex_pattern"],
                                         how.get("group_select", 0))) == plain(row["answer"])
                    for row in rows)
        out.append((filters["name"], ours[filters["name"].replace("-", "_")], right / len(rows)))
    return out


def keep(judged, path, each=12):
    """A sample of each kind without the one that needs a model of sentences."""
    kept = []
    counts = {}
    for row, _, want in judged:
        name = (row["instruction_id_list"][0], want["strict"][0])
        counts[name] = counts.get(name, 0) + 1
        if counts[name] <= each // 2 and "sentences" not in name[0]:
            kept.append({**row, "verdict": want})
    path.write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", type=pathlib.Path, default=ROOT / "build/release/assay")
    parser.add_argument("--replies", type=int, default=6600)
    parser.add_argument("--seed", default="harness")
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        judged = ifeval(options, pathlib.Path(folder))
        shares = gsm8k(options, pathlib.Path(folder))
    differ = [one for one in judged if one[1] != one[2]]
    print(f"ifeval: {len(judged)} replies, {len(differ)} differ")
    for row, ours, want in differ[:3]:
        print(f"  {row['instruction_id_list'][0]} {row['kwargs'][0]} {row['reply']!r}\n"
              f"    ours {ours}, theirs {want}")
    for name, ours, want in shares:
        print(f"gsm8k {name}: right {ours:.6f}, theirs {want:.6f}")
    if options.keep:
        keep(judged, options.keep)
    sys.exit(1 if differ or any(abs(ours - want) > 1e-9 for _, ours, want in shares) else 0)


if __name__ == "__main__":
    main()
