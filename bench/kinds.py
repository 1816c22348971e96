#!/usr/bin/env python3
"""How far each kind of API is from the truth: client minus the built-in endpoint's truth log.

    bench/kinds.py [--build build/release] [--seconds 3] [--streams 1,100,1000] [--only KIND]
                   [--json]

Each kind is asked at each number of streams, on the client's core, of an endpoint on the server's:
50 tokens, the first after 20 ms and each later one after 20 ms more; where a reply is one whole, it
is there after 200 ms. Printed are two tables for docs/guide/kinds.md, in microseconds, P50 / P99.
The exit code is 1 where a reply has no match in the log, or an arrival is earlier than its truth.
"""

import argparse
import contextlib
import json
import math
import pathlib
import signal
import struct
import sys
import tempfile
import wave

from machine import ROOT, on_client_core, prepare, server

SPOKEN = ["--extra-body", '{"output_modalities":["audio"]}']
WRITTEN = ["--extra-body", '{"output_modalities":["text"]}']
# Name in the table: flags of the run, the data set. What is left out has prompts of 40 tokens.
STREAMED = {
    "openai": (["--api-type", "openai"], None),
    "openai, `--http 2`": (["--api-type", "openai", "--http", "2"], None),
    "openai_completions": (["--api-type", "openai_completions"], None),
    "sglang": (["--api-type", "sglang"], None),
    "openai_responses": (["--api-type", "openai_responses"], None),
    "anthropic_messages": (["--api-type", "anthropic_messages"], None),
    "ollama_chat": (["--api-type", "ollama_chat"], None),
    "ollama_generate": (["--api-type", "ollama_generate"], None),
    "openai_transcriptions": (["--api-type", "openai_transcriptions"], "sounds.jsonl"),
    "openai_translations": (["--api-type", "openai_translations"], "sounds.jsonl"),
    "openai_speech": (["--api-type", "openai_speech"], None),
    "realtime, text": (["--api-type", "realtime", *WRITTEN], None),
    "realtime, sound": (["--api-type", "realtime", *SPOKEN], None),
    "of a kind file": (["--kind", "kind.yaml"], None),
}
WHOLE = {
    "openai, `--streaming off`": (["--api-type", "openai", "--streaming", "off"], None),
    "openai_embeddings": (["--api-type", "openai_embeddings"], None),
    "rerank": (["--api-type", "rerank"], "documents.jsonl"),
    "score": (["--api-type", "score"], "documents.jsonl"),
    "classify": (["--api-type", "classify"], None),
    "openai_images": (["--api-type", "openai_images"], None),
    "openai_image_edits": (["--api-type", "openai_image_edits"], "edits.jsonl"),
    "videogen": (["--api-type", "videogen"], None),
    "kserve": (["--api-type", "kserve"], "x.npy"),
    "kserve_json": (["--api-type", "kserve_json"], "x.npy"),
    "kserve, `--http 2`": (["--api-type", "kserve", "--http", "2"], "x.npy"),
    "kserve_grpc": (["--api-type", "kserve_grpc"], "x.npy"),
    "openai_videos, `--poll-interval 100ms --no-fetch`": (
        ["--api-type", "openai_videos", "--poll-interval", "100ms", "--no-fetch"], None),
}
PIXEL = ("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9Q"
         "DwADhgGAWjR9awAAAABJRU5ErkJggg==")
KIND = """kind: tell
route: /tell
request: {words: "{prompt}", live: "{stream}", most: "{output_tokens_max}"}
stream: sse
reply: {text: piece, finish: why, usage: {prompt_tokens: bill.heard, output_tokens: bill.said}}
"""


def write_inputs(folder):
    """Data sets for the kinds that need one of their own, and a kind file."""
    (folder / "kind.yaml").write_text(KIND)
    rows = [{"prompt": f"question {i}", "documents": ["an answer", "another"]} for i in range(50)]
    (folder / "documents.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "edits.jsonl").write_text(json.dumps({"prompt": "a hat", "image": PIXEL}) + "\n")
    with wave.open(str(folder / "tone.wav"), "wb") as tone:
        tone.setnchannels(1)
        tone.setsampwidth(2)
        tone.setframerate(16000)
        tone.writeframes(b"".join(struct.pack("<h", int(9000 * math.sin(0.1 * at)))
                                  for at in range(1600)))
    (folder / "sounds.jsonl").write_text('{"audio": "tone.wav"}\n')
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (50, 16), }".ljust(117) + "\n"
    (folder / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little")
                                   + head.encode() + bytes(4 * 50 * 16))


def measure(assay, work, flags, dataset, served, options):
    """{streams: the errors of `assay report --truth`} of one kind."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=work))
    truth = folder / "truth.log"
    flags = [str(work / flag) if flag.endswith(".yaml") else flag for flag in flags]
    kind = flags[flags.index("--kind"):][:2] if "--kind" in flags else []
    with server([assay, "endpoint", "--port", "0", "--quiet", "--truth-log", truth, *served,
                 *kind]) as (process, port):
        for streams in options.streams:
            load = ["--dataset", work / dataset] if dataset else ["--isl", 40, "--osl", 50]
            on_client_core(assay, "run", "--endpoint", f"http://127.0.0.1:{port}", "--model", "m",
                           *flags, *load, "--concurrency", streams, "--duration",
                           f"{options.seconds}s", "--report-dir", folder / f"run{streams}",
                           "--quiet", "--allow-client-limited")
        process.send_signal(signal.SIGINT)  # it ends its log
        process.wait()
    return {streams: json.loads(on_client_core(assay, "report", folder / f"run{streams}",
                                               "--truth", truth, "--json"))
            for streams in options.streams}


def cell(errors, name):
    figures = errors[name]
    if not figures["count"]:
        return "–"

    def text(ns):
        micros = round(ns / 1000, 1 if abs(ns) < 100_000 else None)
        return f"{micros:+,}" if micros else "0.0"

    return f"{text(figures['p50'])} / {text(figures['p99'])}"


def table(rows, options, names):
    """Markdown: a row a kind; for each number of streams the replies and a cell of each name."""
    head = ["Kind"] + [f"{title}, {streams:,}" for streams in options.streams
                       for title in ("Replies", *names.values())]
    print("| " + " | ".join(head) + " |")
    print("|---|" + "---:|" * (len(head) - 1))
    for kind, levels in rows.items():
        first, *rest = kind.split(",", 1)
        cells = [f"`{first}`" + "".join("," + part for part in rest) if "file" not in kind
                 else kind]
        for errors in levels.values():
            cells += [f"{errors['replies']:,}", *(cell(errors, name) for name in names)]
        print("| " + " | ".join(cells) + " |")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--streams", default="1,100,1000",
                        type=lambda text: [int(one) for one in text.split(",")])
    parser.add_argument("--only", help="kinds whose name in the table begins so")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    prepare()
    assay = options.build / "assay"
    wrong, told = [], {}
    with contextlib.ExitStack() as stack:
        work = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        write_inputs(work)
        for name, kinds, served in (
                ("streamed", STREAMED, ["--osl", 50, "--ttft", "20ms", "--itl", "20ms"]),
                ("whole", WHOLE, ["--osl", 1, "--ttft", "200ms"])):
            told[name] = {}
            for kind, (flags, dataset) in kinds.items():
                if options.only and not kind.startswith(options.only):
                    continue
                told[name][kind] = measure(assay, work, flags, dataset, served, options)
                for streams, errors in told[name][kind].items():
                    early = min(errors["latency"]["p0_1"], errors["token"]["p0_1"])
                    if errors["unmatched"] or early < 0:
                        wrong.append(f"{kind} at {streams}: {errors['unmatched']} unmatched, "
                                     f"{early} ns at the least")
    if options.json:
        print(json.dumps(told))
    else:
        table(told["streamed"], options, {"ttft": "first", "itl": "gaps", "latency": "latency"})
        table(told["whole"], options, {"latency": "latency"})
    print(*wrong, sep="\n", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
