"""Texts to train small vocabularies on, and random and adversarial strings to try them with."""

import functools
import pathlib
import random
import unicodedata

HERE = pathlib.Path(__file__).resolve().parent


@functools.cache
def corpus():
    """Lines of many languages, of code, and of this repository's own sources."""
    lines = (HERE / "corpus.txt").read_text(encoding="utf-8").splitlines()
    sources = HERE.parents[1] / "src" / "ground" / "base"
    for path in sorted(sources.glob("*.[hc]*")):
        lines += path.read_text(encoding="utf-8").splitlines()
    return lines


# Only what the oldest and the newest Unicode agree on: the libraries differ in their versions, and
# even Rust's tokenizers has two, one for its regexes and an older one for BERT.
ASSIGNED = [chr(c) for c in range(0x110000)
            if not 0xD800 <= c <= 0xDFFF and unicodedata.category(chr(c)) != "Cn"
            and unicodedata.ucd_3_2_0.category(chr(c)) == unicodedata.category(chr(c))]
# Assigned by Unicode 15.1 and 16.0: letters with and without case, marks, digits, symbols,
# ideographs. The libraries that cut by regex know them; the oldest normalizers do not.
NEW_IN_16 = [chr(c) for c in (
    0x0897, 0x1C89, 0x1C8A, 0x2427, 0x2FFC, 0x31E4, 0xA7CB, 0xA7CC, 0xA7CD, 0xA7DA, 0xA7DB, 0xA7DC,
    0x105C0, 0x10D40, 0x10D50, 0x10D6F, 0x10D70, 0x10EC2, 0x10EFC, 0x11380, 0x116D0, 0x11BC0,
    0x11BF0, 0x13460, 0x16100, 0x16130, 0x16D40, 0x16D43, 0x16D70, 0x1CC00, 0x1CCF0, 0x1E5D0,
    0x1E5F1, 0x1F8B2, 0x2EBF0, 0x2EE5D)]
SPACES = [" ", "  ", "   ", "\t", "\n", "\r\n", "\n\n", "\r", " \n ", "\u00a0", "\u2003", "\u3000",
          "\u2028", "\x0b", "\x0c", "\u1680", "\x85", " " * 17, "\n" * 9]
ODD = ["'s", "'S", "'ll", "'LL", "'\u017f", "'re", "'Ve", "'d", "n't", "\u2019s", "''", "\"",
       "_", "__",
       "-", "--", "...", "!?", "/", "//", "\\", "</s>", "<s>", "<|eot|>", "<|eot", "|>", "[MASK]",
       "[CLS]", "<unk>", "\u2581", "\u2581\u2581", "\u0120", "##", "</w>", "<0x41>", "\x00", "\x01",
       "\x7f", "\ufeff", "\ufffd", "\u200b", "\u200d", "\u00ad", "e\u0301", "\u00e9",
       "\u1e9b\u0323",
       "\uac01", "\u1100\u1161\u11a8", "\u0958", "\u212b", "\u2126", "\ufb01", "\u00bd", "\u2167",
       "\u3392", "\u0345", "\u1f88", "\u01c5", "\u0130", "\u0131", "\u00df", "\u1e9e",
       "\u03a3\u03c2",
       "\u0e33", "\U0001f600", "\U0001f469\u200d\U0001f4bb", "\U0001f1e9\U0001f1ea", "\u2764\ufe0f",
       "\U00010400", "\U000e0041", "\ue000", "\uffff", "\U0010ffff", "0", "00", "007", "3.14",
       "1,000",
       "\u0663", "\u096a", "\u00b2", "\u2460", "\u4e00", "\u4e8c\u4e09", "\u3042", "\u30a2",
       "\uff21"]


@functools.cache
def strings(count, seed, extra=()):
    """`count` strings: excerpts of the corpus, mixtures, and runs, from one seed."""
    chance = random.Random(seed)
    text = "\n".join(corpus())
    words = text.split()
    odd = ODD + list(extra)

    def piece():
        kind = chance.random()
        if kind < 0.35:
            return chance.choice(words)
        if kind < 0.45:
            return chance.choice(SPACES)
        if kind < 0.65:
            return " " + chance.choice(words)
        if kind < 0.78:
            return chance.choice(odd)
        if kind < 0.84:
            return chance.choice(odd) * chance.randint(1, 12)
        if kind < 0.90:
            return "".join(chance.choice(ASSIGNED) for _ in range(chance.randint(1, 4)))
        if kind < 0.95:
            word = chance.choice(words)
            return word[:chance.randint(0, len(word))]
        word = chance.choice(words)
        return word.upper() if chance.random() < 0.5 else word.title()

    made = ["", " ", "  ", "\n", "a", " a", "a ", "\u00e9", "\x00"]
    while len(made) < count:
        if chance.random() < 0.15:
            start = chance.randrange(len(text))
            made.append(text[start:start + chance.randint(1, 120)])
        else:
            made.append("".join(piece() for _ in range(chance.randint(1, 14))))
    return made[:count]
