#include "report/terminal.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/display.h"
#include "base/text.h"
#include "report/sample_point.h"
#include "report/testing_golden.h"

namespace assay::report {
namespace {

void expect_within(std::string_view text, std::size_t columns) {
  for (const std::string_view line : split(text, '\n')) {
    EXPECT_LE(display_width(line), columns) << line;
    EXPECT_FALSE(line.ends_with(' ')) << "'" << line << "'";
    EXPECT_EQ(line.find('\x1b'), std::string_view::npos) << line;
  }
}

metrics::Point small_point() { return sample_point({.queries = 40, .backlog_ms = 3000}); }

metrics::Point crashed_point() {
  metrics::Point point = small_point();
  point.end = {RunState::crashed, ""};
  point.counts.unfinished = 2;
  point.rates.tps.reset();
  point.rates.tps_per_user.reset();
  point.tokens = {};
  point.isl = {};
  point.osl = {};
  point.stamps.kernel_stamped = 0;
  point.warnings = {
      "the run was cut off: the event log ends after 308 s and 2 queries have no end; what was "
      "recorded is below"};
  return point;
}

TEST(FewValues, the_note_names_the_numbers_that_the_statistics_ask_for) {
  std::string needed;
  for (const double p : kShownPercentiles) {
    needed += with_thousands(static_cast<std::int64_t>(values_needed(p))) + " ";
  }
  EXPECT_EQ(needed, "11 64 662 6,636 ");
  EXPECT_NE(kFewValuesNote.find("(11, 64, 662 and 6,636)"), std::string_view::npos);
}

TEST(TerminalReport, of_a_good_run) {
  const std::string text = terminal_report(sample_point(), sample_context());
  expect_golden("terminal/good.txt", text);
  expect_within(text, 80);
}

std::size_t lines_before(std::string_view text, std::string_view words) {
  return static_cast<std::size_t>(std::ranges::count(text.substr(0, text.find(words)), '\n'));
}

TEST(TerminalReport, what_decides_fits_a_screen_and_begins_with_the_sentence) {
  constexpr std::size_t kScreen = 24;
  const std::string text = terminal_report(sample_point(), sample_context());
  EXPECT_LE(lines_before(text, "\n  in detail\n"), kScreen);
  EXPECT_EQ(lines_before(text, "9,932 tok/s at 46.9 tok/s per user"), 2U) << text;
  EXPECT_LT(text.find("2 × reset"), text.find("\n  in detail\n")) << "a failure is not a detail";
}

TEST(TerminalReport, of_a_narrow_terminal_loses_columns_and_no_series) {
  RunContext context = sample_context();
  context.folder = "runs/1";  // the next command is one line, to be pasted
  context.files.clear();
  const std::string text = terminal_report(sample_point(), context, {.columns = 60});
  expect_within(text, 60);
  expect_golden("terminal/narrow.txt", text);
  for (const std::size_t columns : {56U, 76U, 100U, 200U}) {
    expect_within(terminal_report(small_point(), context, {.columns = columns}), columns);
  }
}

TEST(TerminalReport, of_a_small_run_whose_sender_fell_behind) {
  RunContext context = sample_context();
  context.innocence = {audit::ClientLimited::yes,
                       {{audit::ClientLimited::yes, "sends were late: P99 2.85 s",
                         "use more threads (--threads), another machine, or --spin"}}};
  const std::string text = terminal_report(small_point(), context);
  expect_golden("terminal/small.txt", text);
  expect_within(text, 80);
  EXPECT_NE(text.find("~"), std::string::npos) << "40 values do not make a P90";
}

TEST(TerminalReport, of_a_run_that_was_cut_off_and_knows_no_tokens) {
  const std::string text = terminal_report(crashed_point(), sample_context());
  expect_golden("terminal/crashed.txt", text);
  expect_within(text, 80);
}

TEST(TerminalReport, of_a_run_in_which_nothing_worked) {
  metrics::Point point;
  point.run = sample_point().run;
  point.end = {RunState::complete, ""};
  point.counts = {64, 0, 64, 0, {}};
  point.failures = {{Outcome::connect_failed,
                     64,
                     {{0, 3, 0, 0, Instant::none(), "connect 10.0.0.5:8000: Connection refused"}}}};
  const std::string text = terminal_report(point, {});
  expect_golden("terminal/nothing_worked.txt", text);
  expect_within(text, 80);
}

TEST(TerminalReport, of_an_empty_point_says_so) {
  const std::string text = terminal_report(metrics::Point{}, {});
  expect_golden("terminal/empty.txt", text);
  expect_within(text, 80);
}

TEST(TerminalReport, streams_without_a_token_are_told_from_no_streams) {
  metrics::Point point = small_point();
  point.arrival.ttft = {};
  const std::string text = terminal_report(point, sample_context());
  EXPECT_EQ(text.find("no streamed reply"), std::string::npos) << text;
  EXPECT_NE(text.find("streams without"), std::string::npos) << text;
}

TEST(TerminalReport, of_a_simulated_run_says_that_nothing_was_measured) {
  metrics::Point point = sample_point();
  point.run.simulated = true;
  const std::string text = terminal_report(point, sample_context());
  EXPECT_NE(text.find("simulated: computed by a model, not measured"), std::string::npos) << text;
  EXPECT_EQ(text.find("kernel's receive stamps"), std::string::npos) << text;
}

TEST(TerminalReport, a_window_that_is_the_result_has_its_figures_told) {
  metrics::Point point = sample_point();
  point.steady = official_window();
  const std::string text = terminal_report(point, sample_context());
  expect_golden("terminal/official.txt", text);
  expect_within(text, 80);
  EXPECT_NE(text.find("9,932 tok/s"), std::string::npos) << "the whole run";
  EXPECT_NE(text.find("official: 10,501"), std::string::npos);
  EXPECT_EQ(text.find("\n  window "), std::string::npos) << "the whole run is not a window";
}

TEST(TerminalReport, where_nothing_succeeded_nothing_is_said_of_steadiness) {
  metrics::Point point = sample_point();
  point.steady.emplace();
  EXPECT_NE(terminal_report(point, {}).find("\n  steady "), std::string::npos);
  point.counts.completed = 0;
  EXPECT_EQ(terminal_report(point, {}).find("\n  steady "), std::string::npos);
}

TEST(TerminalReport, where_nothing_succeeded_the_reason_comes_before_the_client) {
  metrics::Point point = sample_point();
  point.warnings = {"no query succeeded"};
  RunContext context = sample_context();
  context.innocence = {audit::ClientLimited::suspected,
                       {{audit::ClientLimited::suspected, "a busy thread", "lower the load"}}};
  const auto client_first = [&] {
    const std::string text = terminal_report(point, context);
    return text.find("a busy thread") < text.find("no query succeeded");
  };
  EXPECT_TRUE(client_first());
  point.counts.completed = 0;
  EXPECT_FALSE(client_first());
}

TEST(TerminalReport, colour_adds_nothing_but_colour) {
  const TerminalStyle style{.terminal = true, .colour = true};
  const std::string coloured = terminal_report(small_point(), sample_context(), style);
  std::string plain;
  for (std::size_t i = 0; i < coloured.size(); ++i) {
    if (coloured[i] == '\x1b') {
      i = coloured.find('m', i);
    } else {
      plain += coloured[i];
    }
  }
  EXPECT_NE(coloured, plain);
  // Trailing blanks are trimmed only where no escape follows them.
  const auto words = [](const std::string& text) {
    std::string out;
    for (std::string_view line : split(text, '\n')) {
      out += line.substr(0, line.find_last_not_of(' ') + 1);
      out += '\n';
    }
    return out;
  };
  EXPECT_EQ(words(plain), words(terminal_report(small_point(), sample_context())));
}

TEST(TerminalReport, a_refused_field_comes_with_the_flag_that_leaves_it_out) {
  metrics::Point point = sample_point();
  metrics::FailureExample& example = point.failures[0].examples[0];
  example.http_status = 422;
  example.detail = "HTTP 422: Unexpected fields in the request: {'ignore_eos', 'min_tokens'}";
  const std::string text = terminal_report(point, sample_context());
  EXPECT_NE(text.find(R"(--extra-body '{"ignore_eos":null,"min_tokens":null}')"), std::string::npos)
      << text;
}

TEST(TerminalReport, what_another_tool_recorded_is_not_said_to_be_ours) {
  metrics::Point point = sample_point();
  point.run.facts.set("imported", Json().set("format", "aiperf"));
  const std::string text = terminal_report(point, sample_context());
  EXPECT_NE(text.find("as aiperf counted them"), std::string::npos) << text;
  EXPECT_NE(text.find("as aiperf recorded them"), std::string::npos) << text;
  EXPECT_EQ(text.find("sends late"), std::string::npos) << text;
}

TEST(TerminalReport, hostile_text_is_shown_and_not_obeyed) {
  metrics::Point point = sample_point();
  point.run.facts.set("model", "m\x1b[2J\n");
  point.failures[0].examples[0].detail = "\x1b]0;owned\x07\r\nfaked line";
  point.warnings = {"w\x1b[31m"};
  expect_within(terminal_report(point, sample_context()), 80);
}

}  // namespace
}  // namespace assay::report
