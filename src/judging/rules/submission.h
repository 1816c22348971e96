// Submission: a tree of files as the rules see it. Systems hold curves, curves hold points, a point
// is a folder r<N> with its files, read as far as they could be read; what several rules need to
// know of them is derived once, here. The reader (read_tree.h) makes it and never fails: what is
// broken is kept as it was found, for a rule to say.
//
//     <root>/src/<implementation>/README.md …   docs/ …
//     <root>/results/<system>/system_power.json
//     <root>/results/<system>/<model>/r<N>/point.yaml system_desc.json result_summary.json
//                                          accuracy_results.json …
//     audit/audit_output_caching_test.json in a point's folder or beside the points
//
// Edition v0.7 had another layout, which is read into the same nouns:
//
//     <root>/systems/<system>.json
//     <root>/pareto/<system>/<model>/points/point_<N>.yaml
//                                    results/point_<N>/mlperf_endpoints_log_summary.json
//                                    …_detail.json accuracy/accuracy.txt accuracy_result.json
//
// and its results were published in a third:
//
//     <root>/[<organisation>/]<system>/<model>/systems/<system>.json
//                                              points/point_<N>.yaml
//                                              results/point_<N>/results_summary.json
//                                                                run_metadata.json
//
// Everything is made whole by the reader and only looked at afterwards; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rulebook/edition.h"
#include "rulebook/power.h"
#include "rulebook/regions.h"
#include "rules/document.h"
#include "rules/event_summary.h"
#include "rules/schema.h"

namespace assay::rules {

enum class Offline : std::uint8_t { none, dedicated, elected, unknown };

// One scored dataset of accuracy_results.json.
struct AccuracyEntry {
  std::string pointer{};
  std::string dataset{};
  bool performance = false;  // scored inline, on the performance dataset
  bool counted = false;      // the file says how many samples
  std::int64_t samples = 0;  // with repeats
  // By name; an unnamed score is called "score".
  std::vector<std::pair<std::string, double>> metrics{};

  const double* metric(std::string_view name) const;
};

struct Accuracy {
  Document document{};  // accuracy_results.json, else results.json where that has scores
  std::vector<AccuracyEntry> entries{};
  std::vector<Issue> issues{};

  bool present() const { return !document.absent(); }
  // A dataset was scored for itself, not only inline on the performance run.
  bool scored() const;
  const AccuracyEntry* inline_entry() const;
};

// result_summary.json in the units of the rules. Nothing where the file has no such number.
struct Metrics {
  std::optional<std::int64_t> issued{};
  std::optional<std::int64_t> completed{};
  std::optional<std::int64_t> failed{};
  std::optional<double> duration_ns{};
  std::optional<double> output_tokens{};
  std::optional<double> ttft_p90_ns{};
  std::optional<double> tpot_p90_ns{};
  // Derived from the above, never read.
  std::optional<double> system_tps{};
  std::optional<double> tps_per_user{};
  std::optional<double> interactivity{};  // agentic
};

struct FileSize {
  std::string name{};  // below the root
  std::uint64_t bytes = 0;
};

struct PointFolder {
  std::string path{};  // below the root
  std::string name{};  // r64
  std::int64_t named_concurrency = 0;
  Document point{};
  Document description{};
  Document summary{};
  Document config{};
  Document results{};  // read only when it is small
  // Of a published result of v0.7: the figures as they were declared; else absent.
  Document metadata{};
  Document caching_audit{};
  Accuracy accuracy{};
  std::vector<FileSize> files{};
  std::vector<Issue> point_issues{};
  std::vector<Issue> description_issues{};
  std::vector<Issue> summary_issues{};
  std::string events{};               // events.jsonl, where the tree has one
  std::optional<EventSummary> log{};  // of it, when the review aids are asked

  // Derived.
  std::int64_t concurrency = 0;  // as declared, else as the folder is named
  Offline offline = Offline::none;
  std::string load_pattern{};
  Metrics metrics{};

  bool usable() const { return point.good() && point_issues.empty(); }
  bool measured() const { return summary.good() && summary_issues.empty(); }
  bool dedicated() const { return offline == Offline::dedicated; }
};

struct Curve {
  std::string path{};
  std::string model{};                // the folder's name
  std::vector<PointFolder> points{};  // by concurrency
  // Of edition v0.7's own layout: one accuracy result a curve, and which of its folders there are.
  Document old_accuracy{};
  std::vector<std::string> missing{};  // "points", "accuracy/accuracy.txt", …
  Document caching_audit{};            // of the curve as a whole

  // Derived.
  const rulebook::Benchmark* benchmark = nullptr;  // of the edition, by the folder's name
  bool agentic = false;
  std::optional<std::int64_t> c_max{};
  std::optional<std::int64_t> c_min{};
  bool c_min_partial = false;  // a point's concurrency is only its folder's name
  // §5.4: a description may declare C_min. It holds where all points declare it and agree.
  bool c_min_stated = false;
  std::optional<std::int64_t> c_min_override{};
  std::optional<rulebook::Regions> regions{};
  std::string regions_trouble{};

  // The dedicated one before an elected one.
  const PointFolder* offline_point() const;
  // The point measured at exactly C_max, not a dedicated Offline one.
  const PointFolder* top_point() const;
  bool has_level(std::int64_t concurrency) const;  // a point that is no dedicated Offline run
  // The region in which the point counts; the margin as High where the edition has it so.
  std::optional<rulebook::Region> region_of(const PointFolder& point) const;
  bool in_region(const PointFolder& point, rulebook::Region region) const;
  // 1..32; of a declared C_min 1..C_min.
  std::int64_t ultra_low_end() const { return c_min_override.value_or(rulebook::kUltraLowMax); }
  bool ultra_low(const PointFolder& point) const;
};

struct System {
  std::string path{};
  std::string name{};
  Document power_file{};
  std::vector<Curve> curves{};

  // Derived.
  const PointFolder* described = nullptr;  // the first point with a readable description
  std::optional<rulebook::Power> power{};

  std::string division() const;  // lower case
};

// A folder of src/.
struct Implementation {
  std::string path{};
  bool readme = false;
};

struct Submission {
  std::filesystem::path root{};  // the folder that holds results/
  std::string below{};           // "" or the child of the given folder that was taken as the root
  bool exists = false;
  bool has_results = false;
  bool pareto = false;     // laid out as edition v0.7 has it: has_results speaks of pareto/
  bool published = false;  // `pareto`, and as its results were published
  bool has_docs = false;
  bool has_src = false;
  std::vector<Implementation> implementations{};
  std::vector<System> systems{};
  // What the reader would not follow: links out of the tree, folders without end.
  std::vector<Finding> troubles{};

  rulebook::Edition edition{};
  std::string seed_list_trouble{};  // the registry that was named can't be read
  std::string drafter_list_trouble{};

  bool folder(std::string_view below_root) const;
};

}  // namespace assay::rules
