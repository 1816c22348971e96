"""`import assay` with the packages that read its tables: numpy, pyarrow, pandas, polars, DuckDB;
its types by mypy. The figures that it computes are held against those that the program prints."""

import asyncio
import gc
import os
import pathlib
import subprocess
import sys

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest

PROGRAM = pathlib.Path(os.environ.get("ASSAY_BIN", "build/release/assay")).resolve()
PACKAGE = PROGRAM.with_name("python")
sys.path.insert(0, str(PACKAGE))

import assay as package  # noqa: E402  pylint: disable=wrong-import-position

SERIES = ("ttft", "ttft_due", "ttft_visible", "tpot", "itl", "latency", "latency_due", "isl", "osl")


@pytest.fixture(scope="module", name="folder")
def a_recorded_run(tmp_path_factory):
    """A run with failures, a warm-up and replies of several lengths."""
    folder = tmp_path_factory.mktemp("runs") / "a"
    server = subprocess.Popen(
        [PROGRAM, "endpoint", "--port", "0", "--ttft", "2ms", "--itl", "200us", "--osl",
         "uniform:1-40", "--fault", "reset=0.1", "--fault", "http500=0.05"],
        stdout=subprocess.PIPE, text=True)
    try:
        url = next(word for line in server.stdout for word in line.split() if "http://" in word)
        done = subprocess.run(
            [PROGRAM, "run", "--endpoint", url, "--model", "m", "--concurrency", "8", "--samples",
             "300", "--quiet", "--report-dir", folder], capture_output=True, text=True, check=False)
        assert done.returncode in (0, 4, 7), done.stderr
    finally:
        server.terminate()
        server.communicate()
    return folder


@pytest.mark.parametrize("name", SERIES)
def test_every_percentile_is_the_programs(folder, name):
    r = package.open(folder)
    figure = getattr(r.summary, name)
    assert len(figure.percentiles) == 12
    for p, value in figure.percentiles.items():
        assert r.percentile(name, p) == value
        assert figure.p(p) == value
    values = r.series(name)
    assert values.min() == figure.min and values.max() == figure.max
    assert values.sum() == pytest.approx(figure.json["total"], rel=1e-12)


def test_rows_are_the_queries_and_their_events(folder):
    r = package.open(folder)
    assert len(r.events) == r.summary.issued == 300
    outcomes = r.events["outcome"].to_list()
    assert outcomes.count("ok") == r.summary.completed
    assert 0 < r.summary.failed == len(outcomes) - outcomes.count("ok")
    assert len(r.fragments) == sum(r.events["stream_events"].to_list())
    assert r.info["state"] == "complete"
    assert [phase["kind"] for phase in r.info["phases"]].count("performance") == 1


def test_every_reader_of_arrow_has_the_same_table(folder):
    r = package.open(folder)
    for table in (r.events, r.fragments):
        arrow = pyarrow.table(table)
        arrow.validate(full=True)
        rows = table.to_dict()
        assert arrow.to_pydict() == rows
        assert polars.DataFrame(table).to_dict(as_series=False) == rows
        query = duckdb.arrow(arrow).fetchall()
        assert query == list(zip(*rows.values()))
        frame = table.to_pandas()
        for name, values in rows.items():
            shown = [None if pandas.isna(value) else value for value in frame[name].tolist()]
            assert shown == values, name


def test_duckdb_reads_a_table_by_its_name(folder):
    events = package.open(folder).events  # noqa: F841  pylint: disable=unused-variable
    found = duckdb.sql("SELECT count(*), count(ttft_ns) FROM events WHERE outcome = 'ok'")
    assert found.fetchall() == [(events["outcome"].to_list().count("ok"),
                                 len(events["ttft_ns"].present()))]


def test_nothing_is_copied(folder):
    table = package.open(folder).events
    sent = table["sent_ns"].values
    assert not sent.flags.owndata and not sent.flags.writeable
    address = sent.__array_interface__["data"][0]
    assert pyarrow.table(table).column("sent_ns").chunk(0).buffers()[1].address == address
    assert polars.DataFrame(table)["due_ns"].to_numpy().ctypes.data == \
        table["due_ns"].values.ctypes.data


def test_what_was_taken_outlives_the_run(folder):
    r = package.open(folder)
    wanted = r.events["latency_ns"].to_list()
    arrow = pyarrow.table(r.events).column("latency_ns")
    numbers = r.events["latency_ns"].values
    unused = r.events.__arrow_c_stream__()
    del r
    gc.collect()
    del unused
    gc.collect()
    assert arrow.to_pylist() == wanted
    assert numbers[numbers != numpy.iinfo(numpy.int64).min].tolist() == \
        [value for value in wanted if value is not None]


def test_an_absent_instant_is_numpys_not_a_time(folder):
    column = package.open(folder).events["first_token_ns"]
    assert column.absent > 0
    instants = column.values.view("datetime64[ns]")
    assert numpy.isnat(instants).sum() == column.absent == (~column.valid).sum()


def test_files_for_others(folder, tmp_path):
    fragments = package.open(folder).fragments
    fragments.to_parquet(str(tmp_path / "f.parquet"))
    fragments.to_arrow_file(str(tmp_path / "f.arrow"))
    wanted = fragments.to_dict()
    assert pyarrow.parquet.read_table(tmp_path / "f.parquet").to_pydict() == wanted
    assert pyarrow.feather.read_table(tmp_path / "f.arrow").to_pydict() == wanted


def test_files_for_others_from_the_command_line(folder, tmp_path):
    def export(*words, without=""):
        program = (f"import sys; sys.modules.update(dict.fromkeys({without.split()!r}))\n"
                   "from assay.export import main; sys.exit(main())")
        done = subprocess.run([sys.executable, "-c", program, *map(str, words)],
                              capture_output=True, text=True, check=False,
                              env={**os.environ, "PYTHONPATH": str(PACKAGE),
                                   "ASSAY_BIN": str(PROGRAM)})
        return done.returncode, done.stdout + done.stderr

    r = package.open(folder)
    assert export(folder, tmp_path / "e.parquet")[0] == 0
    assert pyarrow.parquet.read_table(tmp_path / "e.parquet").to_pydict() == r.events.to_dict()
    code, said = export(folder, tmp_path / "f.arrow", "--table", "fragments")
    assert code == 0 and f"{len(r.fragments):,} rows" in said
    assert pyarrow.feather.read_table(tmp_path / "f.arrow").to_pydict() == r.fragments.to_dict()
    assert export(folder, tmp_path / "e.csv")[0] == 2
    code, said = export(tmp_path / "none", tmp_path / "e.arrow")
    assert code == 2 and str(tmp_path / "none") in said
    assert export(folder, tmp_path / "no" / "e.arrow")[0] == 3
    code, said = export(folder, tmp_path / "g.arrow", without="pyarrow")
    assert code == 2 and "pip install pyarrow" in said


def test_no_other_package_is_needed(folder):
    program = ("import sys\n"
               "for name in ('numpy', 'pyarrow', 'pandas', 'polars'): sys.modules[name] = None\n"
               "import assay\n"
               f"r = assay.open({str(folder)!r})\n"
               "print(len(r.events.to_dict()['query']), r.summary.issued)\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          check=False, env={**os.environ, "PYTHONPATH": str(PACKAGE),
                                            "ASSAY_BIN": str(PROGRAM)})
    assert (done.stdout.split(), done.stderr) == (["300", "300"], "")


def test_a_wrong_name_is_refused_in_the_programs_words(tmp_path):
    with pytest.raises(package.BadInput) as no_run:
        package.open(tmp_path / "none")
    said = subprocess.run([PROGRAM, "report", tmp_path / "none"], capture_output=True, text=True,
                          check=False)
    assert said.stderr.strip() == f"error: {no_run.value}"
    assert no_run.value.exit_code == said.returncode == 2
    with pytest.raises(package.BadInput, match="did you mean"):
        package.run("http://127.0.0.1:1", concurency=4)
    with pytest.raises(package.Unreachable):
        package.probe("http://127.0.0.1:1", timeout="5s")
    with pytest.raises(ValueError, match="no series"):
        package.Run(tmp_path).series("tftt")


def test_the_commands_answer(folder, endpoint, tmp_path):
    url = endpoint("--ttft", "1ms", "--itl", "100us").url
    assert package.probe(url)["url"]
    b = package.run(url, model="m", concurrency=4, samples=60, report_dir=tmp_path / "b")
    assert b.summary.issued == len(b.events) == 60
    assert b.exit_code == b.json["exit"]["code"]
    assert package.verify(b).good
    against = package.compare(folder, b)
    assert against.exit_code in (0, 1, 4, 5, 6)
    gate = package.run(url, model="m", concurrency=2, samples=10, report_dir=tmp_path / "c",
                       require="ttft_p95<=1ns", allow_client_limited=True)
    assert not gate.good
    with pytest.raises(package.AssayError) as required:
        gate.raise_for_verdict()
    assert required.value.exit_code == gate.exit_code
    tree = tmp_path / "tree"
    tree.mkdir()
    assert not package.check(tree).good
    points = package.simulate(model="llama3.1-8b", hardware="h100-sxm", concurrency="1,4")
    assert points.good
    replies = tmp_path / "replies.jsonl"
    replies.write_text('{"reply": "a b", "ground_truth": "a b"}\n')
    assert package.score(replies, scorer="rouge", ground_truth="ground_truth").good


def test_a_live_run_is_watched_and_stopped(endpoint, tmp_path):
    url = endpoint("--ttft", "1ms", "--itl", "1ms").url

    async def watch(live, until):
        seen = []
        async for now in live:
            seen.append(now)
            if until(now):
                live.stop()
        return seen

    whole = package.run_live(url, model="m", concurrency=2, samples=20, report_dir=tmp_path / "a")
    seen = asyncio.run(watch(whole, lambda now: False))
    assert seen[-1].completed == whole.result.summary.completed == 20
    cut = package.run_live(url, model="m", concurrency=2, duration="1h", report_dir=tmp_path / "b")
    asyncio.run(watch(cut, lambda now: now.sent > 0))
    assert cut.result.exit_code == 130
    assert cut.result.info["state"] == "interrupted"
    assert len(cut.result.events) == cut.result.summary.issued > 0
    bad = package.run_live(url, model="m", concurency=2, report_dir=tmp_path / "c")
    with pytest.raises(package.BadInput, match="did you mean"):
        asyncio.run(watch(bad, lambda now: False))


def test_notebooks_show_results_and_run_no_foreign_text(folder):
    r = package.open(folder)
    assert "TTFT" in r.summary._repr_html_() and "300" in r._repr_html_()
    assert "request_id" in r.events._repr_html_()
    evil = package.Answer("probe", subprocess_done(), {"<script>": "</td><script>alert(1)"})
    assert "<script>" not in evil._repr_html_()


def subprocess_done():
    from assay._program import Done  # pylint: disable=import-outside-toplevel
    return Done(0, "{}", "")


def test_the_guide_explains_every_column(folder):
    guide = (pathlib.Path(__file__).parents[2] / "docs" / "guide" / "python.md").read_text()
    r = package.open(folder)
    assert [name for table in (r.events, r.fragments) for name in table
            if f"`{name}`" not in guide] == []


def test_types_are_whole():
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull,
         PACKAGE / "assay"], capture_output=True, text=True, check=False,
        cwd=PACKAGE)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("table", ["events", "fragments"])
def test_the_programs_own_parquet_is_the_table(folder, tmp_path, table):
    """By three readers that share no code: Arrow's, polars' own and DuckDB's."""
    file = tmp_path / f"{table}.parquet"
    subprocess.run([PROGRAM, "report", folder, "--format", "parquet", "--table", table, "--out",
                    file], check=True, capture_output=True)
    wanted = getattr(package.open(folder), table).to_arrow()
    plain = pyarrow.schema([pyarrow.field(field.name, pyarrow.string() if isinstance(
        field.type, pyarrow.DictionaryType) or pyarrow.types.is_large_string(field.type)
        else field.type) for field in wanted.schema])
    wanted = wanted.cast(plain)
    read = pyarrow.parquet.read_table(file)
    assert read.schema.equals(plain) and read.num_rows >= 300
    assert read.equals(wanted)
    assert polars.read_parquet(file, use_pyarrow=False).to_arrow().cast(plain).equals(wanted)
    rows = duckdb.sql(f"SELECT * FROM '{file}'").fetchall()
    assert rows == [tuple(row.values()) for row in wanted.to_pylist()]


@pytest.mark.parametrize("table", ["events", "fragments"])
def test_the_programs_own_arrow_file_is_the_table(folder, tmp_path, table):
    file = tmp_path / f"{table}.arrow"
    subprocess.run([PROGRAM, "report", folder, "--format", "arrow", "--table", table, "--out",
                    file], check=True, capture_output=True)
    wanted = getattr(package.open(folder), table).to_arrow()
    read = pyarrow.ipc.open_file(pyarrow.memory_map(str(file))).read_all()
    read.validate(full=True)
    # Every column may be absent, so that the files of many runs have one schema.
    assert [(field.name, field.type) for field in read.schema] == [
        (field.name, field.type) for field in wanted.schema]
    assert read.num_rows >= 300 and read.to_pydict() == wanted.to_pydict()
    own = polars.read_ipc(file)
    assert own.to_arrow().to_pylist() == wanted.to_pylist()
