// The formats against their own rules, with queries written by hand.
// tests/peers/interchange_test.py reads them with other people's readers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/enum_name.h"
#include "base/text.h"
#include "interchange/write/exporter.h"
#include "interchange/write/hdr_histogram.h"
#include "interchange/write/prometheus_text.h"
#include "metrics/point_fold.h"
#include "metrics/testing_hand_made.h"

namespace assay::interchange {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

RunInfo sample_info() {
  RunInfo info{.version = "0.1.0", .run_id = "r1", .started = {1'700'000'000'000'000'000}};
  info.offset.wall_minus_monotonic = {1'700'000'000'000'000'000};
  info.phases = {{PhaseKind::performance, "performance", false}};
  info.facts = Json().set("model", "m\"1").set("api", "openai_chat");
  return info;
}

// Three replies of four tokens, 10 ms apart, and one that was reset.
std::string exported(ExportFormat format, RunInfo info = sample_info()) {
  const auto exporter = make_exporter(format, info);
  metrics::PointFold fold(info);
  for (EventSink* sink :
       {static_cast<EventSink*>(exporter.get()), static_cast<EventSink*>(&fold)}) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      metrics::HandMadeQuery q = metrics::steady_query(0, i, 100 * i, 20, 10, 4);
      if (i == 3) {
        q.outcome = Outcome::reset;
        q.detail = "reset, by \"peer\"";
      }
      metrics::tell(q, *sink);
    }
  }
  return exporter->finish(fold.finish({RunState::complete, ""}));
}

// The same with counted tokens: 30 in, six of eight out after the first fragment; the server
// reported 100 and 4.
std::string counted_export(ExportFormat format) {
  metrics::TokenCounts counts;
  counts.source = Json().set("tokenizer", "models/m");
  for (std::uint32_t i = 0; i < 3; ++i) {
    if (i != 1) counts.set(Query{.index = i}, {.input = 30, .output = 8, .after_first = 6});
  }
  const RunInfo info = sample_info();
  const auto exporter = make_exporter(format, info);
  exporter->use_counts(&counts);
  metrics::PointFold fold(info, {.counts = &counts});
  for (std::uint32_t i = 0; i < 3; ++i) {
    const metrics::HandMadeQuery q = metrics::steady_query(0, i, 100 * i, 20, 10, 4);
    metrics::tell(q, *exporter);
    metrics::tell(q, fold);
  }
  return exporter->finish(fold.finish({RunState::complete, ""}));
}

TEST(Export, a_counted_run_is_exported_with_its_counts) {
  const auto rows = [](std::string_view text) { return split(text, '\n'); };
  const std::string csv = counted_export(ExportFormat::csv);
  // TPOT is 30 ms over the six tokens after the first fragment.
  EXPECT_THAT(std::string(rows(csv)[1]), HasSubstr(",5.000000,50.000000,50.000000,30,8,"));
  EXPECT_TRUE(rows(csv)[1].ends_with(",tokenizer,"));
  EXPECT_THAT(std::string(rows(csv)[2]), HasSubstr(",,50.000000,50.000000,,,"));
  EXPECT_TRUE(rows(csv)[2].ends_with(",none,"));
  EXPECT_THAT(exported(ExportFormat::csv), HasSubstr(",usage,\n"));

  EXPECT_THAT(counted_export(ExportFormat::hdr), HasSubstr("#[Tokens: tokenizer models/m]"));
  EXPECT_THAT(exported(ExportFormat::hdr), HasSubstr("#[Tokens: usage]"));
  EXPECT_NE(counted_export(ExportFormat::hdr), exported(ExportFormat::hdr));

  const Json vllm = *Json::parse(counted_export(ExportFormat::vllm));
  EXPECT_EQ(vllm["token_source"].as_string(), "tokenizer models/m");
  EXPECT_EQ(vllm["total_output_tokens"].as_int(), 16);
  EXPECT_EQ(vllm["total_input_tokens"].as_int(), 60);

  const std::string aiperf = counted_export(ExportFormat::aiperf);
  const Json line = *Json::parse(rows(aiperf)[0]);
  EXPECT_EQ(line["metadata"]["token_source"].as_string(), "tokenizer");
  EXPECT_EQ(line["metrics"]["output_sequence_length"]["value"].as_int(), 8);
  EXPECT_EQ(line["metrics"]["input_sequence_length"]["value"].as_int(), 30);

  EXPECT_THAT(counted_export(ExportFormat::otlp), HasSubstr("tokenizer models/m"));
  EXPECT_THAT(counted_export(ExportFormat::prometheus),
              HasSubstr("token_source=\"tokenizer models/m\""));
}

TEST(Export, names_go_both_ways) {
  for (int i = 0; i < kExportFormats; ++i) {
    const auto format = static_cast<ExportFormat>(i);
    EXPECT_EQ(export_format_from(enum_name(format)), format);
  }
  EXPECT_FALSE(export_format_from("xml"));
}

TEST(Export, vllm_has_its_arrays_and_its_statistics) {
  const Json file = *Json::parse(exported(ExportFormat::vllm));
  EXPECT_EQ(file["completed"].as_int(), 3);
  EXPECT_EQ(file["failed"].as_int(), 1);
  EXPECT_EQ(file["ttfts"].size(), 4U);
  EXPECT_NEAR(file["ttfts"][0].as_double(), 0.020, 1e-9);
  EXPECT_EQ(file["itls"][0].size(), 3U);
  EXPECT_EQ(file["itls"][3].size(), 0U);
  EXPECT_THAT(std::string(file["errors"][3].as_string()), HasSubstr("reset"));
  EXPECT_NEAR(file["mean_tpot_ms"].as_double(), 10, 1e-9);
  EXPECT_NEAR(file["median_e2el_ms"].as_double(), 50, 1e-9);
  // From the first send to the end of the failed one: 300 + 20 + 30 ms.
  EXPECT_NEAR(file["duration"].as_double(), 0.350, 1e-9);
  EXPECT_NEAR(file["output_throughput"].as_double(), 12 / 0.350, 1e-6);
  EXPECT_EQ(file["max_concurrent_requests"].as_int(), 1);
}

TEST(Export, vllm_writes_again_what_an_import_brought) {
  RunInfo info = sample_info();
  info.facts.set("imported", Json().set("fields", Json().set("my_note", 7).set("failed", 99)));
  const Json file = *Json::parse(exported(ExportFormat::vllm, info));
  EXPECT_EQ(file["my_note"].as_int(), 7);
  EXPECT_EQ(file["failed"].as_int(), 1);  // the log's count overrides the import's
}

TEST(Export, aiperf_has_a_request_a_line) {
  const std::string text = exported(ExportFormat::aiperf);
  const auto lines = split(std::string_view(text).substr(0, text.size() - 1), '\n');
  ASSERT_EQ(lines.size(), 4U);
  const Json good = *Json::parse(lines[0]);
  EXPECT_EQ(good["metadata"]["request_start_ns"].as_int(), 1'700'000'000'000'000'000);
  EXPECT_NEAR(good["metrics"]["time_to_first_token"]["value"].as_double(), 20, 1e-9);
  EXPECT_EQ(good["metrics"]["inter_chunk_latency"]["value"].size(), 3U);
  EXPECT_TRUE(good["error"].is_null());
  const Json bad = *Json::parse(lines[3]);
  EXPECT_EQ(bad["error"]["type"].as_string(), "reset");
  EXPECT_EQ(bad["metrics"].size(), 0U);
}

TEST(Export, aiperf_keeps_what_its_source_said_beyond_us) {
  const RunInfo info = sample_info();
  const auto exporter = make_exporter(ExportFormat::aiperf, info);
  exporter->take_source(
      "{\"metadata\":{\"gpu\":\"x\",\"turn_index\":9},\"metrics\":{},\"trace\":[1]}\n");
  metrics::tell(metrics::steady_query(0, 0, 0, 20, 10, 4), *exporter);
  const Json line = *Json::parse(trim(exporter->finish({})));
  EXPECT_EQ(line["metadata"]["gpu"].as_string(), "x");
  EXPECT_EQ(line["metadata"]["turn_index"].as_int(), 0);
  EXPECT_EQ(line["trace"][0].as_int(), 1);
}

TEST(Export, otlp_counts_every_value_in_one_bucket) {
  const Json file = *Json::parse(exported(ExportFormat::otlp));
  const Json& metrics = file["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
  std::vector<std::string> names;
  for (const Json& metric : metrics.items()) {
    names.emplace_back(metric["name"].as_string());
    for (const Json& point : metric["histogram"]["dataPoints"].items()) {
      std::int64_t counted = 0;
      for (const Json& n : point["bucketCounts"].items()) counted += *parse_int(n.as_string());
      EXPECT_EQ(std::to_string(counted), point["count"].as_string());
      EXPECT_EQ(point["bucketCounts"].size(), point["explicitBounds"].size() + 1);
    }
  }
  EXPECT_THAT(names, testing::ElementsAre("gen_ai.client.operation.duration",
                                          "gen_ai.client.operation.time_to_first_chunk",
                                          "gen_ai.client.operation.time_per_output_chunk",
                                          "gen_ai.client.token.usage"));
  // 20 ms is the upper bound of the second bucket and belongs to it.
  const Json& first = metrics[1]["histogram"]["dataPoints"][0];
  EXPECT_EQ(first["bucketCounts"][1].as_string(), "4");
  // Failures are in the duration, apart, with their kind.
  EXPECT_EQ(metrics[0]["histogram"]["dataPoints"].size(), 2U);
}

TEST(Export, csv_quotes_what_must_be_quoted) {
  const std::string text = exported(ExportFormat::csv);
  EXPECT_THAT(text, StartsWith("request_id,query,sample,"));
  EXPECT_THAT(text, HasSubstr(",20.000000,20.000000,20.000000,10.000000,50.000000,50.000000,"));
  EXPECT_THAT(text, HasSubstr(",\"reset, by \"\"peer\"\"\"\n"));
  const std::string head = text.substr(0, text.find('\n'));
  EXPECT_EQ(split(head, ',').size(), 22U);
}

TEST(Export, prometheus_escapes_labels_and_says_each_type_once) {
  const std::string text = exported(ExportFormat::prometheus);
  EXPECT_THAT(text, HasSubstr("assay_queries_completed_total{model=\"m\\\"1\"} 3.0\n"));
  EXPECT_THAT(text,
              HasSubstr("assay_queries_failed_total{model=\"m\\\"1\",outcome=\"reset\"} 1.0"));
  EXPECT_THAT(text, HasSubstr("assay_ttft_seconds{model=\"m\\\"1\",quantile=\"0.5\"} 0.02"));
  const auto first = text.find("# TYPE assay_ttft_seconds ");
  EXPECT_EQ(text.find("# TYPE assay_ttft_seconds ", first + 1), std::string::npos);
}

TEST(Export, prometheus_of_a_run_that_goes_on) {
  metrics::LiveSnapshot live;
  live.phase = "performance";
  live.sent = 5;
  live.ttft = {.count = 4, .p50 = 20_ms, .p90 = 30_ms, .p99 = 40_ms};
  const std::string text = prometheus_text(live, Json());
  EXPECT_THAT(text, HasSubstr("assay_queries_sent_total{phase=\"performance\"} 5.0\n"));
  EXPECT_THAT(text, HasSubstr("quantile=\"0.99\"} 0.04\n"));
  EXPECT_THAT(text, Not(HasSubstr("assay_tpot_seconds")));  // none yet
}

TEST(Hdr, places_are_those_of_the_reference) {
  const HdrHistogram h(3'600'000'000);
  EXPECT_EQ(h.index_of(0), 0U);
  EXPECT_EQ(h.index_of(1), 1U);
  EXPECT_EQ(h.index_of(2047), 2047U);
  EXPECT_EQ(h.index_of(2048), 2048U);
  EXPECT_EQ(h.index_of(2049), 2048U);  // two values to an index from here on
  EXPECT_EQ(h.index_of(4096), 3072U);
}

TEST(Hdr, an_encoded_histogram_begins_as_every_reader_expects) {
  HdrHistogram h(3'600'000'000);
  h.record(5);
  EXPECT_THAT(h.encode(), StartsWith("HISTFAAA"));
}

}  // namespace
}  // namespace assay::interchange
