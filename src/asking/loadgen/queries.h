// The queries of a LoadGen test, in order and to the nanosecond as LoadGen 6.0.17 generates them:
// sets of samples that are loaded together, and one series of queries for each set.
//
//     for (const LoadedSet& set : loaded_sets(settings, Phase::accuracy)) {
//       ASSIGN_OR_RETURN(QueryStream stream, QueryStream::make(settings, set, Phase::accuracy));
//       for (Query query; stream.next(query);) …
//     }
//
// LoadGen makes all queries before the test; a QueryStream makes each when it is asked for and
// keeps no more than the loaded set and two orders of it. The order depends on min_query_count,
// because LoadGen draws the orders of all passes before the first query's sample.
// Pure; a stream belongs to one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/libstdcxx_random.h"
#include "base/result.h"
#include "loadgen/settings.h"

namespace assay::loadgen {

enum class Phase { accuracy, performance };

// Indices into the dataset. The first samples of a MultiStream set stand again behind the last, so
// that each query can take neighbours; `distinct` counts without these.
struct LoadedSet {
  std::vector<std::uint64_t> samples{};
  std::uint64_t distinct = 0;
};

// Accuracy has each sample once, in one or more sets. Performance has one set: the first
// performance_sample_count samples of the dataset, shuffled.
std::vector<LoadedSet> loaded_sets(const EffectiveSettings& settings, Phase phase);

struct Query {
  std::int64_t due_ns = 0;  // from the series' start
  std::vector<std::uint64_t> samples{};
};

class QueryStream {
 public:
  // Fails where the settings give no query, or more than LoadGen has samples for. The set must
  // outlive the stream.
  static Result<QueryStream> make(const EffectiveSettings& settings, const LoadedSet& set,
                                  Phase phase);

  // The next query; false after the last.
  bool next(Query& out);

  std::uint64_t samples_per_query() const { return per_query_; }
  // After the last query: how many there were, and where the next would have been due. LoadGen logs
  // both ("generated_query_count", "generated_query_duration").
  std::uint64_t made() const { return made_; }
  std::int64_t end_ns() const { return due_ns_; }

 private:
  QueryStream(const EffectiveSettings& settings, const LoadedSet& set, Phase phase);
  Result<void> check() const;
  std::vector<std::uint64_t> starts() const;
  void skip_permutations();
  std::uint64_t draw();
  std::uint64_t next_of_passes();
  void fill(std::vector<std::uint64_t>& samples);
  void fill_offline(std::vector<std::uint64_t>& samples);
  std::int64_t gap_ns();

  const EffectiveSettings* settings_;
  const std::vector<std::uint64_t>* set_;
  std::uint64_t distinct_;
  bool accuracy_;
  bool passes_;  // whole passes of the set, each in an order of its own
  std::uint64_t per_query_ = 1;
  std::uint64_t queries_min_ = 0;
  std::int64_t generate_ns_ = 0;
  LibstdcxxRandom sample_random_;
  LibstdcxxRandom schedule_random_;

  // Orders without repetition: that of an accuracy phase, and that of performance_issue_unique.
  std::vector<std::uint64_t> order_{};
  std::vector<std::uint64_t> unique_{};
  std::size_t drawn_ = 0;

  // Passes: LoadGen draws a number of orders ahead and begins again after the last.
  LibstdcxxRandom pass_start_;
  LibstdcxxRandom pass_random_;
  std::vector<std::uint64_t> pass_{};
  std::uint64_t pass_position_ = 0;
  std::uint64_t passes_ahead_ = 0;
  std::uint64_t passes_begun_ = 0;

  std::uint64_t made_ = 0;
  std::int64_t due_ns_ = 0;
  std::int64_t previous_ns_ = 0;
};

// Which samples' answers go into the accuracy log. An accuracy phase logs all of them, a
// performance phase those that are drawn at random. One object serves a whole test: a draw is made
// for each sample in the order in which queries are made, also where all are logged.
class AccuracySampling {
 public:
  // Begins a series: its offset and its share of logged samples.
  void begin(const EffectiveSettings& settings, Phase phase);
  bool next();
  double probability() const { return probability_; }

 private:
  // LoadGen never seeds this one; accuracy_log_rng_seed moves the offset alone.
  LibstdcxxRandom random_{};
  bool all_ = false;
  double offset_ = 0;
  double probability_ = 0;
};

}  // namespace assay::loadgen
