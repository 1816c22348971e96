"""What the tests against the tokenizer libraries need: `tokens`, the program's tokenizers."""

import json

import pytest


class Tokens:
    """`assay tokens` on a folder of its own."""

    def __init__(self, assay, folder):
        self.assay, self.folder = assay, folder

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def _lines(self, name, values, *args):
        path = self.write(name, "".join(json.dumps(value) + "\n" for value in values))
        out = self.assay("tokens", path, *args).out
        return [json.loads(line) for line in out.split("\n") if line]

    def encode(self, tokenizer, texts, *flags):
        return self._lines("texts.jsonl", texts, "--tokenizer", tokenizer, "--jsonl", "--ids",
                           *flags)

    def decode(self, tokenizer, ids, *flags):
        return self._lines("ids.jsonl", map(list, ids), "--tokenizer", tokenizer, "--decode",
                           *flags)

    def count(self, tokenizer, path):
        return self.assay("tokens", path, "--tokenizer", tokenizer, "--jsonl", "--json").json()


@pytest.fixture
def tokens(assay, tmp_path):
    return Tokens(assay, tmp_path)
