// Made by tools/workload_rounds.py rules from tests/data/checker_constants.json. Not
// to be edited.
#include "rulebook/inference.h"

namespace assay::rulebook {
namespace {

constexpr std::string_view kRounds = R"json({
"v5.0": {"seeds":
 {"qsl_rng_seed": 6023615788873153749, "sample_index_rng_seed": 15036839855038426416,
 "schedule_rng_seed": 9933818062894767841},
 "names":
 {"ssd-resnet34": "retinanet", "mobilenet": "resnet", "resnet50": "resnet", "llama3_1-405b":
 "llama3.1-405b"}, "models": {
"resnet":
 {"at_least": {"acc": 75.69539999999999}, "at_most": {}, "performance_samples": 1024, "rows":
 50000, "queries_min": {"SingleStream": 1024, "MultiStream": 270336, "Server": 270336, "Offline":
 1}, "latency_ns": {"Server": 15000000}, "required_datacenter": ["Server", "Offline"],
 "required_edge": ["SingleStream", "MultiStream", "Offline"], "required_datacenter-edge":
 ["SingleStream", "Offline", "MultiStream", "Server"], "tests": ["TEST01", "TEST04"],
 "offline_samples_min": 24576},
"retinanet":
 {"at_least": {"mAP": 37.174499999999995}, "at_most": {}, "performance_samples": 64, "rows":
 24781, "queries_min": {"SingleStream": 1024, "MultiStream": 270336, "Server": 270336, "Offline":
 1}, "latency_ns": {"Server": 100000000}, "required_datacenter": ["Server", "Offline"],
 "required_edge": ["SingleStream", "MultiStream", "Offline"], "required_datacenter-edge":
 ["SingleStream", "Offline", "MultiStream", "Server"], "tests": ["TEST01"], "offline_samples_min":
 24576},
"bert-99":
 {"at_least": {"F1": 89.96526}, "at_most": {}, "performance_samples": 10833, "rows": 10833,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_edge": ["SingleStream",
 "Offline"], "required_datacenter-edge": ["SingleStream", "Offline"], "tests": ["TEST01"],
 "offline_samples_min": 10833},
"bert-99.9":
 {"at_least": {"F1": 90.783126}, "at_most": {}, "performance_samples": 10833, "rows": 10833,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_edge": ["SingleStream",
 "Offline"], "required_datacenter-edge": ["SingleStream", "Offline"], "tests": ["TEST01"],
 "offline_samples_min": 10833},
"dlrm-v2-99":
 {"at_least": {"AUC": 79.5069}, "at_most": {}, "performance_samples": 204800, "rows": 330067,
 "queries_min": {"Server": 270336, "Offline": 1}, "latency_ns": {"Server": 60000000},
 "required_datacenter": ["Server", "Offline"], "required_datacenter-edge": ["Offline", "Server"],
 "tests": ["TEST01"], "offline_samples_min": 24576},
"dlrm-v2-99.9":
 {"at_least": {"AUC": 80.22969}, "at_most": {}, "performance_samples": 204800, "rows": 330067,
 "queries_min": {"Server": 270336, "Offline": 1}, "latency_ns": {"Server": 60000000},
 "required_datacenter": ["Server", "Offline"], "required_datacenter-edge": ["Offline", "Server"],
 "tests": ["TEST01"], "offline_samples_min": 24576},
"3d-unet-99":
 {"at_least": {"DICE": 0.853083}, "at_most": {}, "performance_samples": 43, "rows": 43,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_datacenter": ["Offline"],
 "required_edge": ["SingleStream", "Offline"], "required_datacenter-edge": ["SingleStream",
 "Offline"], "tests": ["TEST01"], "offline_samples_min": 43},
"3d-unet-99.9":
 {"at_least": {"DICE": 0.8608383000000001}, "at_most": {}, "performance_samples": 43, "rows": 43,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_datacenter": ["Offline"],
 "required_edge": ["SingleStream", "Offline"], "required_datacenter-edge": ["SingleStream",
 "Offline"], "tests": ["TEST01"], "offline_samples_min": 43},
"gptj-99":
 {"at_least": {"ROUGE1": 42.556635, "ROUGE2": 19.922265, "ROUGEL": 29.688219, "GEN_LEN":
 3615190.2}, "at_most": {}, "performance_samples": 13368, "rows": 13368, "queries_min":
 {"SingleStream": 1024, "Server": 270336, "Offline": 1}, "latency_ns": {"Server": 20000000000},
 "required_datacenter": ["Server", "Offline"], "required_edge": ["SingleStream", "Offline"],
 "required_datacenter-edge": ["SingleStream", "Offline", "Server"], "tests": ["TEST06"],
 "metric_keys": {"Offline": "result_inferred_tokens_per_second", "Server":
 "result_inferred_completed_tokens_per_second"}},
"gptj-99.9":
 {"at_least": {"ROUGE1": 42.9435135, "ROUGE2": 20.1033765, "ROUGEL": 29.9581119, "GEN_LEN":
 3615190.2}, "at_most": {}, "performance_samples": 13368, "rows": 13368, "queries_min":
 {"SingleStream": 1024, "Server": 270336, "Offline": 1}, "latency_ns": {"Server": 20000000000},
 "required_datacenter": ["Server", "Offline"], "required_edge": ["SingleStream", "Offline"],
 "required_datacenter-edge": ["SingleStream", "Offline", "Server"], "tests": ["TEST06"],
 "metric_keys": {"Offline": "result_inferred_tokens_per_second", "Server":
 "result_inferred_completed_tokens_per_second"}},
"llama2-70b-99":
 {"at_least": {"ROUGE1": 43.98688799999999, "ROUGE2": 21.814847999999998, "ROUGEL": 28.330038,
 "TOKENS_PER_SAMPLE": 265.005}, "at_most": {"TOKENS_PER_SAMPLE": 323.89500000000004},
 "performance_samples": 24576, "rows": 24576, "queries_min": {"SingleStream": 1024, "Server":
 270336, "Offline": 1}, "latency_ns": {"Server": 20000000000}, "required_datacenter": ["Server",
 "Offline"], "required_datacenter-edge": ["Server", "Offline"], "tokens_ns": {"Server": {"ttft":
 2000000000, "tpot": 200000000}, "Interactive": {"ttft": 450000000, "tpot": 40000000}}, "tests":
 ["TEST06"], "offline_samples_min": 24576, "metric_keys": {"Offline": "result_tokens_per_second",
 "Server": "result_completed_tokens_per_second"}},
"llama2-70b-99.9":
 {"at_least": {"ROUGE1": 44.3867688, "ROUGE2": 22.0131648, "ROUGEL": 28.5875838,
 "TOKENS_PER_SAMPLE": 265.005}, "at_most": {"TOKENS_PER_SAMPLE": 323.89500000000004},
 "performance_samples": 24576, "rows": 24576, "queries_min": {"SingleStream": 1024, "Server":
 270336, "Offline": 1}, "latency_ns": {"Server": 20000000000}, "required_datacenter": ["Server",
 "Offline"], "required_datacenter-edge": ["Server", "Offline"], "tokens_ns": {"Server": {"ttft":
 2000000000, "tpot": 200000000}, "Interactive": {"ttft": 450000000, "tpot": 40000000}}, "tests":
 ["TEST06"], "offline_samples_min": 24576, "metric_keys": {"Offline": "result_tokens_per_second",
 "Server": "result_completed_tokens_per_second"}},
"llama2-70b-interactive-99":
 {"at_least": {"ROUGE1": 43.98688799999999, "ROUGE2": 21.814847999999998, "ROUGEL": 28.330038,
 "TOKENS_PER_SAMPLE": 265.005}, "at_most": {"TOKENS_PER_SAMPLE": 323.89500000000004},
 "performance_samples": 24576, "rows": 24576, "queries_min": {"SingleStream": 1024, "Server":
 270336, "Offline": 1}, "latency_ns": {"Server": 20000000000}, "required_datacenter": ["Server",
 "Offline"], "required_datacenter-edge": ["Server", "Offline"], "tokens_ns": {"Server": {"ttft":
 450000000, "tpot": 40000000}}, "tests": ["TEST06"], "offline_samples_min": 24576, "metric_keys":
 {"Offline": "result_tokens_per_second", "Server": "result_completed_tokens_per_second"}},
"llama2-70b-interactive-99.9":
 {"at_least": {"ROUGE1": 44.3867688, "ROUGE2": 22.0131648, "ROUGEL": 28.5875838,
 "TOKENS_PER_SAMPLE": 265.005}, "at_most": {"TOKENS_PER_SAMPLE": 323.89500000000004},
 "performance_samples": 24576, "rows": 24576, "queries_min": {"SingleStream": 1024, "Server":
 270336, "Offline": 1}, "latency_ns": {"Server": 20000000000}, "required_datacenter": ["Server",
 "Offline"], "required_datacenter-edge": ["Server", "Offline"], "tokens_ns": {"Server": {"ttft":
 450000000, "tpot": 40000000}}, "tests": ["TEST06"], "offline_samples_min": 24576, "metric_keys":
 {"Offline": "result_tokens_per_second", "Server": "result_completed_tokens_per_second"}},
"stable-diffusion-xl":
 {"at_least": {"CLIP_SCORE": 31.68631873, "FID_SCORE": 23.01085758}, "at_most": {"CLIP_SCORE":
 31.81331801, "FID_SCORE": 23.95007626}, "performance_samples": 5000, "rows": 5000, "queries_min":
 {"SingleStream": 1024, "Server": 270336, "Offline": 1}, "latency_ns": {"Server": 20000000000},
 "required_datacenter": ["Server", "Offline"], "required_edge": ["SingleStream", "Offline"],
 "required_datacenter-edge": ["SingleStream", "Offline", "Server"], "tests": ["TEST01", "TEST04"],
 "offline_samples_min": 5000, "accuracy_files": {"images": ["4459", "4015", "2705", "1682",
 "4048", "4683", "3757", "1578", "3319", "95"]}, "accuracy_delta_percent": {"CLIP_SCORE": 1,
 "FID_SCORE": 2}},
"mixtral-8x7b":
 {"at_least": {"ROUGE1": 45.142911, "ROUGE2": 23.119073999999998, "ROUGEL": 30.156191999999997,
 "TOKENS_PER_SAMPLE": 130.356, "gsm8k_accuracy": 72.9234, "mbxp_accuracy": 59.5584}, "at_most":
 {"TOKENS_PER_SAMPLE": 160.49}, "performance_samples": 15000, "rows": 15000, "queries_min":
 {"SingleStream": 1024, "Server": 270336, "Offline": 1}, "latency_ns": {"Server": 20000000000},
 "required_datacenter": ["Server", "Offline"], "required_datacenter-edge": ["Server", "Offline"],
 "tokens_ns": {"Server": {"ttft": 2000000000, "tpot": 200000000}}, "tests": ["TEST06"],
 "offline_samples_min": 15000, "metric_keys": {"Offline": "result_tokens_per_second", "Server":
 "result_completed_tokens_per_second"}},
"llama3.1-405b":
 {"at_least": {"ROUGEL": 21.449934, "exact_match": 89.232165, "TOKENS_PER_SAMPLE": 616.212},
 "at_most": {"TOKENS_PER_SAMPLE": 753.148}, "performance_samples": 8313, "rows": 8313,
 "queries_min": {"SingleStream": 1024, "Server": 270336, "Offline": 1}, "latency_ns": {"Server":
 60000000000}, "required_datacenter": ["Server", "Offline"], "required_datacenter-edge":
 ["Server", "Offline"], "tokens_ns": {"Server": {"ttft": 6000000000, "tpot": 175000000},
 "Interactive": {"ttft": 4500000000, "tpot": 80000000}}, "offline_samples_min": 8313,
 "metric_keys": {"Offline": "result_tokens_per_second", "Server":
 "result_completed_tokens_per_second"}},
"rgat":
 {"at_least": {"acc": 0.721314}, "at_most": {}, "performance_samples": 788379, "rows": 788379,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_datacenter": ["Offline"],
 "required_datacenter-edge": ["Offline"], "tests": ["TEST01"], "offline_samples_min": 788379},
"pointpainting":
 {"at_least": {"mAP": 0.5419575}, "at_most": {}, "performance_samples": 1024, "rows": 39987,
 "queries_min": {"SingleStream": 1024}, "required_edge": ["SingleStream"],
 "required_datacenter-edge": ["SingleStream"], "tests": ["TEST01", "TEST04"],
 "offline_samples_min": 6636}}},
"v5.1": {"seeds":
 {"qsl_rng_seed": 1780908523862526354, "sample_index_rng_seed": 14771362308971278857,
 "schedule_rng_seed": 18209322760996052031},
 "names":
 {"ssd-resnet34": "retinanet", "mobilenet": "resnet", "resnet50": "resnet", "llama3_1-405b":
 "llama3.1-405b", "llama3_1-8b": "llama3.1-8b", "llama3_1-8b-edge": "llama3.1-8b-edge"}, "models": {
"resnet":
 {"at_least": {"acc": 75.69539999999999}, "at_most": {}, "performance_samples": 1024, "rows":
 50000, "queries_min": {"SingleStream": 1024, "MultiStream": 270336, "Server": 270336, "Offline":
 1}, "latency_ns": {"Server": 15000000}, "required_edge": ["SingleStream", "MultiStream",
 "Offline"], "required_datacenter-edge": ["SingleStream", "MultiStream", "Offline", "Server"],
 "tests": ["TEST01", "TEST04"], "offline_samples_min": 24576},
"retinanet":
 {"at_least": {"mAP": 37.174499999999995}, "at_most": {}, "performance_samples": 64, "rows":
 24781, "queries_min": {"SingleStream": 1024, "MultiStream": 270336, "Server": 270336, "Offline":
 1}, "latency_ns": {"Server": 100000000}, "required_datacenter": ["Server", "Offline"],
 "required_edge": ["SingleStream", "MultiStream", "Offline"], "required_datacenter-edge":
 ["SingleStream", "Offline", "MultiStream", "Server"], "tests": ["TEST01"], "offline_samples_min":
 24576},
"bert-99":
 {"at_least": {"F1": 89.96526}, "at_most": {}, "performance_samples": 10833, "rows": 10833,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_edge": ["SingleStream",
 "Offline"], "required_datacenter-edge": ["SingleStream", "Offline"], "tests": ["TEST01"],
 "offline_samples_min": 10833},
"bert-99.9":
 {"at_least": {"F1": 90.783126}, "at_most": {}, "performance_samples": 10833, "rows": 10833,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_edge": ["SingleStream",
 "Offline"], "required_datacenter-edge": ["SingleStream", "Offline"], "tests": ["TEST01"],
 "offline_samples_min": 10833},
"dlrm-v2-99":
 {"at_least": {"AUC": 79.5069}, "at_most": {}, "performance_samples": 204800, "rows": 330067,
 "queries_min": {"Server": 270336, "Offline": 1}, "latency_ns": {"Server": 60000000},
 "required_datacenter": ["Server", "Offline"], "required_datacenter-edge": ["Offline", "Server"],
 "tests": ["TEST01"], "offline_samples_min": 24576},
"dlrm-v2-99.9":
 {"at_least": {"AUC": 80.22969}, "at_most": {}, "performance_samples": 204800, "rows": 330067,
 "queries_min": {"Server": 270336, "Offline": 1}, "latency_ns": {"Server": 60000000},
 "required_datacenter": ["Server", "Offline"], "required_datacenter-edge": ["Offline", "Server"],
 "tests": ["TEST01"], "offline_samples_min": 24576},
"3d-unet-99":
 {"at_least": {"DICE": 0.853083}, "at_most": {}, "performance_samples": 43, "rows": 43,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_datacenter": ["Offline"],
 "required_edge": ["SingleStream", "Offline"], "required_datacenter-edge": ["SingleStream",
 "Offline"], "tests": ["TEST01"], "offline_samples_min": 43},
"3d-unet-99.9":
 {"at_least": {"DICE": 0.8608383000000001}, "at_most": {}, "performance_samples": 43, "rows": 43,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_datacenter": ["Offline"],
 "required_edge": ["SingleStream", "Offline"], "required_datacenter-edge": ["SingleStream",
 "Offline"], "tests": ["TEST01"], "offline_samples_min": 43},
"llama3.1-8b":
 {"at_least": {"ROUGE1": 38.391408000000006, "ROUGE2": 15.748425000000001, "ROUGEL": 24.250743,
 "ROUGELSUM": 35.435069999999996, "GEN_LEN": 7350879.600000001}, "at_most": {"GEN_LEN":
 8984408.4}, "performance_samples": 13368, "rows": 13368, "queries_min": {"SingleStream": 1024,
 "Server": 270336, "Offline": 1}, "latency_ns": {"Server": 20000000000}, "required_datacenter":
 ["Offline"], "optional_datacenter": ["Interactive", "Server"], "required_datacenter-edge":
 ["Offline"], "optional_datacenter-edge": ["Interactive", "Server"], "tokens_ns": {"Server":
 {"ttft": 2000000000, "tpot": 100000000}, "Interactive": {"ttft": 500000000, "tpot": 30000000}},
 "tests": ["TEST06"], "offline_samples_min": 13368, "metric_keys": {"Offline":
 "result_tokens_per_second", "Server": "result_completed_tokens_per_second"}},
"llama3.1-8b-edge":
 {"at_least": {"ROUGE1": 38.6694, "ROUGE2": 15.953553, "ROUGEL": 24.391125, "ROUGELSUM": 35.76276,
 "GEN_LEN": 2746001.7}, "at_most": {"GEN_LEN": 3356224.3000000003}, "performance_samples": 5000,
 "rows": 5000, "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_edge":
 ["SingleStream", "Offline"], "required_datacenter-edge": ["SingleStream", "Offline"],
 "offline_samples_min": 5000, "metric_keys": {"Offline": "result_tokens_per_second",
 "SingleStream": "result_90.00_percentile_latency_ns"}},
"llama2-70b-99":
 {"at_least": {"ROUGE1": 43.98688799999999, "ROUGE2": 21.814847999999998, "ROUGEL": 28.330038,
 "TOKENS_PER_SAMPLE": 265.005}, "at_most": {"TOKENS_PER_SAMPLE": 323.89500000000004},
 "performance_samples": 24576, "rows": 24576, "queries_min": {"SingleStream": 1024, "Server":
 270336, "Offline": 1}, "latency_ns": {"Server": 20000000000}, "required_datacenter": ["Offline"],
 "optional_datacenter": ["Interactive", "Server"], "required_datacenter-edge": ["Offline"],
 "optional_datacenter-edge": ["Interactive", "Server"], "tokens_ns": {"Server": {"ttft":
 2000000000, "tpot": 200000000}, "Interactive": {"ttft": 450000000, "tpot": 40000000}}, "tests":
 ["TEST06"], "offline_samples_min": 24576, "metric_keys": {"Offline": "result_tokens_per_second",
 "Server": "result_completed_tokens_per_second"}},
"llama2-70b-99.9":
 {"at_least": {"ROUGE1": 44.3867688, "ROUGE2": 22.0131648, "ROUGEL": 28.5875838,
 "TOKENS_PER_SAMPLE": 265.005}, "at_most": {"TOKENS_PER_SAMPLE": 323.89500000000004},
 "performance_samples": 24576, "rows": 24576, "queries_min": {"SingleStream": 1024, "Server":
 270336, "Offline": 1}, "latency_ns": {"Server": 20000000000}, "required_datacenter": ["Offline"],
 "optional_datacenter": ["Interactive", "Server"], "required_datacenter-edge": ["Offline"],
 "optional_datacenter-edge": ["Interactive", "Server"], "tokens_ns": {"Server": {"ttft":
 2000000000, "tpot": 200000000}, "Interactive": {"ttft": 450000000, "tpot": 40000000}}, "tests":
 ["TEST06"], "offline_samples_min": 24576, "metric_keys": {"Offline": "result_tokens_per_second",
 "Server": "result_completed_tokens_per_second"}},
"stable-diffusion-xl":
 {"at_least": {"CLIP_SCORE": 31.68631873, "FID_SCORE": 23.01085758}, "at_most": {"CLIP_SCORE":
 31.81331801, "FID_SCORE": 23.95007626}, "performance_samples": 5000, "rows": 5000, "queries_min":
 {"SingleStream": 1024, "Server": 270336, "Offline": 1}, "latency_ns": {"Server": 20000000000},
 "required_datacenter": ["Server", "Offline"], "required_edge": ["SingleStream", "Offline"],
 "required_datacenter-edge": ["SingleStream", "Offline", "Server"], "tests": ["TEST01", "TEST04"],
 "offline_samples_min": 5000, "accuracy_files": {"images": ["2747", "2235", "2165", "1515",
 "1538", "1367", "2419", "4629", "3657", "4532"]}, "accuracy_delta_percent": {"CLIP_SCORE": 1,
 "FID_SCORE": 2}},
"mixtral-8x7b":
 {"at_least": {"ROUGE1": 45.142911, "ROUGE2": 23.119073999999998, "ROUGEL": 30.156191999999997,
 "TOKENS_PER_SAMPLE": 130.356, "gsm8k_accuracy": 72.9234, "mbxp_accuracy": 59.5584}, "at_most":
 {"TOKENS_PER_SAMPLE": 160.49}, "performance_samples": 15000, "rows": 15000, "queries_min":
 {"SingleStream": 1024, "Server": 270336, "Offline": 1}, "latency_ns": {"Server": 20000000000},
 "required_datacenter": ["Server", "Offline"], "required_datacenter-edge": ["Server", "Offline"],
 "tokens_ns": {"Server": {"ttft": 2000000000, "tpot": 200000000}}, "tests": ["TEST06"],
 "offline_samples_min": 15000, "metric_keys": {"Offline": "result_tokens_per_second", "Server":
 "result_completed_tokens_per_second"}},
"llama3.1-405b":
 {"at_least": {"ROUGEL": 21.449934, "exact_match": 89.232165, "TOKENS_PER_SAMPLE": 616.212},
 "at_most": {"TOKENS_PER_SAMPLE": 753.148}, "performance_samples": 8313, "rows": 8313,
 "queries_min": {"SingleStream": 1024, "Server": 270336, "Offline": 1}, "latency_ns": {"Server":
 60000000000}, "required_datacenter": ["Offline"], "optional_datacenter": ["Interactive",
 "Server"], "required_datacenter-edge": ["Offline"], "optional_datacenter-edge": ["Interactive",
 "Server"], "tokens_ns": {"Server": {"ttft": 6000000000, "tpot": 175000000}, "Interactive":
 {"ttft": 4500000000, "tpot": 80000000}}, "tests": ["TEST06"], "offline_samples_min": 8313,
 "metric_keys": {"Offline": "result_tokens_per_second", "Server":
 "result_completed_tokens_per_second"}},
"rgat":
 {"at_least": {"acc": 0.721314}, "at_most": {}, "performance_samples": 788379, "rows": 788379,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_datacenter": ["Offline"],
 "required_datacenter-edge": ["Offline"], "tests": ["TEST01"], "offline_samples_min": 788379},
"pointpainting":
 {"at_least": {"mAP": 0.5419575}, "at_most": {}, "performance_samples": 1024, "rows": 39987,
 "queries_min": {"SingleStream": 1024}, "required_edge": ["SingleStream"],
 "required_datacenter-edge": ["SingleStream"], "tests": ["TEST01", "TEST04"],
 "offline_samples_min": 6636},
"deepseek-r1":
 {"at_least": {"exact_match": 80.544618, "TOKENS_PER_SAMPLE": 3497.6046600000004}, "at_most":
 {"TOKENS_PER_SAMPLE": 4274.8501400000005}, "performance_samples": 4388, "rows": 4388,
 "queries_min": {"SingleStream": 1024, "Server": 270336, "Offline": 1}, "latency_ns": {"Server":
 60000000000}, "required_datacenter": ["Server", "Offline"], "required_datacenter-edge":
 ["SingleStream", "Server", "Offline"], "tokens_ns": {"Server": {"ttft": 2000000000, "tpot":
 80000000}, "Interactive": {"ttft": 1500000000, "tpot": 15000000}}, "tests": ["TEST06"],
 "offline_samples_min": 4388, "metric_keys": {"Offline": "result_tokens_per_second", "Server":
 "result_completed_tokens_per_second"}},
"whisper":
 {"at_least": {"ACCURACY": 96.953571}, "at_most": {}, "performance_samples": 1633, "rows": 1633,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_datacenter": ["Offline"],
 "required_edge": ["Offline"], "required_datacenter-edge": ["Offline"], "tests": ["TEST01"],
 "offline_samples_min": 1633, "metric_keys": {"Offline": "result_tokens_per_second"}}}},
"v6.0": {"seeds":
 {"qsl_rng_seed": 2465351861681999779, "sample_index_rng_seed": 14276810075590677512,
 "schedule_rng_seed": 3936089224930324775},
 "names":
 {"ssd-resnet34": "retinanet", "mobilenet": "resnet", "resnet50": "resnet", "llama3_1-405b":
 "llama3.1-405b", "llama3_1-8b": "llama3.1-8b", "llama3_1-8b-edge": "llama3.1-8b-edge"}, "models": {
"resnet":
 {"at_least": {"acc": 75.69539999999999}, "at_most": {}, "performance_samples": 1024, "rows":
 50000, "queries_min": {"SingleStream": 1024, "MultiStream": 270336, "Server": 270336, "Offline":
 1}, "latency_ns": {"Server": 15000000}, "required_edge": ["SingleStream", "MultiStream",
 "Offline"], "required_datacenter-edge": ["SingleStream", "MultiStream", "Offline", "Server"],
 "tests": ["TEST01", "TEST04"], "offline_samples_min": 24576},
"retinanet":
 {"at_least": {"mAP": 37.174499999999995}, "at_most": {}, "performance_samples": 64, "rows":
 24781, "queries_min": {"SingleStream": 1024, "MultiStream": 270336, "Server": 270336, "Offline":
 1}, "latency_ns": {"Server": 100000000}, "required_datacenter-edge": ["SingleStream", "Offline",
 "MultiStream", "Server"], "tests": ["TEST01"], "offline_samples_min": 24576},
"bert-99":
 {"at_least": {"F1": 89.96526}, "at_most": {}, "performance_samples": 10833, "rows": 10833,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_edge": ["SingleStream",
 "Offline"], "required_datacenter-edge": ["SingleStream", "Offline"], "tests": ["TEST01"],
 "offline_samples_min": 10833},
"bert-99.9":
 {"at_least": {"F1": 90.783126}, "at_most": {}, "performance_samples": 10833, "rows": 10833,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_edge": ["SingleStream",
 "Offline"], "required_datacenter-edge": ["SingleStream", "Offline"], "tests": ["TEST01"],
 "offline_samples_min": 10833},
"3d-unet-99":
 {"at_least": {"DICE": 0.853083}, "at_most": {}, "performance_samples": 43, "rows": 43,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_datacenter": ["Offline"],
 "required_edge": ["SingleStream", "Offline"], "required_datacenter-edge": ["SingleStream",
 "Offline"], "tests": ["TEST01"], "offline_samples_min": 43},
"3d-unet-99.9":
 {"at_least": {"DICE": 0.8608383000000001}, "at_most": {}, "performance_samples": 43, "rows": 43,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_datacenter": ["Offline"],
 "required_edge": ["SingleStream", "Offline"], "required_datacenter-edge": ["SingleStream",
 "Offline"], "tests": ["TEST01"], "offline_samples_min": 43},
"llama3.1-8b":
 {"at_least": {"ROUGE1": 38.391408000000006, "ROUGE2": 15.748425000000001, "ROUGEL": 24.250743,
 "ROUGELSUM": 35.435069999999996, "GEN_LEN": 7350879.600000001}, "at_most": {"GEN_LEN":
 8984408.4}, "performance_samples": 13368, "rows": 13368, "queries_min": {"SingleStream": 1024,
 "Server": 270336, "Offline": 1}, "latency_ns": {"Server": 20000000000}, "required_datacenter":
 ["Offline"], "optional_datacenter": ["Interactive", "Server"], "required_datacenter-edge":
 ["Offline"], "optional_datacenter-edge": ["Interactive", "Server"], "tokens_ns": {"Server":
 {"ttft": 2000000000, "tpot": 100000000}, "Interactive": {"ttft": 500000000, "tpot": 30000000}},
 "tests": ["TEST06"], "offline_samples_min": 13368, "metric_keys": {"Offline":
 "result_tokens_per_second", "Server": "result_completed_tokens_per_second"}},
"llama3.1-8b-edge":
 {"at_least": {"ROUGE1": 38.6694, "ROUGE2": 15.953553, "ROUGEL": 24.391125, "ROUGELSUM": 35.76276,
 "GEN_LEN": 2746001.7}, "at_most": {"GEN_LEN": 3356224.3000000003}, "performance_samples": 5000,
 "rows": 5000, "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_edge":
 ["SingleStream", "Offline"], "required_datacenter-edge": ["SingleStream", "Offline"],
 "offline_samples_min": 5000, "metric_keys": {"Offline": "result_tokens_per_second",
 "SingleStream": "result_90.00_percentile_latency_ns"}},
"llama2-70b-99":
 {"at_least": {"ROUGE1": 43.98688799999999, "ROUGE2": 21.814847999999998, "ROUGEL": 28.330038,
 "TOKENS_PER_SAMPLE": 265.005}, "at_most": {"TOKENS_PER_SAMPLE": 323.89500000000004},
 "performance_samples": 24576, "rows": 24576, "queries_min": {"SingleStream": 1024, "Server":
 270336, "Offline": 1}, "latency_ns": {"Server": 20000000000}, "required_datacenter": ["Offline"],
 "optional_datacenter": ["Interactive", "Server"], "required_datacenter-edge": ["Offline"],
 "optional_datacenter-edge": ["Interactive", "Server"], "tokens_ns": {"Server": {"ttft":
 2000000000, "tpot": 200000000}, "Interactive": {"ttft": 450000000, "tpot": 40000000}}, "tests":
 ["TEST06"], "offline_samples_min": 24576, "metric_keys": {"Offline": "result_tokens_per_second",
 "Server": "result_completed_tokens_per_second"}},
"llama2-70b-99.9":
 {"at_least": {"ROUGE1": 44.3867688, "ROUGE2": 22.0131648, "ROUGEL": 28.5875838,
 "TOKENS_PER_SAMPLE": 265.005}, "at_most": {"TOKENS_PER_SAMPLE": 323.89500000000004},
 "performance_samples": 24576, "rows": 24576, "queries_min": {"SingleStream": 1024, "Server":
 270336, "Offline": 1}, "latency_ns": {"Server": 20000000000}, "required_datacenter": ["Offline"],
 "optional_datacenter": ["Interactive", "Server"], "required_datacenter-edge": ["Offline"],
 "optional_datacenter-edge": ["Interactive", "Server"], "tokens_ns": {"Server": {"ttft":
 2000000000, "tpot": 200000000}, "Interactive": {"ttft": 450000000, "tpot": 40000000}}, "tests":
 ["TEST06"], "offline_samples_min": 24576, "metric_keys": {"Offline": "result_tokens_per_second",
 "Server": "result_completed_tokens_per_second"}},
"stable-diffusion-xl":
 {"at_least": {"CLIP_SCORE": 31.68631873, "FID_SCORE": 23.01085758}, "at_most": {"CLIP_SCORE":
 31.81331801, "FID_SCORE": 23.95007626}, "performance_samples": 5000, "rows": 5000, "queries_min":
 {"SingleStream": 1024, "Server": 270336, "Offline": 1}, "latency_ns": {"Server": 20000000000},
 "required_edge": ["SingleStream", "Offline"], "required_datacenter-edge": ["SingleStream",
 "Offline", "Server"], "tests": ["TEST01", "TEST04"], "offline_samples_min": 5000,
 "accuracy_files": {"images": ["1311", "2476", "3644", "2188", "4114", "52", "388", "1195",
 "3427", "2289"]}, "accuracy_delta_percent": {"CLIP_SCORE": 1, "FID_SCORE": 2}},
"mixtral-8x7b":
 {"at_least": {"ROUGE1": 45.142911, "ROUGE2": 23.119073999999998, "ROUGEL": 30.156191999999997,
 "TOKENS_PER_SAMPLE": 130.356, "gsm8k_accuracy": 72.9234, "mbxp_accuracy": 59.5584}, "at_most":
 {"TOKENS_PER_SAMPLE": 160.49}, "performance_samples": 15000, "rows": 15000, "queries_min":
 {"SingleStream": 1024, "Server": 270336, "Offline": 1}, "latency_ns": {"Server": 20000000000},
 "required_datacenter": ["Server", "Offline"], "required_datacenter-edge": ["Server", "Offline"],
 "tokens_ns": {"Server": {"ttft": 2000000000, "tpot": 200000000}}, "tests": ["TEST06"],
 "offline_samples_min": 15000, "metric_keys": {"Offline": "result_tokens_per_second", "Server":
 "result_completed_tokens_per_second"}},
"llama3.1-405b":
 {"at_least": {"ROUGEL": 21.449934, "exact_match": 89.232165, "TOKENS_PER_SAMPLE": 616.212},
 "at_most": {"TOKENS_PER_SAMPLE": 753.148}, "performance_samples": 8313, "rows": 8313,
 "queries_min": {"SingleStream": 1024, "Server": 270336, "Offline": 1}, "latency_ns": {"Server":
 60000000000}, "required_datacenter": ["Offline"], "optional_datacenter": ["Interactive",
 "Server"], "required_datacenter-edge": ["Offline"], "optional_datacenter-edge": ["Interactive",
 "Server"], "tokens_ns": {"Server": {"ttft": 6000000000, "tpot": 175000000}, "Interactive":
 {"ttft": 4500000000, "tpot": 80000000}}, "tests": ["TEST06"], "offline_samples_min": 8313,
 "metric_keys": {"Offline": "result_tokens_per_second", "Server":
 "result_completed_tokens_per_second"}},
"rgat":
 {"at_least": {"acc": 0.721314}, "at_most": {}, "performance_samples": 788379, "rows": 788379,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_datacenter": ["Offline"],
 "required_datacenter-edge": ["Offline"], "tests": ["TEST01"], "offline_samples_min": 788379},
"pointpainting":
 {"at_least": {"mAP": 0.5419575}, "at_most": {}, "performance_samples": 1024, "rows": 39987,
 "queries_min": {"SingleStream": 1024}, "required_edge": ["SingleStream"],
 "required_datacenter-edge": ["SingleStream"], "tests": ["TEST01", "TEST04"],
 "offline_samples_min": 6636},
"deepseek-r1":
 {"at_least": {"exact_match": 80.544618, "TOKENS_PER_SAMPLE": 3497.6046600000004}, "at_most":
 {"TOKENS_PER_SAMPLE": 4274.8501400000005}, "performance_samples": 4388, "rows": 4388,
 "queries_min": {"SingleStream": 1024, "Server": 270336, "Offline": 1}, "latency_ns": {"Server":
 60000000000}, "required_datacenter": ["Offline"], "optional_datacenter": ["Interactive",
 "Server"], "required_datacenter-edge": ["Offline"], "optional_datacenter-edge": ["Interactive",
 "Server"], "tokens_ns": {"Server": {"ttft": 2000000000, "tpot": 80000000}, "Interactive":
 {"ttft": 1500000000, "tpot": 15000000}}, "tests": ["TEST06"], "offline_samples_min": 4388,
 "metric_keys": {"Offline": "result_tokens_per_second", "Server":
 "result_completed_tokens_per_second"}},
"whisper":
 {"at_least": {"ACCURACY": 96.953571}, "at_most": {}, "performance_samples": 1633, "rows": 1633,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_datacenter": ["Offline"],
 "required_edge": ["Offline"], "required_datacenter-edge": ["Offline"], "tests": ["TEST01"],
 "offline_samples_min": 1633, "metric_keys": {"Offline": "result_tokens_per_second"}},
"gpt-oss-120b":
 {"at_least": {"exact_match": 82.2987}, "at_most": {"TOKENS_PER_SAMPLE": 10998.900000000001},
 "performance_samples": 6396, "rows": 6396, "accuracy_samples": 4395, "queries_min":
 {"SingleStream": 1024, "Server": 270336, "Offline": 1}, "latency_ns": {"Server": 60000000000},
 "required_datacenter": ["Offline"], "optional_datacenter": ["Interactive", "Server"],
 "required_datacenter-edge": ["Offline"], "optional_datacenter-edge": ["Interactive", "Server"],
 "tokens_ns": {"Server": {"ttft": 3000000000, "tpot": 80000000}, "Interactive": {"ttft":
 2000000000, "tpot": 15000000}}, "tests": ["TEST07", "TEST09"], "offline_samples_min": 6396,
 "metric_keys": {"Offline": "result_tokens_per_second", "Server":
 "result_completed_tokens_per_second"}},
"wan-2.2-t2v-a14b":
 {"at_least": {"vbench_score": 69.7752}, "at_most": {}, "performance_samples": 50, "rows": 248,
 "accuracy_samples": 248, "queries_min": {"SingleStream": 50, "Offline": 1},
 "required_datacenter": ["Offline", "SingleStream"], "tests": ["TEST04"], "offline_samples_min":
 50, "accuracy_files": {"videos": ["130", "106", "84", "59", "12", "31", "86", "122", "233",
 "96"]}},
"qwen3-vl-235b-a22b":
 {"at_least": {"F1_HIERARCHICAL": 0.782397}, "at_most": {}, "performance_samples": 48289, "rows":
 48289, "queries_min": {"SingleStream": 1024, "Server": 270336, "Offline": 1}, "latency_ns":
 {"Server": 12000000000}, "required_datacenter": ["Server", "Offline"],
 "required_datacenter-edge": ["Offline"], "optional_datacenter-edge": ["Interactive", "Server"],
 "offline_samples_min": 48289},
"dlrm-v3":
 {"at_least": {"DLRM_NE": 0.8660031300000001, "DLRM_ACC": 0.6958134899999999, "DLRM_AUC":
 0.78584337}, "at_most": {}, "performance_samples": 349823, "rows": 349823, "queries_min":
 {"Server": 270336, "Offline": 1}, "latency_ns": {"Server": 60000000000}, "required_datacenter":
 ["Server", "Offline"], "required_datacenter-edge": ["Offline", "Server"], "tests": ["TEST08"],
 "offline_samples_min": 349823},
"yolo-95":
 {"at_least": {"mAP": 50.73}, "at_most": {}, "performance_samples": 64, "rows": 1525,
 "queries_min": {"SingleStream": 1024, "MultiStream": 270336, "Offline": 1}, "required_edge":
 ["SingleStream", "MultiStream", "Offline"], "required_datacenter-edge": ["SingleStream",
 "MultiStream", "Offline"], "tests": ["TEST01"], "offline_samples_min": 1525},
"yolo-99":
 {"at_least": {"mAP": 52.866}, "at_most": {}, "performance_samples": 64, "rows": 1525,
 "queries_min": {"SingleStream": 1024, "MultiStream": 270336, "Offline": 1}, "required_edge":
 ["SingleStream", "MultiStream", "Offline"], "required_datacenter-edge": ["SingleStream",
 "MultiStream", "Offline"], "tests": ["TEST01"], "offline_samples_min": 1525}}},
"v6.1": {"seeds":
 {"qsl_rng_seed": 2085463073848966840, "sample_index_rng_seed": 2747215439041700203,
 "schedule_rng_seed": 16159082839903944936},
 "names":
 {"ssd-resnet34": "retinanet", "mobilenet": "resnet", "resnet50": "resnet", "llama3_1-405b":
 "llama3.1-405b", "llama3_1-8b": "llama3.1-8b", "llama3_1-8b-edge": "llama3.1-8b-edge"}, "models": {
"resnet":
 {"at_least": {"acc": 75.69539999999999}, "at_most": {}, "performance_samples": 1024, "rows":
 50000, "queries_min": {"SingleStream": 1024, "MultiStream": 270336, "Server": 270336, "Offline":
 1}, "latency_ns": {"Server": 15000000}, "required_edge": ["SingleStream", "MultiStream",
 "Offline"], "required_datacenter-edge": ["SingleStream", "MultiStream", "Offline", "Server"],
 "tests": ["TEST01", "TEST04"], "offline_samples_min": 24576},
"bert-99":
 {"at_least": {"F1": 89.96526}, "at_most": {}, "performance_samples": 10833, "rows": 10833,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_edge": ["SingleStream",
 "Offline"], "required_datacenter-edge": ["SingleStream", "Offline"], "tests": ["TEST01"],
 "offline_samples_min": 10833},
"bert-99.9":
 {"at_least": {"F1": 90.783126}, "at_most": {}, "performance_samples": 10833, "rows": 10833,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_edge": ["SingleStream",
 "Offline"], "required_datacenter-edge": ["SingleStream", "Offline"], "tests": ["TEST01"],
 "offline_samples_min": 10833},
"3d-unet-99":
 {"at_least": {"DICE": 0.853083}, "at_most": {}, "performance_samples": 43, "rows": 43,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_datacenter": ["Offline"],
 "required_edge": ["SingleStream", "Offline"], "required_datacenter-edge": ["SingleStream",
 "Offline"], "tests": ["TEST01"], "offline_samples_min": 43},
"3d-unet-99.9":
 {"at_least": {"DICE": 0.8608383000000001}, "at_most": {}, "performance_samples": 43, "rows": 43,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_datacenter": ["Offline"],
 "required_edge": ["SingleStream", "Offline"], "required_datacenter-edge": ["SingleStream",
 "Offline"], "tests": ["TEST01"], "offline_samples_min": 43},
"llama3.1-8b":
 {"at_least": {"ROUGE1": 38.391408000000006, "ROUGE2": 15.748425000000001, "ROUGEL": 24.250743,
 "ROUGELSUM": 35.435069999999996, "GEN_LEN": 7350879.600000001}, "at_most": {"GEN_LEN":
 8984408.4}, "performance_samples": 13368, "rows": 13368, "queries_min": {"SingleStream": 1024,
 "Server": 270336, "Offline": 1}, "latency_ns": {"Server": 20000000000}, "required_datacenter":
 ["Offline"], "optional_datacenter": ["Interactive", "Server"], "required_datacenter-edge":
 ["Offline"], "optional_datacenter-edge": ["Interactive", "Server"], "tokens_ns": {"Server":
 {"ttft": 2000000000, "tpot": 100000000}, "Interactive": {"ttft": 500000000, "tpot": 30000000}},
 "tests": ["TEST06"], "offline_samples_min": 13368, "metric_keys": {"Offline":
 "result_tokens_per_second", "Server": "result_completed_tokens_per_second"}},
"llama3.1-8b-edge":
 {"at_least": {"ROUGE1": 38.6694, "ROUGE2": 15.953553, "ROUGEL": 24.391125, "ROUGELSUM": 35.76276,
 "GEN_LEN": 2746001.7}, "at_most": {"GEN_LEN": 3356224.3000000003}, "performance_samples": 5000,
 "rows": 5000, "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_edge":
 ["SingleStream", "Offline"], "required_datacenter-edge": ["SingleStream", "Offline"],
 "offline_samples_min": 5000, "metric_keys": {"Offline": "result_tokens_per_second",
 "SingleStream": "result_90.00_percentile_latency_ns"}},
"llama2-70b-99.9":
 {"at_least": {"ROUGE1": 44.3867688, "ROUGE2": 22.0131648, "ROUGEL": 28.5875838,
 "TOKENS_PER_SAMPLE": 265.005}, "at_most": {"TOKENS_PER_SAMPLE": 323.89500000000004},
 "performance_samples": 24576, "rows": 24576, "queries_min": {"SingleStream": 1024, "Server":
 270336, "Offline": 1}, "latency_ns": {"Server": 20000000000}, "required_datacenter": ["Offline"],
 "optional_datacenter": ["Interactive", "Server"], "required_datacenter-edge": ["Offline"],
 "optional_datacenter-edge": ["Interactive", "Server"], "tokens_ns": {"Server": {"ttft":
 2000000000, "tpot": 200000000}, "Interactive": {"ttft": 450000000, "tpot": 40000000}}, "tests":
 ["TEST06"], "offline_samples_min": 24576, "metric_keys": {"Offline": "result_tokens_per_second",
 "Server": "result_completed_tokens_per_second"}},
"stable-diffusion-xl":
 {"at_least": {"CLIP_SCORE": 31.68631873, "FID_SCORE": 23.01085758}, "at_most": {"CLIP_SCORE":
 31.81331801, "FID_SCORE": 23.95007626}, "performance_samples": 5000, "rows": 5000, "queries_min":
 {"SingleStream": 1024, "Server": 270336, "Offline": 1}, "latency_ns": {"Server": 20000000000},
 "required_edge": ["SingleStream", "Offline"], "required_datacenter-edge": ["SingleStream",
 "Offline", "Server"], "tests": ["TEST01", "TEST04"], "offline_samples_min": 5000,
 "accuracy_delta_percent": {"CLIP_SCORE": 1, "FID_SCORE": 2}},
"rgat":
 {"at_least": {"acc": 0.721314}, "at_most": {}, "performance_samples": 788379, "rows": 788379,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_datacenter": ["Offline"],
 "required_datacenter-edge": ["Offline"], "tests": ["TEST01"], "offline_samples_min": 788379},
"deepseek-r1":
 {"at_least": {"exact_match": 80.544618, "TOKENS_PER_SAMPLE": 3497.6046600000004}, "at_most":
 {"TOKENS_PER_SAMPLE": 4274.8501400000005}, "performance_samples": 4388, "rows": 4388,
 "queries_min": {"SingleStream": 1024, "Server": 270336, "Offline": 1}, "latency_ns": {"Server":
 60000000000}, "required_datacenter": ["Offline"], "optional_datacenter": ["Interactive",
 "Server"], "required_datacenter-edge": ["Offline"], "optional_datacenter-edge": ["Interactive",
 "Server"], "tokens_ns": {"Server": {"ttft": 2000000000, "tpot": 80000000}, "Interactive":
 {"ttft": 1500000000, "tpot": 15000000}}, "tests": ["TEST06"], "offline_samples_min": 4388,
 "metric_keys": {"Offline": "result_tokens_per_second", "Server":
 "result_completed_tokens_per_second"}},
"whisper":
 {"at_least": {"ACCURACY": 96.953571}, "at_most": {}, "performance_samples": 1633, "rows": 1633,
 "queries_min": {"SingleStream": 1024, "Offline": 1}, "required_datacenter": ["Offline"],
 "required_edge": ["Offline"], "required_datacenter-edge": ["Offline"], "tests": ["TEST01"],
 "offline_samples_min": 1633, "metric_keys": {"Offline": "result_tokens_per_second"}},
"gpt-oss-120b":
 {"at_least": {"exact_match": 82.2987}, "at_most": {"TOKENS_PER_SAMPLE": 10998.900000000001},
 "performance_samples": 6396, "rows": 6396, "accuracy_samples": 4395, "queries_min":
 {"SingleStream": 1024, "Server": 270336, "Offline": 1}, "latency_ns": {"Server": 60000000000},
 "required_datacenter": ["Offline"], "optional_datacenter": ["Interactive", "Server"],
 "required_datacenter-edge": ["Offline"], "optional_datacenter-edge": ["Interactive", "Server"],
 "tokens_ns": {"Server": {"ttft": 3000000000, "tpot": 80000000}, "Interactive": {"ttft":
 2000000000, "tpot": 15000000}}, "tests": ["TEST07", "TEST09"], "offline_samples_min": 6396,
 "metric_keys": {"Offline": "result_tokens_per_second", "Server":
 "result_completed_tokens_per_second"}},
"wan-2.2-t2v-a14b":
 {"at_least": {"vbench_score": 69.7752}, "at_most": {}, "performance_samples": 50, "rows": 248,
 "accuracy_samples": 248, "queries_min": {"SingleStream": 50, "Offline": 1},
 "required_datacenter": ["Offline", "SingleStream"], "tests": ["TEST04"], "offline_samples_min":
 50, "accuracy_files": {"videos": ["130", "106", "84", "59", "12", "123", "43", "22", "238",
 "32"]}},
"qwen3-vl-235b-a22b":
 {"at_least": {"Offline": {"F1_HIERARCHICAL": 0.782397}, "Server": {"F1_HIERARCHICAL": 0.782397},
 "Interactive": {"F1_HIERARCHICAL": 0.7799219999999999}}, "at_most": {}, "performance_samples":
 48289, "rows": 48289, "accuracy_samples": {"Offline": 48289, "Interactive": 8000, "Server":
 48289}, "queries_min": {"SingleStream": 1024, "Server": 270336, "Offline": 1}, "latency_ns":
 {"Server": 12000000000, "Interactive": 1500000000}, "required_datacenter": ["Offline"],
 "optional_datacenter": ["Interactive", "Server"], "required_datacenter-edge": ["Offline"],
 "optional_datacenter-edge": ["Interactive", "Server"], "offline_samples_min": 48289},
"qwen3.6-27b":
 {"at_least": {"mAP": 85.3677}, "at_most": {}, "performance_samples": 995, "rows": 995,
 "accuracy_samples": 995, "queries_min": {"SingleStream": 995}, "required_edge": ["SingleStream"],
 "required_datacenter-edge": ["SingleStream"]},
"dlrm-v3":
 {"at_least": {"DLRM_NE": 0.8660031300000001, "DLRM_ACC": 0.6958134899999999, "DLRM_AUC":
 0.78584337}, "at_most": {}, "performance_samples": 349823, "rows": 349823, "queries_min":
 {"Server": 270336, "Offline": 1}, "latency_ns": {"Server": 60000000000}, "required_datacenter":
 ["Server", "Offline"], "required_datacenter-edge": ["Offline", "Server"], "tests": ["TEST08"],
 "offline_samples_min": 349823},
"yolo-95":
 {"at_least": {"mAP": 50.73}, "at_most": {}, "performance_samples": 64, "rows": 1525,
 "queries_min": {"SingleStream": 1024, "MultiStream": 270336, "Offline": 1}, "required_edge":
 ["SingleStream", "MultiStream", "Offline"], "required_datacenter-edge": ["SingleStream",
 "MultiStream", "Offline"], "tests": ["TEST01"], "offline_samples_min": 1525},
"yolo-99":
 {"at_least": {"mAP": 52.866}, "at_most": {}, "performance_samples": 64, "rows": 1525,
 "queries_min": {"SingleStream": 1024, "MultiStream": 270336, "Offline": 1}, "required_edge":
 ["SingleStream", "MultiStream", "Offline"], "required_datacenter-edge": ["SingleStream",
 "MultiStream", "Offline"], "tests": ["TEST01"], "offline_samples_min": 1525},
"e2e-rag-qna":
 {"at_least": {"E2E_ACCURACY": 33.95}, "at_most": {}, "performance_samples": 824, "rows": 824,
 "queries_min": {"Offline": 1}, "required_datacenter": ["Offline"], "tests": ["TEST09"],
 "offline_samples_min": 824},
"e2e-rag-db":
 {"at_least": {"E2E_ACCURACY": 98}, "at_most": {}, "performance_samples": 2515, "rows": 2515,
 "queries_min": {"Offline": 1}, "required_datacenter": ["Offline"], "offline_samples_min": 2515}}}
})json";

}  // namespace

std::string_view inference_rounds_json() { return kRounds; }

}  // namespace assay::rulebook
