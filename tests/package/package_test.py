"""What `./assay.sh package` makes, installed from nothing and used."""

import hashlib
import json
import os
import re
import subprocess
import sys
import zipfile

import pytest

from packages import AS_ROOT, ROOT, Endpoint, one, packaged, run

VERSION = re.search(r"project\(assay VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
# A run of 60 queries; a busy machine must not fail the test.
RUN = ["run", "--model", "m", "--concurrency", "4", "--samples", "60", "--quiet", "--json",
       "--allow-client-limited"]


@pytest.fixture(scope="session", name="dist")
def the_packages(tmp_path_factory):
    """{name: path} of all packages."""
    return packaged(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session", name="venv")
def a_fresh_environment(tmp_path_factory, dist):
    """An environment with the wheel and nothing else, no index reached."""
    folder = tmp_path_factory.mktemp("venv") / "v"
    run(sys.executable, "-m", "venv", folder)
    run(folder / "bin" / "pip", "install", "-q", "--no-index", one(dist, ".whl"))
    return folder


def digests(dist):
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in dist.items()}


def test_two_builds_have_one_hash(dist, tmp_path):
    for kept in (ROOT / "build" / "package").glob("*.o"):
        kept.unlink()
    again = packaged(tmp_path / "elsewhere")
    assert len(dist) == 5
    assert digests(again) == digests(dist)


def test_no_path_of_the_build_is_inside(dist):
    with zipfile.ZipFile(one(dist, ".whl")) as wheel:
        for name in wheel.namelist():
            content = wheel.read(name)
            assert str(ROOT).encode() not in content, name
            assert b"/home/" not in content or name.endswith(".txt"), name


def test_the_wheel_runs_in_a_fresh_environment(venv, tmp_path):
    program = venv / "bin" / "assay"
    assert run(program, "--version").split() == ["assay", VERSION]
    with Endpoint(program) as url:
        summary = json.loads(run(program, *RUN, "--endpoint", url, "--report-dir",
                                 tmp_path / "run"))
    assert summary["n_samples_completed"] == 60
    said = run(venv / "bin" / "python", "-I", "-c",
               "import assay, sys\n"
               "r = assay.open(sys.argv[1])\n"
               "print(len(r.events), r.summary.completed, assay.version(), assay.program())",
               tmp_path / "run", env={k: v for k, v in os.environ.items() if k != "ASSAY_BIN"})
    assert said.split() == ["60", "60", VERSION, str(program)]
    assert run(venv / "bin" / "pip", "check").strip() == "No broken requirements found."
    listed = json.loads(run(venv / "bin" / "pip", "list", "--format=json"))
    assert {entry["name"] for entry in listed} <= {"assay-endpoints", "pip", "setuptools"}
    assert (venv / "share" / "man" / "man1" / "assay-run.1.gz").exists()
    assert (venv / "share" / "bash-completion" / "completions" / "assay").exists()


def test_the_installed_program_demonstrates_itself(venv, tmp_path):
    said = json.loads(run(venv / "bin" / "assay", "demo", "shown", "--json", cwd=tmp_path))
    # 1: the demo has 16 questions where the rules ask thousands. 4: a busy machine.
    assert said["curve_exit_code"] in (0, 4) and said["check_exit_code"] == 1
    assert said["report"] == str(tmp_path / "shown" / "curve" / "report.html")
    assert "</html>" in (tmp_path / "shown" / "curve" / "report.html").read_text()
    findings = json.loads(run(venv / "bin" / "assay", "check", tmp_path / "shown" / "submission",
                              "--quiet", "--no-review", "--json", code=1))["results"]
    errors = {finding["rule"] for finding in findings if finding["severity"] == "error"}
    assert errors == {"accuracy-sample-count"}
    # Nothing is written over.
    run(venv / "bin" / "assay", "demo", "shown", cwd=tmp_path, code=2)


def test_the_wheel_is_small_and_for_old_machines(dist, tmp_path):
    wheel = one(dist, ".whl")
    assert wheel.name == f"assay_endpoints-{VERSION}-py3-none-manylinux_2_28_x86_64.whl"
    assert wheel.stat().st_size <= 10_000_000
    run(sys.executable, "-m", "venv", tmp_path / "v")
    run(tmp_path / "v" / "bin" / "pip", "install", "-q", "-r",
        ROOT / "tests" / "package" / "requirements.txt")
    said = run(tmp_path / "v" / "bin" / "auditwheel", "show", wheel)
    tag = re.search(r'platform tag:\s*"manylinux_2_(\d+)_x86_64"', said)
    assert tag and int(tag[1]) <= 28, said


def test_the_program_needs_the_c_library_alone(venv):
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", venv / "bin" / "assay"))
    assert set(needed) <= {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0",
                           "ld-linux-x86-64.so.2"}
    # Hardened as the release build is.
    flags = run("readelf", "-dlW", venv / "bin" / "assay")
    assert "BIND_NOW" in flags or "NOW" in flags
    assert "GNU_RELRO" in flags and "DYN" in run("readelf", "-h", venv / "bin" / "assay")


def test_a_store_in_postgresql_is_opened_where_its_library_is(venv):
    said = subprocess.run(
        [venv / "bin" / "assay", "review", "list", "--store",
         "postgresql://127.0.0.1:1/x?connect_timeout=1"], capture_output=True, text=True,
        check=False)
    assert said.returncode in (2, 3)
    assert "onnection refused" in said.stderr or "libpq5" in said.stderr


def test_the_bill_of_materials_names_what_is_linked(venv):
    folder = next((venv / "lib").glob("python3*/site-packages/assay_endpoints-*.dist-info"))
    bill = json.loads((folder / "sboms" / "assay.spdx.json").read_text())
    names = {part["name"]: part for part in bill["packages"]}
    # The linker's word against the list that people read, which leaves the compiler's runtime out.
    rows = re.findall(r"(?m)^\| `\w+` \| [^|]+ \| `([^`]+)` \|[^|]+\|[^|]+\| (?!opened)",
                      (ROOT / "THIRD_PARTY_NOTICES.md").read_text())
    listed = {run("dpkg-query", "-W", "-f", "${source:Package}", row) for row in rows}
    assert len(listed) > 12
    # The compiler's runtime is inside, and the few functions of the C library that always are.
    assert set(names) == listed | {"assay", "gcc-12", "glibc"}
    assert all(re.fullmatch(r"[\w.+~:-]+", part["versionInfo"]) for part in bill["packages"])
    texts = (folder / "licenses" / "THIRD_PARTY_LICENSES.txt").read_text()
    for name, part in names.items():
        if name != "assay":
            assert f"{name} {part['versionInfo']}" in texts
    assert {relation["relatedSpdxElement"] for relation in bill["relationships"]} == \
        {part["SPDXID"] for part in bill["packages"]}


def test_the_tarball_unpacks_to_a_program(dist, tmp_path):
    run("tar", "-xzf", one(dist, ".tar.gz"), "-C", tmp_path)
    top = tmp_path / f"assay-{VERSION}"
    assert run(top / "bin" / "assay", "--version").split() == ["assay", VERSION]
    assert {"LICENSE", "THIRD_PARTY_LICENSES.txt", "assay.spdx.json"} == {
        path.name for path in (top / "share" / "doc" / "assay").iterdir()}
    assert len(list((top / "share" / "man" / "man1").iterdir())) > 20


def test_the_debian_package_is_clean_installs_and_leaves_nothing(dist, tmp_path):
    package = one(dist, ".deb")
    assert run("lintian", "--fail-on", "error,warning", package) == ""
    root = tmp_path / "root"
    (root / "var" / "lib" / "dpkg" / "info").mkdir(parents=True)
    (root / "var" / "lib" / "dpkg" / "updates").mkdir()
    for name in ("status", "available"):
        (root / "var" / "lib" / "dpkg" / name).touch()
    dpkg = [*AS_ROOT, "dpkg", f"--root={root}", "--log=/dev/null", "--force-depends",
            "--force-not-root", "--force-script-chrootless"]
    run(*dpkg, "--install", package)
    installed = {path for path in run(*dpkg, "--listfiles", "assay").split()
                 if (root / path[1:]).is_file()}
    assert {"/usr/bin/assay", "/usr/share/man/man1/assay.1.gz",
            "/usr/share/bash-completion/completions/assay",
            "/usr/share/zsh/vendor-completions/_assay",
            "/usr/share/fish/vendor_completions.d/assay.fish",
            "/usr/share/doc/assay/copyright"} <= installed
    assert run(root / "usr/bin/assay", "--version").split() == ["assay", VERSION]
    # Its dependencies are packages of this Debian, and none brings PostgreSQL's.
    depends = run("dpkg-deb", "--field", package, "Depends")
    assert "libssl3" in depends and "libpq5" not in depends
    run(*dpkg, "--purge", "assay")
    left = [path for path in (root / "usr").rglob("*") if path.is_file()] \
        if (root / "usr").exists() else []
    assert left == []


def test_the_containers_root_is_all_it_needs(dist, tmp_path):
    text = dist["Containerfile"].read_text()
    rootfs = one(dist, "-rootfs.tar")
    assert f"ADD {rootfs.name} /" in text and text.splitlines()[3] == "FROM scratch"
    root = tmp_path / "root"
    root.mkdir()
    run("tar", "-xf", rootfs, "-C", root)
    inside = [*AS_ROOT, "chroot", root, "/usr/bin/assay"]
    assert run(*inside, "--version").split() == ["assay", VERSION]
    with Endpoint(*inside) as url:
        said = json.loads(run(*inside, *RUN, "--endpoint", url, "--report-dir", "measured"))
    assert said["n_samples_completed"] == 60
    assert (root / "measured" / "report.html").exists()


def test_an_old_c_library_is_made_up_for(tmp_path):
    run("gcc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-o", tmp_path / "test",
        ROOT / "tests" / "package" / "old_glibc_test.c", "-ldl", "-lpthread")
    run(tmp_path / "test")
