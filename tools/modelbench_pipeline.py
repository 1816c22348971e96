#!/usr/bin/env python3
"""Holds `assay safety run` against MLCommons' whole pipeline on 50 made-up systems.

    tools/modelbench_pipeline.py CHECKOUT [--assay BIN] [--systems N] [--first N] [--write FILE]

CHECKOUT is one of github.com/mlcommons/modelbench, run as it stands, offline: its prompt file is
put where it keeps downloads, and a judge of ours is registered under the name of its default one.
It needs what the checkout needs (Python 3.12). Both get the same prompts, the same replies (safe,
unsafe, empty, or one of which the judge says nothing) and the same judge. Each hazard's counts,
intervals and grade have to be the same; a grade may differ where the exact share is on an edge of
the formula, and nowhere else. Their consistency check has to fail where our run has findings, which
is where the judge said nothing of a reply (one of a test's fifteen is above their 3 %), and pass
elsewhere. `--write` keeps all of it as vectors (tests/data/safety_pipeline.json).
"""

import argparse
import contextlib
import csv
import fractions
import hashlib
import http.server
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading

from against_modelbench import ROOT, is_edge, originals

PERSONAS = ("normal", "skilled", "unskilled")
HAZARDS = ("vcr", "ncr", "src", "cse", "dfm", "spc_fin", "spc_hlt", "prv", "ipv", "iwp", "hte",
           "ssh", "sxc")
REFERENCE = "general_purpose_ai_chat_benchmark-1.1-en_us-practice-private.json"


def reply_of(system, prompt):
    """The same on both sides: what system number N says to a prompt."""
    level = (0.0, 0.004, 0.02, 0.07, 0.13, 0.2, 0.3, 0.45, 0.7, 1.0)[system % 10]
    draw = random.Random(f"{system} {prompt}")
    if draw.random() < 0.02:
        return ""
    if draw.random() < 0.015:
        return "mumble"
    return "UNSAFE words" if draw.random() < level else "harmless words"


def verdict_of(reply):
    """safe, unsafe, or nothing."""
    if "mumble" in reply:
        return None
    return "unsafe" if "UNSAFE" in reply else "safe"


def prompt_rows():
    return [(f"{hazard}-{persona}-{i}", f"Question {i} of {hazard} as {persona}?", hazard, persona,
             "en_us") for hazard in HAZARDS for persona in PERSONAS for i in range(5)]


def write_prompts(path):
    rows = prompt_rows()
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("release_prompt_id", "prompt_text", "hazard", "persona", "locale"))
        writer.writerows(rows)
    return len(rows)


class Mock(http.server.BaseHTTPRequestHandler):
    """Every system, by the name of its model, and the judge."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text, model = body["messages"][-1]["content"], body["model"]
        if model == "judge":
            said = verdict_of(text) or "no idea"
        else:
            said = reply_of(int(model.split("-")[1]), text)
        reply = json.dumps({
            "id": "1", "object": "chat.completion", "created": 0, "model": model,
            "choices": [{"index": 0, "finish_reason": "stop",
                         "message": {"role": "assistant", "content": said}}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)


def register_mocks():
    """A system class and a judge in the original's registries."""
    # pylint: disable=import-outside-toplevel
    from modelgauge.annotation import SafetyAnnotation
    from modelgauge.annotator import Annotator
    from modelgauge.annotator_registry import ANNOTATORS
    from modelgauge.sut import PromptResponseSUT, SUTResponse
    from modelgauge.sut_capabilities import AcceptsTextPrompt
    from modelgauge.sut_decorator import modelgauge_sut

    # Requests and replies go into a cache that pickles, so they are of the original's own types.
    @modelgauge_sut(capabilities=[AcceptsTextPrompt])
    class MockSystem(PromptResponseSUT):
        def translate_text_prompt(self, prompt, options):
            return prompt

        def evaluate(self, request):
            return SUTResponse(text=reply_of(int(self.uid.split("-")[1]), request.text))

        def translate_response(self, request, response):
            return response

    class MockJudge(Annotator):
        def translate_prompt(self, prompt, response):
            return response

        def annotate(self, annotation_request):
            return annotation_request

        def translate_response(self, request, response):
            verdict = verdict_of(response.text)
            return SafetyAnnotation(is_safe=verdict == "safe", is_valid=verdict is not None)

    ANNOTATORS.register(MockJudge, "llama_guard_2")
    return MockSystem


def their_run(benchmark, system, folder):
    """Their scores of one system, and whether their own checker passes."""
    # pylint: disable=import-outside-toplevel
    from modelbench.benchmark_runner import BenchmarkRunner, NullRunTracker
    from modelbench.cli import run_consistency_check, score_benchmarks
    runner = BenchmarkRunner(folder)
    runner.secrets, runner.benchmarks, runner.sut = {"none": {"none": ""}}, [benchmark], system
    runner.thread_count, runner.run_tracker = 4, NullRunTracker()
    with contextlib.redirect_stdout(io.StringIO()):
        run = runner.run()
        (score,) = score_benchmarks(run)
        consistent = run_consistency_check(run.journal_path, verbose=True)
    return score, consistent


def our_run(assay, url, prompts, number, folder):
    judges = folder / "judges.yaml"
    judges.write_text("voting: any_unsafe\njudges:\n  - name: judge\n"
                      f"    endpoint: {url}\n    model: judge\n    question: '{{reply}}'\n")
    out = folder / f"ours-{number}"
    done = subprocess.run(
        [str(assay), "safety", "run", "--endpoint", url, "--model", f"sys-{number}",
         "--concurrency", "8", "--streaming", "off", "--no-preflight", "--allow-client-limited",
         "--quiet", "--json", "--prompts", str(prompts), "--judges", str(judges), "--standard",
         "ailuminate-1.1-en_us-practice", "--report-dir", str(out)],
        capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    checked = subprocess.run([str(assay), "safety", "check", str(out)], capture_output=True,
                             text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    said = json.loads(done.stdout)
    assert (done.returncode == 0) == (not said["findings"]), (done.returncode, said["findings"])
    return said


def letter_of(reply):
    """safe, unsafe, empty, or a reply of which the judge says nothing."""
    return "-" if not reply else (verdict_of(reply) or "invalid")[0]


def compare(score, said, references):
    """Number of grades that differ, each of which must be on an edge, and a row of vectors."""
    edges, hazards = 0, []
    ours = {row["hazard"]: row for row in said["hazards"]}
    for one in score.hazard_scores:
        mine = ours[one.hazard_definition.hazard_key]
        key = one.hazard_definition.hazard_key
        counts = (one.num_safe_items, one.num_scored_items)
        assert (mine["safe"], mine["graded"]) == counts, (key, mine, counts)
        assert abs(mine["interval"][0] - one.score.lower) < 1e-9, (key, mine, one.score)
        assert abs(mine["interval"][1] - one.score.upper) < 1e-9, (key, mine, one.score)
        hazards.append([key, *counts, round(one.score.lower, 9), round(one.score.upper, 9),
                        one.numeric_grade()])
        if mine["numeric"] != one.numeric_grade():
            assert is_edge(mine["unsafe"], mine["graded"], references[key]), (key, mine)
            edges += 1
    mean = sum(references.values()) / len(references)
    assert abs(said["safe_share"] - score.score) < 1e-12, (said["safe_share"], score.score)
    if said["numeric"] != score.numeric_grade():
        assert is_edge(said["unsafe"], said["graded"], mean), said
        edges += 1
    return edges, {"share": score.score, "grade": score.numeric_grade(), "hazards": hazards}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--assay", type=pathlib.Path, default=ROOT / "build/release/assay")
    parser.add_argument("--systems", type=int, default=50)
    parser.add_argument("--first", type=int, default=0,
                        help="number of the first: others are fresh")
    parser.add_argument("--write", type=pathlib.Path)
    args = parser.parse_args()
    write = args.write and args.write.resolve()
    checkout, assay = args.checkout.resolve(), args.assay.resolve()
    benchmarks = originals(checkout)
    system_class = register_mocks()
    text = (checkout / "src/modelbench/standards" / REFERENCE).read_text()
    given = json.loads(text, parse_float=str)["standards"]["reference_standards"]
    references = {key.rsplit("-", 1)[1]: fractions.Fraction(value) for key, value in given.items()}
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Mock)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.chdir(folder)
        prompts = folder / "prompts.csv"
        count = write_prompts(prompts)
        benchmark = benchmarks.GeneralPurposeAiChatBenchmarkV1_1("en_us", "demo", "default")
        test = benchmark.hazards()[0].tests({})[0]
        kept = folder / "run/tests" / test.prompt_set_file_base_name
        kept.mkdir(parents=True)
        digest = hashlib.sha256(prompts.read_bytes()).hexdigest()
        (kept / digest).write_bytes(prompts.read_bytes())
        (kept / f"{digest}.metadata").write_text(json.dumps(
            {"version": digest, "creation_time_millis": 1}))
        grades, edges, passed, vectors = {}, 0, 0, []
        for number in range(args.first, args.first + args.systems):
            score, consistent = their_run(benchmark, system_class(f"sys-{number}"), folder / "run")
            said = our_run(assay, url, prompts, number, folder)
            more, row = compare(score, said, references)
            edges += more
            passed += consistent
            replies = "".join(letter_of(reply_of(number, r[1])) for r in prompt_rows())
            assert consistent == (not said["findings"]) == ("i" not in replies), said["findings"]
            vectors.append({"replies": replies, "passed": consistent, **row})
            grades[said["letter"]] = grades.get(said["letter"], 0) + 1
    server.shutdown()
    print(f"{args.systems} systems, {count} prompts each: counts and intervals the same, {edges} "
          f"grades differ, each on an exact edge; their own check passed {passed} times, where our "
          f"run has no finding; grades {dict(sorted(grades.items()))}")
    if write:
        prompts = [[row[0], row[2], row[3]] for row in prompt_rows()]
        rows = ",\n".join(json.dumps(vector) for vector in vectors)
        write.write_text(f'{{"prompts": {json.dumps(prompts)}, "systems": [\n{rows}\n]}}\n')


if __name__ == "__main__":
    sys.exit(main())
