// The Python that runs inside the jail.
//
// kHarness reads {code, name, seconds, inputs} from its standard input, gives every input to a fork
// of itself that runs the code, and prints one {ok, out} for each. The imports are those that
// LiveCodeBench puts before every reply. A test's remaining processes end with it.
#pragma once

namespace assay::score {

inline constexpr const char* kHarness = R"PY(
import json, os, resource, signal, sys
OUT_MAX = 64 << 20
job = json.load(sys.stdin)
sys.set_int_max_str_digits(50000) if hasattr(sys, "set_int_max_str_digits") else None
space = {"__name__": "__main__"}
exec("""
from string import *
from re import *
from datetime import *
from collections import *
from heapq import *
from bisect import *
from copy import *
from math import *
from random import *
from statistics import *
from itertools import *
from functools import *
from operator import *
from io import *
from sys import *
from json import *
from builtins import *
from typing import *
import string, re, datetime, collections, heapq, bisect, copy, math, random, statistics
import itertools, functools, operator, io, sys, json
sys.setrecursionlimit(50000)
""", space)
try:
    program = compile(job["code"], "reply.py", "exec")
except Exception:
    print(json.dumps([{"ok": False, "out": ""}] * len(job["inputs"])))
    sys.exit()

def act(given):
    if job["name"] is None:
        exec(program, space)
        return
    space["__name__"] = "reply"
    exec(program, space)
    owner = space["Solution"]() if "Solution" in space else None
    function = getattr(owner, job["name"]) if owner is not None else space[job["name"]]
    given = [json.loads(line) for line in given.split("\n") if line.strip()]
    sys.stdout = open(os.devnull, "w")
    result = function(*given)
    result = list(result) if isinstance(result, tuple) else result
    said = json.dumps(result)
    # A tuple inside, or a key that is no text, equals no expected value there.
    if json.loads(said) != result:
        raise ValueError
    os.write(1, said.encode())

def child(given, out):
    code = 1
    try:
        with open("stdin", "w", newline="") as file:
            file.write(given)
        os.dup2(os.open("stdin", os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)
        cpu = int(job["seconds"]) + 2
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
        act(given)
        code = 0
    except SystemExit:  # with whatever code, as there: what was printed counts
        code = 0
    except BaseException:
        code = 1
    try:
        sys.stdout.flush()
    except BaseException:
        code = 1
    os._exit(code)

def remove(name):
    try:
        os.remove(name)
    except FileNotFoundError:
        pass

results = []
for given in job["inputs"]:
    remove("stdin")
    remove("stdout")
    # Held open here, so that what the code does to the name changes nothing.
    out = os.open("stdout", os.O_RDWR | os.O_CREAT | os.O_EXCL)
    pid = os.fork()
    if pid == 0:
        child(given, out)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, job["seconds"])
    status = os.waitpid(pid, 0)[1]
    signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass
    os.lseek(out, 0, 0)
    text = ""
    if status == 0:
        with open(out, "rb", closefd=False) as file:
            text = file.read(OUT_MAX).decode(errors="replace")
    os.close(out)
    results.append({"ok": status == 0, "out": text})
    if status != 0:
        break
results += [{"ok": False, "out": ""}] * (len(job["inputs"]) - len(results))
print(json.dumps(results))
)PY";

// Standard input: base64 of zlib of a pickle of a text.
inline constexpr const char* kUnpack = R"PY(
import base64, pickle, sys, zlib
text = pickle.loads(zlib.decompress(base64.b64decode(sys.stdin.buffer.read())))
sys.stdout.write(text if isinstance(text, str) else text.decode())
)PY";

}  // namespace assay::score
