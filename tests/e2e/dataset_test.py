"""Datasets as files: traces replayed by their clock, salts, and files that mean harm."""

import json
import resource
import subprocess

from conftest import program


def limited(*args, megabytes=1500):
    """The program with so much address space, and no more."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    return subprocess.run([program(), *map(str, args)], capture_output=True, text=True,
                          check=False, preexec_fn=limit, timeout=120)


def test_a_line_of_a_hundred_megabytes_is_an_error_in_little_memory(tmp_path):
    path = tmp_path / "long.jsonl"
    with open(path, "w", encoding="ascii") as file:
        file.write('{"prompt": "fine"}\n{"prompt": "')
        for _ in range(100):
            file.write("x" * 1_000_000)
        file.write('"}\n')
    done = limited("dataset", path, megabytes=600)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {path}:2: this row is longer than")


def test_bytes_that_are_not_utf8_name_their_line(assay, tmp_path):
    for name, content in (("a.jsonl", b'{"prompt": "ok"}\n{"prompt": "\xff"}\n'),
                          ("a.csv", b"prompt\n\xff\n")):
        path = tmp_path / name
        path.write_bytes(content)
        err = assay("dataset", path, code=2).err
        assert f"{path}:2:" in err and "UTF-8" in err


def test_depth_without_end_is_an_error(tmp_path):
    path = tmp_path / "deep.jsonl"
    path.write_text('{"prompt": ' + "[" * 1_000_000 + "]" * 1_000_000 + "}", encoding="ascii")
    done = limited("dataset", path)
    assert done.returncode == 2 and done.stderr.startswith("error: ")


def test_a_trace_is_replayed_by_its_own_clock(assay, endpoint, tmp_path):
    rows = [{"timestamp": 1000 * i, "input_length": 600 + i, "output_length": 4,
             "hash_ids": [1, 10 + i]} for i in range(6)]
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="ascii")
    assay("run", "--dataset", path, "--load-pattern", "trace", "--speedup", 10, "--model", "m",
          "--api-type", "openai_completions", "--salt", "--endpoint", endpoint().url,
          "--report-dir", tmp_path / "run", "--allow-client-limited")
    summary = json.loads((tmp_path / "run/performance/result_summary.json").read_text())
    assert summary["n_samples_completed"] == 6
    config = (tmp_path / "run/config.yaml").read_text(encoding="utf-8")
    assert "type: trace" in config and "salt: true" in config


def test_every_turn_of_a_conversation(assay, tmp_path):
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([{"id": "c", "conversations": [
        {"from": "human", "value": "a"}, {"from": "gpt", "value": "b"},
        {"from": "human", "value": "c"}]}]), encoding="ascii")
    assert assay("dataset", path, "--json").json()["samples"] == 1
    shown = assay("dataset", f"{path},turns=all", "--json").json()["shown"]
    assert [len(sample["messages"]) for sample in shown] == [1, 3]


def test_a_preset_puts_the_prompt_together(assay, tmp_path):
    path = tmp_path / "aime.jsonl"
    path.write_text('{"question": "1+1?", "answer": "2"}\n', encoding="ascii")
    shown = assay("dataset", f"{path},name=aime25::gptoss", "--json").json()["shown"]
    assert shown[0]["prompt"].startswith("1+1?\nPlease reason step by step")
    err = assay("dataset", f"{path},name=aime25::gptos", code=2).err
    assert "it has: gptoss" in err


def test_a_description_of_rows_is_written_checked_and_read_again(assay, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"prompt": "a", "n": 1}\n{"prompt": "b", "n": 2}\n')
    out = tmp_path / "rows.json"
    said = assay("dataset", rows, "--croissant", out).out
    assert "are missing: url, license, creator, datePublished, citeAs (--meta)" in said
    assert assay("dataset", out, "--check").out.endswith("0 errors, 5 warnings\n")
    # The specification requires what nobody said; reading the rows does not.
    spec = assay("dataset", out, "--check", "--profile", "spec", code=1).out
    assert spec.count("error  required") == 4 and spec.count("error  ") == 4
    assert spec.count("warning  recommended") == 1
    assert assay("dataset", out, "--check", "--profile",
                 "assay").out.endswith("0 errors, 0 warnings\n")
    first = out.read_text()
    assay("dataset", rows, "--croissant", out)
    assert out.read_text() == first
    assay("dataset", "rows.jsonl", "--croissant", "beside.json", cwd=tmp_path)
    assert "rows.jsonl" in (tmp_path / "beside.json").read_text()
    assay("dataset", rows, "--croissant", out, "--meta", "license=CC0-1.0", "--meta", "url=u",
          "--meta", "creator=c", "--meta", "datePublished=2026-11-24")
    assert assay("dataset", out, "--check", "--profile", "spec").out.count("error  ") == 0
    said = assay("dataset", f"croissant:{out}#rows", "--rows").out.splitlines()
    assert [json.loads(line)["n"] for line in said] == [1, 2]
    rows.unlink()
    assert "error" in assay("dataset", out, "--check", "--profile", "assay", code=1).out
    for args in (("--croissant", tmp_path / "sub" / "x.json"),
                 ("--croissant", out, "--meta", "x=1")):
        rows.write_text('{"prompt": "a"}\n')
        assay("dataset", rows, *args, code=2)


def test_a_character_costs_other_numbers_of_tokens_in_other_languages(assay, tmp_path):
    words = {"<unk>": 0, **{chr(97 + i): i + 1 for i in range(26)}, "ab": 27}
    tokenizer = tmp_path / "tokenizer.json"
    tokenizer.write_text(json.dumps({
        "version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": None,
        "post_processor": None, "decoder": None,
        "model": {"type": "BPE", "vocab": words, "merges": ["a b"], "unk_token": "<unk>",
                  "dropout": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
                  "fuse_unk": False, "byte_fallback": False}}))
    lines = tmp_path / "prompts.jsonl"
    lines.write_text("".join(json.dumps({"prompt": text, "locale": locale}) + "\n" for text, locale
                             in (("abab", "aa_aa"), ("abcd", "aa_aa"), ("cdef", "bb_bb"))))
    said = assay("tokens", lines, "--jsonl", "--by", "locale", "--tokenizer", tokenizer,
                 "--json").json()
    assert [(row["locale"], row["texts"], row["tokens"], row["characters"]) for row in said["rows"]
            ] == [("aa_aa", 2, 5, 8), ("bb_bb", 1, 4, 4)]
    assert said["rows"][0]["tokens_per_character"] == 5 / 8
    assert "--by" in assay("tokens", lines, "--jsonl", "--by", "region", "--tokenizer", tokenizer,
                           code=2).err
