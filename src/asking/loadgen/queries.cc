#include "loadgen/queries.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "base/format.h"

namespace assay::loadgen {
namespace {

constexpr std::int64_t kMsInNs = 1'000'000;
constexpr std::uint64_t kQueriesMax = 4'000'000'000;

std::vector<std::uint64_t> numbers_to(std::uint64_t count) {
  std::vector<std::uint64_t> out(count);
  std::iota(out.begin(), out.end(), std::uint64_t{0});
  return out;
}

}  // namespace

std::vector<LoadedSet> loaded_sets(const EffectiveSettings& settings, Phase phase) {
  const std::uint64_t asked =
      phase == Phase::accuracy ? settings.accuracy_sample_count : settings.performance_sample_count;
  std::vector<std::uint64_t> samples = numbers_to(std::min(asked, settings.library.total));
  LibstdcxxRandom random(settings.requested.qsl_rng_seed);
  random.shuffle(std::span(samples));
  const std::uint64_t padding =
      settings.scenario == Scenario::MultiStream ? settings.samples_per_query - 1 : 0;
  std::vector<LoadedSet> sets;
  for (std::size_t from = 0; from < samples.size();) {
    const std::size_t count =
        std::min<std::size_t>(settings.performance_sample_count, samples.size() - from);
    LoadedSet& set = sets.emplace_back();
    set.distinct = count;
    const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(from);
    set.samples.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
    for (std::size_t i = 0; i < padding; ++i) set.samples.push_back(set.samples[i]);
    from += count;
  }
  return sets;
}

QueryStream::QueryStream(const EffectiveSettings& settings, const LoadedSet& set, Phase phase)
    : settings_(&settings),
      set_(&set.samples),
      distinct_(set.distinct),
      accuracy_(phase == Phase::accuracy),
      passes_(settings.requested.sample_concatenate_permutation),
      per_query_(settings.samples_per_query),
      queries_min_(settings.min_query_count),
      sample_random_(settings.requested.sample_index_rng_seed),
      schedule_random_(settings.requested.schedule_rng_seed),
      pass_start_(sample_random_),
      pass_random_(sample_random_) {
  const TestSettings& asked = settings.requested;
  const bool offline = settings.scenario == Scenario::Offline;
  // Twice what the rate asks for, in case answers come sooner. Server issues what it has.
  generate_ns_ =
      settings.target_duration_ms * kMsInNs * (settings.scenario == Scenario::Server ? 1 : 2);
  if (accuracy_ && offline) per_query_ = distinct_;
  if (accuracy_ || asked.performance_issue_unique) {
    generate_ns_ = 0;
    queries_min_ = set_->size() / per_query_;
  }
  // LoadGen draws all of this before the first query, whether it is used or not.
  if (accuracy_) order_ = starts();
  if (accuracy_) sample_random_.shuffle(std::span(order_));
  unique_ = starts();
  sample_random_.shuffle(std::span(unique_));
  skip_permutations();
  if (accuracy_ || !passes_) return;
  std::uint64_t& padded = offline ? per_query_ : queries_min_;
  padded += (set_->size() - padded % set_->size()) % set_->size();
}

// What a query can begin with: every sample, or in MultiStream every one of a stride.
std::vector<std::uint64_t> QueryStream::starts() const {
  const std::uint64_t stride = settings_->scenario == Scenario::MultiStream ? per_query_ : 1;
  std::vector<std::uint64_t> out;
  for (std::uint64_t i = 0; i < distinct_; i += stride) out.push_back(i);
  return out;
}

void QueryStream::skip_permutations() {
  passes_ahead_ = (queries_min_ + set_->size() - 1) / set_->size();
  pass_start_ = sample_random_;
  pass_random_ = sample_random_;
  std::vector<std::uint64_t> order = numbers_to(set_->size());
  for (std::uint64_t i = 0; i < passes_ahead_; ++i) sample_random_.shuffle(std::span(order));
}

Result<void> QueryStream::check() const {
  const TestSettings& asked = settings_->requested;
  const bool offline = settings_->scenario == Scenario::Offline;
  if (queries_min_ == 0 && generate_ns_ == 0) {
    return invalid("these settings give no query: more samples a query than are loaded");
  }
  if (passes_ && !offline && passes_ahead_ == 0) {
    return invalid("sample_concatenate_permutation: needs a min_query_count above 0");
  }
  if (asked.performance_issue_unique && !offline && queries_min_ > unique_.size()) {
    return invalid(format("performance_issue_unique: {} queries need more than {} loaded samples",
                          queries_min_, distinct_));
  }
  if (asked.performance_issue_same && asked.performance_issue_same_index >= distinct_) {
    return invalid(format("performance_issue_same_index: {} is not below {} loaded samples",
                          asked.performance_issue_same_index, distinct_));
  }
  if (offline) return {};
  const double queries =
      std::max(static_cast<double>(generate_ns_) / 1e9 * settings_->target_qps,
               static_cast<double>(queries_min_) + static_cast<double>(set_->size()));
  if (queries > static_cast<double>(kQueriesMax)) {
    return invalid(format("these settings give more than {} queries", kQueriesMax));
  }
  // A drawn gap is at most 45 times the mean one.
  if (queries / settings_->target_qps * 50 > 9e9) {
    return invalid("these settings give a schedule of more than five years");
  }
  return {};
}

Result<QueryStream> QueryStream::make(const EffectiveSettings& settings, const LoadedSet& set,
                                      Phase phase) {
  QueryStream stream(settings, set, phase);
  TRY(stream.check());
  return stream;
}

std::uint64_t QueryStream::next_of_passes() {
  if (pass_position_ == pass_.size()) {
    if (passes_begun_ % passes_ahead_ == 0) {
      pass_random_ = pass_start_;
      pass_ = numbers_to(set_->size());
    }
    // Each order is made from the one before.
    pass_random_.shuffle(std::span(pass_));
    ++passes_begun_;
    pass_position_ = 0;
  }
  return pass_[pass_position_++];
}

// Where the next query begins in the set. MultiStream has no whole passes.
std::uint64_t QueryStream::draw() {
  const TestSettings& asked = settings_->requested;
  if (asked.performance_issue_unique) return unique_[drawn_++];
  if (asked.performance_issue_same) return asked.performance_issue_same_index;
  if (passes_ && settings_->scenario != Scenario::MultiStream) return next_of_passes();
  if (accuracy_) return order_[drawn_++];
  return sample_random_.below(static_cast<std::uint32_t>(distinct_));
}

void QueryStream::fill_offline(std::vector<std::uint64_t>& samples) {
  samples.reserve(per_query_);
  if (settings_->requested.performance_issue_same) {
    samples.assign(per_query_, (*set_)[settings_->requested.performance_issue_same_index]);
    return;
  }
  while (samples.size() < per_query_) {
    const std::size_t from = samples.size();
    const std::size_t count = std::min<std::size_t>(set_->size(), per_query_ - from);
    samples.insert(samples.end(), set_->begin(),
                   set_->begin() + static_cast<std::ptrdiff_t>(count));
    if (passes_ && count == set_->size()) {
      sample_random_.shuffle(std::span(samples).subspan(from, count));
    }
  }
}

void QueryStream::fill(std::vector<std::uint64_t>& samples) {
  samples.clear();
  if (settings_->scenario == Scenario::Offline) {
    fill_offline(samples);
  } else if (settings_->scenario == Scenario::MultiStream) {
    const auto from = set_->begin() + static_cast<std::ptrdiff_t>(draw());
    samples.assign(from, from + static_cast<std::ptrdiff_t>(per_query_));
  } else {
    samples.push_back((*set_)[draw()]);
  }
}

std::int64_t QueryStream::gap_ns() {
  const double seconds = settings_->scenario == Scenario::Server
                             ? schedule_random_.exponential(settings_->target_qps)
                             : 1.0 / settings_->target_qps;
  return static_cast<std::int64_t>(seconds * 1e9);
}

bool QueryStream::next(Query& out) {
  if (previous_ns_ >= generate_ns_ && made_ >= queries_min_) return false;
  fill(out.samples);
  out.due_ns = due_ns_;
  ++made_;
  previous_ns_ = due_ns_;
  due_ns_ += gap_ns();
  if (passes_ && made_ >= queries_min_ && previous_ns_ < generate_ns_ &&
      settings_->scenario != Scenario::Offline) {
    queries_min_ += set_->size();
  }
  return true;
}

void AccuracySampling::begin(const EffectiveSettings& settings, Phase phase) {
  all_ = phase == Phase::accuracy;
  const TestSettings& asked = settings.requested;
  offset_ = LibstdcxxRandom(asked.accuracy_log_rng_seed).canonical();
  probability_ = asked.accuracy_log_probability;
  if (asked.accuracy_log_sampling_target == 0) return;
  auto expected = static_cast<std::uint64_t>(settings.target_qps *
                                             static_cast<double>(settings.min_duration_ms) / 1000);
  std::uint64_t least = settings.min_query_count * settings.samples_per_query;
  if (settings.scenario == Scenario::Offline) {
    least = settings.min_sample_count;
  } else {
    expected *= settings.samples_per_query;
  }
  probability_ = static_cast<double>(asked.accuracy_log_sampling_target) /
                 static_cast<double>(std::max(expected, least));
}

bool AccuracySampling::next() {
  // Nothing asks for a share: no number can matter, and drawing them is a tenth of a null test.
  // (LoadGen logs a sample where its number is 0 exactly, once in 2^53.)
  if (probability_ == 0) return all_;
  const double moved = random_.canonical() + offset_;
  return all_ || (moved < 1.0 ? moved : moved - 1.0) <= probability_;
}

}  // namespace assay::loadgen
