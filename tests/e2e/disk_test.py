"""A disk that takes no more is an outcome: told at once, reported with its cause, counted."""

import concurrent.futures
import json
import resource
import shlex
import shutil
import subprocess

import pytest

from conftest import TIMEOUT_S, program

CLIENT_LIMITED = 4
EXHAUSTED = 8
KIB = 1024


@pytest.fixture(name="server")
def an_endpoint(endpoint):
    return endpoint("--ttft", "5ms", "--itl", "1ms", "--osl", 200)


def run_args(url, folder, *more):
    return [program(), "run", "--endpoint", url, "--model", "m", "--report-dir", str(folder),
            "--concurrency", "32", "--json", *map(str, more)]


def with_files_up_to(size, args):
    """A limit on the size of files: it stands for a full disk where nothing can be mounted."""
    return subprocess.run(args, capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                                (size, size)))


def on_a_disk(size, folder, script):
    """`script` in a shell that has a disk of its own at $DISK; what it writes to $OUT stays."""
    disk = folder / "disk"
    disk.mkdir()
    mount = f'mount -t tmpfs -o size={size} none "$DISK"'
    return subprocess.run(["unshare", "-Urm", "sh", "-c", f"{mount} && {script}"], text=True,
                          capture_output=True, timeout=TIMEOUT_S, check=False,
                          env={"DISK": str(disk), "OUT": str(folder), "ASSAY": program(),
                               "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})


def may_mount():
    command = ["unshare", "-Urm", "sh", "-c", "mount -t tmpfs none /tmp"]
    return shutil.which("unshare") and subprocess.run(command, capture_output=True,
                                                      check=False).returncode == 0


def codes(result):
    return [cause["code"] for cause in result["exit"]["causes"]]


def expect_named(summary, words, stops=True):
    """The disk is the cause, and nothing else is blamed."""
    assert (summary["state"], summary["complete"]) == ("interrupted", False)
    # A thread whose log has room yet records the queries that the stop gave up.
    given_up = sum(kind["count"] for kind in summary["assay"]["failures"]
                   if kind["outcome"] == "cancelled")
    assert summary["n_samples_failed"] == given_up
    assert words in summary["assay"]["state_reason"]
    end = "was stopped" if stops else "went on without a record"
    assert summary["assay"]["state_reason"].endswith(end)
    first = summary["assay"]["warnings"][0]
    assert first.startswith("the disk took no more") and "records are lost" in first
    assert not any("killed" in w or "failed" in w for w in summary["assay"]["warnings"])


def expect_report(assay, folder):
    """What a later report says: the disk first, then what it makes of the client."""
    told = " ".join(assay("report", folder).out.split())
    assert told.index("! warning the disk took no more") == told.index("! warning"), told
    assert "killed" not in told and "! warning the client" in told


def test_a_run_whose_disk_is_full_stops_and_reports_what_is_there(assay, server, tmp_path):
    folder = tmp_path / "r"
    done = with_files_up_to(400 * KIB, run_args(server.url, folder, "--samples", 20_000))
    assert done.returncode == EXHAUSTED, done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: the disk took no more")
    result = json.loads(done.stdout)
    expect_named(result, "File too large")
    assert codes(result) == [EXHAUSTED, CLIENT_LIMITED]
    assert 0 < result["n_samples_completed"] < result["n_samples_issued"] < 20_000

    client = json.loads((folder / "assay/client.json").read_text())
    assert client["lost_records"] > 0 and "File too large" in client["disk_error"]
    assert client["end"]["out_of_space"] is True and client["disk_full_at_ns"] > 0
    expect_named(assay("report", folder, "--json").json(), "File too large")
    expect_report(assay, folder)
    assay("verify", folder)


def test_a_run_may_go_on_without_a_record(server, tmp_path):
    done = with_files_up_to(200 * KIB, run_args(server.url, tmp_path / "r", "--samples", 800,
                                                "--on-disk-full", "go-on"))
    assert done.returncode == EXHAUSTED, done.stderr
    assert "! disk: the disk takes no more" in done.stderr, done.stderr
    assert "the load goes on without a record" in done.stderr
    expect_named(json.loads(done.stdout), "File too large", stops=False)
    server.stop()
    assert "800" in "".join(server.said), server.said


def test_all_shards_have_their_end(assay, server, tmp_path):
    folder = tmp_path / "r"
    with_files_up_to(300 * KIB, run_args(server.url, folder, "--samples", 20_000, "--threads", 2,
                                         "--quiet"))
    summary = assay("report", folder, "--json").json()
    expect_named(summary, "File too large")
    manifest = json.loads((folder / "assay/run.json").read_text())
    assert len(manifest["logs"]) == 2 and manifest["end"]["out_of_space"] is True


def test_a_full_disk_at_several_instants_of_a_run(assay, server, tmp_path):
    """A real one, where the machine lets us mount; the limit stands for it elsewhere."""
    real = bool(may_mount())
    words = "No space left on device" if real else "File too large"
    for size in (2300, 2600, 3200):
        folder = tmp_path / str(size)
        folder.mkdir()
        if real:
            args = " ".join(run_args(server.url, "$DISK/r", "--samples", 20_000, "--quiet"))
            done = on_a_disk(f"{size}k", folder, f'{args} > "$OUT/json" 2> "$OUT/err"; '
                             'echo $?; $ASSAY report "$DISK/r" --json > "$OUT/later"; '
                             '$ASSAY report "$DISK/r" > "$OUT/told"')
            code, err = int(done.stdout), (folder / "err").read_text()
            result = json.loads((folder / "json").read_text())
            later = json.loads((folder / "later").read_text())
        else:
            done = with_files_up_to((size - 2048) * KIB,
                                    run_args(server.url, folder / "r", "--samples", 20_000))
            code, err, result = done.returncode, done.stderr, json.loads(done.stdout)
            later = assay("report", folder / "r", "--json").json()
        assert code == EXHAUSTED, err
        expect_named(result, words)
        expect_named(later, words)
        lost = [summary["assay"]["warnings"][0] for summary in (result, later)]
        assert lost[0] == lost[1]


def test_a_disk_without_room_is_told_before_the_first_query(server, tmp_path):
    if may_mount():
        args = " ".join(run_args(server.url, "$DISK/r", "--samples", 20))
        done = on_a_disk("1m", tmp_path, f'{args} > "$OUT/json" 2> "$OUT/err"; echo $?')
        assert done.stdout.strip() == str(EXHAUSTED)
        assert json.loads((tmp_path / "json").read_text())["exit"]["code"] == EXHAUSTED
        err = (tmp_path / "err").read_text()
    else:
        done = with_files_up_to(0, run_args(server.url, tmp_path / "r", "--samples", 20))
        assert done.returncode == EXHAUSTED
        err = done.stderr
    assert "No space left" in err or "File too large" in err
    server.stop()
    assert "20 queries" not in "".join(server.said)


def test_a_curve_ends_at_a_full_disk_and_goes_on_where_there_is_room(tmp_path, endpoint):
    server = endpoint("--ttft", "2ms", "--itl", "1ms", "--osl", 128)
    curve = ["curve", "--endpoint", server.url, "--model", "m", "--isl", "30", "--osl", "128",
             "--prompts", "12", "--concurrency", "1,16", "--no-accuracy", "--quick", "--quiet",
             "--json", "--allow-client-limited"]
    folder = tmp_path / "c"
    done = with_files_up_to(400 * KIB, [program(), *curve, "--report-dir", str(folder)])
    assert done.returncode == EXHAUSTED, done.stderr
    assert codes(json.loads(done.stdout)) == [EXHAUSTED]
    assert "error: the disk took no more" in done.stderr
    logs = {log.parts[-3] for log in folder.rglob("*.alog")}
    assert logs == {"r1", "r16"}, "the first level had room"
    again = subprocess.run([program(), "curve", "--resume", folder, "--quiet", "--json",
                            "--allow-client-limited"], capture_output=True, text=True,
                           timeout=TIMEOUT_S, check=False)
    assert again.returncode == 0, again.stderr
    points = json.loads(again.stdout)["points"]
    assert len(points) == 2 and codes(json.loads(again.stdout)) == []


def curve_args(url, folder, *more):
    return [program(), "curve", "--endpoint", url, "--model", "m", "--isl", "30", "--osl", "200",
            "--prompts", "4", "--no-accuracy", "--quick", "--quiet", "--json", "--report-dir",
            str(folder), "--allow-client-limited", *more]


def curves_on_full_disks(server, tmp_path, sizes, *more):
    """Each size's command on a disk so large: (exit code, result, standard error, its log files).

    Four at a time: what is looked at is not how fast they are.
    """
    real = bool(may_mount())

    def one(size):
        folder = tmp_path / str(size)
        folder.mkdir()
        if not real:
            done = with_files_up_to((size - 2048) * KIB,
                                    curve_args(server.url, folder / "c", *more))
            return done.returncode, json.loads(done.stdout), done.stderr
        args = shlex.join(curve_args(server.url, "DISK/c", *more)).replace("DISK", "$DISK")
        done = on_a_disk(f"{size}k", folder,
                         f'{args} > "$OUT/json" 2> "$OUT/err"; echo $?')
        return (int(done.stdout), json.loads((folder / "json").read_text()),
                (folder / "err").read_text())

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(one, sizes))


def expect_disk_named(code, result, err):
    assert code == EXHAUSTED, err
    assert codes(result)[0] == EXHAUSTED, result["exit"]
    why = result["exit"]["causes"][0]["why"]
    assert any(words in why for words in ("No space left on device", "File too large")), why
    assert f"error: {why}" in err.splitlines(), err
    # Nothing else is blamed: no failed query, no killed run, no endpoint.
    assert set(codes(result)) <= {EXHAUSTED, CLIENT_LIMITED}, result["exit"]


# From one that holds no point to one that is full in the last.
INSTANTS = (1900, 2060, 2100, 2140, 2200, 2260, 2320, 2400, 2480, 2560)


def test_a_full_disk_at_ten_instants_of_a_curve(endpoint, tmp_path):
    server = endpoint("--ttft", "1ms", "--itl", "0.2ms", "--osl", 200)
    measured = []
    for code, result, err in curves_on_full_disks(server, tmp_path, INSTANTS, "--concurrency",
                                                  "1,2,4,8,16,32"):
        expect_disk_named(code, result, err)
        assert len(result["points"]) == 6
        measured.append(sum(point["measured"] for point in result["points"]))
    assert measured[0] == 0 and 0 < measured[-1] < 6, measured


def test_a_full_disk_at_ten_instants_of_a_search(endpoint, tmp_path):
    server = endpoint("--ttft", "1ms", "--itl", "0.2ms", "--osl", 200)
    steps = []
    sizes = [*INSTANTS[:3], *INSTANTS[4::2], 2800, 3400, 4200, 6500]
    for code, result, err in curves_on_full_disks(server, tmp_path, sizes, "--find",
                                                  "max-concurrency", "--max-concurrency", "64"):
        expect_disk_named(code, result, err)
        assert result["stopped"] == result["exit"]["causes"][0]["why"]
        steps.append(len(result["steps"]))
    assert len(steps) == 10 and steps[0] == 0 and steps[-1] > 0, steps
