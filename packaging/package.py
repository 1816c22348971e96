#!/usr/bin/env python3
"""`./assay.sh package`: what users install, in dist/. docs/guide/install.md.

    assay-VERSION-linux-x86_64.tar.gz   the program, manual pages, completion, notices, SBOM
    assay_VERSION-1_amd64.deb           for Debian 12, with Debian's own libraries
    assay_endpoints-VERSION-py3-none-manylinux_2_28_x86_64.whl     the program, and `import assay`
    assay-VERSION-rootfs.tar            what a container image has, with its Containerfile

One commit and one set of libraries give the same bytes. The time in them is the commit's.
"""

import argparse
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import archive
import bom
import link

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHELLS = {"bash": "share/bash-completion/completions/assay",
          "zsh": "share/zsh/site-functions/_assay",
          "fish": "share/fish/vendor_completions.d/assay.fish"}
MAINTAINER = "Assay authors <assay@example.org>"
KINDS = ("tarball", "deb", "wheel", "container")


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True,
                          check=False).stdout.strip()


class Facts:
    """Version, commit and time of what is packaged."""

    def __init__(self):
        text = (ROOT / "CMakeLists.txt").read_text()
        self.version = re.search(r"project\(assay VERSION ([\d.]+)", text).group(1)
        self.revision = git("rev-parse", "HEAD") or "unknown"
        said = os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct")
        self.epoch = int(said or 0)


def documents(program):
    """{path below a prefix: bytes}: manual pages and completion; the program itself writes them."""
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        link.run(program, "man", "--folder", folder)
        for page in sorted(pathlib.Path(folder).glob("*.1")):
            files[f"share/man/man1/{page.name}.gz"] = archive.gzip_bytes(page.read_bytes())
    for shell, path in SHELLS.items():
        files[path] = link.run(program, "completion", shell).encode()
    return files


def legal(facts, parts):
    """{name: bytes} of licence, notices and SBOM."""
    licence = (ROOT / "LICENSE").read_text()
    return {"LICENSE": licence.encode(),
            "THIRD_PARTY_LICENSES.txt": bom.notices(licence, parts),
            "assay.spdx.json": bom.spdx(facts.version, facts.revision, facts.epoch, parts)}


def tarball(facts, program, parts, out):
    top = f"assay-{facts.version}"
    files = {f"{top}/bin/assay": (0o755, program.read_bytes())}
    for path, content in documents(program).items():
        files[f"{top}/{path}"] = (0o644, content)
    for name, content in legal(facts, parts).items():
        files[f"{top}/share/doc/assay/{name}"] = (0o644, content)
    path = out / f"assay-{facts.version}-linux-x86_64.tar.gz"
    path.write_bytes(archive.gzip_bytes(archive.tar_bytes(files, facts.epoch)))
    return [path]


def metadata(facts):
    readme = (ROOT / "packaging" / "wheel.md").read_text()
    return ("Metadata-Version: 2.4\nName: assay-endpoints\n"
            f"Version: {facts.version}\n"
            "Summary: Load generator and measuring instrument for GenAI endpoints\n"
            "License-Expression: Apache-2.0\nLicense-File: LICENSE\n"
            "License-File: THIRD_PARTY_LICENSES.txt\nRequires-Python: >=3.9\n"
            "Classifier: Environment :: Console\nClassifier: Operating System :: POSIX :: Linux\n"
            "Classifier: Programming Language :: C++\nClassifier: Typing :: Typed\n"
            "Description-Content-Type: text/markdown\n\n" + readme).encode()


def wheel(facts, program, columns, parts, out):
    needs = max(link.glibc_needed(program), link.glibc_needed(columns))
    tag = f"py3-none-manylinux_{needs[0]}_{max(needs[1], 17)}_x86_64"
    if needs <= (2, 28):
        tag = "py3-none-manylinux_2_28_x86_64"
    name = f"assay_endpoints-{facts.version}"
    info, data = f"{name}.dist-info", f"{name}.data"
    files = {f"{data}/scripts/assay": (0o755, program.read_bytes()),
             "assay/_columns.so": (0o755, columns.read_bytes())}
    for path in sorted((ROOT / "python" / "assay").iterdir()):
        # LoadGen's interface is a module for one Python; the wheel is for all.
        if path.is_file() and path.stem not in ("loadgen", "_loadgen"):
            files[f"assay/{path.name}"] = (0o644, path.read_bytes())
    for path, content in documents(program).items():
        files[f"{data}/data/{path}"] = (0o644, content)
    for path, content in legal(facts, parts).items():
        place = "sboms" if path.endswith(".spdx.json") else "licenses"
        files[f"{info}/{place}/{path}"] = (0o644, content)
    files[f"{info}/METADATA"] = (0o644, metadata(facts))
    files[f"{info}/WHEEL"] = (0o644, f"Wheel-Version: 1.0\nGenerator: assay {facts.version}\n"
                                     f"Root-Is-Purelib: false\nTag: {tag}\n".encode())
    path = out / f"{name}-{tag}.whl"
    path.write_bytes(archive.wheel_bytes(files, info, facts.epoch))
    return [path]


def debian_control(facts, program, size, work):
    """DEBIAN/control, with what dpkg-shlibdeps finds that the program needs."""
    (work / "debian").mkdir(exist_ok=True)
    (work / "debian" / "control").write_text("Source: assay\n\nPackage: assay\nArchitecture: any\n")
    found = link.run("dpkg-shlibdeps", "-O", "-e", program, cwd=work)
    depends = re.search(r"shlibs:Depends=(.*)", found).group(1)
    return (f"Package: assay\nVersion: {facts.version}-1\nArchitecture: amd64\n"
            f"Maintainer: {MAINTAINER}\n"
            f"Installed-Size: {size}\nDepends: {depends}\nSuggests: libpq5\nSection: net\n"
            "Priority: optional\n"
            "Description: load generator and measuring instrument for GenAI endpoints\n"
            " Assay asks an OpenAI-compatible server under a load of your choice, records\n"
            " when every token arrived, and reports what one user sees, what the system\n"
            " delivers, and whether the numbers can be trusted.\n").encode()


def deb(facts, build, out):
    """The release build as it is, stripped: Debian's libraries stay Debian's, also in their
    security updates."""
    work = pathlib.Path(tempfile.mkdtemp())
    try:
        program = work / "assay"
        link.run("strip", "--strip-all", "--remove-section=.comment", "--remove-section=.note",
                 "-o", program, build / "assay")
        usr = {"usr/bin/assay": (0o755, program.read_bytes())}
        for path, content in documents(program).items():
            usr["usr/" + path.replace("zsh/site-functions", "zsh/vendor-completions")] = (
                0o644, content)
        year = time.gmtime(facts.epoch).tm_year
        usr["usr/share/doc/assay/copyright"] = (0o644, debian_copyright(year))
        # It is not uploaded to Debian, so there is no request that it could close.
        usr["usr/share/lintian/overrides/assay"] = (
            0o644, b"assay: initial-upload-closes-no-bugs\n")
        when = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(facts.epoch))
        changes = (f"assay ({facts.version}-1) bookworm; urgency=medium\n\n  * Version "
                   f"{facts.version}; its changes: CHANGELOG.md of the source.\n\n"
                   f" -- {MAINTAINER}  {when}\n")
        usr["usr/share/doc/assay/changelog.Debian.gz"] = (
            0o644, archive.gzip_bytes(changes.encode()))
        size = sum(len(content) for _, content in usr.values()) // 1024 + 1
        sums = "".join(f"{hashlib.md5(content).hexdigest()}  {name}\n"
                       for name, (_, content) in sorted(usr.items()))
        tree = work / "tree"
        for name, (mode, content) in {**usr, "DEBIAN/md5sums": (0o644, sums.encode()),
                                      "DEBIAN/control": (0o644, debian_control(
                                          facts, program, size, work))}.items():
            path = tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(mode)
        for folder in [tree, *tree.rglob("*")]:
            if folder.is_dir():
                folder.chmod(0o755)
        path = out / f"assay_{facts.version}-1_amd64.deb"
        link.run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", tree, path,
                 env={**os.environ, "SOURCE_DATE_EPOCH": str(facts.epoch)})
        return [path]
    finally:
        shutil.rmtree(work)


def debian_copyright(year):
    return ("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
            f"Upstream-Name: assay\n\nFiles: *\nCopyright: © {year} Assay authors\n"
            "License: Apache-2.0\n"
            " On Debian systems the full text of the Apache License 2.0 is in\n"
            " /usr/share/common-licenses/Apache-2.0.\n").encode()


def container(facts, program, parts, out):
    """A root of the program, the C library, certificates and names; nothing else, no shell."""
    files = {"usr/bin/assay": (0o755, program.read_bytes()),
             "etc/nsswitch.conf": (0o644, b"hosts: files dns\n"),
             "etc/passwd": (0o644, b"assay:x:65532:65532::/work:/sbin/nologin\n"),
             "etc/ssl/certs/ca-certificates.crt":
                 (0o644, pathlib.Path("/etc/ssl/certs/ca-certificates.crt").read_bytes())}
    parts = [part for part in parts if part["name"] != "glibc"]
    for name in ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "libresolv.so.2",
                 "libnss_dns.so.2", "libnss_files.so.2"):
        path = pathlib.Path("/lib/x86_64-linux-gnu") / name
        files[f"lib/x86_64-linux-gnu/{name}"] = (0o755, path.read_bytes())
    files["lib64/ld-linux-x86-64.so.2"] = (
        0o755, pathlib.Path("/lib64/ld-linux-x86-64.so.2").read_bytes())
    version = link.run("dpkg-query", "-W", "-f", "${source:Version}", "libc6")
    parts.append({"name": "glibc", "version": version, "package": "libc6",
                  "licence": bom.LICENCES["glibc"],
                  "copyright": pathlib.Path("/usr/share/doc/libc6/copyright").read_text()})
    for name, content in legal(facts, parts).items():
        files[f"usr/share/doc/assay/{name}"] = (0o644, content)
    rootfs = out / f"assay-{facts.version}-rootfs.tar"
    rootfs.write_bytes(archive.tar_bytes(files, facts.epoch))
    text = (ROOT / "packaging" / "Containerfile.in").read_text().replace("@ROOTFS@", rootfs.name)
    (out / "Containerfile").write_text(text)
    return [rootfs, out / "Containerfile"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS) + "; else all")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "dist")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--machine-glibc", action="store_true",
                        help="link for this machine's C library, without ziglang")
    parser.add_argument("--fetch", action="store_true",
                        help="only get what linking needs: ziglang, and simdjson's source")
    args = parser.parse_args()
    kinds = args.kinds or list(KINDS)
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        parser.error(f"no kind {unknown[0]}; there are {', '.join(KINDS)}")
    os.umask(0o022)
    facts = Facts()
    args.out.mkdir(parents=True, exist_ok=True)
    work = ROOT / "build" / "package"
    work.mkdir(parents=True, exist_ok=True)
    made = []
    try:
        if args.fetch:
            link.helpers(work)
            return 0 if link.zig_of(work) is not None else 1
        if set(kinds) != {"deb"}:
            zig = None if args.machine_glibc else link.zig_of(work)
            program, columns = work / "assay", work / "_columns.so"
            parts = bom.components(
                set(link.link(args.build, "assay", program, work, zig))
                | set(link.link(args.build, link.COLUMNS, columns, work, zig)))
        for kind in kinds:
            if kind == "tarball":
                made += tarball(facts, program, parts, args.out)
            elif kind == "deb":
                made += deb(facts, args.build, args.out)
            elif kind == "wheel":
                made += wheel(facts, program, columns, parts, args.out)
            else:
                made += container(facts, program, parts, args.out)
    except (link.LinkError, KeyError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for path in made:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        print(f"{digest}  {path.stat().st_size:>10,}  {path.relative_to(args.out.parent)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
