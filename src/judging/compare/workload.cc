#include "compare/workload.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/text.h"
#include "compare/paired.h"

namespace assay::compare {
namespace {

constexpr std::size_t kQueriesMin = 20;
constexpr std::size_t kPairsMin = 6;

double failed_share(const metrics::Point& point) {
  if (point.counts.issued == 0) return 0;
  return static_cast<double>(point.counts.failed) / static_cast<double>(point.counts.issued);
}

bool simulated(const metrics::Point& point) { return point.run.simulated; }

// Compares numbers by value: another tool's file may have 8.0 for 8.
bool same_fact(const Json& left, const Json& right) {
  if (left.is_number() && right.is_number()) return left.as_double() == right.as_double();
  return left == right;
}

// Another tool's run may lack facts that ours have; the user may know them.
void unlike(std::string_view what, const Json& left, const Json& right, const char* flag,
            std::vector<std::string>& out) {
  const auto side = [](const Json& fact) {
    return fact.is_null() ? std::string("does not say") : "has " + fact.dump();
  };
  std::string line = format("{}: A {}, B {}", what, side(left), side(right));
  if (left.is_null() != right.is_null() && *flag != 0) {
    line += format("; if it is known to be the same, convert {}'s file again with {}",
                   left.is_null() ? "A" : "B", flag);
  }
  out.push_back(std::move(line));
}

void facts(const metrics::Point& a, const metrics::Point& b, std::vector<std::string>& out) {
  struct Fact {
    const char* name;
    const char* flag;
  };
  for (const auto& [name, flag] :
       {Fact{"model", "--model"}, Fact{"api", "--api-type"}, Fact{"streaming", ""},
        // The file of a described kind: two files may have one name.
        Fact{"api_sha256", ""}}) {
    const Json& left = a.run.facts[name];
    const Json& right = b.run.facts[name];
    if (!same_fact(left, right)) unlike(name, left, right, flag, out);
  }
  const Json& left = a.run.facts["run_config"]["load_pattern"];
  const Json& right = b.run.facts["run_config"]["load_pattern"];
  if (left.is_null() != right.is_null()) {
    const Json& known = left.is_null() ? right : left;
    const bool closed = known["type"].as_string() == "concurrency";
    const Json& level = known[closed ? "target_concurrency" : "target_qps"];
    const std::string flag = format("{} {}", closed ? "--concurrency" : "--rate",
                                    level.is_number() ? level.dump() : "N");
    unlike("load pattern", left["type"], right["type"], flag.c_str(), out);
    return;
  }
  for (const char* const name : {"type", "target_qps", "target_concurrency"}) {
    if (same_fact(left[name], right[name])) continue;
    unlike(format("load pattern, {}", name), left[name], right[name], "", out);
  }
}

// Two ways to count tokens differ more than two systems do. `margin`: allowed difference of the
// shares of replies with one kind of evidence.
void token_sources(const metrics::Point& a, const metrics::Point& b, double margin,
                   std::vector<std::string>& out) {
  const auto share = [](const metrics::Tokens& tokens, std::size_t basis) {
    const std::uint64_t replies = tokens.replies_counted + tokens.replies_uncounted;
    return replies == 0
               ? 0.0
               : static_cast<double>(tokens.replies_by[basis]) / static_cast<double>(replies);
  };
  double apart = 0;
  for (std::size_t i = 0; i < metrics::kTokenBases; ++i) {
    apart = std::max(apart, std::abs(share(a.tokens, i) - share(b.tokens, i)));
  }
  const bool counted =
      share(a.tokens, static_cast<std::size_t>(metrics::TokenBasis::tokenizer)) > 0;
  const bool same_tokenizer = a.tokens.tokenizer["sha256"] == b.tokens.tokenizer["sha256"];
  if (apart <= margin && (!counted || same_tokenizer)) return;
  out.push_back(
      format("tokens are not counted alike: A's by {}, B's by {}; --tokenizer counts both anew",
             metrics::token_source_text(a.tokens), metrics::token_source_text(b.tokens)));
}

void length(std::string_view name, const metrics::Distribution& a, const metrics::Distribution& b,
            double margin, std::vector<std::string>& out) {
  if (a.empty() != b.empty()) {
    out.push_back(format("{}: only {} has token counts", name, a.empty() ? "B" : "A"));
    return;
  }
  if (a.empty() || a.mean <= 0) return;
  const double change = b.mean / a.mean - 1;
  if (std::abs(change) <= margin) return;
  out.push_back(format("{}: {} tokens on average in A, {} in B ({:+.1f} %, more than {:.1f} %)",
                       name, three_digits(a.mean), three_digits(b.mean), 100 * change,
                       100 * margin));
}

void pairs(const ComparedRun& a, const ComparedRun& b, std::vector<std::string>& out) {
  if (!interleaved(*a.point, *b.point)) return;
  const std::size_t found = paired_blocks(a.point->run, *a.rows, *b.rows).a.front().count();
  if (found >= kPairsMin) return;
  out.push_back(format("{} pairs of blocks are too few; {} is the least", found, kPairsMin));
}

void one(const ComparedRun& run, bool allow_client_limited, std::vector<std::string>& out) {
  const metrics::Point& point = *run.point;
  if (!point.complete()) {
    out.push_back(format("{}: the run is not whole ({})", run.name, to_string(point.end.state)));
  }
  const auto good = static_cast<std::size_t>(
      std::ranges::count_if(run.rows->rows(), [](const QueryRow& row) { return row.ok; }));
  if (good < kQueriesMin) {
    out.push_back(format("{}: {} successful queries are too few; {} is the least", run.name, good,
                         kQueriesMin));
  }
  if (run.client == audit::ClientLimited::yes && !allow_client_limited) {
    out.push_back(
        format("{}: the client was the bottleneck, so its figures are not the endpoint's "
               "(--allow-client-limited compares them all the same)",
               run.name));
  }
}

}  // namespace

std::vector<std::string> workload_differences(const ComparedRun& a, const ComparedRun& b,
                                              const CompareOptions& options) {
  std::vector<std::string> out;
  one(a, options.allow_client_limited, out);
  one(b, options.allow_client_limited, out);
  if (simulated(*a.point) != simulated(*b.point)) {
    out.push_back("one was measured and the other was simulated");
  }
  facts(*a.point, *b.point, out);
  if (a.sent_digest != b.sent_digest && !a.sent_digest.empty() && !b.sent_digest.empty()) {
    out.push_back(
        format("what was sent: A's trajectories have the digest {}, B's {}: other "
               "queries, or some were not sent",
               a.sent_digest.substr(0, 16), b.sent_digest.substr(0, 16)));
  }
  pairs(a, b, out);
  token_sources(*a.point, *b.point, options.error_margin, out);
  length("ISL", a.point->isl, b.point->isl, options.length_margin, out);
  length("OSL", a.point->osl, b.point->osl, options.length_margin, out);
  const double left = failed_share(*a.point);
  const double right = failed_share(*b.point);
  if (std::abs(left - right) > options.error_margin) {
    out.push_back(
        format("failed: {:.1f} % of A's queries, {:.1f} % of B's: what failed is in no "
               "series, so the rest are not the same queries",
               100 * left, 100 * right));
  }
  return out;
}

}  // namespace assay::compare
