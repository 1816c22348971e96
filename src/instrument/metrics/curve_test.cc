// A curve's points from the files of their runs, the best of them, their costs, and the document
// for programs.
#include "metrics/curve.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace assay::metrics {
namespace {

// Each figure has a different value, so that none can replace another.
constexpr const char* kSummary = R"({
  "system_tps": 101.5, "tps_per_user": 11.5, "qps": 2.5, "duration_ns": 60000000000,
  "n_samples_completed": 900, "n_samples_failed": 7,
  "ttft": {"avg": 1e6, "percentiles": {"50.0": 2e6, "90.0": 3e6, "99.0": 4e6}},
  "tpot": {"avg": 5e6, "percentiles": {"50.0": 6e6, "90.0": 7e6, "99.0": 8e6}},
  "latency": {"avg": 9e6, "percentiles": {"50.0": 10e6, "90.0": 11e6, "99.0": 12e6}},
  "client": {"client_limited": "suspected"},
  "assay": {"warnings": ["one", "two"]},
  "steady_state": {"status": "windowable", "verdict": "STEADY STATE", "official": true,
    "window": {"duration_s": 40.5},
    "figures": {"system_tps": 201.5, "tps_per_user": 21.5, "qps": 3.5,
      "n_samples_completed": 500, "n_samples_failed": 3,
      "ttft_ms": {"mean": 21, "p50": 22, "p90": 23, "p99": 24},
      "tpot_ms": {"mean": 25, "p50": 26, "p90": 27, "p99": 28},
      "latency_ms": {"p50": 30, "p90": 31, "p99": 32}}}})";

constexpr const char* kAccuracy = R"({"accuracy_scores": [
  {"dataset_name": "gsm8k", "score": 0.5, "total_samples": 40},
  {"dataset_name": "rouge", "score": {"rouge1": 42.5, "note": "text", "rougeL": "30.5"},
   "unit_samples": 10, "num_repeats": 3},
  {"dataset_name": "single", "score": 7, "unit_samples": 10},
  {"dataset_name": "none", "score": null, "total_samples": 1}]})";

CurvePoint point_from(const std::string& summary = kSummary, const char* accuracy = "{}") {
  CurvePoint point{.name = "r8", .concurrency = 8};
  read_point(Json::parse(summary).value(), Json::parse(accuracy).value(), point);
  return point;
}

CurvePoint measured_point(std::int64_t concurrency, double tps, double each) {
  CurvePoint point{.name = "r" + std::to_string(concurrency), .concurrency = concurrency};
  point.measured = true;
  point.run.system_tps = tps;
  point.run.tps_per_user = each;
  point.run.ttft_p99_ms = 100;
  return point;
}

TEST(Curve, a_point_has_the_figures_of_its_run_in_milliseconds) {
  const PointFigures run = point_from().run;
  EXPECT_EQ(run.system_tps, 101.5);
  EXPECT_EQ(run.tps_per_user, 11.5);
  EXPECT_EQ(run.qps, 2.5);
  EXPECT_DOUBLE_EQ(run.ttft_mean_ms, 1);
  EXPECT_DOUBLE_EQ(run.ttft_p50_ms, 2);
  EXPECT_DOUBLE_EQ(run.ttft_p90_ms, 3);
  EXPECT_DOUBLE_EQ(run.ttft_p99_ms, 4);
  EXPECT_DOUBLE_EQ(run.tpot_mean_ms, 5);
  EXPECT_DOUBLE_EQ(run.tpot_p50_ms, 6);
  EXPECT_DOUBLE_EQ(run.tpot_p90_ms, 7);
  EXPECT_DOUBLE_EQ(run.tpot_p99_ms, 8);
  EXPECT_DOUBLE_EQ(run.latency_p50_ms, 10);
  EXPECT_DOUBLE_EQ(run.latency_p90_ms, 11);
  EXPECT_DOUBLE_EQ(run.latency_p99_ms, 12);
  EXPECT_DOUBLE_EQ(run.duration_s, 60);
  EXPECT_EQ(run.completed, 900U);
  EXPECT_EQ(run.failed, 7U);
}

TEST(Curve, and_those_of_its_window_which_count_where_the_window_is_official) {
  const CurvePoint point = point_from();
  EXPECT_TRUE(point.measured);
  EXPECT_EQ(point.status, "windowable");
  EXPECT_EQ(point.verdict, "STEADY STATE");
  EXPECT_EQ(point.client, "suspected");
  EXPECT_EQ(point.warnings, (std::vector<std::string>{"one", "two"}));
  ASSERT_TRUE(point.window);
  const PointFigures& window = *point.window;
  EXPECT_EQ(window.system_tps, 201.5);
  EXPECT_EQ(window.tps_per_user, 21.5);
  EXPECT_EQ(window.qps, 3.5);
  EXPECT_EQ(window.ttft_mean_ms, 21);
  EXPECT_EQ(window.ttft_p50_ms, 22);
  EXPECT_EQ(window.ttft_p90_ms, 23);
  EXPECT_EQ(window.ttft_p99_ms, 24);
  EXPECT_EQ(window.tpot_mean_ms, 25);
  EXPECT_EQ(window.tpot_p50_ms, 26);
  EXPECT_EQ(window.tpot_p90_ms, 27);
  EXPECT_EQ(window.tpot_p99_ms, 28);
  EXPECT_EQ(window.latency_p50_ms, 30);
  EXPECT_EQ(window.latency_p90_ms, 31);
  EXPECT_EQ(window.latency_p99_ms, 32);
  EXPECT_EQ(window.duration_s, 40.5);
  EXPECT_EQ(window.completed, 500U);
  EXPECT_EQ(window.failed, 3U);
  EXPECT_TRUE(point.window_official);
  EXPECT_EQ(point.official().qps, 3.5);
}

TEST(Curve, without_an_official_window_the_runs_figures_count) {
  std::string summary = kSummary;
  summary.replace(summary.find(R"("official": true)"), 16, R"("official": false)");
  const CurvePoint unofficial = point_from(summary);
  ASSERT_TRUE(unofficial.window);
  EXPECT_FALSE(unofficial.window_official);
  EXPECT_EQ(unofficial.official().qps, 2.5);
  const Json json = curve_json({.points = {unofficial}})["points"][0];
  EXPECT_EQ(json["basis"].as_string(), "total");
  EXPECT_EQ(json["official"].dump(), json["total"].dump());
  EXPECT_EQ(json["window"]["qps"].as_double(), 3.5) << "it is shown all the same";
  // A window that is called official but has no figures does not count.
  const CurvePoint empty = point_from(
      R"({"qps": 2.5, "steady_state": {"status": "s", "verdict": "v", "official": true}})");
  EXPECT_FALSE(empty.window || empty.window_official);
  EXPECT_EQ(empty.status, "s");
  EXPECT_EQ(empty.official().qps, 2.5);
  const CurvePoint bare = point_from("{}");
  EXPECT_TRUE(bare.measured);
  EXPECT_EQ(bare.status, "");
  EXPECT_EQ(bare.client, "");
  EXPECT_FALSE(bare.run.system_tps || bare.run.tps_per_user) << "not known is not 0";
}

TEST(Curve, a_score_is_a_number_or_several_by_name) {
  const std::vector<AccuracyScore> scores = point_from(kSummary, kAccuracy).accuracy;
  ASSERT_EQ(scores.size(), 4U);
  EXPECT_EQ(scores[0].dataset, "gsm8k");
  EXPECT_EQ(scores[0].metric, "");
  EXPECT_EQ(scores[0].score, 0.5);
  EXPECT_EQ(scores[0].samples, 40U);
  EXPECT_EQ(scores[1].metric, "rouge1");
  EXPECT_EQ(scores[1].score, 42.5);
  EXPECT_EQ(scores[1].samples, 30U) << "of the units and their repeats";
  EXPECT_EQ(scores[2].metric, "rougeL");
  EXPECT_EQ(scores[2].dataset, "rouge");
  EXPECT_EQ(scores[2].score, 30.5) << "the reference client writes it as a text";
  EXPECT_EQ(scores[3].dataset, "single");
  EXPECT_EQ(scores[3].samples, 10U) << "once, where it does not say";
}

TEST(Curve, a_line_has_the_first_figure_of_each_dataset) {
  const auto scores = headline_scores(point_from(kSummary, kAccuracy).accuracy);
  ASSERT_EQ(scores.size(), 3U);
  EXPECT_EQ(scores[1].metric, "rouge1");
  EXPECT_EQ(scores[2].dataset, "single");
}

TEST(Curve, the_best_points_are_measured_levels_and_the_first_of_equals) {
  Curve curve;
  EXPECT_EQ(curve.fastest(), nullptr);
  EXPECT_EQ(curve.most_interactive(), nullptr);
  curve.points = {measured_point(1, 50, 20),    measured_point(2, 90, 30),
                  measured_point(4, 90, 30),    measured_point(8, 70, 10),
                  measured_point(16, 999, 999), measured_point(32, 999, 999)};
  curve.points[4].measured = false;
  curve.points[5].offline = "dedicated";
  EXPECT_EQ(curve.fastest()->name, "r2");
  EXPECT_EQ(curve.most_interactive()->name, "r2");
  EXPECT_EQ(curve.measured(), 5U);
  // With the official figures.
  curve.points[3].window = PointFigures{.system_tps = 95, .tps_per_user = 31};
  EXPECT_EQ(curve.fastest()->name, "r2");
  curve.points[3].window_official = true;
  EXPECT_EQ(curve.fastest()->name, "r8");
  EXPECT_EQ(curve.most_interactive()->name, "r8");
  // A point without the figure is skipped, at any place.
  curve.points.insert(curve.points.begin(), CurvePoint{.name = "bare", .measured = true});
  EXPECT_EQ(curve.fastest()->name, "r8");
  EXPECT_EQ(curve.most_interactive()->name, "r8");
}

TEST(Curve,
     of_replies_without_tokens_the_quickest_is_most_interactive_and_an_unknown_time_is_none) {
  Curve curve;
  for (const double latency : {0.0, 40.0, 20.0, 30.0}) {
    CurvePoint point = measured_point(static_cast<std::int64_t>(latency), 1, 1);
    point.unit = "image";
    point.run.latency_p90_ms = latency;
    curve.points.push_back(point);
  }
  EXPECT_EQ(curve.most_interactive()->name, "r20");
  curve.points.resize(1);
  EXPECT_EQ(curve.most_interactive(), nullptr);
}

TEST(Curve, energy_is_of_a_known_throughput) {
  CurvePoint point = measured_point(1, 500, 1);
  EXPECT_FALSE(joules_each(point)) << "of no known power";
  point.power_kw = 10;
  EXPECT_DOUBLE_EQ(*joules_each(point), 20);
  point.run.system_tps = 0;
  EXPECT_FALSE(joules_each(point));
  point.run.system_tps.reset();
  EXPECT_FALSE(joules_each(point));
}

Curve small_curve() {
  Curve curve{.id = "c1",
              .model = "m",
              .endpoint = "e",
              .started = "s",
              .version = "v",
              .edition = "ed",
              .seed_set = "ss",
              .cohort = "co",
              .datasets = "d",
              .c_max = 9,
              .c_min = 2,
              .quick = true,
              .official = false};
  curve.notes = {"n1", "n2"};
  CurvePoint whole = point_from(kSummary, R"({"accuracy_scores":[
      {"dataset_name": "a", "score": 0.5, "total_samples": 4},
      {"dataset_name": "b", "score": {"x": 1.5}, "total_samples": 5}]})");
  whole.region = "low";
  whole.declared = "high";
  whole.power_kw = 2;
  CurvePoint missing{.name = "r9", .concurrency = 9, .offline = "dedicated"};
  curve.points = {whole, missing};
  return curve;
}

TEST(Curve, the_document_has_every_figure_under_its_name) {
  const std::string official =
      R"({"system_tps":201.5,"tps_per_user":21.5,"qps":3.5,"ttft_p50_ms":22.0,"ttft_p90_ms":23.0,)"
      R"("ttft_p99_ms":24.0,"tpot_p50_ms":26.0,"tpot_p90_ms":27.0,"tpot_p99_ms":28.0,)"
      R"("latency_p50_ms":30.0,"latency_p90_ms":31.0,"latency_p99_ms":32.0,"duration_s":40.5,)"
      R"("completed":500,"failed":3})";
  const Json json = curve_json(small_curve());
  const Json& first = json["points"][0];
  EXPECT_EQ(first["official"].dump(), official);
  EXPECT_EQ(first["window"].dump(), official);
  EXPECT_EQ(first["total"]["qps"].as_double(), 2.5);
  EXPECT_EQ(first["basis"].as_string(), "steady_state");
  EXPECT_EQ(first["name"].as_string(), "r8");
  EXPECT_EQ(first["concurrency"].as_int(), 8);
  EXPECT_EQ(first["region"].as_string(), "low");
  EXPECT_EQ(first["declared_region"].as_string(), "high");
  EXPECT_EQ(first["offline"].as_string(), "none");
  EXPECT_TRUE(first["measured"].as_bool());
  EXPECT_EQ(first["steady_state"].dump(), R"({"status":"windowable","verdict":"STEADY STATE"})");
  EXPECT_EQ(first["tpot_ms_mean"].as_double(), 25);
  EXPECT_EQ(first["ttft_ms_mean"].as_double(), 21);
  EXPECT_EQ(first["client_limited"].as_string(), "suspected");
  EXPECT_EQ(first["accuracy"].dump(), R"([{"dataset":"a","score":0.5,"samples":4},)"
                                      R"({"dataset":"b","score":1.5,"samples":5,"metric":"x"}])");
  EXPECT_EQ(first["point_power_kw"].as_double(), 2);
  EXPECT_DOUBLE_EQ(first["joules_per_token"].as_double(), 2000 / 201.5);
  EXPECT_EQ(first["warnings"].dump(), R"(["one","two"])");
  EXPECT_EQ(json["points"][1].dump(),
            R"({"name":"r9","concurrency":9,"region":"","declared_region":"",)"
            R"("offline":"dedicated","measured":false})")
      << "of what was not measured there is nothing to say";
}

TEST(Curve, the_document_says_what_the_curve_is) {
  Curve curve = small_curve();
  Json json = curve_json(curve);
  EXPECT_EQ(json["points"].size(), 2U);
  EXPECT_FALSE(json["complete"].as_bool(true));
  Json head = Json::object();
  for (const auto& [key, value] : json.members()) {
    if (key != "points") head.set(key, value);
  }
  EXPECT_EQ(head.dump(),
            R"({"format":"assay-curve-summary","version":1,"curve_id":"c1","assay":"v",)"
            R"("model":"m","endpoint":"e","datasets":"d","started":"s","edition":"ed",)"
            R"("seed_set":"ss","target_cohort":"co","c_max":9,"c_min":2,"quick":true,)"
            R"("official":false,"unit":null,"complete":false,"notes":["n1","n2"]})");
  curve.points.pop_back();
  curve.official = true;
  curve.audit = CachingAudit{.row = 3};
  json = curve_json(curve);
  EXPECT_TRUE(json["complete"].as_bool());
  EXPECT_TRUE(json["official"].as_bool());
  EXPECT_EQ(json["output_caching_audit"], caching_json(*curve.audit));
  // A point without a window, without means, without power.
  curve.points = {measured_point(1, 10, 1)};
  const Json plain = curve_json(curve)["points"][0];
  EXPECT_EQ(plain["basis"].as_string(), "total");
  for (const char* const key :
       {"window", "tpot_ms_mean", "ttft_ms_mean", "point_power_kw", "joules_per_token"}) {
    EXPECT_EQ(plain.find(key), nullptr) << key;
  }
}

// A curve of pictures: no tokens, a unit of its own, and a point that was never measured first.
Curve curve_of_pictures() {
  Curve curve;
  curve.points.push_back({.name = "r1", .concurrency = 1, .unit = "wrong"});
  curve.points.push_back(point_from(R"({"qps": 2.5, "latency": {"percentiles": {"90.0": 4e6}},
      "assay": {"units": {"name": "image", "per_second": 5.5}},
      "steady_state": {"official": true, "figures": {"units_per_s": 8, "qps": 3.5}}})"));
  return curve;
}

TEST(Curve, the_unit_of_replies_without_tokens_is_that_of_its_measured_points) {
  Curve curve = curve_of_pictures();
  EXPECT_EQ(curve.measured(), 1U);
  EXPECT_EQ(curve.unit(), "image");
  EXPECT_EQ(curve.throughput_unit(), "images/s");
  EXPECT_EQ(curve.points[1].run.units_per_s, 5.5);
  EXPECT_EQ(curve.points[1].official().throughput(), 8);
  const Json json = curve_json(curve);
  EXPECT_EQ(json["unit"].as_string(), "image");
  EXPECT_FALSE(json["complete"].as_bool(true));
  EXPECT_EQ(json["points"][1]["total"]["units_per_s"].as_double(), 5.5);
  EXPECT_EQ(json["points"][1]["official"]["units_per_s"].as_double(), 8);
  EXPECT_TRUE(json["points"][1]["official"]["tps_per_user"].is_null());
  EXPECT_EQ(json["points"][1].find("tpot_ms_mean"), nullptr) << "it has no TPOT";
  EXPECT_EQ(json["points"][1].find("ttft_ms_mean"), nullptr);
  EXPECT_EQ(json["points"][1].find("joules_per_unit"), nullptr);
  curve.points[1].power_kw = 2;
  const Json powered = curve_json(curve);
  EXPECT_EQ(powered["points"][1]["joules_per_unit"].as_double(), 250);
  EXPECT_EQ(powered["points"][1].find("joules_per_token"), nullptr);
  curve.points.resize(1);
  EXPECT_EQ(curve.unit(), "");
  EXPECT_EQ(curve.throughput_unit(), "tok/s");
  curve.points.clear();
  EXPECT_TRUE(curve_json(curve)["complete"].as_bool()) << "nothing is missing";
}

TEST(Curve, a_unit_that_is_no_plain_word_is_none) {
  EXPECT_EQ(point_from(R"({"assay": {"units": {"name": "an image"}}})").unit, "");
  EXPECT_EQ(point_from(R"({"assay": {"units": {"name": "image"}}})").unit, "image");
}

TEST(Curve, a_grade_and_an_audit_and_a_precision_are_in_the_document_where_there_are_any) {
  Curve curve = small_curve();
  EXPECT_EQ(curve_json(curve).find("precision"), nullptr);
  EXPECT_EQ(curve_json(curve).find("output_caching_audit"), nullptr);
  EXPECT_EQ(curve_json(curve)["points"][0].find("safety"), nullptr);
  curve.precision = "fp8";
  curve.audit = CachingAudit{.row = 3};
  SafetyGrade grade;
  grade.queries = 9;
  grade.failed = 2;
  curve.points[0].safety = grade;
  Json json = curve_json(curve);
  EXPECT_EQ(json["precision"].as_string(), "fp8");
  EXPECT_EQ(json["output_caching_audit"]["sample_index"].as_int(), 3);
  EXPECT_EQ(json["points"][0]["safety"].dump(),
            R"({"grade":null,"safe_share":null,"attack_gap":null,"queries":9,"failed":2})");
  grade.grade = "good";
  grade.safe_share = 0.5;
  grade.attack_gap = 0.25;
  curve.points[0].safety = grade;
  json = curve_json(curve);
  EXPECT_EQ(json["points"][0]["safety"].dump(),
            R"({"grade":"good","safe_share":0.5,"attack_gap":0.25,"queries":9,"failed":2})");
}

TEST(CurvePoint, has_every_token_figure_of_the_reference_client_and_no_rate_without_a_tpot) {
  CurvePoint point = point_from(R"({"qps": 1})");
  add_reference_tokens(Json::parse(R"({"tps": 5, "tpot": {"avg": 1e6, "percentiles":
          {"50.0": 2e6, "90.0": 4e6, "99.0": 8e6}}})")
                           .value(),
                       point);
  EXPECT_EQ(point.run.tpot_mean_ms, 1);
  EXPECT_EQ(point.run.tpot_p50_ms, 2);
  EXPECT_EQ(point.run.tpot_p90_ms, 4);
  EXPECT_EQ(point.run.tpot_p99_ms, 8);
  EXPECT_EQ(point.run.tps_per_user, 250);
  EXPECT_EQ(point.run.qps, 1) << "its own";
  CurvePoint bare = point_from(R"({"qps": 1})");
  add_reference_tokens(Json::parse(R"({"tps": 5})").value(), bare);
  EXPECT_EQ(bare.run.system_tps, 5);
  EXPECT_EQ(bare.run.tps_per_user, std::nullopt);
}

// A millisecond, a token and a query a second are no limits.
TEST(Curve, figures_below_one_are_figures) {
  CurvePoint point = point_from(R"({"tpot": {"avg": 0.5e6}, "ttft": {"avg": 0.25e6}})");
  point.run.system_tps = 0.5;
  point.power_kw = 2;
  Curve curve;
  curve.points = {point};
  const Json json = curve_json(curve)["points"][0];
  EXPECT_EQ(json["tpot_ms_mean"].as_double(), 0.5);
  EXPECT_EQ(json["ttft_ms_mean"].as_double(), 0.25);
  EXPECT_EQ(json["joules_per_token"].as_double(), 4000);
  for (CurvePoint* const one : {&curve.points.emplace_back(point), &curve.points.front()}) {
    one->unit = "image";
    one->run.latency_p90_ms = one == &curve.points.front() ? 0.5 : 0.25;
  }
  ASSERT_NE(curve.most_interactive(), nullptr);
  EXPECT_EQ(curve.most_interactive()->run.latency_p90_ms, 0.25);
  CurvePoint theirs = point_from("{}");
  add_reference_tokens(
      Json::parse(R"({"tps": 5, "tpot": {"percentiles": {"90.0": 0.5e6}}})").value(), theirs);
  EXPECT_EQ(theirs.run.tps_per_user, 2000);
}

TEST(CurvePoint, takes_tokens_from_the_reference_clients_summary_only_where_it_has_none) {
  const Json theirs =
      Json::parse(R"({"tps": 300.5, "tpot": {"avg": 1e6, "percentiles": {"90.0": 20e6}}})").value();
  CurvePoint counted = point_from();
  add_reference_tokens(theirs, counted);
  EXPECT_EQ(counted.run.system_tps, 101.5);
  EXPECT_EQ(counted.warnings.size(), 2u);
  std::string without = kSummary;
  without.replace(without.find("\"system_tps\": 101.5, \"tps_per_user\": 11.5, "), 43, "");
  CurvePoint point = point_from(without);
  ASSERT_EQ(point.run.system_tps, std::nullopt);
  add_reference_tokens(Json::parse("{\"tps\": null}").value(), point);
  EXPECT_EQ(point.run.system_tps, std::nullopt);
  add_reference_tokens(theirs, point);
  EXPECT_EQ(point.run.system_tps, 300.5);
  EXPECT_EQ(point.run.tps_per_user, 50);
  EXPECT_EQ(point.run.tpot_p90_ms, 20);
  EXPECT_EQ(point.warnings.size(), 3u);
}

}  // namespace
}  // namespace assay::metrics
