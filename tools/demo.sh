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
model: gpt-oss-120b
hardware: h100-sxm
backend: vllm
precision: mxfp4
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
  model_name: gpt-oss-120b
  model_precision: MXFP4
  link_to_model: https://example.org/model
  dataset_link: https://example.org/dataset
launch: assay endpoint --scenario scenario.yaml --speedup 2
YAML
# Accuracy: the endpoint knows the answers to these questions, so the score is truly computed.
for i in $(seq 16); do
  sum=$((i * 7 + 13))
  printf '{"prompt": "What is %d + 13? (A) %d (B) %d (C) %d (D) %d", "letter": "B", ' \
    $((i * 7)) $((sum - 1)) "$sum" $((sum + 2)) $((sum + 10))
  printf '"answer": "It is %d. Answer: B"}\n' "$sum"
done > demo/questions.jsonl
for i in $(seq 48); do
  printf '{"prompt": "Story %d: a ship, a storm, a lighthouse, and who was saved."}\n' "$i"
done > demo/prompts.jsonl

# The endpoint's first line is its URL.
exec 3< <(exec "$assay" endpoint --port 0 --scenario demo/scenario.yaml --speedup 2 \
                --osl uniform:24-40 --answers demo/questions.jsonl 2>demo/endpoint.log)
server=$!
trap 'kill -INT "$server" 2>/dev/null || true' EXIT
read -r url <&3 || { cat demo/endpoint.log >&2; exit 1; }

show() { printf '\n$ %s\n\n' "$*"; }

scorer=accuracy_config.eval_method=gpqa,accuracy_config.ground_truth=letter
command=("$assay" curve --endpoint "$url" --model gpt-oss-120b --max-concurrency 40
         --dataset demo/prompts.jsonl --dataset "acc:demo/questions.jsonl,name=questions,$scorer"
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

# A demo asks 16 questions a point where the rules ask thousands: the checker says so, and finds
# nothing else.
command=("$assay" check demo/submission --quiet --no-review)
show "${command[@]}"
checked=0
"${command[@]}" | tee demo/check.txt || checked=$?
[[ $checked == 0 || $checked == 1 ]] || exit "$checked"
if [[ $checked == 1 ]]; then
  others=$(grep -c ': error: .* \[' demo/check.txt || true)
  counts=$(grep -c ': error: .* \[accuracy-sample-count\]$' demo/check.txt || true)
  if [[ $others == "$counts" ]]; then
    printf '\nThat is right, and all: the demo asks 16 questions where the rules ask 4,395.\n'
    printf 'The accuracy gate itself is passed: the built-in endpoint knows these answers.\n'
  fi
fi
printf '\nThe report to open: %s/demo/curve/report.html\n' "$PWD"
