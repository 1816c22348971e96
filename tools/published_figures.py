#!/usr/bin/env python3
"""Published MLPerf figures beside what the model says of such a system, as the table of the guide.

    published_figures.py --assay build/release/assay

Each is asked as a newcomer would: the workload, the scenario, the accelerators; the layout is
searched, limits are the suite's P99, the software is that of the edition. The Offline figures of
DeepSeek-R1 and Llama 3.1 405B and all of GPT-OSS were used (catalogue/software); nothing here is a
result of that suite. The tag says how well the configuration is known: B all of it, C not.
"""

import argparse
import json
import subprocess
import sys

TRT = ["--backend", "tensorrt-llm"]
H100 = ["--hardware", "h100-sxm", "--precision", "fp8", *TRT]
H200 = ["--hardware", "h200-sxm", "--precision", "fp8", *TRT]
B200 = ["--hardware", "b200-sxm", "--precision", "nvfp4", *TRT]
B300 = ["--hardware", "b300-sxm", "--precision", "nvfp4", *TRT]
GB300 = ["--hardware", "gb300", "--precision", "nvfp4", *TRT]
MI355X = ["--hardware", "mi355x", "--precision", "mxfp4", "--backend", "vllm"]
OSS = ["--hardware", "gb300", "--precision", "mxfp4", *TRT]

# workload, scenario, edition, accelerators, system, published tokens/s for each accelerator, tag
FIGURES = [
    ("llama2-70b", "offline", "v4.1", 4, H100, 2675, "B"),
    ("llama2-70b", "server", "v4.1", 4, H100, 2381, "B"),
    ("llama2-70b", "offline", "v4.1", 8, H200, 4016, "B"),
    ("llama2-70b", "server", "v4.1", 8, H200, 3717, "B"),
    ("llama2-70b", "offline", "v4.1", 1, B200, 11264, "B"),
    ("llama2-70b", "server", "v4.1", 1, B200, 10755, "B"),
    ("llama2-70b", "server", "v6.0", 8, B300, 13415, "C"),
    ("llama2-70b", "server", "v6.0", 8, MI355X, 12535, "C"),
    ("llama3.1-8b", "offline", "v6.0", 8, B200, 20000, "B"),
    ("llama3.1-8b", "server", "v6.0", 8, B200, 16300, "B"),
    ("llama3.1-405b", "offline", "v5.1", 72, GB300, 224, "B"),
    ("llama3.1-405b", "server", "v5.1", 72, GB300, 170, "B"),
    ("llama3.1-405b", "offline", "v6.0", 72, GB300, 271, "B"),
    ("llama3.1-405b", "server", "v6.0", 72, GB300, 259, "B"),
    ("deepseek-r1", "offline", "v5.1", 72, GB300, 5842, "B"),
    ("deepseek-r1", "server", "v5.1", 72, GB300, 2907, "B"),
    ("deepseek-r1", "offline", "v6.0", 72, GB300, 9821, "B"),
    ("deepseek-r1", "server", "v6.0", 72, GB300, 8064, "B"),
    ("deepseek-r1", "interactive", "v6.0", 72, GB300, 3481, "C"),
    ("deepseek-r1", "offline", "v6.0", 288, GB300, 8661, "B"),
    ("deepseek-r1", "server", "v6.0", 288, GB300, 5400, "B"),
    ("deepseek-r1", "server", "v6.0", 8, B300, 5340, "C"),
    ("gpt-oss-120b", "offline", "v6.0", 4, OSS, 15050, "B"),
    ("gpt-oss-120b", "server", "v6.0", 4, OSS, 13350, "B"),
    ("gpt-oss-120b", "offline", "v6.0", 72, OSS, 14530, "C"),
    ("gpt-oss-120b", "server", "v6.0", 72, OSS, 15233, "C"),
    ("gpt-oss-120b", "interactive", "v6.0", 72, OSS, 9406, "C"),
]


def ask(assay, flags):
    said = subprocess.run([assay, "simulate", *flags, "--json"], capture_output=True, text=True,
                          check=False)
    if not said.stdout:
        raise SystemExit(" ".join(flags) + "\n" + said.stderr)
    return json.loads(said.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default="assay")
    parser.add_argument("--only", default="", help="a workload's name")
    args = parser.parse_args()
    print("| workload, scenario, round | accelerators | published | simulated | ratio | tag | "
          "layout |\n|---|---|---|---|---|---|---|")
    for workload, scenario, edition, gpus, system, published, tag in FIGURES:
        if args.only not in ("", workload):
            continue
        best = ask(args.assay, ["--workload", workload, "--scenario", scenario, "--edition",
                                f"inference-{edition}", "--gpus", str(gpus),
                                *system])["layouts"]["best"][0]
        ours = best["point"]["tps_per_gpu"]
        print(f"| {workload}, {scenario}, {edition} | {gpus} x {system[1]} | {published:,} | "
              f"{ours:,.0f} | {ours / published:.2f} | {tag} | {best['layout']} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
