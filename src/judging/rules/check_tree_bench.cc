// assay check: a tree of 32 points with runs of 13,368 samples, with summaries of event logs.
#include <benchmark/benchmark.h>

#include "base/testing_temp_folder.h"
#include "rules/check_tree.h"
#include "rules/event_summary.h"
#include "rules/testing_golden_tree.h"
#include "rules/testing_review_mutations.h"

namespace assay::rules {
namespace {

constexpr int kSamples = 13'368;

// Writes the files that a run of that size has beside its summary.
void fill_point(GoldenTree& tree, const std::string& name) {
  Json map = Json::object();
  Json::Object& rows = map.make_object();
  for (int i = 0; i < kSamples; ++i) rows.emplace_back(format("{:032x}", i * 7919), i);
  tree.documents[format("{}/{}/sample_idx_map.json", tree.curve, name)] =
      Json().set("performance", std::move(map));
  Json buckets = Json::array();
  Json counts = Json::array();
  for (int i = 0; i < 100; ++i) {
    buckets.push_back(Json().push_back(i * 1e6).push_back((i + 1) * 1e6));
    counts.push_back(i);
  }
  for (const std::string_view block : {"ttft", "tpot", "latency"}) {
    if (Json* found = tree.summary(name).find(block)) {
      found->set("histogram", Json().set("buckets", buckets).set("counts", counts));
    }
  }
}

void BM_check_32_points(benchmark::State& state) {
  GoldenTree tree = golden_tree();
  for (std::int64_t c = 257; c < 257 + 21; ++c) tree.copy("r256", c);
  for (const std::string& name : tree.points()) fill_point(tree, name);
  const TempFolder folder;
  tree.write(folder.path());
  for (auto unused : state) {
    const auto report = check_tree(folder.path(), {});
    CHECK(report && report->clean(false) && report->points == 32);
  }
}
BENCHMARK(BM_check_32_points)->Unit(benchmark::kMillisecond);

void BM_summarise_events(benchmark::State& state) {
  const std::string log =
      golden_log(10'000, [](GoldenLog& l, int i) { l.answer(i, "a", GoldenLog::text(i)); });
  GoldenTree tree;
  tree.texts["events.jsonl"] = log;
  const TempFolder folder;
  tree.write(folder.path());
  for (auto unused : state) {
    const EventSummary summary = summarise_events(folder.path() / "events.jsonl", 500);
    CHECK(summary.trouble.empty() && summary.completed == 10'000);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(log.size()));
}
BENCHMARK(BM_summarise_events)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay::rules
