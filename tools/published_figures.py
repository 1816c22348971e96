#!/usr/bin/env python3
"""Published MLPerf figures beside what the model says of such a system, as the table of the guide.

    published_figures.py --assay build/release/assay

None of these systems was fitted, and none of the simulated figures is a result of that suite.
Offline is the highest throughput over the concurrencies of LEVELS for each accelerator; a server is
asked for the highest Poisson rate whose P90 keeps the limits (the suite asks P99). How well the
published configuration is known is its tag: B all of it, C not.
"""

import argparse
import json
import subprocess
import sys

LEVELS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)  # queries in flight for each accelerator
L70 = ["--model", "llama2-70b", "--isl", "lognormal:200,0.8", "--osl", "lognormal:220,0.75"]
L8 = ["--model", "llama3.1-8b", "--isl", "normal:780,250", "--osl", "128"]
L405 = ["--model", "llama3.1-405b", "--isl", "normal:9400,2500", "--osl", "normal:685,200"]
R1 = ["--model", "deepseek-r1", "--isl", "normal:800,200", "--osl", "lognormal:3000,0.72"]
OSS = ["--model", "gpt-oss-120b", "--isl", "normal:800,200", "--osl", "lognormal:800,0.97"]
TRT = ["--backend", "tensorrt-llm"]
NVL = ["--hardware", "gb300", "--precision", "nvfp4", "--mtp", "0", *TRT]
WIDE = ["--parallel", "tp=1,dp=32,ep=32"]

# what, published for each accelerator, tag, flags, accelerators simulated, limits in ms
FIGURES = [
    ("Llama 2 70B offline, H100 (8), FP8", 2675, "B",
     [*L70, *TRT, "--hardware", "h100-sxm", "--precision", "fp8", "--parallel", "tp=2"], 2, None),
    ("Llama 2 70B offline, H200 (8), FP8", 4016, "B",
     [*L70, *TRT, "--hardware", "h200-sxm", "--precision", "fp8", "--parallel", "tp=1"], 1, None),
    ("Llama 2 70B server (2 s, 200 ms), H200 (8), FP8", 3717, "B",
     [*L70, *TRT, "--hardware", "h200-sxm", "--precision", "fp8", "--parallel", "tp=1"], 1,
     (2000, 200)),
    ("Llama 2 70B offline, B200 (1), FP4", 11264, "B",
     [*L70, *TRT, "--hardware", "b200-sxm", "--precision", "nvfp4", "--parallel", "tp=1"], 1, None),
    ("Llama 2 70B server (2 s, 200 ms), B200 (1), FP4", 10755, "B",
     [*L70, *TRT, "--hardware", "b200-sxm", "--precision", "nvfp4", "--parallel", "tp=1"], 1,
     (2000, 200)),
    ("Llama 2 70B server (2 s, 200 ms), B300 (8), FP4", 13415, "C",
     [*L70, *TRT, "--hardware", "b300-sxm", "--precision", "nvfp4", "--parallel", "tp=1"], 1,
     (2000, 200)),
    ("Llama 2 70B server (2 s, 200 ms), MI355X (8), MXFP4", 12535, "C",
     [*L70, "--backend", "vllm", "--hardware", "mi355x", "--precision", "mxfp4", "--parallel",
      "tp=1"], 1, (2000, 200)),
    ("Llama 3.1 8B offline, B200 (8), FP4", 20000, "B",
     [*L8, *TRT, "--hardware", "b200-sxm", "--precision", "nvfp4", "--parallel", "tp=1"], 1, None),
    ("Llama 3.1 8B server (2 s, 100 ms), B200 (8), FP4", 16300, "B",
     [*L8, *TRT, "--hardware", "b200-sxm", "--precision", "nvfp4", "--parallel", "tp=1"], 1,
     (2000, 100)),
    ("Llama 3.1 405B offline, GB300 (72), v5.1", 224, "B",
     [*L405, *NVL, "--parallel", "tp=4"], 4, None),
    ("Llama 3.1 405B offline, GB300 (72), v6.0", 271, "B",
     [*L405, *NVL, "--parallel", "tp=4"], 4, None),
    ("Llama 3.1 405B server (6 s, 175 ms), GB300 (72), v6.0", 259, "B",
     [*L405, *NVL, "--parallel", "tp=4"], 4, (6000, 175)),
    ("DeepSeek-R1 offline, GB300 (72), v6.0", 9821, "B", [*R1, *NVL, *WIDE], 32, None),
    ("DeepSeek-R1 offline, GB300 (288), v6.0", 8661, "B", [*R1, *NVL, *WIDE], 32, None),
    ("DeepSeek-R1 offline, GB300 (72), v5.1", 5842, "B", [*R1, *NVL, *WIDE], 32, None),
    ("DeepSeek-R1 server (2 s, 80 ms), GB300 (72), v6.0", 8064, "B",
     [*R1, *NVL, "--disagg", "1P:dp=8+1D:dp=32"], 40, (2000, 80)),
    ("DeepSeek-R1 server (2 s, 80 ms), GB300 (288), v6.0", 5400, "B",
     [*R1, *NVL, "--disagg", "1P:dp=8+1D:dp=32"], 40, (2000, 80)),
    ("DeepSeek-R1 server (2 s, 80 ms), GB300 (72), v5.1", 2907, "B",
     [*R1, *NVL, "--disagg", "1P:dp=8+1D:dp=32"], 40, (2000, 80)),
    ("DeepSeek-R1 server (2 s, 80 ms), B300 (8)", 5340, "C",
     [*R1, *TRT, "--hardware", "b300-sxm", "--precision", "nvfp4", "--mtp", "0", "--parallel",
      "tp=1,dp=8"], 8, (2000, 80)),
    ("DeepSeek-R1 interactive (1.5 s, 15 ms), GB300, if 72", 3481, "C",
     [*R1, *NVL[:4], *TRT, "--mtp", "3", "--disagg", "1P:dp=8+1D:dp=32"], 40, (1500, 15)),
    ("GPT-OSS 120B offline, GB300 (4)", 15050, "B",
     [*OSS, *TRT, "--hardware", "gb300", "--precision", "mxfp4", "--parallel", "tp=1"], 1, None),
    ("GPT-OSS 120B server (3 s, 80 ms), GB300 (4)", 13350, "B",
     [*OSS, *TRT, "--hardware", "gb300", "--precision", "mxfp4", "--parallel", "tp=1"], 1,
     (3000, 80)),
]

# DeepSeek-R1 on GB300 within 2 s and 80 ms, then 1.5 s and 15 ms: what each lever is worth.
LEVERS = [
    ("tensor parallel 8", ["--parallel", "tp=8", "--mtp", "0"], 8),
    ("attention DP 8, experts on 8", ["--parallel", "tp=1,dp=8", "--mtp", "0"], 8),
    ("attention DP 32, experts on 32", [*WIDE, "--mtp", "0"], 32),
    ("disaggregated, 1P(DP8) + 1D(DP32)", ["--disagg", "1P:dp=8+1D:dp=32", "--mtp", "0"], 40),
    ("that, three drafts", ["--disagg", "1P:dp=8+1D:dp=32", "--mtp", "3"], 40),
]


def ask(assay, flags):
    said = subprocess.run([assay, "simulate", *flags, "--json"], capture_output=True, text=True,
                          check=False)
    if not said.stdout:
        raise SystemExit(" ".join(flags) + "\n" + said.stderr)
    return json.loads(said.stdout)


def best(assay, flags, accelerators, limits):
    """Tokens a second of one accelerator: as many as it can, or within limits of P90."""
    if limits is None:
        levels = ",".join(str(level * accelerators) for level in LEVELS)
        points = ask(assay, [*flags, "--concurrency", levels, "--queries", "6"])["points"]
        return max(point["tps_per_gpu"] for point in points)
    plan = f"ttft={limits[0]}ms,tpot={limits[1]}ms"
    layout = ask(assay, [*flags, "--plan", plan, "--rate", "1"])["layouts"][0]
    return layout["at_capacity"]["tps_per_gpu"] if layout["replica_qps"] > 0 else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default="assay")
    args = parser.parse_args()
    print("| figure | published | simulated | ratio | tag |\n|---|---|---|---|---|")
    for name, published, tag, flags, accelerators, limits in FIGURES:
        ours = best(args.assay, flags, accelerators, limits)
        print(f"| {name} | {published:,} | {ours:,.0f} | {ours / published:.2f} | {tag} |",
              flush=True)
    print("\n| DeepSeek-R1 on GB300, tokens/s each | within 2 s, 80 ms | within 1.5 s, 15 ms |"
          "\n|---|---|---|")
    for name, flags, accelerators in LEVERS:
        ours = [best(args.assay, [*R1, *NVL[:4], *TRT, *flags], accelerators, limits)
                for limits in ((2000, 80), (1500, 15))]
        print(f"| {name} | {ours[0]:,.0f} | {ours[1]:,.0f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
