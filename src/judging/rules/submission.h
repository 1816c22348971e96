// Submission: a tree of files for the rules. Systems hold curves, curves hold points; a point is a
// folder r<N> with its files, parsed as far as possible. Facts that several rules need are derived
// once, here. The reader (read_tree.h) makes it and never fails: it keeps broken input as found,
// and a rule reports it.
//
//     <root>/src/<implementation>/README.md …   docs/ …
//     <root>/results/<system>/system_power.json
//     <root>/results/<system>/<model>/r<N>/point.yaml system_desc.json result_summary.json
//                                          accuracy_results.json …
//     audit/audit_output_caching_test.json in a point's folder or beside the points
//
// Edition v0.7 had another layout, which is read into the same structs:
//
//     <root>/systems/<system>.json
//     <root>/pareto/<system>/<model>/points/point_<N>.yaml
//                                    results/point_<N>/mlperf_endpoints_log_summary.json
//                                    …_detail.json accuracy/accuracy.txt accuracy_result.json
//
// Its results were published in a third layout:
//
//     <root>/[<organisation>/]<system>/<model>/systems/<system>.json
//                                              points/point_<N>.yaml
//                                              results/point_<N>/results_summary.json
//                                                                run_metadata.json
//
// The reader completes everything; later code only reads it; any thread.
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
  bool counted = false;      // the file gives the number of samples
  std::int64_t samples = 0;  // with repeats
  // Samples without repeats: the entry's weight in a mean over datasets.
  std::optional<double> weight{};
  // Metrics by name; a score without a name is called "score".
  std::vector<std::pair<std::string, double>> metrics{};

  const double* metric(std::string_view name) const;
};

struct Accuracy {
  Document document{};  // accuracy_results.json, else results.json if it has scores
  std::vector<AccuracyEntry> entries{};
  std::vector<Issue> issues{};

  bool present() const { return !document.absent(); }
  // True if a dataset was scored by itself, not only inline on the performance run.
  bool scored() const;
  const AccuracyEntry* inline_entry() const;
};

// result_summary.json in the units of the rules; nullopt if the file lacks a number.
struct Metrics {
  std::optional<std::int64_t> issued{};
  std::optional<std::int64_t> completed{};
  std::optional<std::int64_t> failed{};
  std::optional<double> duration_ns{};
  std::optional<double> output_tokens{};
  std::optional<double> ttft_p90_ns{};
  std::optional<double> tpot_p90_ns{};
  // Computed from the fields above, never read.
  std::optional<double> system_tps{};
  std::optional<double> tps_per_user{};
  std::optional<double> interactivity{};  // agentic
  // For replies without tokens: their unit, what was given of it in all and in a second, and the
  // latency that stands in TPOT's place. "" for tokens, and for every model that the edition knows:
  // its benchmarks are of tokens, whatever a summary says.
  std::string unit{};
  std::optional<double> units{};
  std::optional<double> units_per_s{};
  std::optional<double> latency_p90_ns{};

  // What the point gives in a second, and in which unit.
  std::optional<double> throughput() const { return unit.empty() ? system_tps : units_per_s; }
  std::string throughput_unit() const { return unit.empty() ? "tokens/s" : unit + "s/s"; }
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
  // Declared figures of a published v0.7 result; else absent.
  Document metadata{};
  Document caching_audit{};
  Document power{};  // power.json: what a meter read beside the run
  Accuracy accuracy{};
  std::vector<FileSize> files{};
  std::vector<Issue> point_issues{};
  std::vector<Issue> description_issues{};
  std::vector<Issue> summary_issues{};
  std::string events{};               // events.jsonl, if the tree has one
  std::optional<EventSummary> log{};  // its summary, if the review aids are on

  // Derived.
  std::int64_t concurrency = 0;  // as declared, else from the folder's name
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
  std::vector<std::string> unread{};  // folders that hold a point's files and are named otherwise
  // Edition v0.7's own layout: one accuracy result for the curve, and its missing files.
  Document old_accuracy{};
  std::vector<std::string> missing{};  // "points", "accuracy/accuracy.txt", …
  Document caching_audit{};            // of the whole curve

  // Derived.
  const rulebook::Benchmark* benchmark = nullptr;  // of the edition, by the folder's name
  bool agentic = false;
  std::optional<std::int64_t> c_max{};
  std::optional<std::int64_t> c_min{};
  bool c_min_partial = false;  // a point's concurrency comes only from its folder's name
  // §5.4: a description may declare C_min. It is valid if all points declare it and agree.
  bool c_min_stated = false;
  std::optional<std::int64_t> c_min_override{};
  std::optional<rulebook::Regions> regions{};
  std::string regions_trouble{};

  // The dedicated Offline point, else an elected one.
  const PointFolder* offline_point() const;
  // The point measured at exactly C_max that is not a dedicated Offline one.
  const PointFolder* top_point() const;
  bool has_level(std::int64_t concurrency) const;  // ignores a dedicated Offline run
  // The region in which the point counts; the margin is High if the edition defines it so.
  std::optional<rulebook::Region> region_of(const PointFolder& point) const;
  bool in_region(const PointFolder& point, rulebook::Region region) const;
  // 1..32; with a declared C_min, 1..C_min.
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
  std::string below{};           // "" or the child of the given folder that is the root
  bool exists = false;
  bool has_results = false;
  bool pareto = false;     // edition v0.7's layout: has_results means pareto/
  bool published = false;  // a `pareto` tree in its published form
  bool has_docs = false;
  bool has_src = false;
  std::vector<Implementation> implementations{};
  std::vector<System> systems{};
  // Places that the reader did not follow: links out of the tree, folders without end.
  std::vector<Finding> troubles{};

  rulebook::Edition edition{};
  std::string seed_list_trouble{};  // why the given registry can't be read
  std::string drafter_list_trouble{};

  bool folder(std::string_view below_root) const;
};

}  // namespace assay::rules
