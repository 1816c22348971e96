#!/usr/bin/env python3
"""The LoadGen repository's own programs, unchanged, over our library and module.

    tools/loadgen_programs.py --inference DIR [--build build/release] [--python PYTHON]
                              [--stock] [PROGRAM...]

DIR is a checkout of mlcommons/inference. Its unit tests, performance tests and benchmark/repro.cpp
are compiled against our headers and linked with libassay_loadgen.so (target assay_loadgen_shared);
its demos and the performance test in Python import mlperf_loadgen from the build, and so do two
reference implementations, with stubs in place of their models: YOLO11's harness and the language
model Llama 3.1 8B. PYTHON fits the build's module and has absl-py, numpy and pandas. With --stock
they use the stock module of PYTHON instead, and the C++ programs the checkout's own sources; its
tests override Name() as const, which its own headers refuse, so that word is left out there.

It prints how each program ended, what its summary says and a digest of the answers that were
logged; the exit code is 1 when one failed.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HEADERS = pathlib.Path(__file__).resolve().parent.parent / "src/measuring"
TESTS = ["tests/basic.cc", "tests/loadgen_test_main.cc"]
# Name → sources of a C++ program, and its arguments.
COMPILED = {
    "basic": (TESTS, ["."]),
    "perftests": (["tests/perftests_null_sut.cc"], []),
    "repro": (["benchmark/repro.cpp"], ["10000"]),
    "repro_queue": (["benchmark/repro.cpp"], ["10000", "1", "4", "8"]),
    "repro_coalesce": (["benchmark/repro.cpp"], ["10000", "0", "4", "1", "1"]),
    "repro_threads": (["benchmark/repro.cpp"], ["10000", "0", "4", "1", "0", "4"]),
}
DEMOS = ["py_demo_single_stream", "py_demo_multi_stream", "py_demo_offline", "py_demo_server"]
SCRIPTS = {"perftests_python": "tests/perftests_null_sut.py",
           **{name: f"demos/{name}.py" for name in DEMOS},
           **{f"tokens_{name}": f"demos/token_metrics/{name}.py"
              for name in [*DEMOS, "py_demo_offline_inferred", "py_demo_server_inferred"]}}

# What stands in for the models of the reference implementations, as small modules.
STUBS = {
    "ultralytics": """
import numpy
class Cells(numpy.ndarray):
    def cpu(self): return self
    def numpy(self): return numpy.asarray(self)
def cells(rows): return numpy.array(rows, dtype="float32").view(Cells)
class Boxes:
    xyxy, conf, cls = cells([[1, 2, 30, 40], [5, 6, 7, 8]]), cells([.9, .5]), cells([0, 79])
    def __len__(self): return 2
class Found: orig_shape, boxes = (480, 640), Boxes()
class YOLO:
    def __init__(self, model): pass
    def predict(self, path, **how): return [Found()]
""",
    "vllm": """
import sys, types
class Words:
    def __init__(self, prompt): self.token_ids = [len(prompt) + i for i in range(9)]
class Output:
    def __init__(self, prompt): self.outputs = [Words(prompt)]
class LLM:
    def __init__(self, *model, **how): pass
    def generate(self, prompt_token_ids, sampling_params):
        return [Output(prompt) for prompt in prompt_token_ids]
class SamplingParams:
    def __init__(self, **how): pass
class AsyncEngineArgs(LLM): pass
class AsyncLLMEngine:
    @staticmethod
    def from_engine_args(args): return AsyncLLMEngine()
    async def generate(self, prompt, sampling_params, request_id):
        yield Output(prompt)
        yield Output(prompt)
sys.modules["vllm.inputs"] = types.SimpleNamespace(TokensPrompt=lambda prompt_token_ids:
                                                   prompt_token_ids)
""",
    "torch": """
import sys, types
cuda = types.SimpleNamespace(is_available=lambda: True)
for name in ("nn", "nn.functional", "utils", "utils.data"):
    sys.modules["torch." + name] = types.SimpleNamespace(pad=None, DataLoader=None)
""",
    "datasets": "load_dataset = load_from_disk = None\n",
    "transformers": "AutoModelForCausalLM = AutoTokenizer = None\n",
    "tqdm": "", "requests": "",
}
SHORT = "".join(f"*.{scenario}.{line}\n" for scenario in (
    "SingleStream", "MultiStream", "Server", "Offline") for line in (
        "min_duration = 500", "min_query_count = 100", "target_qps = 100", "target_latency = 5"))
YOLO = "vision/classification_and_detection/yolo/yolo_loadgen.py"
LLAMA = "language/llama3.1-8b/main.py"
# Name → its file and its arguments. YOLO11's own test lasts ten minutes, whatever its settings say.
HARNESSES = {
    **{f"yolo_{scenario}": (YOLO, [
        "--model", "m", "--dataset-path", ".", "--annotation-file", "coco.json", "--output", ".",
        "--AccuracyOnly", "--scenario", scenario, "--user_conf", "user.conf"])
       for scenario in ("SingleStream", "MultiStream", "Offline")},
    **{f"llama_{scenario}_{mode or 'performance'}": (LLAMA, [
        "--vllm", "--scenario", scenario, "--dataset-path", "rows.json", "--user-conf", "user.conf",
        "--output-log-dir", ".", *([f"--{mode}"] if mode else [])])
       for scenario in ("Offline", "Server", "SingleStream") for mode in ("", "accuracy")},
}


def harness(name, options, work, env):
    """The command of a reference implementation; its inputs stand in `work`."""
    source, arguments = HARNESSES[name]
    source = (options.inference / source).resolve()
    stubs = work.parent / "stubs"
    stubs.mkdir()
    for module, text in STUBS.items():
        (stubs / f"{module}.py").write_text(text)
    env["PYTHONPATH"] = ":".join([str(stubs), str(source.parent), env.get("PYTHONPATH", "")])
    (work / "user.conf").write_text(SHORT)
    pictures = [{"id": 100 + i, "file_name": f"{i}.jpg"} for i in range(70)]
    (work / "coco.json").write_text(json.dumps({"images": pictures}))
    for picture in pictures:
        (work / picture["file_name"]).touch()
    (work / "rows.json").write_text(json.dumps([
        {"input": f"text {i}", "tok_input": list(range(i + 1)), "output": "o"} for i in range(50)]))
    return [options.python, "-B", str(source), *arguments]


def compiled(name, options, folder):
    """The program's command. Its includes begin with "../", so it stands beside the headers."""
    loadgen = options.inference / "loadgen"
    sources, arguments = COMPILED[name]
    tree = folder / "tree"
    for source in [*sources, "tests/loadgen_test.h"]:
        (tree / source).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(loadgen / source, tree / source)
    headers = loadgen if options.stock else HEADERS / "sut/mlperf"
    for header in headers.glob("*.h"):
        shutil.copy(header, tree / header.name)
    if options.stock:
        subprocess.run([sys.executable, loadgen / "version_generator.py", folder / "version.cc",
                        loadgen], check=True, stdout=subprocess.DEVNULL)
        conf = (loadgen / "mlperf.conf").read_text(encoding="utf-8")
        (tree / "mlperf_conf.h").write_text(f'const char* mlperf_conf = R"###({conf})###";\n')
        for source in sources:
            text = (tree / source).read_text(encoding="utf-8")
            (tree / source).write_text(text.replace("Name() const override", "Name() override"))
        libraries = [*map(str, loadgen.glob("*.cc")), str(folder / "version.cc")]
    else:
        libraries = [str(options.build / "libassay_loadgen.so"),
                     f"-Wl,-rpath,{options.build.resolve()}"]
    program = folder / name
    done = subprocess.run(
        ["g++", "-std=c++17", "-O2", "-w", f"-I{tree}", f"-I{HEADERS}",
         *[str(tree / source) for source in sources], *libraries, "-o", str(program), "-pthread"],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        faults = [line for line in done.stderr.splitlines() if "error:" in line]
        raise RuntimeError(f"does not compile: {len(faults)} errors, {faults[0][-160:]}")
    return [program, *arguments]


def command_of(name, options, work, env):
    if name in COMPILED:
        return compiled(name, options, work.parent)
    if name in HARNESSES:
        return harness(name, options, work, env)
    return [options.python, "-B", str((options.inference / "loadgen" / SCRIPTS[name]).resolve())]


def run(name, options):
    with tempfile.TemporaryDirectory() as at:
        folder = pathlib.Path(at)
        env = dict(os.environ)
        if not options.stock:
            env["PYTHONPATH"] = str((options.build / "python").resolve())
        work = folder / "work"
        (work / "build").mkdir(parents=True)  # where repro writes
        try:
            command = command_of(name, options, work, env)
            begin = time.monotonic()
            done = subprocess.run(command, cwd=work, env=env, capture_output=True, text=True,
                                  timeout=600, check=False)
        except (RuntimeError, subprocess.TimeoutExpired) as fault:
            print(f"{name}: FAILED, {fault}")
            return False
        said = []
        for summary in sorted(work.rglob("*summary.txt")):
            text = summary.read_text(encoding="utf-8")
            verdict = re.search(r"Result is : (\w+)", text)
            errors = re.search(r"^(No|\d+) errors? ", text, re.MULTILINE)
            said.append(f"{verdict[1] if verdict else 'no verdict'}, "
                        f"{errors[1] if errors else '?'} errors")
        for answers in sorted(work.rglob("*accuracy.json")):
            if len(logged := answers.read_bytes()) > len("[\n]\n"):
                said.append(f"answers {hashlib.sha256(logged).hexdigest()[:12]}")
        print(f"{name}: exit code {done.returncode}, {time.monotonic() - begin:.0f} s; "
              f"{'; '.join(said)}", flush=True)
        if done.returncode != 0:
            print("  " + "\n  ".join((done.stdout + done.stderr).splitlines()[-12:]))
        return done.returncode == 0 and bool(said)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inference", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--stock", action="store_true")
    parser.add_argument("programs", nargs="*", choices=[[], *COMPILED, *SCRIPTS, *HARNESSES],
                        help="by name; none: all")
    options = parser.parse_args()
    good = [run(name, options) for name in options.programs or [*COMPILED, *SCRIPTS, *HARNESSES]]
    print(f"{sum(good)} of {len(good)} ran")
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
