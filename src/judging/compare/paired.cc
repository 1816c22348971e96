#include "compare/paired.h"

#include <algorithm>

namespace assay::compare {
namespace {

constexpr std::size_t kPairsAtLeast = 10;
constexpr std::size_t kNone = ~std::size_t{0};

// Returns the pair of each performance phase: an interleaved plan has them in pairs, one a side.
std::vector<std::size_t> pair_of_phase(const RunInfo& info) {
  std::vector<std::size_t> out;
  std::size_t blocks = 0;
  for (const PhaseInfo& phase : info.phases) {
    out.push_back(phase.kind == PhaseKind::performance ? blocks++ / 2 : kNone);
  }
  return out;
}

struct Range {
  std::size_t begin = kNone;
  std::size_t end = 0;
};

std::vector<Range> ranges(const std::vector<QueryRow>& rows,
                          const std::vector<std::size_t>& pair_of) {
  std::vector<Range> out((pair_of.size() + 1) / 2);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].phase >= pair_of.size() || pair_of[rows[i].phase] == kNone) continue;
    Range& range = out[pair_of[rows[i].phase]];
    range.begin = std::min(range.begin, i);
    range.end = i + 1;
  }
  return out;
}

}  // namespace

bool interleaved(const metrics::Point& a, const metrics::Point& b) {
  const Json& left = a.run.facts["interleaved"];
  const Json& right = b.run.facts["interleaved"];
  if (!left.is_object() || !right.is_object()) return false;
  const bool one_run = !left["id"].as_string().empty() && left["id"] == right["id"];
  return one_run && left["side"] != right["side"];
}

PairedBlocks paired_blocks(const RunInfo& info, const QueryRows& a, const QueryRows& b) {
  const std::vector<std::size_t> pair_of = pair_of_phase(info);
  const std::vector<Range> left = ranges(a.rows(), pair_of);
  const std::vector<Range> right = ranges(b.rows(), pair_of);
  // A pair's rows are neighbours: one pair ends where the next begins.
  TimeBlocks first_a;
  TimeBlocks first_b;
  std::size_t end_a = 0;
  std::size_t end_b = 0;
  for (std::size_t pair = 0; pair < left.size(); ++pair) {
    if (left[pair].begin == kNone || right[pair].begin == kNone) continue;
    first_a.begins.push_back(left[pair].begin);
    first_b.begins.push_back(right[pair].begin);
    end_a = left[pair].end;
    end_b = right[pair].end;
  }
  if (!first_a.begins.empty()) {
    first_a.begins.push_back(end_a);
    first_b.begins.push_back(end_b);
  }
  PairedBlocks out{.a = {first_a}, .b = {first_b}};
  for (std::size_t joined = 2; joined <= 4; joined *= 2) {
    const std::size_t count = first_a.count() / joined;
    if (count < kPairsAtLeast) break;
    out.a.emplace_back();
    out.b.emplace_back();
    for (std::size_t block = 0; block <= count; ++block) {
      const std::size_t pair = block * first_a.count() / count;
      out.a.back().begins.push_back(first_a.begins[pair]);
      out.b.back().begins.push_back(first_b.begins[pair]);
    }
  }
  return out;
}

}  // namespace assay::compare
