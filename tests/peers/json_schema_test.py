"""The judge of structured output against the jsonschema package: made-up schemas and replies, and
whether each reply fits."""

import json
import random

import jsonschema
import pytest

WORDS = ["a", "bc", "äö", "", "x1", "2026-11-24", "long enough to be cut"]
NAMES = ["a", "b", "c", "x1"]


def number(chance):
    return chance.choice([0, 1, 2, 3, -1, 7, 2.0, 2.5, 0.3, 1e20, 12345678901234567890])


def value(chance, depth=0):
    kind = chance.choice(["null", "bool", "number", "number", "text", "text", "list", "object"])
    if depth > 2 and kind in ("list", "object"):
        kind = "number"
    if kind == "null":
        return None
    if kind == "bool":
        return chance.random() < 0.5
    if kind == "number":
        return number(chance)
    if kind == "text":
        return chance.choice(WORDS)
    if kind == "list":
        return [value(chance, depth + 1) for _ in range(chance.randint(0, 3))]
    return {chance.choice(NAMES): value(chance, depth + 1) for _ in range(chance.randint(0, 3))}


def schema(chance, depth=0):
    if depth > 3:
        return chance.choice([True, {}, {"type": "string"}, {"type": "number"}])

    def inner():
        return schema(chance, depth + 1)

    out = {}
    makers = {
        "type": lambda: chance.choice(
            ["string", "integer", "number", "boolean", "null", "array", "object",
             ["string", "null"], ["integer", "array"]]),
        "enum": lambda: [value(chance, 1) for _ in range(3)],
        "const": lambda: value(chance, 2),
        "minimum": lambda: number(chance),
        "exclusiveMaximum": lambda: number(chance),
        "multipleOf": lambda: chance.choice([1, 2, 0.5]),
        "minLength": lambda: chance.randint(0, 3),
        "maxLength": lambda: chance.randint(0, 6),
        "pattern": lambda: chance.choice(["^[a-z]+$", "\\d", "^.{2}$", "x"]),
        "minItems": lambda: chance.randint(0, 2),
        "maxItems": lambda: chance.randint(0, 2),
        "uniqueItems": lambda: True,
        "items": inner,
        "prefixItems": lambda: [inner()],
        "contains": inner,
        "properties": lambda: {name: inner() for name in chance.sample(NAMES, 2)},
        "required": lambda: chance.sample(NAMES, chance.randint(0, 2)),
        "additionalProperties": lambda: chance.choice([False, inner()]),
        "patternProperties": lambda: {"^x": inner()},
        "propertyNames": lambda: {"maxLength": 1},
        "minProperties": lambda: chance.randint(0, 2),
        "maxProperties": lambda: chance.randint(0, 2),
        "dependentRequired": lambda: {"a": ["b"]},
        "allOf": lambda: [inner(), inner()],
        "anyOf": lambda: [inner(), inner()],
        "oneOf": lambda: [inner(), inner()],
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "$ref": lambda: "#/$defs/word",
    }
    for word in chance.sample(sorted(makers), chance.randint(1, 3)):
        out[word] = makers[word]()
    return out


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_verdicts_are_those_of_the_package(assay, tmp_path, seed):
    chance = random.Random(seed)
    rows, truths = [], []
    while len(rows) < 1500:
        made = schema(chance)
        made["$defs"] = {"word": {"type": "string", "minLength": 1}}
        judge = jsonschema.Draft202012Validator(made)
        for _ in range(3):
            reply = value(chance)
            rows.append({"reply": json.dumps(reply, ensure_ascii=False), "schema": made})
            truths.append(judge.is_valid(reply))
    assert 200 < sum(truths) < 1300, "both verdicts occur often"
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    verdicts = tmp_path / "verdicts.jsonl"
    assay("score", path, "--scorer", "json_schema", "--verdicts", verdicts)
    said = [json.loads(line) for line in verdicts.read_text().splitlines()]
    wrong = [(row, truth, one["rule"])
             for row, truth, one in zip(rows, truths, said, strict=True)
             if (one["rule"] == "valid") != truth]
    assert not wrong, wrong[:3]
