// Every command of `assay`, one function each, in cmd_NAME.cc. To add one: declare it here and add
// a line to the table of command.cc.
//
// `args` is the command line after the command's name. The function returns the exit code, or the
// Error that decides it (exit_code.h). The result goes to standard output, all messages to standard
// error (console.h); every command takes --help and --json.
#pragma once

#include <span>
#include <string>

#include "base/result.h"

namespace assay::cli {

using Args = std::span<const std::string>;

Result<int> cmd_bundle(Args args);
Result<int> cmd_calibrate(Args args);
Result<int> cmd_check(Args args);
Result<int> cmd_client(Args args);
Result<int> cmd_compare(Args args);
Result<int> cmd_completion(Args args);
Result<int> cmd_compliance(Args args);  // of cmd_loadgen
Result<int> cmd_conformance(Args args);
Result<int> cmd_convert(Args args);
Result<int> cmd_curve(Args args);
Result<int> cmd_dataset(Args args);
Result<int> cmd_decide(Args args);
Result<int> cmd_doctor(Args args);
Result<int> cmd_endpoint(Args args);
Result<int> cmd_proxy(Args args);
Result<int> cmd_explain(Args args);
Result<int> cmd_export(Args args);
Result<int> cmd_hub(Args args);
Result<int> cmd_import(Args args);
Result<int> cmd_init(Args args);
Result<int> cmd_key(Args args);
Result<int> cmd_launch(Args args);
Result<int> cmd_loadgen(Args args);
Result<int> cmd_man(Args args);
Result<int> cmd_mcp(Args args);
Result<int> cmd_merge(Args args);
Result<int> cmd_noise(Args args);
Result<int> cmd_pack(Args args);
Result<int> cmd_pipeline(Args args);
Result<int> cmd_probe(Args args);
Result<int> cmd_regions(Args args);
Result<int> cmd_report(Args args);
Result<int> cmd_review(Args args);
Result<int> cmd_run(Args args);
Result<int> cmd_jailbreak(Args args);
Result<int> cmd_safety(Args args);
Result<int> cmd_safety_label(Args args);  // of cmd_safety
Result<int> cmd_safety_run(Args args);    // of cmd_safety
Result<int> cmd_serve(Args args);
Result<int> cmd_score(Args args);
Result<int> cmd_simulate(Args args);
Result<int> cmd_site(Args args);
Result<int> cmd_tasks(Args args);
Result<int> cmd_tokens(Args args);
Result<int> cmd_twin(Args args);
Result<int> cmd_verify(Args args);
Result<int> cmd_demo(Args args);
Result<int> cmd_version(Args args);
Result<int> cmd_workloads(Args args);

}  // namespace assay::cli
