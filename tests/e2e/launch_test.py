"""A run over ranks, started by what clusters have: Open MPI, Slurm, ssh, each the real one here."""

import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess

import pytest

from conftest import program

RUN = ["--model", "m", "--isl", "20", "--rate", "40", "--samples", "60", "--allow-client-limited"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def url(endpoint):
    return endpoint("--ttft", "20ms", "--itl", "3ms", "--osl", "8", "--quiet").url


def merged(folder):
    return json.loads((folder / "merged/performance/result_summary.json").read_text())


def is_whole(summary, ranks):
    assert summary["n_samples_completed"] == 60 and summary["complete"]
    assert summary["ranks"]["count"] == ranks
    assert all("lost" not in rank for rank in summary["ranks"]["ranks"])


def test_open_mpi_starts_four_ranks(assay, url, tmp_path):
    # It refuses root unless told otherwise, and more ranks than cores.
    done = assay("launch", "--engine", "mpi", "--ranks", "4", "--program", program(),
                 "--engine-arg=--allow-run-as-root", "--engine-arg=--oversubscribe", "--json", "--",
                 "--endpoint", url, "--report-dir", tmp_path / "run", *RUN)
    is_whole(merged(tmp_path / "run"), 4)
    assert done.json()["ranks"]["count"] == 4


def test_a_curve_is_a_run_at_each_level_and_goes_on_where_it_ended(assay, endpoint, tmp_path):
    url = endpoint("--ttft", "5ms", "--itl", "1ms", "--osl", "8", "--quiet").url
    words = ["launch", "--engine", "mpi", "--ranks", "2", "--program", program(),
             "--engine-arg=--allow-run-as-root", "--engine-arg=--oversubscribe", "--levels"]
    run = ["--", "--endpoint", url, "--model", "m", "--isl", "20", "--samples", "40",
           "--allow-client-limited", "--report-dir", tmp_path / "curve"]
    first = assay(*words, "2,8", "--json", *run).json()["points"]
    assert [point["n_samples_completed"] for point in first] == [40, 40]
    assert [point["ranks"]["count"] for point in first] == [2, 2]
    again = assay(*words, "2,8,4", "--json", *run)
    assert again.err.count("is there") == 2 and again.json()["points"][:2] == first
    merged = [tmp_path / f"curve/r{level}/merged" for level in (2, 8, 4)]
    assay("pack", *merged, "--max-concurrency", "40", "--out", tmp_path / "tree")
    assert len(list((tmp_path / "tree/results").rglob("point.yaml"))) == 3
    assay("import", *merged, "--store", tmp_path / "store.db")
    assert "--levels: says the load" in assay(*words, "2", *run, "--rate", "4", code=2).err
    assert "not a concurrency" in assay(*words, "2,x", *run, code=2).err


@pytest.fixture
def slurm(tmp_path):
    """A cluster of this machine alone: munged, slurmctld and slurmd, with ports of their own.
    Gives the environment that its commands need."""
    if os.geteuid() != 0:
        pytest.fail("Slurm's daemons need root here")
    home = tmp_path / "slurm"
    for part in ("state", "spool"):
        (home / part).mkdir(parents=True)
    key = home / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    node = socket.gethostname().split(".")[0]
    (home / "slurm.conf").write_text(f"""
ClusterName=test
SlurmctldHost={node}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={home}/munge.socket
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
NodeName={node} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} State=UNKNOWN
PartitionName=test Nodes={node} Default=YES State=UP MaxTime=INFINITE
""")
    env = {**os.environ, "SLURM_CONF": str(home / "slurm.conf"), "ASSAY": program()}
    # munged refuses a socket below a folder that others may write.
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder != pathlib.Path("/"):
            folder.chmod(folder.stat().st_mode | 0o011)
    daemons = [subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL) for words in (
        ["/usr/sbin/munged", "--foreground", "--force", f"--key-file={key}",
         f"--socket={home}/munge.socket", f"--pid-file={home}/munge.pid",
         f"--log-file={home}/munge.log", f"--seed-file={home}/munge.seed"],
        ["/usr/sbin/slurmctld", "-D"], ["/usr/sbin/slurmd", "-D"])]
    yield env
    for daemon in reversed(daemons):
        daemon.send_signal(signal.SIGTERM)
        daemon.wait(60)


def test_slurm_starts_four_ranks(assay, url, tmp_path, slurm):
    folder = tmp_path / "run"
    done = assay("launch", "--engine", "slurm", "--ranks", "4", "--program", program(),
                 "--engine-arg=--overcommit", "--json", "--", "--endpoint", url, "--report-dir",
                 folder, *RUN, env=slurm, code=None)
    said = "".join(path.read_text() for path in folder.glob("slurm-*.out"))
    assert done.code == 0, (done, said)
    assert "rank 0 of 4 (Slurm)" in said, "it found its place in Slurm's variables"
    is_whole(merged(folder), 4)


@pytest.fixture
def ssh(tmp_path):
    """An sshd of this machine whose sessions begin in a folder of their own: a host with another
    disk, as far as relative names go. Gives the client's words and that folder."""
    keys = tmp_path / "keys"
    keys.mkdir(mode=0o700)
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", keys / name],
                       check=True)
    shutil.copy(keys / "user.pub", keys / "authorized")
    there, port = tmp_path / "there", free_port()
    there.mkdir()
    pathlib.Path("/run/sshd").mkdir(exist_ok=True)
    (keys / "sshd.conf").write_text(f"""
ListenAddress 127.0.0.1:{port}
HostKey {keys}/host
AuthorizedKeysFile {keys}/authorized
StrictModes no
UsePAM no
PidFile none
PermitRootLogin yes
ForceCommand cd {there} && eval "$SSH_ORIGINAL_COMMAND"
""")
    (keys / "ssh.conf").write_text(f"""
Host *
  Port {port}
  IdentityFile {keys}/user
  IdentitiesOnly yes
  User {pwd.getpwuid(os.geteuid()).pw_name}
  UserKnownHostsFile {keys}/known
  StrictHostKeyChecking accept-new
  ConnectionAttempts 50
  LogLevel ERROR
""")
    daemon = subprocess.Popen(["/usr/sbin/sshd", "-D", "-e", "-f", keys / "sshd.conf"],
                              stderr=subprocess.DEVNULL)
    yield [f"--engine-arg=-F{keys}/ssh.conf"], there
    daemon.terminate()
    daemon.wait(60)


def test_ssh_starts_ranks_and_brings_their_folders_home(assay, url, tmp_path, ssh):
    words, there = ssh
    here = tmp_path / "here"
    here.mkdir()
    done = assay("launch", "--engine", "ssh", "--hosts", "127.0.0.1,127.0.0.1", "--port",
                 free_port(), "--program", program(), *words, "--json", "--", "--endpoint", url,
                 "--report-dir", "big", *RUN, cwd=here)
    is_whole(done.json(), 2)
    for folder in (here, there):
        assert (folder / "big/rank-0/assay").exists() and (folder / "big/rank-1/assay").exists()
    assay("verify", here / "big/merged")


def test_what_would_be_started_can_be_read_first(assay, tmp_path):
    run = ["--", "--endpoint", "http://h:1", "--model", "m", "--report-dir", tmp_path / "run"]
    shown = assay("launch", "--engine", "k8s", "--ranks", "3", "--image", "registry/assay:1",
                  "--claim", "results", "--dry-run", *run)
    assert "completionMode: Indexed" in shown.out and "kubectl apply -f" in shown.out
    told = assay("launch", "--engine", "slurm", "--ranks", "3", "--dry-run", "--json", *run).json()
    assert told["ranks"] == 3 and told["commands"][0][0] == "sbatch"
    assert not (tmp_path / "run").exists()
    assert "--hosts" in assay("launch", "--engine", "ssh", "--ranks", "2", *run, code=2).err
    missing = assay("launch", "--engine", "mpi", "--ranks", "2", *run, code=None,
                    env={"PATH": str(tmp_path)})
    assert "cannot start 'mpirun'" in missing.err and missing.code != 0
