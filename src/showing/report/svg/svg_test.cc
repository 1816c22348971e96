// Each chart as a picture in tests/golden/report/svg/: open them in a browser.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/rng.h"
#include "base/text.h"
#include "report/svg/density.h"
#include "report/svg/drawing.h"
#include "report/svg/ecdf.h"
#include "report/svg/style.h"
#include "report/svg/timeline.h"
#include "report/testing_golden.h"

namespace assay::report::svg {
namespace {

// A stand-alone picture: the chart with the stylesheet inside.
std::string standalone(std::string chart) {
  const std::size_t end = chart.find('>');
  return chart.insert(end + 1, "\n<style>" + std::string(stylesheet()) + "</style>");
}

EcdfSeries series(std::string name, double middle, double spread) {
  EcdfSeries out{std::move(name), {}, {}};
  for (int i = 0; i <= 100; ++i) {
    const double share = i / 100.0;
    // A logistic shape with a long right tail.
    const double odds = (share + 0.002) / (1.002 - share);
    out.steps.push_back({share, middle * std::pow(odds, spread)});
  }
  out.marks = {{"P50", 0.5, out.steps[50].value},
               {"P90", 0.9, out.steps[90].value},
               {"P99", 0.99, out.steps[99].value}};
  return out;
}

TEST(Coordinate, has_one_decimal_at_most) {
  EXPECT_EQ(coordinate(1.04), "1");
  EXPECT_EQ(coordinate(1.05000001), "1.1");
  EXPECT_EQ(coordinate(-0.04), "0");
  EXPECT_EQ(coordinate(960), "960");
  EXPECT_EQ(coordinate(-3.25), "-3.3");
}

TEST(Ticks, are_round_numbers_within_the_scale) {
  EXPECT_EQ(ticks(linear_scale(0, 9932), Quantity::count, 5),
            (std::vector<double>{0, 2000, 4000, 6000, 8000, 10000}));
  EXPECT_EQ(ticks(Scale{.low = 0, .high = 328e9}, Quantity::elapsed, 6),
            (std::vector<double>{0, 60e9, 120e9, 180e9, 240e9, 300e9}));
  EXPECT_EQ(ticks(Scale{.low = 90, .high = 1100, .logarithmic = true}, Quantity::count, 4),
            (std::vector<double>{100, 200, 500, 1000}));
}

TEST(Ticks, are_neither_none_nor_a_crowd_on_any_scale) {
  for (const double low : {1e-9, 0.3, 7.0, 99e3, 4e9}) {
    for (const double ratio : {1.0, 1.001, 1.4, 3.0, 12.0, 900.0, 1e6, 1e12}) {
      for (const bool logarithmic : {false, true}) {
        const Scale scale =
            logarithmic ? log_scale(low, low * ratio) : linear_scale(low, low * ratio);
        const std::vector<double> marks = ticks(scale, Quantity::count, 5);
        EXPECT_LE(marks.size(), 12U) << low << " × " << ratio;
        EXPECT_GE(marks.size(), 1U) << low << " × " << ratio;
        for (const double mark : marks) {
          EXPECT_GE(mark, scale.low - 1e-6 * std::fabs(scale.low));
          EXPECT_LE(mark, scale.high + 1e-6 * std::fabs(scale.high));
        }
      }
    }
  }
}

TEST(TickText, is_short) {
  EXPECT_EQ(tick_text(Quantity::duration, 2.5e9), "2.5 s");
  EXPECT_EQ(tick_text(Quantity::duration, 100e6), "100 ms");
  EXPECT_EQ(tick_text(Quantity::duration, 0), "0");
  EXPECT_EQ(tick_text(Quantity::tokens_per_second, 10000), "10,000");
  EXPECT_EQ(tick_text(Quantity::share, 0.25), "25 %");
  EXPECT_EQ(tick_text(Quantity::elapsed, 300e9), "5 min");
  EXPECT_EQ(tick_text(Quantity::elapsed, 90e9), "1:30 min");
  EXPECT_EQ(tick_text(Quantity::elapsed, 5400e9), "1 h 30 min");
}

TEST(Share, never_says_all_of_what_is_not_all) {
  EXPECT_EQ(share_text(1), "100 %");
  EXPECT_EQ(share_text(0.99999), "99.999 %");
  EXPECT_EQ(share_text(0.9999999), "99.999 %");
  EXPECT_EQ(share_text(0), "0.00 %");
  EXPECT_EQ(share_text(1e-7), "under 0.001 %");
}

TEST(Ecdf, with_a_long_tail_and_two_series) {
  const std::string chart =
      ecdf({series("from sent", 412e6, 0.32), series("from due", 520e6, 0.42)},
           {.label = "TTFT", .x_title = "TTFT", .band = true});
  EXPECT_NE(chart.find("log scale"), std::string::npos);
  expect_golden("svg/ecdf_two.svg", standalone(chart));
}

TEST(Ecdf, of_a_narrow_distribution_is_linear) {
  const std::string chart =
      ecdf({series("", 18.9e6, 0.02)}, {.label = "TPOT", .x_title = "TPOT", .simulated = true});
  EXPECT_EQ(chart.find("log scale"), std::string::npos);
  EXPECT_NE(chart.find(">simulated<"), std::string::npos);
  EXPECT_NE(chart.find("dashed"), std::string::npos);
  expect_golden("svg/ecdf_narrow_simulated.svg", standalone(chart));
}

TEST(Ecdf, of_one_value_and_of_none) {
  EXPECT_EQ(ecdf({}, {}), "");
  EXPECT_EQ(ecdf({{"empty", {}, {}}}, {}), "");
  for (const double value : {0.0, 1.0, 5e9}) {
    const std::string chart = ecdf({{"one", {{1, value}}, {{"P50", 0.5, value}}}}, {});
    EXPECT_NE(chart.find("<svg"), std::string::npos);
    EXPECT_EQ(chart.find("nan"), std::string::npos);
    EXPECT_EQ(chart.find("inf"), std::string::npos);
  }
}

// Every x and y of a chart lies in its view box.
void expect_inside(std::string_view chart, double width, double height) {
  for (const auto& [name, most] : {std::pair<std::string_view, double>{" x=\"", width},
                                   {" x1=\"", width},
                                   {" x2=\"", width},
                                   {" cx=\"", width},
                                   {" y=\"", height},
                                   {" y1=\"", height},
                                   {" y2=\"", height},
                                   {" cy=\"", height}}) {
    for (std::size_t at = chart.find(name); at != std::string_view::npos;
         at = chart.find(name, at + 1)) {
      const std::size_t from = at + name.size();
      const double value = parse_double(chart.substr(from, chart.find('"', from) - from)).value();
      EXPECT_GE(value, 0) << name;
      EXPECT_LE(value, most) << name;
    }
  }
}

TEST(Ecdf, of_whatever_values_stays_in_its_picture) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng(seed);
    const double scale = std::pow(10.0, -3 + 15 * rng.uniform());
    const double spread = 8 * rng.uniform();
    std::vector<EcdfSeries> all(1 + rng.below(3));
    for (EcdfSeries& one : all) {
      one.name = "n";
      std::vector<double> values;
      const std::uint64_t count = 1 + rng.below(200);
      for (std::uint64_t i = 0; i < count; ++i) {
        values.push_back(scale * std::exp(spread * rng.normal()) * (rng.below(9) == 0 ? 0 : 1) -
                         (seed % 7 == 0 ? scale : 0));
      }
      std::sort(values.begin(), values.end());
      const auto last = static_cast<double>(values.size() - 1);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double share = last > 0 ? static_cast<double>(i) / last : 1;
        one.steps.push_back({share, values[i]});
        if (i % 50 == 0) one.marks.push_back({"P", share, values[i]});
      }
    }
    SCOPED_TRACE(seed);
    expect_inside(ecdf(all, {.width = 340, .height = 240}), 340, 240);
  }
}

TimeAxis sample_axis() {
  return {.end = 328e9, .shades = {{"warm-up", 0, 20e9}, {"drain", 320e9, 328e9, true}}};
}

TEST(Timeline, with_phases_and_failures) {
  std::vector<double> values;
  for (int i = 0; i < 164; ++i) {
    values.push_back(i < 10 ? 900.0 * i : 9000 + 900 * std::sin(i / 9.0));
  }
  const std::string chart = timeline(values, {.label = "throughput",
                                              .quantity = Quantity::tokens_per_second,
                                              .y_title = "tok/s",
                                              .bucket = 2e9,
                                              .time = sample_axis(),
                                              .alarms = {{161e9, "2 failed"}}});
  expect_golden("svg/timeline.svg", standalone(chart));
}

TEST(Timeline, labels_of_a_million_and_more_are_not_cut_off) {
  for (const double most : {9e3, 1e6, 4.2e7}) {
    const std::string chart = timeline({most / 2, most}, {.time = {.end = 2e9}});
    std::size_t labels = 0;
    for (std::size_t at = chart.find("<text class=\"tick\" x=\""); at != std::string::npos;
         at = chart.find("<text class=\"tick\" x=\"", at + 1)) {
      const std::string text = chart.substr(at, chart.find("</text>", at) - at);
      if (text.find("\"end\"") == std::string::npos) continue;  // of the time axis
      const double right = std::stod(text.substr(text.find("x=\"") + 3));
      EXPECT_GE(right, text_width(text.substr(text.find('>') + 1), kFontSize)) << text;
      ++labels;
    }
    EXPECT_GT(labels, 1U);
  }
}

// A word drawn before the line would be crossed by it.
TEST(Timeline, names_of_shades_lie_on_top_of_the_line_with_a_halo) {
  const std::string chart = timeline({900, 900, 900}, {.bucket = 100e9, .time = sample_axis()});
  const std::size_t name = chart.find("class=\"shade-name halo\"");
  EXPECT_NE(name, std::string::npos);
  EXPECT_GT(name, chart.find("class=\"line s1\""));
  EXPECT_NE(chart.find("class=\"shade-light\""), std::string::npos) << "the drain counts";
}

TEST(Timeline, of_nothing_and_of_zeros) {
  EXPECT_EQ(timeline({}, {}), "");
  const std::string chart = timeline({0, 0, 0}, {.time = {.end = 3e9}});
  EXPECT_EQ(chart.find("nan"), std::string::npos);
}

DensityCells sample_cells() {
  DensityCells cells;
  for (int row = 0; row < 24; ++row)
    cells.row_low.push_back(row == 0 ? 0 : 25e6 * std::exp2(row / 3.0));
  for (int column = 0; column < 82; ++column) {
    const double middle = 12 + 2 * std::sin(column / 11.0);
    for (int row = 0; row < 24; ++row) {
      const double away = row - middle;
      cells.counts.push_back(
          column == 40 ? 0U : static_cast<std::uint32_t>(60 * std::exp(-away * away / 5)));
    }
  }
  return cells;
}

TEST(Density, moves_over_time) {
  const std::string chart =
      density(sample_cells(), {.label = "TTFT", .bucket = 4e9, .time = sample_axis()});
  expect_golden("svg/density.svg", standalone(chart));
}

TEST(Density, of_nothing_is_nothing) {
  EXPECT_EQ(density({}, {}), "");
  EXPECT_EQ(density({{0, 1, 2}, {0, 0, 0}}, {}), "");
}

TEST(Density, quantiles_agree_with_the_cells) {
  const DensityCells cells{{0, 10, 20, 40}, {0, 4, 4, 0, /**/ 0, 0, 0, 5}};
  EXPECT_DOUBLE_EQ(column_quantile(cells, 0, 0.5), 20);
  EXPECT_DOUBLE_EQ(column_quantile(cells, 0, 1), 40);
  EXPECT_DOUBLE_EQ(column_quantile(cells, 0, 0.25), 10 * std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(column_quantile(cells, 1, 1), 80);
}

TEST(Style, charts_use_only_classes_that_it_paints) {
  std::string all =
      ecdf({series("a", 1e6, 0.5), series("b", 2e6, 0.5)}, {.simulated = true, .band = true});
  all += timeline({1, 2, 3}, {.time = sample_axis(), .alarms = {{1, "x"}}, .simulated = true});
  all += density(sample_cells(), {.time = sample_axis()});
  const std::string style(stylesheet());
  for (std::size_t at = all.find("class=\""); at != std::string::npos;
       at = all.find("class=\"", at + 1)) {
    const std::size_t from = at + 7;
    for (const std::string_view name :
         split(std::string_view(all).substr(from, all.find('"', from) - from), ' ')) {
      if (name == "axes") continue;  // a group for readers of the source
      EXPECT_NE(style.find("." + std::string(name)), std::string::npos) << name;
    }
  }
}

}  // namespace
}  // namespace assay::report::svg
