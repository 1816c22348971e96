"""The release build's program and library, linked anew: every library inside but the C library.

Nothing of Assay is compiled again. The objects are those that the tests ran; ninja says how they
were linked, and here archives stand in place of shared libraries. Two have no archive in Debian:
{fmt} is made from its headers, simdjson from the source package of the version whose headers were
used.

With ziglang (its wheel has the symbols of every C library since 2.17, and lld) the result needs
version 2.28 of the C library, which has fewer functions: old_glibc.c. Without it, that of this
machine.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
GLIBC = "2.28"
COLUMNS = "assay_python_columns"  # what Python reads runs with
# Libraries of C that no exception passes through: they call nothing of ours, or only what throws
# for want of memory, which ends the program all the same. (nghttp2 is not one of them.)
PLAIN_C = {f"lib{name}.a" for name in ("brotlicommon", "brotlidec", "crypto", "lz4", "sqlite3",
                                       "ssl", "utf8proc", "xxhash", "z", "zstd")}
# As the release preset compiles what users run.
COMPILE = ["-O3", "-DNDEBUG", "-fPIC", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=2",
           "-fcf-protection", "-ffunction-sections", "-fdata-sections"]


class LinkError(Exception):
    """What is missing, for a person."""


def run(*command, cwd=None, env=None):
    done = subprocess.run([str(word) for word in command], cwd=cwd, text=True, env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors="replace",
                          check=False)
    if done.returncode:
        raise LinkError(f"{' '.join(map(str, command))[:200]}: exit {done.returncode}\n"
                        f"{done.stderr[-3000:]}")
    return done.stdout


def source_version(package):
    """The version of the source that an installed package was built from."""
    return run("dpkg-query", "-W", "-f", "${source:Version}", package)


def fetch_simdjson(work):
    """simdjson.cpp and its header, of the installed version, from Debian's source package; apt
    checks its signature. The machine's own list of mirrors is used and left as it is."""
    version = source_version("libsimdjson-dev")
    folder = work / f"simdjson-{version}"
    if (folder / "simdjson.cpp").exists():
        return folder
    apt = work / "apt"
    for place in ("parts", "lists/partial", "cache/archives/partial"):
        (apt / place).mkdir(parents=True, exist_ok=True)
    for number, listed in enumerate([pathlib.Path("/etc/apt/sources.list"),
                                     *sorted(pathlib.Path("/etc/apt/sources.list.d").glob("*"))]):
        if not listed.is_file():
            continue
        text = listed.read_text()
        if "debian" not in text.lower():
            continue
        text = re.sub(r"(?m)^deb\b(?!-)", "deb-src", text) if listed.suffix == ".list" else \
            re.sub(r"(?m)^Types:.*$", "Types: deb-src", text)
        (apt / "parts" / f"{number}{listed.suffix}").write_text(text)
    how = ["-qq", "-o", "Dir::Etc::sourcelist=/dev/null",
           "-o", f"Dir::Etc::sourceparts={apt}/parts",
           "-o", f"Dir::State::lists={apt}/lists", "-o", f"Dir::Cache={apt}/cache",
           "-o", "APT::Sandbox::User=root" if os.geteuid() == 0 else "APT::Sandbox::User="]
    run("apt-get", *how, "update")
    run("apt-get", *how, "source", "--download-only", f"simdjson={version}", cwd=apt)
    unpacked = work / "simdjson-source"
    subprocess.run(["rm", "-rf", unpacked], check=True)
    run("dpkg-source", "--no-check", "-x", next(apt.glob("simdjson_*.dsc")), unpacked)
    folder.mkdir(exist_ok=True)
    for name in ("simdjson.h", "simdjson.cpp"):
        (folder / name).write_bytes((unpacked / "singleheader" / name).read_bytes())
    return folder


def helpers(work):
    """{library: object} of what has no archive, and what an old C library lacks."""
    simdjson = fetch_simdjson(work)
    installed = pathlib.Path("/usr/include/simdjson.h")
    if (simdjson / "simdjson.h").read_bytes() != installed.read_bytes():
        raise LinkError("the headers of simdjson are not those of its source package")
    objects = {}
    # The folder of the checkout must not show in an object.
    same = [f"-ffile-prefix-map={HERE.parent}=.", f"-ffile-prefix-map={work}=."]
    for name, compiler, source, more in (
            ("fmt", "g++", HERE / "fmt.cc", ["-std=c++20"]),
            ("simdjson", "g++", simdjson / "simdjson.cpp", ["-std=c++17", f"-I{simdjson}"]),
            ("old_glibc", "gcc", HERE / "old_glibc.c", ["-std=c17"]),
            ("no_crypto", "gcc", HERE / "no_crypto.c", ["-std=c17", "-w"]),
            ("no_search", "gcc", HERE / "no_search.c", ["-std=c17"])):
        out = work / f"{name}.o"
        if not out.exists() or out.stat().st_mtime < source.stat().st_mtime:
            run(compiler, *COMPILE, *same, *more, "-c", source, "-o", out)
        objects[name] = out
    return objects


def zig_of(work):
    """ziglang's compiler, from an environment of its own; None where no index can be reached."""
    venv = work / "venv"
    python = venv / "bin" / "python"
    wanted = (HERE / "requirements.txt").read_text().split()
    try:
        if not python.exists():
            run(sys.executable, "-m", "venv", venv)
        run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *wanted)
    except LinkError as error:
        print(f"note: no ziglang: {error}", file=sys.stderr)
        return None
    return [python, "-m", "ziglang", "c++"]


def archive_of(library):
    """The archive beside a shared library."""
    archive = pathlib.Path(str(library).split(".so")[0] + ".a")
    if not archive.exists():
        raise LinkError(f"{library}: no archive beside it")
    return archive


def without_unwinding(archive, work):
    """A copy without tables of stack frames, which only exceptions need; packed, they are a quarter
    of a megabyte of the program."""
    if archive.name not in PLAIN_C:
        return archive
    copy = work / "plain" / archive.name
    copy.parent.mkdir(exist_ok=True)
    run("objcopy", "-D", "-R", ".eh_frame", archive, copy)
    return copy


def link_words(build, target, objects):
    """The words of ninja's link of `target`, without compiler and output, with archives."""
    commands = run("ninja", "-C", build, "-t", "commands", target).splitlines()
    words = [word for word in shlex.split(commands[-1]) if word not in (":", "&&")]
    at = words.index("-o")
    del words[at:at + 2]
    out = []
    for word in words[1:]:
        name = pathlib.Path(word).name
        if word in ("-g1", "-O3", "-DNDEBUG") or word.startswith("-fuse-ld="):
            continue
        if word.startswith(("-Wl,-soname", "-Wl,--exclude")):
            continue
        if name.startswith("libsimdjson.so"):
            out.append(objects["simdjson"])
        elif name.startswith("libfmt.so"):
            out.append(objects["fmt"])
        elif name.startswith("libcrypto.so") and target == COLUMNS:
            out.append(objects["no_crypto"])
        elif ".so" in name and word.startswith("/"):
            if name.startswith("libsqlite3.so"):
                out.append(objects["no_search"])
            out.append(archive_of(word))
            if name.startswith("libbrotlidec"):
                out.append(archive_of(word.replace("dec", "common")))
        else:
            out.append(word)
    return out


def runtime():
    """The archives of the compiler's own runtime."""
    return [run("g++", f"-print-file-name={name}").strip()
            for name in ("libstdc++.a", "libgcc.a", "libgcc_eh.a")]


def link(build, target, out, work, zig):
    """Links `target` of the build tree at `build` to `out`. Returns the archives that are in it."""
    objects = helpers(work)
    words = link_words(build, target, objects)
    system = ["-ldl", "-lpthread", "-lm"]
    hide = ([f"-Wl,--version-script={HERE}/columns.map", "-Wl,-Bsymbolic"]
            if target == COLUMNS else [])
    common = ["-Wl,--gc-sections", "-Wl,-z,relro,-z,now,-z,noexecstack", *hide]
    by_gcc = ["g++", *words, *common, "-static-libstdc++", "-static-libgcc", *system]
    # GNU ld says which archives it took something of; it links the same objects either way.
    trace = run(*by_gcc, "-Wl,--trace,--trace", "-s", "-o", out, cwd=build)
    # "/a/libx.a(member.o)", or "(/a/libx.a)member.o".
    taken = {pathlib.Path(found.group(1)).resolve()
             for found in re.finditer(r"(?m)^\(?(/[^()\s]+\.a)[()]", trace)}
    if zig is not None:
        cache = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(work / "zig"),
                 "ZIG_LOCAL_CACHE_DIR": str(work / "zig")}
        small = [without_unwinding(word, work) if isinstance(word, pathlib.Path) else word
                 for word in words]
        run(*zig, "-target", f"x86_64-linux-gnu.{GLIBC}", "-nostdlib++", *small,
            objects["old_glibc"], *runtime(), *common, *system, "-s", "-o", out, cwd=build,
            env=cache)
    return sorted(taken)


def glibc_needed(program):
    """The newest version of the C library that a program's symbols ask for: (2, 28)."""
    symbols = run("objdump", "-T", program)
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", symbols)
    return max((int(major), int(minor)) for major, minor in versions)
