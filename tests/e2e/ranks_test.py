"""A run of several processes: `assay run --rank I/N`, started by hand, and `assay merge`.

The endpoint's times are known, and so are the clocks: drifting_clock.c moves a rank's, and a relay
holds up the messages by which the ranks compare them.
"""

import csv
import io
import json
import os
import pathlib
import random
import selectors
import shutil
import socket
import subprocess
import threading
import time

import pytest

from conftest import program

TTFT_S, ITL_S, OSL = 0.030, 0.005, 12
LOAD = ["--rate", "60", "--samples", "120"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def ranks(endpoint, tmp_path):
    """ranks(count, flags, environments) -> its processes, started; the last one is rank 0."""
    url = endpoint("--ttft", f"{TTFT_S}s", "--itl", f"{ITL_S}s", "--osl", OSL, "--quiet").url
    started = []

    def start(count, *flags, env=None, addresses=None, folder="run", own=None):
        port = free_port()
        processes = {}
        for rank in reversed(range(count)):
            address = (addresses or {}).get(rank, f"127.0.0.1:{port}")
            address = address(port) if callable(address) else address
            processes[rank] = subprocess.Popen(
                [program(), "run", "--endpoint", url, "--model", "m", "--isl", "20",
                 "--report-dir", str(tmp_path / folder), "--rank", f"{rank}/{count}",
                 "--rendezvous", address, "--allow-client-limited", *map(str, flags),
                 *(own or {}).get(rank, [])],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env={**os.environ, **(env or {}).get(rank, {})})
            started.append(processes[rank])
        return processes

    start.url = url
    yield start
    for process in started:
        process.kill()
        process.communicate()


def ended(processes):
    return {rank: (*process.communicate(timeout=120), process.returncode)
            for rank, process in processes.items()}


def rows(assay, folder):
    done = assay("report", folder, "--format", "csv")
    return list(csv.DictReader(io.StringIO(done.out)))


def summary(folder):
    return json.loads((folder / "performance/result_summary.json").read_text())


def test_four_ranks_send_what_one_process_sends(ranks, assay, tmp_path):
    said = ended(ranks(4, *LOAD))
    assert [said[rank][2] for rank in range(4)] == [0, 0, 0, 0], said
    assert all(said[rank][0] == "" for rank in (1, 2, 3)), "the result is rank 0's"
    assert "4 ranks on 1 host" in said[0][0]
    assay("run", "--endpoint", ranks.url, "--model", "m", "--isl", "20", "--report-dir",
          tmp_path / "one", "--allow-client-limited", *LOAD)
    one, all_ranks = rows(assay, tmp_path / "one"), rows(assay, tmp_path / "run/merged")

    def asked(rows):
        by_query = sorted(rows, key=lambda row: int(row["query"]))
        return [(row["query"], row["sample"], row["outcome"]) for row in by_query]

    def due(rows):
        dues = sorted(float(row["due_s"]) for row in rows)
        return [at - dues[0] for at in dues]

    assert asked(all_ranks) == asked(one)
    bound = summary(tmp_path / "run/merged")["ranks"]["clock_bound_ns"] * 1e-9
    # Ranks start as near to one another as their first comparison of the clocks allowed.
    assert due(all_ranks) == pytest.approx(due(one), abs=4 * bound + 0.005)
    assert "no file has changed" in assay("verify", tmp_path / "run/merged").out
    assert "no file has changed" in assay("verify", tmp_path / "run/rank-2").out
    assert "rank 2 of 4" in assay("report", tmp_path / "run/rank-2").out


def test_merge_by_hand_gives_the_same_run_in_any_order(ranks, assay, tmp_path):
    ended(ranks(3, *LOAD, "--threads", "2"))
    folders = [tmp_path / f"run/rank-{rank}" for rank in (2, 0, 1)]
    done = assay("merge", *folders, "-o", tmp_path / "again", "--json").json()
    assay("verify", tmp_path / "again")
    auto = summary(tmp_path / "run/merged")
    assert done["ranks"] == auto["ranks"] and done["assay"]["arrival"] == auto["assay"]["arrival"]
    assert done["n_samples_completed"] == 120
    refused = assay("merge", *folders[:2], "-o", tmp_path / "two", code=2)
    assert "rank 1 of 3 is missing" in refused.err and not (tmp_path / "two/assay").exists()
    assert "both rank 0" in assay("merge", folders[1], folders[1], "-o", tmp_path / "x", code=2).err
    assert "holds a run already" in assay("merge", *folders, "-o", tmp_path / "again", code=2).err
    part = assay("merge", *folders[:2], "-o", tmp_path / "two", "--allow-missing", code=130)
    assert "rank 1: its folder is missing" in " ".join(part.out.split())
    assert "not a rank" in assay("merge", tmp_path / "run/merged", "-o", tmp_path / "y", code=2).err


def test_ranks_of_different_runs_are_not_merged(ranks, assay, tmp_path):
    for name in ("a", "b"):
        ended(ranks(2, "--rate", "50", "--samples", "10", folder=name))
    refused = assay("merge", tmp_path / "a/rank-0", tmp_path / "b/rank-1", "-o", tmp_path / "c",
                    code=2)
    assert "different runs" in refused.err


class Relay:
    """A way to `port` of this machine on which each message takes 0 to `most` seconds, each way."""

    def __init__(self, port, most, seed):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.chance, self.most, self.target = random.Random(seed), most, port
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        near, _ = self.listener.accept()
        # The target may listen later than this.
        while True:
            try:
                far = socket.create_connection(("127.0.0.1", self.target))
                break
            except ConnectionRefusedError:
                continue
        for one in (near, far):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        select = selectors.DefaultSelector()
        select.register(near, selectors.EVENT_READ, far)
        select.register(far, selectors.EVENT_READ, near)
        held = []  # (when, to, bytes), in order for each direction
        while True:
            now = time.monotonic()
            wait = max(0, held[0][0] - now) if held else None
            for key, _ in select.select(wait):
                data = key.fileobj.recv(65536)
                if not data:
                    near.close(), far.close()
                    return
                last = max((at for at, to, _ in held if to is key.data), default=0)
                when = max(time.monotonic() + self.chance.uniform(0, self.most), last)
                held.append((when, key.data, data))
                held.sort(key=lambda one: one[0])
            while held and held[0][0] <= time.monotonic():
                _, to, data = held.pop(0)
                to.sendall(data)


@pytest.fixture(scope="module")
def drifting(tmp_path_factory):
    shim = tmp_path_factory.mktemp("shim") / "drifting_clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", shim,
                    pathlib.Path(__file__).with_name("drifting_clock.c"), "-ldl"], check=True)

    def env(seconds, ppm):
        return {"LD_PRELOAD": str(shim), "CLOCK_SHIFT_S": str(seconds),
                "CLOCK_DRIFT_PPM": str(ppm)}

    return env


def test_ttft_is_the_truths_whatever_the_ranks_clocks_say(assay, endpoint, tmp_path, drifting):
    """The endpoint's log says when each token left; clocks differ by hours, the ways by 20 ms."""
    truth = tmp_path / "truth.alog"
    server = endpoint("--ttft", "normal:30ms,5ms", "--itl", "2ms", "--osl", "8", "--quiet",
                      "--truth-log", truth)
    port = free_port()
    relay = Relay(port, 0.020, seed=5)
    started = [subprocess.Popen(
        [program(), "run", "--endpoint", server.url, "--model", "m", "--isl", "20", "--rate", "40",
         "--samples", "80", "--allow-client-limited", "--report-dir", str(tmp_path / "run"),
         "--rank", f"{rank}/2", "--rendezvous", f"127.0.0.1:{at}"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **env})
        for rank, at, env in ((1, relay.port, drifting(5000.5, 180)), (0, port, {}))]
    said = [process.communicate(timeout=120) for process in started]
    assert [process.returncode for process in started] == [0, 0], said
    server.stop()
    merged = tmp_path / "run/merged"
    bound = summary(merged)["ranks"]["clock_bound_ns"]
    errors = assay("report", merged, "--truth", truth, "--json").json()
    assert errors["replies"] == 80 and errors["unmatched"] == 0
    # Each arrival of both hosts, in one time: none before its token left, but for the bound; and
    # half of them, in spite of what a busy machine does, no later than it.
    assert errors["token"]["p0_1"] >= -bound
    assert errors["token"]["p50"] <= bound + 2e6
    # A TTFT is of one host, and so the truth's but for the drift, which is 0.02 % of it.
    assert abs(errors["ttft"]["p50"]) <= 1e6


def test_clocks_that_differ_and_drift_are_found_within_their_bound(ranks, assay, tmp_path,
                                                                  drifting):
    shifts = {1: (-7.5, 150), 2: (40000.25, -200)}
    relays = []

    def delayed(port):
        relays.append(Relay(port, 0.020, seed=len(relays)))
        return f"127.0.0.1:{relays[-1].port}"

    processes = ranks(3, "--rate", "40", "--samples", "120",
                      env={rank: drifting(*shift) for rank, shift in shifts.items()},
                      addresses={1: delayed, 2: delayed})
    said = ended(processes)
    assert [said[rank][2] for rank in range(3)] == [0, 0, 0], said
    merged = tmp_path / "run/merged"
    told = summary(merged)["ranks"]
    assert 0 < told["clock_bound_ns"] < 30e6
    for rank, (seconds, _) in shifts.items():
        one = told["ranks"][rank]
        # The drift has moved the clock by less than 1 ms when the load begins.
        assert one["clock_offset_ns"] == pytest.approx(-seconds * 1e9,
                                                       abs=one["clock_bound_ns"] + 5e6)
    assert told["start_spread_ns"] is None or told["start_spread_ns"] < 60e6
    # A latency is of one host: it is wrong by its drift, and not by the bound of the clocks.
    for row in rows(assay, merged):
        assert row["outcome"] == "ok"
        assert float(row["ttft_ms"]) > TTFT_S * 1e3 * (1 - 3e-4) - 0.05
    fastest = min(float(row["ttft_ms"]) for row in rows(assay, merged))
    assert fastest == pytest.approx(TTFT_S * 1e3, abs=1.5)
    dues = sorted(float(row["due_s"]) for row in rows(assay, merged))
    assert dues[-1] - dues[0] < 10, "in one time: the clocks are 40,000 s apart"
    assay("verify", merged)


def test_a_rank_that_is_killed_is_named_and_the_others_are_whole(ranks, assay, tmp_path):
    processes = ranks(3, "--concurrency", "6", "--duration", "2s")
    log = tmp_path / "run/rank-2/assay/events-2.alog"
    while not log.exists() or log.stat().st_size < 10_000:
        assert processes[2].poll() is None
    processes[2].kill()
    said = ended(processes)
    assert said[1][2] == 0 and said[0][2] == 130, said
    merged = tmp_path / "run/merged"
    told = summary(merged)
    assert told["ranks"]["ranks"][2]["lost"] == "it died before its end"
    assert "rank 2" in told["assay"]["state_reason"]
    counts = told["assay"]["counts"]
    assert counts["issued"] == counts["completed"] + counts["failed"]
    assert counts["unfinished"] == 0 and counts["failed"] >= 1
    by_rank = {rank: summary(tmp_path / f"run/rank-{rank}") for rank in (0, 1)}
    for one in by_rank.values():
        assert one["complete"] and one["n_samples_failed"] == 0
    assert counts["completed"] > sum(one["n_samples_completed"] for one in by_rank.values())
    assay("verify", merged)
    # The same from the folders alone.
    shutil.rmtree(merged)
    again = assay("merge", *(tmp_path / f"run/rank-{rank}" for rank in range(3)), "-o", merged,
                  "--json", code=130).json()
    assert again["assay"]["counts"] == counts


def test_accuracy_over_ranks_is_scored_as_of_one_process(assay, endpoint, tmp_path):
    """Ten questions, of which the endpoint knows some: whose rank asks which does not matter."""
    asked = tmp_path / "questions.jsonl"
    asked.write_text("".join(json.dumps({"prompt": f"Question {i}? (A) no (B) yes", "letter": "B",
                                         "answer": "Answer: B"}) + "\n" for i in range(10)))
    url = endpoint("--ttft", "2ms", "--itl", "1ms", "--osl", "4", "--quiet", "--answers",
                   f"{asked},prompt=prompt,answer=answer,right=0.6").url
    words = ["run", "--endpoint", url, "--model", "m", "--concurrency", "2",
             "--allow-client-limited", "--json", "--dataset",
             f"acc:{asked},name=q,accuracy_config.eval_method=gpqa,"
             "accuracy_config.ground_truth=letter"]
    one = assay(*words, "--report-dir", tmp_path / "one").json()["accuracy"]
    port = free_port()
    started = [subprocess.Popen(
        [program(), *words, "--report-dir", str(tmp_path / "run"), "--rank", f"{rank}/2",
         "--rendezvous", f"127.0.0.1:{port}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True) for rank in (1, 0)]
    said = [process.communicate(timeout=120) for process in started]
    assert [process.returncode for process in started] == [0, 0], said
    both = json.loads(said[1][0])["accuracy"]

    def score(accuracy):
        (of_q,) = accuracy["accuracy_scores"]
        return of_q["dataset_name"], of_q["score"]

    assert score(both) == score(one) == ("q", 0.6)
    samples = [sorted((tmp_path / folder / "accuracy/sample_scores.jsonl").read_text().splitlines())
               for folder in ("one", "run/merged")]
    assert samples[0] == samples[1] and len(samples[0]) == 1 + 10  # a line of facts, the samples


def test_a_different_plan_is_refused_on_every_rank_before_a_query_is_sent(ranks, tmp_path):
    processes = ranks(2, "--samples", "20", own={0: ["--rate", "60"], 1: ["--rate", "61"]})
    said = ended(processes)
    for _, err, code in said.values():
        assert code == 3 and "another plan" in err, said
    assert not (tmp_path / "run/rank-0/assay").exists()


def test_what_cannot_be_a_rank_is_refused(assay, tmp_path):
    run = ["run", "--endpoint", "http://127.0.0.1:9", "--model", "m", "--samples", "2"]
    named = assay(*run, "--rank", "0/2", "--rendezvous", "127.0.0.1:1", code=2)
    assert "--report-dir" in named.err
    assert "I/N" in assay(*run, "--rank", "2/2", "--rendezvous", "h:1", code=2).err
    assert "--rendezvous" in assay(*run, "--rank", "0/2", code=2).err
    few = assay(*run, "--rank", "1/3", "--rendezvous", "127.0.0.1:1", "--concurrency", 2,
                "--report-dir", tmp_path / "few", code=2)
    assert "--concurrency 2: is less than the 3 ranks" in few.err
    mpi = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}
    assert "Open MPI says rank 1 of 2" in assay(*run, code=2, env=mpi).err
    assert assay(*run, "--rank", "none", code=None, env=mpi).code == 3
