// Policy: the site's own file: which hub it asks, what its datasets and models really are, what
// orders it takes, and what may leave. Only the site reads it; no value of the first three comes
// near the network, apart from the hub's address. Format: docs/guide/sites.md. An unknown key is an
// error, so that a misspelled limit is not an absent one. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sites/act.h"
#include "sites/release.h"

namespace assay::site {

struct PrivateDataset {
  std::filesystem::path file{};
  std::string description{};
  // Added to the dataset's SPEC of `assay run`, for its columns: parser.prompt=question
  std::vector<std::string> options{};
  std::string ground_truth{};
  std::string extractor{};
  // The work folder of the pipeline that makes it; its counts are reported to the hub. "": none is.
  std::filesystem::path preparation{};
};

struct PrivateModel {
  std::string endpoint{};  // URL
  std::string name{};      // as the server knows it
  std::string api_key_env{};
};

// Orders beyond one of these are refused.
struct OrderLimits {
  std::vector<std::string> benchmarks{};  // no other is run
  std::int64_t concurrency_max = 0;
  std::int64_t samples_max = 0;
  std::int64_t output_tokens_max = 0;
  std::vector<std::string> scorers{};
  std::string curve{};  // how long a curve's points may last: quick, or full; "": no curve is run
  bool safety = false;  // whether safety runs are
};

// What a safety run of this site asks, and who judges: names, or files of its folder, as
// `assay safety run` has them; "" for its default.
struct SafetyParts {
  std::string prompts{};
  std::string judges{};
  std::string standard{};
};

struct HubAddress {
  std::string url{};
  std::filesystem::path token_file{};
  std::string ca_file{};  // PEM; "" for the system's store
};

struct Policy {
  HubAddress hub{};
  std::filesystem::path store{};
  std::filesystem::path folder{};  // of the runs
  std::filesystem::path key{};     // signs releases
  std::map<std::string, PrivateDataset, std::less<>> datasets{};
  std::map<std::string, PrivateModel, std::less<>> models{};
  OrderLimits orders{};
  SafetyParts safety{};
  sites::ReleasePolicy release{};
};

// Paths are relative to `folder`. Errors name line and key.
Result<Policy> parse_policy(std::string_view text, const std::filesystem::path& folder);
Result<Policy> load_policy(const std::filesystem::path& file);

// Why the order is not for this site; "" if it is.
std::string why_not(const Policy& policy, std::string_view benchmark, std::string_view dataset,
                    std::string_view model, const sites::Measurement& measurement);

}  // namespace assay::site
