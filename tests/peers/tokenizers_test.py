"""tokenizer.json against the public library: same ids, same text."""

import json

import pytest
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers,
                        pre_tokenizers, processors, trainers)

import texts

CORPUS = texts.corpus()
MANY = 100_000
SOME = 10_000

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
          r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
QWEN3_5 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
           r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
O200K = "|".join([
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
DEEPSEEK = (r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
            r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
ALPHABET = pre_tokenizers.ByteLevel.alphabet()


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern), behavior=behavior, invert=invert)


def byte_level(pre_tokenizer, normalizer=None, size=3000, **model):
    tokenizer = Tokenizer(models.BPE(**model))
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=ALPHABET, show_progress=False,
        special_tokens=["<|begin|>", "<|eot|>"]))
    return tokenizer


def llama3():
    tokenizer = byte_level(pre_tokenizers.Sequence([
        split(LLAMA3), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]),
        ignore_merges=True)
    begin = tokenizer.token_to_id("<|begin|>")
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<|begin|> $A", pair="<|begin|> $A <|begin|> $B",
                                      special_tokens=[("<|begin|>", begin)])])
    return tokenizer


def gpt2(prefix_space):
    return byte_level(pre_tokenizers.ByteLevel(add_prefix_space=prefix_space))


def qwen(pattern):
    return byte_level(pre_tokenizers.Sequence([
        split(pattern), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]),
        normalizer=normalizers.NFC())


def gpt_oss():
    return byte_level(pre_tokenizers.Sequence([
        split(O200K), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]),
        ignore_merges=True)


def deepseek():
    return byte_level(pre_tokenizers.Sequence([
        split(r"\p{N}{1,3}"), split("[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"), split(DEEPSEEK),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]))


def llama2(unknown=True):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tokenizer.decoder = decoders.Sequence([
        decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(),
        decoders.Strip(" ", 1, 0)])
    # Trained on words, so that no piece crosses a space, as in the model's own vocabulary.
    trainer = trainers.BpeTrainer(
        vocab_size=3000, show_progress=False, special_tokens=["<unk>", "<s>", "</s>"]
        + ([f"<0x{b:02X}>" for b in range(256)] if unknown else []))
    words = ["\u2581" + word for line in CORPUS for word in line.split()]
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.train_from_iterator(words, trainer)
    spec = json.loads(tokenizer.to_str())
    spec["pre_tokenizer"] = None
    spec["added_tokens"] = [t for t in spec["added_tokens"] if not t["content"].startswith("<0x")]
    spec["normalizer"] = {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "\u2581"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]}
    return Tokenizer.from_str(json.dumps(spec))


def crossing():
    """Pieces that cross spaces, so that a text cannot be cut at them."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=False))
    tokenizer.normalizer = normalizers.Replace(" ", "\u2581")
    tokenizer.decoder = decoders.Replace("\u2581", " ")
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(
        vocab_size=1500, show_progress=False, special_tokens=["<unk>"]))
    return tokenizer


def gemma():
    tokenizer = llama2()
    spec = json.loads(tokenizer.to_str())
    spec["normalizer"] = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    spec["pre_tokenizer"] = {"type": "Split", "pattern": {"String": " "},
                             "behavior": "MergedWithPrevious", "invert": False}
    return Tokenizer.from_str(json.dumps(spec))


def bert(**options):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(**options)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.train_from_iterator(CORPUS, trainers.WordPieceTrainer(
        vocab_size=3000, show_progress=False,
        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    tokenizer.post_processor = processors.BertProcessing(
        ("[SEP]", tokenizer.token_to_id("[SEP]")), ("[CLS]", tokenizer.token_to_id("[CLS]")))
    return tokenizer


def t5(byte_fallback=False):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    special = ["<unk>", "</s>"]
    if byte_fallback:
        special += [f"<0x{b:02X}>" for b in range(256)]
    tokenizer.train_from_iterator(CORPUS, trainers.UnigramTrainer(
        vocab_size=2000, show_progress=False, special_tokens=special, unk_token="<unk>"))
    if byte_fallback:
        spec = json.loads(tokenizer.to_str())
        spec["model"]["byte_fallback"] = True
        spec["added_tokens"] = spec["added_tokens"][:2]
        tokenizer = Tokenizer.from_str(json.dumps(spec))
    return tokenizer


def clip():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.decoder = decoders.BPEDecoder("</w>")
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(
        vocab_size=2000, show_progress=False, special_tokens=["<unk>"], end_of_word_suffix="</w>"))
    return tokenizer


VOCABULARIES = {
    "llama3": llama3,
    "gpt2": lambda: gpt2(False),
    "gpt2_prefix_space": lambda: gpt2(True),
    "qwen2": lambda: qwen(QWEN),
    "qwen3_5": lambda: qwen(QWEN3_5),
    "gpt_oss": gpt_oss,
    "deepseek": deepseek,
    "llama2": llama2,
    "llama2_no_bytes": lambda: llama2(False),
    "gemma": gemma,
    "crossing": crossing,
    "bert": bert,
    "bert_cased": lambda: bert(lowercase=False, strip_accents=False),
    "t5": t5,
    "t5_bytes": lambda: t5(True),
    "clip": clip,
}


def compare(tokens, tokenizer, samples):
    path = tokens.write("tokenizer.json", tokenizer.to_str())
    expected = [e.ids for e in tokenizer.encode_batch(samples, add_special_tokens=False)]
    actual = tokens.encode(path, samples)
    assert len(actual) == len(expected)
    for text, want, got in zip(samples, expected, actual):
        assert got == want, f"{text!r}: {[tokenizer.id_to_token(i) for i in got]} != " \
                            f"{[tokenizer.id_to_token(i) for i in want]}"
    return path, expected


@pytest.mark.parametrize("name", VOCABULARIES)
def test_ids_and_text_are_the_same(tokens, name):
    tokenizer = VOCABULARIES[name]()
    samples = texts.strings(MANY, seed="many")
    path, ids = compare(tokens, tokenizer, samples)
    for skip in (True, False):
        want = tokenizer.decode_batch(ids, skip_special_tokens=skip)
        flags = [] if skip else ["--special"]
        for text, one, other in zip(want, tokens.decode(path, ids, *flags), samples):
            assert one == text, f"{other!r}"
    few = samples[:2000]
    assert tokens.encode(path, few, "--special") == [
        e.ids for e in tokenizer.encode_batch(few, add_special_tokens=True)]


@pytest.mark.parametrize("name", ["llama3", "gpt2", "qwen3_5", "gpt_oss", "deepseek", "llama2"])
def test_new_characters_are_cut_the_same(tokens, name):
    every = [a + b + c for a in ("", " ", "a", "1", "\u4e00") for b in texts.NEW_IN_16
             for c in ("", "b", "2", " ", "\u0301", "\u4e00")]
    compare(tokens, VOCABULARIES[name](), every)


@pytest.mark.parametrize("name", ["llama3", "qwen2", "bert_cased", "t5", "llama2"])
def test_a_stream_decodes_to_the_same_text(tokens, name):
    tokenizer = VOCABULARIES[name]()
    path = tokens.write("tokenizer.json", tokenizer.to_str())
    samples = texts.strings(3000, seed="stream " + name)
    ids = [e.ids for e in tokenizer.encode_batch(samples, add_special_tokens=False)]
    assert tokens.decode(path, ids, "--stream") == tokens.decode(path, ids)


P = pre_tokenizers
N = normalizers
FEATURES = {
    "split_removed": (None, split(r"\s+", "removed")),
    "split_merged_with_previous": (None, split(r"[\s,.]", "merged_with_previous")),
    "split_merged_with_next": (None, split(r"[\s,.]", "merged_with_next")),
    "split_contiguous": (None, split(r"[\s,.]", "contiguous")),
    "split_inverted": (None, split(r"\w+", "merged_with_next", True)),
    "split_inverted_removed": (None, split(r"\w+|[^\w\s]+", "removed", True)),
    "split_on_text": (None, P.Split("an", "isolated")),
    "punctuation": (None, P.Punctuation()),
    "punctuation_contiguous": (None, P.Punctuation("contiguous")),
    "punctuation_merged": (None, P.Punctuation("merged_with_previous")),
    "digits": (None, P.Digits(False)),
    "digits_each": (None, P.Digits(True)),
    "whitespace": (None, P.Whitespace()),
    "whitespace_split": (None, P.WhitespaceSplit()),
    "delimiter": (None, P.CharDelimiterSplit("e")),
    "metaspace_first": (None, P.Metaspace(prepend_scheme="first")),
    "metaspace_never": (None, P.Metaspace(prepend_scheme="never")),
    "metaspace_whole": (None, P.Metaspace(split=False)),
    "fixed_length": (None, P.FixedLength(5)),
    "bytes_then_more": (None, P.Sequence([P.ByteLevel(add_prefix_space=True), P.Digits(True)])),
    "nfd": (N.NFD(), None),
    "nfkd": (N.NFKD(), None),
    "nfkc": (N.NFKC(), None),
    "strip": (N.Strip(), P.Whitespace()),
    "strip_left": (N.Strip(left=True, right=False), None),
    "accents": (N.Sequence([N.NFD(), N.StripAccents(), N.Lowercase()]), None),
    "lowercase": (N.Lowercase(), None),
    "replace_regex": (N.Replace(Regex(r"(\d+)|[aeiou]{2,}?"), "#"), None),
    "replace_lookahead": (N.Replace(Regex(r"(?<=\s)the(?=\s)|\b(?i:an?)\b"), "X"), None),
    "byte_level_normalizer": (N.ByteLevel(), None),
    "nmt": (N.Nmt(), None),
}


@pytest.mark.parametrize("name", FEATURES)
def test_every_step_is_the_same(tokens, name):
    normalizer, pre_tokenizer = FEATURES[name]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    if normalizer:
        tokenizer.normalizer = normalizer
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(
        vocab_size=900, show_progress=False, special_tokens=["<unk>"], initial_alphabet=ALPHABET))
    compare(tokens, tokenizer, texts.strings(SOME, seed=name))


PATTERNS = [
    r"a|an|and|ant", r"(?:ab?)+c?", r"\w+?\b", r"[a-z&&[^aeiou]]+", r"[[:alpha:]]+", r"\p{^L}+",
    r"\P{Lu}+", r"[\x{41}-\x{5A}]+", r"\u0061+", r"(?>a+)b|a", r"a++b|.", r"(?i)THE|[^\S\n]+",
    r"^\s+|\s+$", r"\A\S+", r"\S+\z", r"(?:a|b|cd)*e", r"\d{2,4}", r"(?!\p{Lu})\w", r"(?<!\s)\S{3}",
    r"(?=\w)\w{1,3}(?!\w)", r"[^\W\d_]+", r"(?:(?:a|e)(?:n|r)?)*", r"\p{Han}+|\p{Hiragana}+",
    r"(?i:stra\u00dfe|\u03c3)|[\-\]x]+", r"[a\-z]+", r"\S*?e", r"(?:\s*\n)+|\s{2,3}",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_regex_splits_the_same(tokens, pattern):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = split(pattern)
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(
        vocab_size=900, show_progress=False, special_tokens=["<unk>"], initial_alphabet=ALPHABET))
    compare(tokens, tokenizer, texts.strings(3000, seed=pattern))


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("option", ["plain", "single_word", "lstrip", "rstrip"])
def test_added_tokens_are_found_the_same(tokens, option, normalized):
    tokenizer = qwen(QWEN) if not normalized else bert()
    options = {} if option == "plain" else {option: True}
    added = ["<tool>", "<tool_call>", "the", "an", "caf\u00e9", "New York", "\u4e8c"]
    tokenizer.add_tokens([AddedToken(one, normalized=normalized, **options) for one in added])
    tokenizer.add_special_tokens([AddedToken("<|im_end|>", normalized=False, **options)])
    samples = texts.strings(SOME, seed=option + str(normalized), extra=(*added, "<|im_end|>",
                                                                       "THE", "CAFE\u0301"))
    compare(tokens, tokenizer, samples)
