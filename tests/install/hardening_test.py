"""What the installed program is hardened by, as readelf and nm see it:

    hardening_test.py PROGRAM BUILD_TYPE COMPILER

First the look itself is tried, on programs made with each of the things left out."""

import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

SOURCE = """
#include <cstdio>
#include <cstring>
#include <string>
int main(int argc, char** argv) {
  char copy[16];
  std::memcpy(copy, argv[0], argc > 20 ? 16 : static_cast<unsigned>(argc));
  char text[64];
  std::snprintf(text, static_cast<unsigned>(argc) * 8U, "%s", argv[0]);
  std::puts(text);
  return copy[0];
}
"""
GOOD = ["-O2", "-fPIE", "-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2",
        "-pie", "-Wl,-z,relro,-z,now,-z,noexecstack"]
# What is given instead of one of them, and the fault that must be found.
WORSE = [("-fstack-protector-strong", "-fno-stack-protector", "no stack protector"),
         ("-D_FORTIFY_SOURCE=2", "-D_FORTIFY_SOURCE=0", "not fortified"),
         ("-Wl,-z,relro,-z,now,-z,noexecstack", "-Wl,-z,relro,-z,lazy,-z,noexecstack",
          "symbols are bound late"),
         ("-Wl,-z,relro,-z,now,-z,noexecstack", "-Wl,-z,norelro,-z,now,-z,noexecstack",
          "no RELRO"),
         ("-Wl,-z,relro,-z,now,-z,noexecstack", "-Wl,-z,relro,-z,now,-z,execstack",
          "the stack is executable"),
         ("-pie", "-no-pie", "no PIE")]


def said(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          errors="replace", check=False)
    return done.stdout + done.stderr


def faults_of(program):
    dynamic = said("readelf", "-dW", program)
    segments = said("readelf", "-lW", program)
    imported = said("nm", "-D", "--undefined-only", program)
    out = []
    if not re.search(r"FLAGS.*\b(BIND_)?NOW\b", dynamic):
        out.append("symbols are bound late")
    if "GNU_RELRO" not in segments:
        out.append("no RELRO")
    if re.search(r"GNU_STACK.*\bRWE\b", segments) or "GNU_STACK" not in segments:
        out.append("the stack is executable")
    if not re.search(r"Type:\s+DYN", said("readelf", "-hW", program)):
        out.append("no PIE")
    if "__stack_chk_fail" not in imported:
        out.append("no stack protector")
    if not re.search(r" __(?!stack)\w+_chk\b", imported):
        out.append("not fortified")
    return out


def symbol_faults(program):
    out = []
    if "no symbols" not in said("nm", program):
        out.append("not stripped")
    link = re.search(r"\]\s+(\S+\.debug)", said("readelf", "--string-dump=.gnu_debuglink", program))
    if not link:
        return out + ["no link to its symbols"]
    symbols = program.parent / ".debug" / link.group(1)
    if not symbols.exists():
        return out + [f"{symbols} is not there"]
    # The link ends with the symbol file's CRC-32: by it a debugger knows that they belong together.
    dump = said("readelf", "--hex-dump=.gnu_debuglink", program)
    words = "".join(re.findall(r"^  0x\w+ ((?:[0-9a-f]+ )+)", dump, re.M)).replace(" ", "")
    if words[-8:] != zlib.crc32(symbols.read_bytes()).to_bytes(4, "little").hex():
        out.append("its symbols are another program's")
    if " main\n" not in said("nm", symbols):
        out.append("its symbols are not in their file")
    return out


def try_the_look(compiler):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "a.cc"
        source.write_text(SOURCE)
        program = pathlib.Path(folder) / "a"

        def build(flags):
            subprocess.run([compiler, *flags, "-w", "-o", program, source], check=True)
            return faults_of(program)

        assert build(GOOD) == [], "a hardened program has no fault"
        for flag, worse, fault in WORSE:
            found = build([worse if one == flag else one for one in GOOD])
            assert fault in found, f"{worse}: {found}"
        assert "not stripped" in symbol_faults(program)


def main():
    program = pathlib.Path(sys.argv[1])
    try_the_look(sys.argv[3])
    # Builds without optimisation are installed by nobody but this test.
    faults = (faults_of(program) if sys.argv[2] == "Release" else []) + symbol_faults(program)
    for fault in faults:
        print(f"{program}: {fault}")
    print(f"hardening: {len(WORSE) + 1} looks tried, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
