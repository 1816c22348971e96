"""Completion and manual pages, tried in the real shells and by a real formatter."""

import re
import subprocess

import pytest


def shell(program, *args, text=None):
    done = subprocess.run([program, *args], input=text, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", done.stderr
    return done.stdout


def bash_offers(script, *words):
    quoted = " ".join(f"'{word}'" for word in words)
    out = shell("bash", "--norc", "-c",
                f"{script}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _assay; "
                'printf "%s\\n" "${COMPREPLY[@]}"')
    return out.split()


def test_bash_completes_commands_flags_and_choices(assay):
    script = assay("completion", "bash").out
    assert bash_offers(script, "assay", "cur") == ["curve"]
    assert "--concurrency" in bash_offers(script, "assay", "run", "--conc")
    assert bash_offers(script, "assay", "completion", "z") == ["zsh"]
    assert bash_offers(script, "assay", "report", "x", "--format", "pro") == ["prometheus"]
    assert bash_offers(script, "assay", "help", "sim") == ["simulate"]


def test_fish_completes_commands_flags_and_choices(assay, tmp_path):
    script = tmp_path / "assay.fish"
    script.write_text(assay("completion", "fish").out)

    def offers(line):
        out = shell("fish", "--no-config", "-c", f"source {script}; complete -C '{line}'")
        return [offer.split("\t")[0] for offer in out.splitlines()]

    assert offers("assay cur") == ["curve"]
    assert "--concurrency" in offers("assay run --conc")
    assert offers("assay report x --format pro") == ["prometheus"]


def test_zsh_reads_the_script(assay, tmp_path):
    script = tmp_path / "_assay"
    script.write_text(assay("completion", "zsh").out)
    shell("zsh", "-f", "-n", script)
    loaded = shell("zsh", "-f", "-c",
                   f"autoload -U compinit; compinit -D -u; source {script}; print $_comps[assay]")
    assert loaded.strip() == "_assay"


@pytest.mark.parametrize("page", [[], ["run"], ["curve"], ["simulate"]])
def test_a_page_is_without_fault_and_says_what_help_says(assay, page):
    roff = assay("man", *page).out
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=roff, text=True,
                          capture_output=True, timeout=60)
    faults = [line for line in lint.stdout.splitlines() if "missing date" not in line]
    assert faults == []
    # Bold is a letter struck twice.
    text = re.sub(".\b", "", shell("mandoc", "-T", "utf8", text=roff))
    assert "EXIT STATUS" in text
    if page == ["run"]:
        assert "--concurrency, --target-concurrency N" in text


def test_all_pages_go_into_a_folder(assay, tmp_path):
    assay("man", "--folder", tmp_path / "man1")
    names = {path.name for path in (tmp_path / "man1").iterdir()}
    assert {"assay.1", "assay-run.1", "assay-mcp.1"} <= names
    assert "no command" in assay("man", "nothing", code=2).err
