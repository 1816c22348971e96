"""Arrow streams as pyarrow writes and reads them: the same rows, of every type that is read."""

import json
import random

import pyarrow
import pyarrow.ipc
import pytest

from parquet_test import SCHEMA, plain, rows_of, value  # noqa: F401: rows_of is a fixture

OTHERS = pyarrow.schema([
    ("large", pyarrow.large_string()), ("large_binary", pyarrow.large_binary()),
    ("large_list", pyarrow.large_list(pyarrow.string())), ("half", pyarrow.float16()),
    ("three", pyarrow.list_(pyarrow.int16(), 3)), ("fixed", pyarrow.binary(9)),
    ("u8", pyarrow.uint8()), ("u16", pyarrow.uint16()), ("none", pyarrow.null()),
    ("map", pyarrow.map_(pyarrow.string(), pyarrow.int32())),
    ("word", pyarrow.dictionary(pyarrow.int8(), pyarrow.string())),
    ("numbers", pyarrow.map_(pyarrow.int32(), pyarrow.string())),
])


def other(rng, kind):
    if kind == pyarrow.null() or rng.random() < 0.15:
        return None
    if pyarrow.types.is_map(kind):
        keys = rng.sample(range(20), rng.randrange(4))
        text = kind.key_type == pyarrow.string()
        return [(str(key), key) if text else (key, str(key)) for key in keys]
    if pyarrow.types.is_dictionary(kind):
        return rng.choice(["red", "green", "blue"])
    if pyarrow.types.is_fixed_size_list(kind):
        return [value(rng, kind.value_type) for _ in range(kind.list_size)]
    if kind == pyarrow.large_string():
        return value(rng, pyarrow.string())
    if kind == pyarrow.large_binary():
        return value(rng, pyarrow.binary())
    if kind == pyarrow.large_list(pyarrow.string()):
        return value(rng, pyarrow.list_(pyarrow.string()))
    if kind == pyarrow.float16():
        return rng.choice([0.0, 0.5, -2.0])
    if kind in (pyarrow.uint8(), pyarrow.uint16()):
        return rng.randrange(2 ** kind.bit_width)
    return value(rng, kind)


def as_ours(row):
    """Maps are objects where their keys are text, else lists of {key, value}."""
    out = {}
    for name, cell in row.items():
        if name == "map" and cell is not None:
            cell = dict(cell)
        elif name == "numbers" and cell is not None:
            cell = [{"key": key, "value": one} for key, one in cell]
        out[name] = plain(cell)
    return out


def table_of(schema, make, seed, count):
    rng = random.Random(seed)
    return pyarrow.Table.from_pylist(
        [{field.name: make(rng, field.type) for field in schema} for _ in range(count)],
        schema=schema)


@pytest.mark.parametrize("name", ["plain", "others"])
@pytest.mark.parametrize("file", [False, True])
def test_rows_are_pyarrows(rows_of, tmp_path, name, file):  # noqa: F811
    schema, make = (SCHEMA.remove(SCHEMA.get_field_index("price")), value) if name == "plain" \
        else (OTHERS, other)
    table = table_of(schema, make, name, 700)
    path = tmp_path / "t.arrow"
    open_writer = pyarrow.ipc.new_file if file else pyarrow.ipc.new_stream
    with open_writer(path, schema) as writer:
        for batch in table.to_batches(max_chunksize=300):
            # A slice begins inside of its buffers' bits.
            writer.write_batch(batch.slice(0, 13))
            writer.write_batch(batch.slice(13))
    got = rows_of(path)
    want = [as_ours(row) for row in table.to_pylist()]
    assert len(got) == len(want)
    for one, two in zip(got, want):
        assert one == two


def saved(folder, rows, shards=1):
    """As datasets.save_to_disk lays a dataset out."""
    folder.mkdir(parents=True)
    for shard in range(shards):
        part = rows[shard::shards]
        table = pyarrow.Table.from_pylist(part)
        with pyarrow.ipc.new_stream(folder / f"data-{shard:05}-of-{shards:05}.arrow",
                                    table.schema) as writer:
            writer.write_table(table)
    (folder / "state.json").write_text(json.dumps({"_data_files": []}))
    (folder / "dataset_info.json").write_text("{}")


def test_a_saved_dataset_is_read_by_split(rows_of, assay, tmp_path):  # noqa: F811
    rows = [{"prompt": f"say {i}", "n": i} for i in range(9)]
    saved(tmp_path / "set/train", rows, shards=2)
    saved(tmp_path / "set/test", rows[:2])
    (tmp_path / "set/dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert rows_of(f"{tmp_path}/set#train") == rows[0::2] + rows[1::2]
    assert rows_of(f"{tmp_path}/set#test") == rows[:2]
    saved(tmp_path / "one", rows)
    assert rows_of(tmp_path / "one") == rows
    (tmp_path / "one/indices.arrow").write_bytes(b"")
    assert "flatten_indices" in assay("dataset", tmp_path / "one", code=2).err


@pytest.mark.parametrize("what, column", [
    ("compressed", pyarrow.array(["x" * 100] * 9)),
    ("views", pyarrow.array(["x"], pyarrow.string_view())),
    ("decimal", pyarrow.array([1], pyarrow.decimal128(9, 2))),
])
def test_what_is_not_read_is_named(assay, tmp_path, what, column):
    path = tmp_path / "t.arrow"
    table = pyarrow.table({"prompt": column})
    options = pyarrow.ipc.IpcWriteOptions(compression="zstd" if what == "compressed" else None)
    with pyarrow.ipc.new_stream(path, table.schema, options=options) as writer:
        writer.write_table(table)
    assert what in assay("dataset", path, "--rows", code=2).err
