"""The surface that every command shares: names, help, versions, exit codes."""

import json
import os
import re
import signal
import subprocess

import pytest
from conftest import program


def commands(assay):
    """The names that `assay --help` lists."""
    block = assay("--help").out.split("\nCommands\n")[1].split("\n\n")[0]
    return re.findall(r"^  (\w+) ", block, re.M)


def test_version_is_one_line(assay):
    assert re.fullmatch(r"assay \d+\.\d+\.\d+\n", assay("--version").out)
    assert assay("version", "--json").json()["version"] in assay("--version").out


def test_no_arguments_is_help(assay):
    assert assay().out == assay("--help").out == assay("help").out


def test_every_command_explains_itself_in_80_columns(assay):
    for name in commands(assay):
        help_text = assay(name, "--help").out
        assert help_text == assay("help", name).out
        assert help_text.startswith(f"assay {name}")
        for flag in re.findall(r"--[A-Za-z0-9_-]+", help_text):
            assert re.fullmatch(r"--[a-z0-9]+(-[a-z0-9]+)*", flag), f"{name}: {flag}"
        for line in help_text.splitlines():
            assert len(line) <= 80 or line.startswith("  assay "), f"{name}: {line}"


@pytest.mark.parametrize("typed, meant", [("verson", "version"), ("hlep", None)])
def test_an_unknown_command_is_bad_input(assay, typed, meant):
    err = assay(typed, code=2).err
    assert err.startswith(f'error: unknown command "{typed}"\n')
    if meant:
        assert f'did you mean "{meant}"?' in err


def test_an_unknown_flag_is_bad_input(assay):
    done = assay("version", "--jsno", code=2)
    assert done.out == ""
    assert done.err == ("error: unknown flag --jsno\n       did you mean --json?\n"
                        "       assay version --help lists them\n")


def test_a_reader_who_has_seen_enough_is_told_no_error():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([program(), "check", "--list"], stdout=write, stderr=subprocess.PIPE,
                          text=True, check=False)
    os.close(write)
    assert done.returncode == -signal.SIGPIPE
    assert done.stderr == ""


def test_a_result_that_cannot_be_written_is_a_failure():
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([program(), "--version"], stdout=full, stderr=subprocess.PIPE,
                              text=True, check=False)
    assert done.returncode == 3
    assert "standard output" in done.stderr


def test_every_flag_that_an_explanation_names_exists(assay):
    known = set(re.findall(r"--[a-z][a-z0-9-]*",
                           "\n".join(line.split("  ")[1] for command in commands(assay)
                                     for line in assay(command, "--help").out.splitlines()
                                     if line.startswith("  --"))))
    named = set(re.findall(r"--[a-z][a-z0-9-]*",
                           "\n".join(one.get("next", "") for one in json.loads(
                               assay("explain", "--list", "--json").out)
                               if one["kind"] != "rule")))
    assert len(named) > 5
    assert named <= known, sorted(named - known)
