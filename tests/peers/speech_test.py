"""Text and scores of speech and summaries against the public libraries: Whisper's normalizer, jiwer
after it, and nltk's Punkt with a model that the test trains."""

import json
import pathlib
import random
import re

import jiwer
import pytest
import whisper_normalizer
from nltk.tabdata import TabEncoder
from nltk.tokenize.punkt import PunktSentenceTokenizer, PunktTrainer
from rouge_score import rouge_scorer
from whisper_normalizer.english import EnglishTextNormalizer

import texts

SPELLINGS = pathlib.Path(whisper_normalizer.__file__).parent / "normalizers" / "english.json"

# Words that the package rewrites and OpenAI's own normalizer does not.
NOT_WHISPERS = re.compile(r"\b(kinda|sorta|dunno|cause)\b", re.IGNORECASE)

PIECES = """
one two three five six nine ten eleven twelve thirteen nineteen twenty thirty forty ninety first
second third fourth fifth twelfth twentieth thirtieth sixties nineties hundred thousand million
billion hundreds thousandth zero oh o point and a half double triple minus plus percent per cent
dollars dollar cents pounds euros 1 2 7 10 12 100 1960s 3rd 22nd 1,200 3.5 $5 $0.50 £3 €2 20% 5th
mr mrs dr st. won't can't it's i'm they've we'll he'd been she's got y'all ma'am uh um hmm colour
theatre [noise] (aside) <x> hello world the cat's naïve café Straße ½ U.S.A. e.g. and/or half-price
it n't don't 's 4th-floor 12.50 1.2.3 -3 +4 ok? well... "quoted" i 2nd 11 100th mm
""".split()


@pytest.fixture
def accuracy(assay, tmp_path):
    def run(pairs, *flags):
        path = tmp_path / "rows.jsonl"
        path.write_text("".join(json.dumps({"transcript": t, "reply": g}) + "\n"
                                for t, g in pairs), encoding="utf-8")
        extras = json.dumps({"spellings": str(SPELLINGS)})
        return assay("score", path, "--scorer", "whisper", "--extras", extras, "--json",
                     *flags).json()["score"]
    return run


def sayings(count, seed):
    chance = random.Random(seed)
    words = [w for line in texts.corpus() for w in line.split() if not NOT_WHISPERS.search(w)]
    return [" ".join(chance.choice(PIECES) if chance.random() < 0.6 else chance.choice(words)
                     for _ in range(chance.randint(1, 14))) for _ in range(count)]


def joined(reference, reply):
    """The suite's alignment, and the edits that are left: as its published helper does."""
    left, right, i, j = [], [], 0, 0
    while i < len(reference) and j < len(reply):
        a = b = 1
        if reference[i] != reply[j]:
            for k in (1, 2, 3):
                if i + k <= len(reference) and "".join(reference[i:i + k]) == reply[j]:
                    a = k
                    break
                if j + k <= len(reply) and "".join(reply[j:j + k]) == reference[i]:
                    b = k
                    break
        left.append("".join(reference[i:i + a]))
        right.append("".join(reply[j:j + b]))
        i, j = i + a, j + b
    return left + reference[i:], right + reply[j:]


def test_words_are_normalised_as_whispers(assay, tmp_path):
    normalise = EnglishTextNormalizer()
    path = tmp_path / "rows.jsonl"
    told = sayings(1600, "whisper")
    # A text against its own normal form has no error only where both come to the same words.
    kept = []
    for text in told:
        try:
            plain = normalise(text)
        except (AssertionError, ValueError, TypeError):  # it fails on its own
            continue
        if normalise(plain) == plain:
            kept.append((plain, text))
    assert len(kept) > 1000
    path.write_text("".join(json.dumps({"transcript": p, "reply": t, "sample": i}) + "\n"
                            for i, (p, t) in enumerate(kept)), encoding="utf-8")
    extras = json.dumps({"spellings": str(SPELLINGS)})
    got = assay("score", path, "--scorer", "whisper", "--extras", extras, "--json").json()["score"]
    assert got["word_error_rate"] == 0


def test_accuracy_is_jiwers_after_the_suites_alignment(accuracy):
    chance = random.Random("wer")
    normalise = EnglishTextNormalizer()
    pairs, left, right, words = [], [], [], 0
    for text in sayings(400, "pairs"):
        reply = " ".join(w + ("" if chance.random() < 0.9 else "-") for w in text.split()
                         if chance.random() < 0.9)
        try:
            a, b = normalise(text).split(), normalise(reply).split()
        except (AssertionError, ValueError, TypeError):
            continue
        pairs.append((text, reply))
        words += len(a)
        a, b = joined(a, b)
        left.append(a)
        right.append(b)
    edits = 0
    for a, b in zip(left, right):
        if a:
            out = jiwer.process_words(" ".join(a), " ".join(b))
            edits += out.substitutions + out.deletions + out.insertions
        else:
            edits += len(b)
    got = accuracy(pairs)
    assert got["word_error_rate"] == pytest.approx(edits / words, abs=1e-9)
    assert got["word_accuracy"] == pytest.approx(100 * (1 - edits / words), abs=1e-9)


def punkt_model(folder):
    trainer = PunktTrainer()
    trainer.INCLUDE_ALL_COLLOCS = True
    prose = " ".join(texts.corpus())
    names = "Mr. Smith met Dr. Jones of Acme Inc. in St. Louis on Jan. 5. Prof. Lee, i.e. he, left."
    trainer.train(" ".join([prose] + [names] * 40), finalize=True)
    params = trainer.get_params()
    params.abbrev_types |= {"mr", "dr", "inc", "st", "jan", "prof", "i.e", "e.g", "u.s", "vs"}
    params.collocations |= {("st", "louis"), ("##number##", "smith")}
    params.sent_starters |= {"the", "he", "it"}
    encoder = TabEncoder()
    (folder / "abbrev_types.txt").write_text(encoder.set2txt(params.abbrev_types))
    (folder / "sent_starters.txt").write_text(encoder.set2txt(params.sent_starters))
    (folder / "collocations.tab").write_text(encoder.tups2tab(params.collocations))
    (folder / "ortho_context.tab").write_text(encoder.ivdict2tab(params.ortho_context))
    return PunktSentenceTokenizer(params)


MARKS = ["Mr.", "Dr.", "Inc.", "St.", "Louis", "Jan.", "5.", "12.", "U.S.", "e.g.", "vs.", "J.",
         "R.", "...", "He", "The", "It", "the", "said", "\"No!\"", "(really?)", "“Yes.”", "‘Oh!’",
         "end.", "stop!", "why?", "what?!", "--", "x).", "3.14", "a.b.c", "«Non.»", "ok.)", "]",
         "well.\"", "Smith", "hello", "world", ";", ",", "'s", "…", "no.\nNext", "a.\n\nB"]


def test_sentences_are_cut_as_nltks_punkt(assay, tmp_path):
    tokenizer = punkt_model(tmp_path)
    chance = random.Random("punkt")
    words = [w for line in texts.corpus() for w in line.split()]
    pairs = []
    for _ in range(500):
        pick = [chance.choice(MARKS) if chance.random() < 0.5 else chance.choice(words)
                for _ in range(chance.randint(1, 30))]
        pairs.append(" ".join(pick).strip())
    pairs += [" ".join(texts.corpus()[i:i + 4]).strip() for i in range(0, 200, 4)]
    scorer = rouge_scorer.RougeScorer(["rougeLsum"], use_stemmer=True)
    rows, want = [], []
    for text in pairs:
        cut = tokenizer.tokenize(text)
        # Against its own words in the order of sentences reversed: where a sentence ends shows.
        other = "\n".join(re.sub(r"\s+", " ", s) for s in reversed(cut))
        rows.append({"highlights": other, "reply": text})
        target = "\n".join(tokenizer.tokenize(other.strip()))
        want.append(scorer.score(target, "\n".join(cut))["rougeLsum"].fmeasure)
    path = tmp_path / "rows.jsonl"
    extras = json.dumps({"punkt": str(tmp_path)})
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    got = assay("score", path, "--scorer", "rouge", "--extras", extras, "--json").json()
    assert "note" not in got
    mean = sum(want) / len(want) * 100
    assert float(got["score"]["rougeLsum"]) == pytest.approx(mean, abs=6e-5)
    lines = assay("score", path, "--scorer", "rouge_lines", "--extras", extras, "--ground-truth",
                  "highlights", "--json").json()["score"]["rouge_l_sum"]
    differ = [(r["reply"], a, b) for r, a, b in zip(rows, lines, want) if abs(a - b) > 1e-9]
    assert differ == []
