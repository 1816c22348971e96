// Release: the one document about a run that may leave a site, and the policy that makes it. The
// document has ids that both sides chose, the dataset's digest, and numbers under known names;
// there is no place for a text of the data. What is shown to the site's owner are its bytes, and
// those bytes are signed and sent. Format: docs/formats/sites.md. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::sites {

// The figures of one level of concurrency, by name.
struct ReleaseLevel {
  std::int64_t concurrency = 0;
  std::vector<std::pair<std::string, double>> figures{};
};

struct ReleaseDocument {
  std::string run{};
  std::string benchmark{};
  std::string dataset_sha256{};
  std::string model{};
  std::vector<ReleaseLevel> levels{};
};

// What a site lets go of a result.
struct ReleasePolicy {
  std::vector<std::string> fields{};  // no other leaves
  std::int64_t k_minimum = 0;  // a figure over fewer samples stays; a share, where either part has
                               // 1 to k - 1 samples
  int digits = 3;              // significant digits that stay
};

// One level as it was measured at the site.
struct MeasuredLevel {
  std::int64_t concurrency = 0;
  std::int64_t completed = 0;  // samples behind its figures
  std::vector<std::pair<std::string, double>> figures{};
  // Samples behind the shares "accuracy" and "safe_share", and what follows from each.
  std::optional<std::int64_t> scored{};
  std::optional<std::int64_t> judged{};
};

// The names that a release may have, all others are refused by both sides.
bool is_release_field(std::string_view name);

struct Candidate {
  ReleaseDocument document{};
  std::vector<std::string> kept_back{};  // sentences for the owner: what stays, and why
};
// `wanted`: the fields that the benchmark asks for.
Candidate make_candidate(const std::vector<MeasuredLevel>& measured, const ReleasePolicy& policy,
                         const std::vector<std::string>& wanted, ReleaseDocument head);

// The document's only spelling: JSON, two spaces, one newline at the end.
std::string to_text(const ReleaseDocument& document);
// Refuses any other spelling, so that no byte can say more than the values do.
Result<ReleaseDocument> parse_release(std::string_view text);

double rounded_to(double value, int digits);

}  // namespace assay::sites
