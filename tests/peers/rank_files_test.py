"""Files of ranked byte strings against the libraries that own them: Mistral's tekken.json and
Whisper's multilingual.tiktoken."""

import base64
import json
import pathlib

import pytest
import tiktoken

import texts

MANY = 20_000
O200K = "|".join([
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
    r"\p{N}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def ranked(pattern, tokens):
    """Byte strings by rank, made from the corpus as a trainer would: common pieces, short first."""
    import regex  # as tiktoken's own reference implementation cuts

    ranks = [bytes([b]) for b in range(256)]
    seen = dict.fromkeys(ranks)
    counts = {}
    for line in texts.corpus():
        for word in regex.findall(pattern, line):
            piece = word.encode()
            for end in range(2, len(piece) + 1):
                counts[piece[:end]] = counts.get(piece[:end], 0) + 1
    for piece in sorted(counts, key=lambda p: (len(p), -counts[p], p)):
        if len(ranks) == tokens:
            break
        if piece not in seen and piece[:-1] in seen and counts[piece] > 1:
            seen[piece] = None
            ranks.append(piece)
    return ranks


def samples(seed):
    return texts.strings(MANY, seed=seed, extra=(*texts.NEW_IN_16, "[INST]", "[/INST]", "<unk>",
                                                 "<|endoftext|>", "<SPECIAL_20>"))


def same(tokens, path, texts_, encode):
    got = tokens.encode(path, texts_)
    assert len(got) == len(texts_)
    for text, ids in zip(texts_, got):
        assert ids == encode(text), repr(text)


def tekken_files():
    import mistral_common

    data = pathlib.Path(mistral_common.__file__).parent / "data"
    return {path.stem: path for path in sorted(data.glob("tekken*.json"))}


def made_up_tekken(path, version):
    ranks = ranked(O200K, 3000)
    out = {"config": {"pattern": O200K, "num_vocab_tokens": len(ranks), "version": version,
                      "default_vocab_size": len(ranks) + 100 - 7,
                      "default_num_special_tokens": 100},
           "vocab": [{"rank": i, "token_bytes": base64.b64encode(piece).decode(),
                      "token_str": None} for i, piece in enumerate(ranks)]}
    if version == "v11":
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer

        out["special_tokens"] = [{"rank": one["rank"], "token_str": one["token_str"],
                                  "is_control": True}
                                 for one in Tekkenizer.DEPRECATED_SPECIAL_TOKENS]
    path.write_text(json.dumps(out))
    return path


@pytest.mark.parametrize("name", ["v3", "v11", *tekken_files()])
def test_tekken_gives_the_ids_of_mistral_common(tokens, tmp_path, name):
    from mistral_common.tokens.tokenizers.tekken import SpecialTokenPolicy, Tekkenizer

    path = tekken_files().get(name) or made_up_tekken(tmp_path / "tekken.json", name)
    theirs = Tekkenizer.from_file(str(path))
    some = samples("tekken " + name)
    same(tokens, path, some, lambda text: theirs.encode(text, bos=False, eos=False))
    few = some[:500]
    ids = [theirs.encode(text, bos=True, eos=False) for text in few]
    assert tokens.encode(path, few, "--special") == ids
    kept = [theirs.decode(one, special_token_policy=SpecialTokenPolicy.KEEP) for one in ids]
    assert tokens.decode(path, ids, "--special") == kept
    assert tokens.decode(path, ids) == [
        theirs.decode(one, special_token_policy=SpecialTokenPolicy.IGNORE) for one in ids]


def test_whispers_file_gives_the_ids_of_tiktoken(tokens, tmp_path):
    path = tmp_path / "multilingual.tiktoken"
    lines = [base64.b64encode(piece).decode() + f" {i}"
             for i, piece in enumerate(ranked(GPT2, 3000))]
    lines.append(f"= {len(lines)}")
    path.write_text("\n".join(lines) + "\n")
    # As openai-whisper reads it.
    ranks = {base64.b64decode(token): int(rank)
             for token, rank in (line.split() for line in path.read_text().splitlines() if line)}
    assert b"" in ranks
    theirs = tiktoken.Encoding("multilingual.tiktoken", pat_str=GPT2, mergeable_ranks=ranks,
                               special_tokens={})
    some = samples("whisper")
    same(tokens, path, some, theirs.encode_ordinary)
    ids = [theirs.encode_ordinary(text) for text in some[:2000]]
    assert tokens.decode(path, ids) == [theirs.decode(one) for one in ids]


@pytest.mark.parametrize("name", ["gpt2", "o200k_base"])
def test_new_characters_are_cut_as_tiktoken_cuts_them(tokens, tmp_path, name):
    patterns = {"gpt2": GPT2, "o200k_base": tiktoken_pattern()}
    ranks = ranked(GPT2, 2000)
    path = tmp_path / f"{name}.tiktoken"
    path.write_text("".join(base64.b64encode(piece).decode() + f" {i}\n"
                            for i, piece in enumerate(ranks)))
    theirs = tiktoken.Encoding(name, pat_str=patterns[name], special_tokens={},
                               mergeable_ranks={piece: i for i, piece in enumerate(ranks)})
    every = [a + b + c for a in ("", " ", "a", "1", "\u4e00") for b in texts.NEW_IN_16
             for c in ("", "b", "2", " ", "\u0301", "\u4e00")]
    same(tokens, path, every, theirs.encode_ordinary)


def tiktoken_pattern():
    contraction = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    parts = O200K.split("|")
    return "|".join([parts[0] + contraction, parts[1] + contraction, r"\p{N}{1,3}", *parts[3:]])
