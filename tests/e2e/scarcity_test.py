"""What a run meets on its own machine: no descriptors left, a folder that another run is writing, a
name that nobody knows. Each is a failure by its name, and none is a crash."""

import resource
import subprocess
import threading

from conftest import program


def run_with_descriptors(limit, endpoint, folder):
    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

    return subprocess.run(
        [program(), "run", "--endpoint", endpoint.url, "--model", "m", "--samples", "40",
         "--concurrency", "20", "--report-dir", str(folder), "--allow-client-limited"],
        capture_output=True, text=True, timeout=120, preexec_fn=few, check=False)


def test_few_descriptors_are_enough_or_named(endpoint, tmp_path):
    server = endpoint("--ttft", "1ms", "--osl", "2")
    completed = 0
    for limit in (4, 5, 6, 8, 10, 12, 14, 16, 20, 40):
        done = run_with_descriptors(limit, server, tmp_path / str(limit))
        if done.returncode == 0:
            completed += 1
            assert "40 issued = 40 completed + 0 failed" in done.stdout, done.stdout
        else:
            assert done.returncode == 3, (limit, done)
            assert "Too many open files" in done.stderr, (limit, done)
    assert 1 <= completed < 10


def test_a_folder_is_written_by_one_run_at_a_time(endpoint, tmp_path):
    server = endpoint("--ttft", "20ms", "--osl", "2")
    command = [program(), "run", "--endpoint", server.url, "--model", "m", "--samples", "60",
               "--concurrency", "2", "--report-dir", str(tmp_path / "run"),
               "--allow-client-limited"]
    done = [None] * 3

    def one(at):
        done[at] = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    threads = [threading.Thread(target=one, args=(at,)) for at in range(len(done))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    refused = [one for one in done if one.returncode != 0]
    assert len(refused) == 2, done
    for one in refused:
        assert one.returncode == 2, one
        assert "another run is being written" in one.stderr or "holds a run" in one.stderr, one
    verified = subprocess.run([program(), "verify", str(tmp_path / "run")], capture_output=True,
                              text=True, timeout=120, check=False)
    assert verified.returncode == 0, verified


def test_a_name_that_nobody_knows_is_named(assay, tmp_path):
    done = assay("run", "--endpoint", "http://no-such-host.invalid:80", "--model", "m", "--samples",
                 2, "--report-dir", tmp_path / "run", code=3)
    assert "no-such-host.invalid" in done.err
