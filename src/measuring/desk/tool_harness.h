// The Python program that runs an agent's recorded tool calls in the jail, as MLPerf Client runs
// them: the tools read, write, patch and execute, on a copy of its folder tools_sandbox, each timed
// alone. The first call that fails ends its turn. A shell command of a system without `python`
// finds python3 under that name.
//
// Standard input: a line of JSON {files: [[name, bytes]], turns: [[{name, input}]]}, then the bytes
// of the files, in that order. Standard output: JSON, for each turn [{name, ok, seconds, said}].
#pragma once

namespace assay::desk {

inline constexpr const char* kToolHarness = R"PY(
import json, os, shutil, subprocess, sys, time

HERE = os.getcwd()
BOX = os.path.join(HERE, "tools_sandbox")
SHIM = "" if shutil.which("python") else 'python() { python3 "$@"; }\n'

def inside(path):
    full = os.path.realpath(os.path.join(BOX, path))
    if os.path.commonpath([full, BOX]) != BOX:
        raise OSError(path + " is not in tools_sandbox")
    return full

def shell(command, folder):
    done = subprocess.run(["sh", "-c", SHIM + 'cd "' + folder + '" && ' + command + " 2>&1"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode == 0, done.stdout.decode(errors="replace")

def read(path):
    with open(inside(path), "rb") as file:
        return True, file.read().decode(errors="replace")

def write(path, content):
    full = inside(path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as file:
        file.write(content.encode())
    return True, ""

def patch(path, diff):
    full = os.path.splitext(inside(path))[0] + ".diff"
    with open(full, "wb") as file:
        file.write(diff.encode())
    done = shell('patch -p0 < "' + full + '"', HERE)
    os.remove(full)
    return done

def execute(command, cwd=HERE):
    return shell(command, cwd)

TOOLS = {"read": read, "write": write, "patch": patch, "execute": execute}

def turn(calls):
    out = []
    for call in calls:
        begin = time.monotonic_ns()
        try:
            ok, said = TOOLS[call["name"]](**call["input"])
        except (OSError, ValueError) as error:
            ok, said = False, str(error)
        seconds = (time.monotonic_ns() - begin) / 1e9
        out.append({"name": call["name"], "ok": ok, "seconds": seconds, "said": said[-500:]})
        if not ok:
            break
    return out

job = json.loads(sys.stdin.buffer.readline())
os.mkdir(BOX)
for name, size in job["files"]:
    full = os.path.join(BOX, name)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as file:
        file.write(sys.stdin.buffer.read(size))
print(json.dumps([turn(calls) for calls in job["turns"]]))
)PY";

}  // namespace assay::desk
