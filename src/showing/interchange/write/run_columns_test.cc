// The tables against the Point of the same events, and Arrow's structures as a reader uses them.
#include "interchange/write/run_columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/rng.h"
#include "metrics/point_fold.h"
#include "metrics/testing_hand_made.h"

namespace assay::interchange {
namespace {

using metrics::at_ms;
using metrics::HandMadeQuery;

RunInfo columns_run() {
  RunInfo info{};
  info.run_key = 7;
  info.phases = {{PhaseKind::warmup, "warmup", false},
                 {PhaseKind::performance, "performance", false}};
  return info;
}

struct Tables {
  std::shared_ptr<const Columns> events{};
  std::shared_ptr<const Columns> fragments{};
};

Tables tables_of(const std::vector<HandMadeQuery>& queries, RunInfo info = columns_run()) {
  RunColumns columns(info);
  for (const HandMadeQuery& q : queries) metrics::tell(q, columns);
  Tables out{};
  columns.finish(out.events, out.fragments);
  return out;
}

template <typename T>
std::vector<T> values_of(const Columns& table, std::string_view name) {
  const Column* const column = table.find(name);
  EXPECT_NE(column, nullptr) << name;
  std::vector<T> out(static_cast<std::size_t>(column->rows));
  EXPECT_EQ(column->bytes, out.size() * sizeof(T)) << name;
  std::memcpy(out.data(), column->values.data(), column->bytes);
  return out;
}

bool bit_of(const std::vector<std::uint8_t>& bits, std::size_t row) {
  return (bits[row / 8] >> (row % 8) & 1) != 0;
}

bool bit_of(const Column& column, std::size_t row) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(column.values.data());
  return (bytes[row / 8] >> (row % 8) & 1) != 0;
}

// The values of a series: those that are there, of the rows that count.
template <typename T>
std::vector<T> series_of(const Columns& table, std::string_view name) {
  const std::vector<T> all = values_of<T>(table, name);
  const Column& column = *table.find(name);
  const Column& measured = *table.find("measured");
  std::vector<T> out;
  for (std::size_t row = 0; row < all.size(); ++row) {
    if (!bit_of(measured, row) || (!column.valid.empty() && !bit_of(column.valid, row))) continue;
    out.push_back(all[row]);
  }
  std::ranges::sort(out);
  return out;
}

template <typename T>
void expect_same_values(const metrics::Distribution& figure, const std::vector<T>& values) {
  ASSERT_EQ(figure.count, values.size());
  for (std::size_t i = 0; i < metrics::kPercentiles.size(); ++i) {
    const double place = metrics::kPercentiles[i] / 100 * static_cast<double>(values.size() - 1);
    EXPECT_EQ(figure.percentiles[i],
              static_cast<double>(values[static_cast<std::size_t>(std::floor(place))]));
  }
}

TEST(RunColumns, series_of_the_tables_are_those_of_the_point) {
  Rng chance(20261123);
  std::vector<HandMadeQuery> queries;
  for (std::uint32_t i = 0; i < 300; ++i) {
    const auto draw = [&chance](std::int64_t most) {
      return static_cast<std::int64_t>(chance.below(static_cast<std::uint64_t>(most)));
    };
    HandMadeQuery q = metrics::steady_query(i % 10 == 0 ? 0 : 1, i, 5 * i, 20 + draw(200),
                                            1 + draw(30), 1 + static_cast<int>(draw(12)));
    if (i % 17 == 3) q.outcome = Outcome::reset;
    if (i % 23 == 5) q.usage.completion_tokens = -1;
    if (i % 29 == 7) q.streamed = false;
    for (std::size_t k = 0; i % 31 == 9 && k < q.events.size(); ++k) q.events[k].choice = k % 2;
    if (i % 31 == 9) q.usage.completion_tokens = 0;  // no TPOT: several choices have several
    queries.push_back(std::move(q));
  }
  metrics::PointFold fold(columns_run());
  for (const HandMadeQuery& q : queries) metrics::tell(q, fold);
  const metrics::Point point = fold.finish({RunState::complete, ""});
  const Tables tables = tables_of(queries);

  expect_same_values(point.arrival.ttft, series_of<std::int64_t>(*tables.events, "ttft_ns"));
  expect_same_values(point.arrival.ttft_due,
                     series_of<std::int64_t>(*tables.events, "ttft_due_ns"));
  expect_same_values(point.arrival.ttft_visible,
                     series_of<std::int64_t>(*tables.events, "ttft_visible_ns"));
  expect_same_values(point.arrival.latency, series_of<std::int64_t>(*tables.events, "latency_ns"));
  expect_same_values(point.arrival.itl, series_of<std::int64_t>(*tables.fragments, "gap_ns"));
  expect_same_values(point.osl, series_of<std::int32_t>(*tables.events, "output_tokens"));
  EXPECT_GT(point.arrival.itl.count, 500U);
  EXPECT_EQ(tables.events->rows(), 300);
}

TEST(RunColumns, tpot_is_the_points) {
  std::vector<HandMadeQuery> queries;
  for (std::uint32_t i = 0; i < 40; ++i) {
    queries.push_back(metrics::steady_query(1, i, 10 * i, 20, 3 + i, 2 + static_cast<int>(i % 7)));
  }
  metrics::PointFold fold(columns_run());
  for (const HandMadeQuery& q : queries) metrics::tell(q, fold);
  const metrics::Point point = fold.finish({RunState::complete, ""});
  expect_same_values(point.arrival.tpot, series_of<double>(*tables_of(queries).events, "tpot_ns"));
}

TEST(RunColumns, a_query_without_an_end_has_a_row_and_no_figures) {
  RunColumns columns(columns_run());
  const HandMadeQuery cut = metrics::steady_query(1, 4, 0, 20, 10, 3);
  metrics::tell_sent(cut, columns);
  metrics::tell_stream(cut, columns);
  metrics::tell(metrics::steady_query(1, 5, 0, 20, 10, 2), columns);
  Tables tables{};
  columns.finish(tables.events, tables.fragments);

  ASSERT_EQ(tables.events->rows(), 2);
  EXPECT_EQ(values_of<std::uint32_t>(*tables.events, "query"), (std::vector<std::uint32_t>{5, 4}));
  const Column& outcome = *tables.events->find("outcome");
  const std::vector<std::int16_t> outcomes = values_of<std::int16_t>(*tables.events, "outcome");
  const std::vector<std::int64_t>& at = outcome.words->offsets;
  const auto word = static_cast<std::size_t>(outcomes[1]);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(outcome.words->values.data()),
                             outcome.words->bytes)
                .substr(static_cast<std::size_t>(at[word])),
            "unfinished");
  EXPECT_EQ(values_of<std::int64_t>(*tables.events, "ttft_ns")[1],
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(values_of<std::int64_t>(*tables.fragments, "row"),
            (std::vector<std::int64_t>{0, 0, 1, 1, 1}));
  EXPECT_EQ(series_of<std::int64_t>(*tables.fragments, "gap_ns").size(), 1U);
}

TEST(RunColumns, a_text_that_is_no_utf8_is_repaired) {
  HandMadeQuery q = metrics::steady_query(1, 0, 0, 20, 10, 2);
  q.outcome = Outcome::http_error;
  q.detail = "caf\xc3\xa9 \xff\xc3";
  const Tables tables = tables_of({q});
  const Column& detail = *tables.events->find("detail");
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(detail.values.data()), detail.bytes),
            "café \xef\xbf\xbd\xef\xbf\xbd");
}

TEST(RunColumns, what_a_reader_took_outlives_the_table_and_its_parent) {
  ArrowArrayStream stream{};
  export_stream(tables_of({metrics::steady_query(1, 3, 0, 20, 10, 2)}).events, stream);
  ArrowSchema schema{};
  ArrowArray array{};
  ArrowArray end{};
  ASSERT_EQ(stream.get_schema(&stream, &schema), 0);
  ASSERT_EQ(stream.get_next(&stream, &array), 0);
  ASSERT_EQ(stream.get_next(&stream, &end), 0);
  EXPECT_EQ(end.release, nullptr);
  stream.release(&stream);

  EXPECT_STREQ(schema.format, "+s");
  ASSERT_EQ(schema.n_children, array.n_children);
  const auto is_query = [](const ArrowSchema* child) {
    return std::string_view(child->name) == "query";
  };
  ArrowSchema** const found =
      std::find_if(schema.children, schema.children + schema.n_children, is_query);
  ArrowArray taken = *array.children[found - schema.children];
  array.children[found - schema.children]->release = nullptr;
  EXPECT_STREQ((*found)->format, "I");
  array.release(&array);
  schema.release(&schema);
  EXPECT_EQ(array.release, nullptr);
  ASSERT_EQ(taken.length, 1);
  EXPECT_EQ(static_cast<const std::uint32_t*>(taken.buffers[1])[0], 3U);
  taken.release(&taken);
}

}  // namespace
}  // namespace assay::interchange
