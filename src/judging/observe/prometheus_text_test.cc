#include "observe/prometheus_text.h"

#include <gtest/gtest.h>

#include "observe/measure.h"

namespace assay::observe {
namespace {

TEST(PrometheusText, a_page_of_vllm_is_read_with_labels_and_types) {
  const PrometheusPage page = read_prometheus(
      "# HELP vllm:num_requests_running Number of requests in model execution batches.\n"
      "# TYPE vllm:num_requests_running gauge\n"
      "vllm:num_requests_running{engine=\"0\",model_name=\"a/b\"} 3.0\n"
      "vllm:generation_tokens_total{engine=\"0\"} 1.25e+06 1700000000000\n"
      "vllm:e2e_bucket{le=\"+Inf\"} 8 # {trace_id=\"x\"} 0.5 1700000000.0\n"
      "# EOF\n");
  ASSERT_EQ(page.samples.size(), 3U);
  EXPECT_EQ(page.samples[0].name, "vllm:num_requests_running");
  EXPECT_EQ(page.samples[0].value, 3);
  EXPECT_EQ(label_of(page.samples[0].labels, "model_name"), "a/b");
  EXPECT_EQ(page.samples[1].value, 1.25e6);
  EXPECT_EQ(page.samples[2].value, 8);
  ASSERT_EQ(page.types.size(), 1U);
  EXPECT_EQ(page.types[0].second, "gauge");
  EXPECT_EQ(page.unreadable, 0U);
}

TEST(PrometheusText, escapes_blanks_and_a_last_comma_are_of_the_format) {
  const PrometheusPage page = read_prometheus("a { x = \"q\\\"b\\\\c\\nd\" , } \t -0.5\r\nb +2");
  ASSERT_EQ(page.samples.size(), 2U);
  EXPECT_EQ(page.samples[0].labels[0].second, "q\"b\\c\nd");
  EXPECT_EQ(page.samples[0].value, -0.5);
  EXPECT_EQ(page.samples[1].value, 2);
}

TEST(PrometheusText, what_is_no_sample_is_counted_and_the_rest_is_read) {
  const PrometheusPage page =
      read_prometheus("<html>\na{x=\"1} 2\na{x} 2\na 1,5\na\n9a 1\nnan NaN\ninf +Inf\ngood 1\n");
  ASSERT_EQ(page.samples.size(), 1U);
  EXPECT_EQ(page.samples[0].name, "good");
  EXPECT_EQ(page.not_finite, 2U);
  EXPECT_EQ(page.unreadable, 6U);
}

TEST(Measures, each_row_of_the_table_names_a_measure_and_no_two_rows_of_an_engine_are_equal) {
  for (const NameRow& row : name_rows()) {
    EXPECT_NE(find_measure(row.measure), nullptr) << row.name;
    for (const NameRow& other : name_rows()) {
      if (&row == &other || row.name != other.name) continue;
      EXPECT_NE(row.label_value, other.label_value) << row.name;
    }
  }
}

const NameRow& row_of(std::string_view name) {
  for (const NameRow& row : name_rows()) {
    if (row.name == name) return row;
  }
  return name_rows().front();
}

TEST(Measures, whole_names_count_and_only_the_first_rank_of_a_group) {
  const NameRow& waiting = row_of("vllm:num_requests_waiting");
  EXPECT_TRUE(row_has(waiting, "vllm:num_requests_waiting", {}));
  EXPECT_FALSE(row_has(waiting, "vllm:num_requests_waiting_by_reason", {}));
  const NameRow& running = row_of("sglang:num_running_reqs");
  EXPECT_TRUE(row_has(running, running.name, {{"tp_rank", "0"}, {"dp_rank", "3"}}));
  EXPECT_FALSE(row_has(running, running.name, {{"tp_rank", "1"}}));
  const NameRow& queue = row_of("tgi_request_queue_duration");
  EXPECT_TRUE(row_has(queue, "tgi_request_queue_duration_sum", {}));
  EXPECT_TRUE(row_has(queue, "tgi_request_queue_duration_count", {}));
  EXPECT_FALSE(row_has(queue, "tgi_request_queue_duration_bucket", {}));
  EXPECT_FALSE(row_has(queue, "tgi_request_queue_duration", {}));
}

TEST(Measures, buckets_and_creation_times_are_not_kept) {
  EXPECT_TRUE(worth_keeping("vllm:generation_tokens_total"));
  EXPECT_FALSE(worth_keeping("vllm:generation_tokens_created"));
  EXPECT_FALSE(worth_keeping("vllm:time_to_first_token_seconds_bucket"));
}

}  // namespace
}  // namespace assay::observe
