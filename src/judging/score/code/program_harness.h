// The Python program that judges an MBXP program in Python, in the jail. The tests run in one
// process and the reply in another, which is forked before the first has read the tests or the word
// that proves their end. Only plain data in JSON passes between them. So the reply cannot end the
// tests early, read them, replace what they call, or answer with an object that equals everything.
// A name that the tests use but do not define (a class of the reply's) is looked up in the reply.
//
// Standard input: {reply, tests, function, proof}. It prints `proof` when check() has returned.
#pragma once

namespace assay::score {

inline constexpr const char* kProgramHarness = R"PY(
import builtins, collections, datetime, decimal, fractions, importlib, json, os, sys

PLAIN = (type(None), bool, int, float, str)
ROWS = {list: "list", tuple: "tuple", set: "set", frozenset: "frozenset",
        collections.deque: "deque"}
MADE = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset,
        "deque": collections.deque}
SPELLED = {complex: "complex", decimal.Decimal: "decimal", fractions.Fraction: "fraction"}
READ = {"complex": complex, "decimal": decimal.Decimal, "fraction": fractions.Fraction,
        "bytes": bytes.fromhex, "bytearray": bytearray.fromhex,
        "date": datetime.date.fromisoformat, "datetime": datetime.datetime.fromisoformat}
if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)

class Peer:
    """One end of the pipes between the two processes."""
    def __init__(self, read, write):
        self.read, self.write = open(read, "r"), open(write, "w")
    def say(self, value):
        self.write.write(json.dumps(value) + "\n")
        self.write.flush()
    def hear(self):
        line = self.read.readline()
        if not line:
            raise RuntimeError("the reply has ended")
        return json.loads(line)

def pack(value, keep):
    """Plain data as it is; anything else stays where it is, and `keep` gives it a number."""
    kind = type(value)
    if kind in PLAIN:
        return value
    for base, name in ROWS.items():
        if isinstance(value, base):
            return {name: [pack(one, keep) for one in value]}
    if isinstance(value, dict):
        return {"dict": [[pack(k, keep), pack(v, keep)] for k, v in value.items()]}
    if isinstance(value, (bytes, bytearray)):
        return {"bytes" if isinstance(value, bytes) else "bytearray": value.hex()}
    if isinstance(value, range):
        return {"range": [value.start, value.stop, value.step]}
    if kind in SPELLED:
        return {SPELLED[kind]: str(value)}
    if isinstance(value, (int, float, str)):
        base = int if isinstance(value, int) else float if isinstance(value, float) else str
        return base.__new__(base, value)
    if kind in (datetime.date, datetime.datetime):
        return {kind.__name__: value.isoformat()}
    return keep(value)

def unpack(value, find):
    if not isinstance(value, dict):
        return value
    (name, inside), = value.items()
    if name in MADE:
        return MADE[name](unpack(one, find) for one in inside)
    if name == "dict":
        return {unpack(k, find): unpack(v, find) for k, v in inside}
    if name == "range":
        return range(*inside)
    return READ[name](inside) if name in READ else find(name, inside)

# ---- the process of the reply ----

def serve(peer):
    objects = []
    def keep(value):
        if type(value) is type(sys):
            return {"module": value.__name__}
        objects.append(value)
        return {"object": len(objects) - 1}
    def find(name, inside):
        return objects[inside]
    space = {"__name__": "reply"}
    def answer(what, of, given):
        if what == "run":
            exec(compile(given, "reply.py", "exec"), space)
            return [None]
        if what == "name":
            return [pack(space[given], keep)] if given in space else []
        value = objects[of]
        if what == "get":
            return [pack(getattr(value, given), keep)]
        if what == "call":
            args = [unpack(one, find) for one in given[0]]
            named = {name: unpack(one, find) for name, one in given[1]}
            result = value(*args, **named)
            return [pack(result, keep), [pack(one, keep) for one in args]]
        if what == "item":
            return [pack(value[unpack(given, find)], keep)]
        return [pack({"list": list, "len": len, "str": str}[what](value), keep)]
    while True:
        request = peer.hear()
        try:
            said = {"ok": answer(*request)}
        except Exception as error:
            said = {"error": [type(error).__name__, str(error)]}
        peer.say(said)

# ---- the process of the tests ----

class Remote:
    """A function or an object of the reply's."""
    def __init__(self, peer, number):
        object.__setattr__(self, "_peer", peer)
        object.__setattr__(self, "_number", number)
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return take(self._peer, "get", self._number, name)[0]
    def __call__(self, *args, **named):
        given = [[pack(one, number_of) for one in args],
                 [[name, pack(one, number_of)] for name, one in named.items()]]
        result, after = take(self._peer, "call", self._number, given)
        for old, new in zip(args, after):
            follow(old, new)
        return result
    def __getitem__(self, key):
        return take(self._peer, "item", self._number, pack(key, number_of))[0]
    def __iter__(self):
        return iter(take(self._peer, "list", self._number, None)[0])
    def __len__(self):
        return take(self._peer, "len", self._number, None)[0]
    def __str__(self):
        return take(self._peer, "str", self._number, None)[0]

def number_of(value):
    if isinstance(value, Remote):
        return {"object": value._number}
    raise TypeError("a test hands over what is not plain data: " + type(value).__name__)

def follow(old, new):
    """The reply changed in place what it was given."""
    if type(old) is not type(new) or old == new:
        return
    if isinstance(old, (list, bytearray)):
        old[:] = new
    elif isinstance(old, (dict, set)):
        old.clear()
        old.update(new)

def take(peer, what, of, given):
    def find(name, inside):
        if name == "object":
            return Remote(peer, inside)
        if name == "module":
            return importlib.import_module(inside)
        raise RuntimeError("the reply said what is not an answer")
    peer.say([what, of, given])
    said = peer.hear()
    if "error" in said:
        name, text = said["error"]
        kind = getattr(builtins, name, None)
        known = isinstance(kind, type) and issubclass(kind, Exception)
        raise (kind if known else RuntimeError)(text)
    return [unpack(one, find) if not isinstance(one, list) else [unpack(x, find) for x in one]
            for one in said["ok"]]

class Space(dict):
    """The names of the tests, then Python's own, then the reply's."""
    def __missing__(self, name):
        if hasattr(builtins, name):
            raise KeyError(name)
        found = take(self["__peer__"], "name", None, name)
        if not found:
            raise KeyError(name)
        return found[0]

def judge(peer):
    job = json.load(sys.stdin)
    take(peer, "run", None, job["reply"])
    space = Space({"__name__": "tests", "__peer__": peer})
    exec(compile(job["tests"], "tests.py", "exec"), space)
    exec(compile("check(" + job["function"] + ")", "tests.py", "exec"), space)
    os.write(1, ("\n" + job["proof"]).encode())

asked, answered = os.pipe(), os.pipe()
if os.fork() == 0:
    nothing = os.open(os.devnull, os.O_RDWR)
    for one in (0, 1, 2):
        os.dup2(nothing, one)
    os.close(asked[1])
    os.close(answered[0])
    serve(Peer(asked[0], answered[1]))
os.close(asked[0])
os.close(answered[1])
judge(Peer(answered[0], asked[1]))
)PY";

}  // namespace assay::score
