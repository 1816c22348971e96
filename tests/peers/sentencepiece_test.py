"""SentencePiece models and tiktoken files against their own libraries."""

import base64
import io

import pytest
import sentencepiece
import tiktoken
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

import texts

CORPUS = texts.corpus()
MANY = 100_000

MODELS = {
    "unigram": {"model_type": "unigram"},
    "unigram_bytes": {"model_type": "unigram", "byte_fallback": True},
    "bpe": {"model_type": "bpe"},
    "bpe_bytes": {"model_type": "bpe", "byte_fallback": True, "split_digits": True},
    "llama": {"model_type": "bpe", "byte_fallback": True, "normalization_rule_name": "identity",
              "remove_extra_whitespaces": False, "add_dummy_prefix": True},
    "no_prefix": {"model_type": "bpe", "add_dummy_prefix": False,
                  "remove_extra_whitespaces": False},
    "user_defined": {"model_type": "bpe", "user_defined_symbols": ["<tool>", "the ", "12"]},
    "unigram_user_defined": {"model_type": "unigram",
                             "user_defined_symbols": ["<tool>", "the ", "12"]},
    "suffix": {"model_type": "unigram", "treat_whitespace_as_suffix": True},
    "casefold": {"model_type": "unigram", "normalization_rule_name": "nmt_nfkc_cf"},
    "crossing": {"model_type": "bpe", "split_by_whitespace": False},
}


def train(options):
    model = io.BytesIO()
    lines = [line for line in CORPUS if line.strip()]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=1500,
        character_coverage=0.99, hard_vocab_limit=False, minloglevel=2, num_threads=1, **options)
    return model.getvalue()


@pytest.mark.parametrize("name", MODELS)
def test_pieces_and_text_are_the_same(tokens, name):
    model = train(MODELS[name])
    library = sentencepiece.SentencePieceProcessor(model_proto=model)
    path = tokens.write("tokenizer.model", model)
    # A null byte ends a C string in the library's character map.
    samples = [s for s in texts.strings(MANY, seed="many") if "\x00" not in s]
    want = library.encode(samples, num_threads=1)
    for text, one, other in zip(samples, want, tokens.encode(path, samples)):
        assert other == one, f"{text!r}: {library.id_to_piece(other)} != {library.id_to_piece(one)}"
    for ids, one, other in zip(want, library.decode(want), tokens.decode(path, want)):
        assert other == one, library.id_to_piece(ids)


PATTERNS = {
    "gpt2": r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s""",
    "cl100k_base": r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"""
                   r"""| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s""",
    "o200k_base": "|".join([
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"""
        r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"""
        r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
        r"""\p{N}{1,3}""", r""" ?[^\s\p{L}\p{N}]+[\r\n/]*""", r"""\s*[\r\n]+""",
        r"""\s+(?!\S)""", r"""\s+"""]),
    "kimi": "|".join([
        r"""[\p{Han}]+""",
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"""
        r"""[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"""
        r"""[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
        r"""\p{N}{1,3}""", r""" ?[^\s\p{L}\p{N}]+[\r\n]*""", r"""\s*[\r\n]+""",
        r"""\s+(?!\S)""", r"""\s+"""]),
}


def ranks():
    """A byte-level vocabulary as tiktoken ranks: merges in the order in which they were learned."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(
        vocab_size=3000, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    to_byte = {}
    others = 0
    for byte in range(256):
        if 33 <= byte <= 126 or 161 <= byte <= 172 or byte >= 174:
            to_byte[chr(byte)] = byte
        else:
            to_byte[chr(256 + others)] = byte
            others += 1
    return {bytes(to_byte[c] for c in token): rank
            for token, rank in tokenizer.get_vocab().items()}


@pytest.mark.parametrize("name", PATTERNS)
def test_tiktoken_files_are_read_the_same(tokens, name):
    mergeable = ranks()
    library = tiktoken.Encoding(name, pat_str=PATTERNS[name], mergeable_ranks=mergeable,
                                special_tokens={})
    path = tokens.write("vocabulary.tiktoken", "".join(
        f"{base64.b64encode(token).decode()} {rank}\n" for token, rank in mergeable.items()))
    samples = texts.strings(MANY, seed="many")
    want = library.encode_ordinary_batch(samples, num_threads=1)
    for text, one, other in zip(samples, want, tokens.encode(path, samples, "--pattern", name)):
        assert other == one, f"{text!r}: {library.decode(other)} != {library.decode(one)}"
    assert tokens.decode(path, want, "--pattern", name) == library.decode_batch(want)


def test_a_regex_can_be_given(tokens):
    mergeable = ranks()
    library = tiktoken.Encoding("x", pat_str=r"\w+|\W", mergeable_ranks=mergeable,
                                special_tokens={})
    path = tokens.write("vocabulary.tiktoken", "".join(
        f"{base64.b64encode(token).decode()} {rank}\n" for token, rank in mergeable.items()))
    samples = texts.strings(2000, seed="regex")
    assert tokens.encode(path, samples, "--pattern", r"\w+|\W") == \
        library.encode_ordinary_batch(samples, num_threads=1)
