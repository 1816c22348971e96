#!/usr/bin/env bash
# A whole curve from nothing, in under three minutes: the built-in endpoint answers as a modelled
# accelerator would, `assay curve` measures eight points and accuracy at five of them, `assay pack`
# writes the submission, `assay check` judges it, and a report lies in demo/. Called by assay.sh
# with the path of the program.
set -euo pipefail
assay=$1
rm -rf demo
mkdir demo

cat > demo/scenario.yaml <<'YAML'
model: llama3.1-8b
hardware: h100-sxm
backend: vllm
precision: fp8
parallel: tp=1
YAML
# What no program can know of a system.
cat > demo/answers.yaml <<'YAML'
system:
  division: RDI
  system_name: Built-in endpoint
  system_availability_status: RDI
  system_size: 1 modelled accelerator
  serving_framework: assay endpoint
  tensor_parallel: 1
  pipeline_parallel: 1
  expert_parallel: 1
  data_parallel: 1
  node_types:
  - host_memory_configuration: as the host has it
    host_network_card_count: loopback
    driver: none
    filesystem: as the host has it
    accelerator_info:
    - {accelerator_model_name: modelled H100, accelerators_per_node: 1}
point:
  model_name: llama3_1-8b
  model_precision: FP8
  link_to_model: https://example.org/model
  dataset_link: https://example.org/dataset
launch: assay endpoint --scenario scenario.yaml --speedup 2
YAML
# Accuracy: the endpoint makes words up, so the score is that of chance; what counts is that it was
# asked, at the same level, straight after its point.
for i in $(seq 16); do
  printf '{"prompt": "Question %d: which letter, A, B, C or D?", "answer": "B"}\n' "$i"
done > demo/letters.jsonl
for i in $(seq 48); do
  printf '{"prompt": "Story %d: a ship, a storm, a lighthouse, and who was saved."}\n' "$i"
done > demo/prompts.jsonl

# The endpoint's first line is its URL.
exec 3< <(exec "$assay" endpoint --port 0 --scenario demo/scenario.yaml --speedup 2 \
                --osl uniform:24-40 2>demo/endpoint.log)
server=$!
trap 'kill -INT "$server" 2>/dev/null || true' EXIT
read -r url <&3 || { cat demo/endpoint.log >&2; exit 1; }

show() { printf '\n$ %s\n\n' "$*"; }

scorer=accuracy_config.eval_method=gpqa,accuracy_config.ground_truth=answer
command=("$assay" curve --endpoint "$url" --model llama3.1-8b --max-concurrency 40
         --dataset demo/prompts.jsonl --dataset "acc:demo/letters.jsonl,name=letters,$scorer"
         --quick --report-dir demo/curve)
show "${command[@]}"
code=0
"${command[@]}" || code=$?
# 4: measured, but this machine was too busy for the figures to be the endpoint's alone; the report
# says so first.
[[ $code == 0 || $code == 4 ]] || exit "$code"

command=("$assay" pack demo/curve --out demo/submission --answers demo/answers.yaml)
show "${command[@]}"
"${command[@]}"

# Seconds in place of minutes are too few queries and too short windows, and made-up words are wrong
# answers: the checker says so.
command=("$assay" check demo/submission --quiet --no-review)
show "${command[@]}"
"${command[@]}" || [[ $? == 1 ]]

printf '\nThese errors are right: the built-in endpoint makes its words up, so accuracy fails.\n'
printf '\nThe report to open: %s/demo/curve/report.html\n' "$PWD"
