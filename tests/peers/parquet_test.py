"""Parquet as pyarrow reads it: the same rows from files of many types, encodings and codecs."""

import base64
import datetime
import decimal
import json
import random
import string

import pyarrow
import pyarrow.parquet
import pytest

CODECS = ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]


def text(rng, size=12):
    alphabet = string.ascii_letters + " \n\"\\äß語😀"
    return "".join(rng.choice(alphabet) for _ in range(rng.randrange(size)))


def value(rng, kind, depth=0):
    if rng.random() < 0.15:
        return None
    if kind == pyarrow.string():
        return text(rng, 4 if rng.random() < 0.5 else 200)
    if kind == pyarrow.binary():
        return rng.randbytes(rng.randrange(9))
    if pyarrow.types.is_fixed_size_binary(kind):
        return b"\xff" + rng.choice([b"same", b"else"]) + rng.randbytes(kind.byte_width - 5)
    if kind == pyarrow.bool_():
        return rng.random() < 0.5
    if kind == pyarrow.uint32():
        return rng.randrange(2**32)
    if kind == pyarrow.uint64():
        return rng.randrange(2**64)
    if pyarrow.types.is_integer(kind):
        edge = 2 ** (kind.bit_width - 1)
        return rng.choice([0, 1, -1, edge - 1, -edge, rng.randrange(-edge, edge)])
    if kind == pyarrow.float32():
        return rng.choice([0.0, 0.5, -1.25, 3e10])
    if pyarrow.types.is_floating(kind):
        return rng.choice([0.0, 0.1, -1e300, rng.random()])
    if pyarrow.types.is_date(kind):
        return datetime.date(1, 1, 1) + datetime.timedelta(days=rng.randrange(3000000))
    if pyarrow.types.is_timestamp(kind):
        at = datetime.datetime(1900, 1, 1) + datetime.timedelta(seconds=rng.randrange(10**10))
        return at + datetime.timedelta(milliseconds=rng.choice([0, rng.randrange(1000)]))
    if pyarrow.types.is_decimal(kind):
        return decimal.Decimal(rng.randrange(-10**9, 10**9)).scaleb(-kind.scale)
    if pyarrow.types.is_struct(kind):
        return {field.name: value(rng, field.type, depth + 1) for field in kind}
    if pyarrow.types.is_list(kind):
        return [value(rng, kind.value_type, depth + 1)
                for _ in range(rng.choice([0, 1, 2, 5]))]
    raise AssertionError(kind)


def plain(cell):
    """As our rows of JSON have it."""
    if isinstance(cell, bytes):
        try:
            return cell.decode()
        except UnicodeDecodeError:
            return "data:;base64," + base64.b64encode(cell).decode()
    if isinstance(cell, (datetime.date, datetime.datetime)):
        return cell.isoformat()
    if isinstance(cell, decimal.Decimal):
        return f"{cell:f}"
    if isinstance(cell, list):
        return [plain(item) for item in cell]
    if isinstance(cell, dict):
        return {key: plain(item) for key, item in cell.items()}
    return cell


@pytest.fixture
def rows_of(assay):
    def read(path, *flags):
        out = assay("dataset", path, "--rows", "--all", *flags).out
        return [json.loads(line) for line in out.splitlines()]
    return read


MESSAGE = pyarrow.struct([("role", pyarrow.string()), ("content", pyarrow.string())])
SCHEMA = pyarrow.schema([
    ("prompt", pyarrow.string()), ("binary", pyarrow.binary()), ("flag", pyarrow.bool_()),
    ("i8", pyarrow.int8()), ("i32", pyarrow.int32()), ("i64", pyarrow.int64()),
    ("u32", pyarrow.uint32()), ("u64", pyarrow.uint64()), ("f32", pyarrow.float32()),
    ("f64", pyarrow.float64()), ("date", pyarrow.date32()), ("at", pyarrow.timestamp("us")),
    ("ms", pyarrow.timestamp("ms")), ("price", pyarrow.decimal128(12, 3)),
    ("messages", pyarrow.list_(MESSAGE)), ("ids", pyarrow.list_(pyarrow.int32())),
    ("deep", pyarrow.list_(pyarrow.list_(pyarrow.struct(
        [("a", pyarrow.list_(pyarrow.string())), ("b", pyarrow.struct([("c", pyarrow.int64())]))]
    )))),
    ("image", pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])),
])


def write(path, seed, count, **options):
    rng = random.Random(seed)
    rows = [{field.name: value(rng, field.type) for field in SCHEMA} for _ in range(count)]
    table = pyarrow.Table.from_pylist(rows, schema=SCHEMA)
    pyarrow.parquet.write_table(table, path, **options)
    return table


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_rows_are_pyarrows(rows_of, tmp_path, codec, version, dictionary):
    path = tmp_path / "t.parquet"
    table = write(path, f"{codec}{version}{dictionary}", 700, compression=codec,
                  data_page_version=version, use_dictionary=dictionary, row_group_size=300,
                  data_page_size=2000)
    got = rows_of(path)
    want = [plain(row) for row in table.to_pylist()]
    assert len(got) == len(want)
    for one, other in zip(got, want):
        assert one == other


@pytest.mark.parametrize("encoding, columns", [
    ("DELTA_BINARY_PACKED", {"n": pyarrow.int64(), "m": pyarrow.int32()}),
    ("DELTA_LENGTH_BYTE_ARRAY", {"s": pyarrow.string()}),
    ("DELTA_BYTE_ARRAY", {"s": pyarrow.string(), "b": pyarrow.binary(9)}),
    ("BYTE_STREAM_SPLIT", {"f": pyarrow.float32(), "d": pyarrow.float64()}),
])
def test_every_encoding_that_pyarrow_writes(rows_of, tmp_path, encoding, columns):
    rng = random.Random(encoding)
    rows = [{name: value(rng, kind) for name, kind in columns.items()} for _ in range(3000)]
    table = pyarrow.Table.from_pylist(rows, schema=pyarrow.schema(columns))
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(table, path, use_dictionary=False,
                                column_encoding=dict.fromkeys(columns, encoding))
    assert rows_of(path) == [plain(row) for row in table.to_pylist()]


def test_maps_and_required_columns(rows_of, tmp_path):
    schema = pyarrow.schema([
        pyarrow.field("id", pyarrow.int64(), nullable=False),
        pyarrow.field("m", pyarrow.map_(pyarrow.string(), pyarrow.int32())),
        pyarrow.field("l", pyarrow.list_(pyarrow.field("x", pyarrow.string(), nullable=False)))])
    rows = [{"id": i, "m": None if i % 5 == 0 else {"a": i, "b": None}, "l": ["x"] * (i % 3)}
            for i in range(50)]
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema), path)
    assert rows_of(path) == rows


def test_the_shards_of_a_hub_folder_are_one_table(assay, rows_of, tmp_path):
    data = tmp_path / "hub" / "data"
    data.mkdir(parents=True)
    rows = [{"prompt": f"question {i}", "id": i} for i in range(50)]
    for i in range(3):
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows[i * 17:(i + 1) * 17]),
                                    data / f"test-{i:05}-of-00003.parquet")
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows[:1]),
                                data / "train-00000-of-00001.parquet")
    assert rows_of(f"{tmp_path}/hub#test") == rows
    asked = assay("dataset", f"{tmp_path}/hub#test", "--all", "--json").json()["shown"]
    assert [sample["prompt"] for sample in asked] == [row["prompt"] for row in rows]
    (data / "test-00001-of-00003.parquet").unlink()
    err = assay("dataset", f"{tmp_path}/hub#test", "--rows", code=2).err
    assert "2 of 3 files are here; number 1 is missing" in err


def test_chat_messages_are_asked(assay, tmp_path):
    rows = [{"messages": [{"role": "user", "content": f"question {i}"}], "max_tokens": 5}
            for i in range(4)]
    path = tmp_path / "chat.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    shown = assay("dataset", path, "--all", "--json").json()["shown"]
    assert [sample["messages"] for sample in shown] == [row["messages"] for row in rows]
    assert all(sample["output_tokens_max"] == 5 for sample in shown)


def test_a_broken_file_is_an_error_and_no_crash(assay, tmp_path):
    """Cut short, and with single bytes changed: a clear error or other rows, never a crash."""
    path = tmp_path / "t.parquet"
    write(path, "broken", 40, compression="snappy")
    whole = path.read_bytes()
    rng = random.Random("bytes")
    broken = tmp_path / "b.parquet"
    for _ in range(60):
        data = bytearray(whole)
        if rng.random() < 0.3:
            data = data[:rng.randrange(len(data))]
        else:
            for _ in range(rng.randrange(1, 4)):
                data[rng.randrange(len(data))] = rng.randrange(256)
        broken.write_bytes(data)
        for code in (0, 2, 3):
            try:
                done = assay("dataset", broken, "--rows", "--all", code=code)
                break
            except AssertionError:
                if code == 3:
                    raise
        assert done.code == 0 or done.err.startswith("error: ")
