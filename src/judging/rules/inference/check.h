// check_inference: checks a submission tree of MLPerf Inference by every rule of a round.
//
//     ASSIGN_OR_RETURN(const CheckReport report, check_inference("submission/", {.round =
//     "v6.1"}));
//
// It fails only for an unknown round. Everything broken in the tree is a finding. Pure, except that
// it reads files; any thread.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "rules/check_tree.h"

namespace assay::rules::inference {

struct InferenceOptions {
  std::string round = "v6.1";
  std::string submitter{};  // this one alone; "": all
};

// The report counts systems as systems, models as curves and scenarios as points.
Result<CheckReport> check_inference(const std::filesystem::path& path,
                                    const InferenceOptions& options);

}  // namespace assay::rules::inference
