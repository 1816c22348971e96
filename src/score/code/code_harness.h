// The Python that runs inside the sandbox: it takes {code, name, seconds, inputs} on its standard
// input, gives every input to a fork of itself that runs the code, and prints one {ok, out} for
// each. The imports are those that LiveCodeBench puts before every reply.
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
    result = json.dumps(function(*given))
    os.write(1, result.encode())

def child(given):
    code = 1
    try:
        read = os.memfd_create("given")
        os.write(read, given.encode())
        os.lseek(read, 0, 0)
        os.dup2(read, 0)
        out = os.open("out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)
        cpu = int(job["seconds"]) + 2
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        act(given)
        code = 0
    except SystemExit as end:
        code = 0 if end.code in (None, 0) else 1
    except BaseException:
        code = 1
    try:
        sys.stdout.flush()
    except BaseException:
        code = 1
    os._exit(code)

results = []
for given in job["inputs"]:
    pid = os.fork()
    if pid == 0:
        child(given)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, job["seconds"])
    status = os.waitpid(pid, 0)[1]
    signal.setitimer(signal.ITIMER_REAL, 0)
    text = ""
    if status == 0 and os.path.exists("out"):
        with open("out", "rb") as file:
            text = file.read(OUT_MAX).decode(errors="replace")
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
