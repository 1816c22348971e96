// The Python that runs inside the jail.
//
// kHarness reads {code, name, seconds, inputs} from its standard input, runs the code for every
// input in one process, and prints one {ok, out} for each. What the code meets is what it meets in
// LiveCodeBench's runner: the imports before it, a program as the body of a function, a
// standard input that is an object with three methods, and functions that are taken away.
#pragma once

namespace assay::score {

inline constexpr const char* kHarness = R"PY(
import ast, builtins, io, json, os, shutil, signal, subprocess, sys, types
OUT_MAX = 64 << 20
job = json.load(sys.stdin)
NAME, INPUTS = job["name"], job["inputs"]
IMPORTS = """
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
"""

def is_main(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"

def source():
    if NAME is not None:
        return IMPORTS + job["code"]
    try:
        body = ast.parse(job["code"]).body
        if body and is_main(body[-1]):
            body[-1:] = body[-1].body
        kinds = (ast.Import, ast.ImportFrom)
        function = ast.FunctionDef(
            name="wrapped_function",
            args=ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]),
            body=[one for one in body if not isinstance(one, kinds)], decorator_list=[], lineno=-1)
        imports = [one for one in body if isinstance(one, kinds)]
        return IMPORTS + ast.unparse(imports) + "\n" + ast.unparse(function)
    except Exception:
        return job["code"]

def load():
    text = source()
    module = types.ModuleType("tmp_sol", "")
    exec(text, module.__dict__)
    owner = module.Solution() if "class Solution" in text else module
    return getattr(owner, NAME or "wrapped_function")

def number(value):  # a Fraction or a Decimal that equals a float
    if float(value) != value:
        raise ValueError
    return float(value)

def call(function, given):
    result = function(*given)
    result = list(result) if isinstance(result, tuple) else result
    said = json.dumps(result, default=number)
    # A tuple inside, or a key that is no text, equals no expected value there.
    if json.loads(said) != result:
        raise ValueError
    return said

class Bytes:
    def __init__(self, text):
        self.text = text.encode()

    def read(self, *_):
        return self.text

    def readline(self, *_):
        return self.text.split(b"\n")[0] + b"\n"

class Stdin:
    def __init__(self, text):
        self.buffer, self.rest = Bytes(text), io.StringIO(text)
        self.read = lambda *_: text
        self.readlines = lambda *_: text.split("\n")

    def __getattr__(self, name):
        return getattr(self.rest, name)

def talk(function, given):
    outside = sys.stdin, sys.stdout, builtins.open
    # What `from sys import stdin` has bound before has its methods replaced, in another way.
    lines = iter(given.split("\n"))
    bound = Stdin(given)
    bound.readline = lambda *_: next(lines)
    for name in ("read", "readline", "readlines"):
        setattr(sys.stdin, name, getattr(bound, name))
    sys.stdin, sys.stdout = Stdin(given), io.StringIO()
    said = sys.stdout
    said.close = lambda wanted: None  # a program that closes its output fails there
    builtins.open = lambda *_, **__: io.StringIO(given)
    try:
        function()
    except SystemExit:  # what was printed counts
        pass
    finally:
        sys.stdin, sys.stdout, builtins.open = outside
    return said.getvalue()

def take_away():
    os.environ["OMP_NUM_THREADS"] = "1"
    for name in ("kill system putenv remove removedirs rmdir fchdir setuid fork forkpty killpg "
                 "rename renames truncate replace unlink fchmod fchown chmod chown chroot lchflags "
                 "lchmod lchown getcwd chdir").split():
        setattr(os, name, None)
    shutil.rmtree = shutil.move = shutil.chown = subprocess.Popen = None
    builtins.quit = builtins.help = None
    for name in "ipdb joblib resource psutil tkinter".split():
        sys.modules[name] = None

def child(out):
    end = os._exit
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for here in (0, 1, 2):
            os.dup2(null, here)
        sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)
        take_away()
        function, act, inputs = load(), talk, INPUTS
        if NAME is not None:
            act = call
            inputs = [[json.loads(line) for line in given.split("\n")] for given in INPUTS]
        for given in inputs:
            out.write(json.dumps(act(function, given)[:OUT_MAX]) + "\n")
            out.flush()
    except BaseException:
        end(1)
    end(0)

def end_all(*_):
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass

into, out = os.pipe()
if os.fork() == 0:
    os.close(into)
    child(open(out, "w"))
os.close(out)
results = []
signal.signal(signal.SIGALRM, end_all)
with open(into, "rb") as lines:
    for _ in INPUTS:
        signal.setitimer(signal.ITIMER_REAL, job["seconds"])
        try:
            results.append({"ok": True, "out": str(json.loads(lines.readline()))})
        except ValueError:
            break
signal.setitimer(signal.ITIMER_REAL, 0)
end_all()
results += [{"ok": False, "out": ""}] * (len(INPUTS) - len(results))
print(json.dumps(results))
)PY";

// Standard input: base64 of zlib of a pickle of a text.
inline constexpr const char* kUnpack = R"PY(
import base64, pickle, sys, zlib
text = pickle.loads(zlib.decompress(base64.b64decode(sys.stdin.buffer.read())))
sys.stdout.write(text if isinstance(text, str) else text.decode())
)PY";

}  // namespace assay::score
