// For tests: one mutation that breaks a rule in a golden tree.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "rules/check_tree.h"
#include "rules/testing_golden_tree.h"

namespace assay::rules {

// `also` names the rules that the same fault must fire too (for a point.yaml that can't be read,
// dependent rules are skipped, and the report lists them). No other rule may fire.
struct Mutation {
  std::string rule{};
  std::string what{};
  std::function<void(GoldenTree&)> change{};
  std::vector<std::string> also{};
  Severity severity = Severity::error;  // the highest of all that fire
  bool agentic = false;
  std::function<void(const std::filesystem::path&, CheckOptions&)> on_disk{};
};

inline Json& inner(Json& json, std::initializer_list<std::string_view> path) {
  Json* here = &json;
  for (const std::string_view name : path) {
    here = here->find(name);
    CHECK(here != nullptr);
  }
  return *here;
}

}  // namespace assay::rules
