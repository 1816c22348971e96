// The points of drawn runs, figure by figure: any phases, faults, choices, counts and clocks.
#include <gtest/gtest.h>

#include "base/format.h"
#include "base/testing_drawn.h"
#include "base/testing_golden.h"
#include "metrics/live.h"
#include "metrics/point_fold.h"
#include "metrics/testing_hand_made.h"

namespace assay::metrics {
namespace {

class DrawnRun : Drawn {
 public:
  using Drawn::Drawn;

  RunInfo info() {
    RunInfo out;
    const bool open_loop = one_in(2);
    out.phases = {{PhaseKind::warmup, "warmup", open_loop},
                  {PhaseKind::performance, "performance", open_loop},
                  {PhaseKind::accuracy, "accuracy", open_loop},
                  {PhaseKind::tail, "tail", open_loop}};
    out.uncertainty = !one_in(3);
    out.simulated = one_in(4);
    return out;
  }

  std::vector<HandMadeQuery> queries() {
    std::vector<HandMadeQuery> out;
    const std::uint64_t several = 1 + rng_.below(3);
    gathers_ = one_in(5);
    wrong_ = one_in(4);
    for (std::uint32_t i = 0; i < 40; ++i) {
      const auto phase = static_cast<std::uint16_t>(i < 6 ? 0 : i < 34 ? 1 : one_in(3) ? 4 : i % 4);
      out.push_back(query(phase, i, 10 * i, several));
    }
    return out;
  }

  bool left_open() { return one_in(20); }
  Event rest_of(Event event) {
    event.stream_asked = true;
    event.connected = one_in(6);
    event.connect_time = us(900);
    if (one_in(3)) event.sent_uncertainty = us(40);
    event.done_uncertainty = us(60);
    event.read_delay_done = us(30);
    event.choices_asked = static_cast<std::uint16_t>(one_in(9) ? 2 : 1);
    event.fragments_after_done = one_in(15) ? 1 : 0;
    return event;
  }

 private:
  Duration us(std::uint64_t most) { return 1_us * static_cast<std::int64_t>(1 + rng_.below(most)); }

  HandMadeQuery query(std::uint16_t phase, std::uint32_t index, std::int64_t due_ms,
                      std::uint64_t several) {
    HandMadeQuery q;
    q.query = {.index = index, .phase = phase, .sample = index % 7};
    q.due = at_ms(due_ms);
    q.sent = one_in(12) ? Instant::none() : q.due + us(3'000);
    q.streamed = !one_in(8);
    q.kernel_stamped = !one_in(4);
    Instant at = q.due + us(40'000);
    const std::uint64_t fragments = one_in(15) ? 0 : 1 + rng_.below(12);
    std::int32_t said = 0;
    for (std::uint64_t i = 0; i < fragments; ++i) {
      HandMadeFragment e{at, one_in(3) ? "two words" : "one"};
      e.category = one_in(5)    ? Category::reasoning
                   : one_in(12) ? Category::tool_call
                   : one_in(12) ? Category::role
                                : Category::text;
      e.choice = static_cast<std::uint16_t>(one_in(3) ? rng_.below(several) : 0);
      e.read_delay = us(500);
      e.shares_read = one_in(4);
      e.uncertainty = one_in(3) ? us(2'000) : Duration{};
      said += static_cast<std::int32_t>(1 + rng_.below(2));
      if (one_in(4)) e.tokens_so_far = one_in(9) ? said / 2 : said;
      q.events.push_back(e);
      if (!gathers_ || one_in(9)) at = at + us(12'000);
    }
    q.done = at + us(100);
    q.usage = {.prompt_tokens = static_cast<std::int32_t>(rng_.below(300)),
               .completion_tokens = one_in(2) ? said : static_cast<std::int32_t>(fragments)};
    if (one_in(9)) q.usage.completion_tokens = -1;
    if (wrong_ && one_in(3)) q.usage.completion_tokens = one_in(2) ? kNoCount : 5'000;
    if (one_in(6)) q.usage.reasoning_tokens = static_cast<std::int32_t>(rng_.below(20));
    if (one_in(6)) q.usage.cached_tokens = 3;
    if (one_in(5)) q.tokens_max = 12;
    q.received_bytes = one_in(3) ? 0 : 500;
    if (one_in(9)) {
      q.outcome = one_in(2) ? Outcome::http_error : Outcome::timed_out;
      q.http_status = q.outcome == Outcome::http_error ? 503 : 0;
      q.finish = FinishReason::none;
      q.detail = format("why {} failed", index);
      if (one_in(3)) q.done = Instant::none();
    }
    return q;
  }
  bool gathers_ = false;
  bool wrong_ = false;
};

std::string series_line(std::string_view name, const Distribution& d) {
  if (d.empty()) return "";
  std::string out = format("  {}: {} in [{:.9g}, {:.9g}], mean {:.9g}, P50 {:.9g}, P99 {:.9g}",
                           name, d.count, d.min, d.max, d.mean, d.median(), d.percentile(99.0));
  if (d.limits) {
    const Between& half = d.limits->percentiles[7];
    out += format("; P50 in [{:.9g}, {:.9g}], mean in [{:.9g}, {:.9g}]", half.low, half.high,
                  d.limits->mean.low, d.limits->mean.high);
  }
  return out + "\n";
}

std::string clock_lines(std::string_view clock, const Latencies& l) {
  const auto line = [&](std::string_view name, const Distribution& series) {
    return series_line(format("{} {}", clock, name), series);
  };
  return line("ttft", l.ttft) + line("ttft_due", l.ttft_due) +
         line("ttft_visible", l.ttft_visible) + line("tpot", l.tpot) + line("itl", l.itl) +
         line("latency", l.latency) + line("latency_due", l.latency_due);
}

std::string counts_words(const Counts& c) {
  return format("{} = {} + {} + {}", c.issued, c.completed, c.failed, c.unfinished);
}

std::string token_lines(const Tokens& t) {
  std::string by;
  for (const std::uint64_t n : t.replies_by) by += format(" {}", n);
  by += " |";
  for (const std::uint64_t n : t.contradicted_by) by += format(" {}", n);
  return format(
      "  tokens {}: {} counted, {} not; prompt {} output {} reasoning {} cached {} hidden {} in "
      "{}; "
      "by{}; contradicted {}: {} for {}; empty {}, whole {}, after done {}, choices {}{}; {:.9g}\n",
      to_string(t.source), t.replies_counted, t.replies_uncounted, t.prompt, t.output, t.reasoning,
      t.cached, t.hidden, t.replies_with_hidden, by, t.contradicted, t.contradicted_counted,
      t.contradicted_said, t.empty_replies, t.not_streamed, t.went_on_after_done,
      t.replies_of_several_choices, t.first_fragment_taken_for_one ? ", first for one" : "",
      t.per_fragment.value_or(-1));
}

std::string point_lines(const Point& p) {
  const auto number = [](const std::optional<double>& value) {
    return value ? format("{:.9g}", *value) : std::string("-");
  };
  std::string out = format("{}; all {}; {} to {}\n", counts_words(p.counts),
                           counts_words(p.all_phases), p.began.ns, p.ended.ns);
  for (const PhaseSpan& phase : p.phases) {
    out += format("  {}: {}, {} {} {}\n", phase.name, counts_words(phase.counts), phase.started.ns,
                  phase.issue_ended.ns, phase.drained.ns);
  }
  for (const Failures& one : p.failures) {
    out += format("  {} {}:", one.count, to_string(one.outcome));
    for (const FailureExample& e : one.examples) {
      out += format(" {}/{} {} '{}'", e.query, e.sample, e.http_status, e.detail);
    }
    out += "\n";
  }
  out += clock_lines("arrival", p.arrival) + clock_lines("read", p.read);
  out += series_line("isl", p.isl) + series_line("osl", p.osl) +
         series_line("lateness", p.lateness) + series_line("read delay", p.read_delay) +
         series_line("connect", p.connect) + series_line("tokens a fragment", p.fragment_tokens);
  out +=
      format("  {} ns; qps {:.9g}, tps {}, a user {}; legacy {} {} {}; offered {}, achieved {}\n",
             p.rates.duration.ns, p.rates.qps, number(p.rates.tps), number(p.rates.tps_per_user),
             p.rates.legacy_window.value_or(Duration{-1}).ns, number(p.rates.legacy_qps),
             number(p.rates.legacy_tps), number(p.rates.offered_qps), number(p.rates.achieved_qps));
  out += token_lines(p.tokens);
  out += format("  stamps {} of {}, {} share their read\n", p.stamps.kernel_stamped,
                p.stamps.events, p.stamps.shares_read);
  for (const TimeBucket& b : p.timeline.buckets) {
    out += format("  bucket {:.9g} {} {} {} {} {:.9g}\n", b.output_tokens, b.fragments, b.sent,
                  b.completed, b.failed, b.in_flight);
  }
  for (const std::string& warning : p.warnings) out += "  " + warning + "\n";
  return out;
}

std::string live_line(const LiveSnapshot& s) {
  const auto words = [](const LivePercentiles& p) {
    return format("{} {} {} {}", p.count, p.p50.ns, p.p90.ns, p.p99.ns);
  };
  std::string out = format(
      "  live {}: {} sent, {} + {}, {} in flight; {:.9g} {:.9g} {:.9g} a second, {:.9g} tok/s{}; "
      "{} | {} | {}\n",
      s.phase, s.sent, s.completed, s.failed, s.in_flight, s.offered_qps, s.achieved_qps,
      s.completed_qps, s.output_tps, s.tokens_known ? "" : " (fragments)", words(s.ttft),
      words(s.tpot), words(s.lateness));
  for (const LiveFailures& one : s.failures) {
    out += format("    {} {}: {}\n", one.count, to_string(one.outcome), one.last_detail);
  }
  return out;
}

TEST(PointTable, the_points_of_drawn_runs_are_those_that_were_read) {
  std::string table;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    DrawnRun drawn(seed);
    const RunInfo info = drawn.info();
    FoldOptions options;
    options.examples_max = 2;
    options.early_stopping = false;
    PointFold fold(info, options);
    Plan plan;
    plan.phases.resize(5);
    plan.phases[1].name = "performance";
    const auto live = std::make_unique<Live>(plan);
    const std::vector<EventSink*> sinks{&fold, live.get()};
    for (EventSink* const sink : sinks) {
      sink->on_phase({1, PhaseStep::started, at_ms(60)});
      sink->on_phase({0, PhaseStep::started, at_ms(-5)});
      sink->on_phase({1, PhaseStep::started, at_ms(61)});
    }
    for (const HandMadeQuery& q : drawn.queries()) {
      const bool open = drawn.left_open();
      const Event end = drawn.rest_of(event_of(q));
      for (EventSink* const sink : sinks) {
        tell_sent(q, *sink);
        tell_stream(q, *sink);
        if (!open) sink->on_done(end, q.detail);
      }
    }
    for (EventSink* const sink : sinks) {
      sink->on_phase({1, PhaseStep::issue_ended, at_ms(340)});
      sink->on_phase({1, PhaseStep::drained, at_ms(700)});
    }
    const RunEnd end{seed % 3 == 0 ? RunState::interrupted : RunState::complete, "a reason"};
    table += format("{}: {}", seed, point_lines(fold.finish(end, seed % 5 == 0 ? 3 : 0)));
    const Live* const lives[] = {live.get()};
    table +=
        live_line(live_snapshot(lives, at_ms(400))) + live_line(live_snapshot(lives, at_ms(1500)));
  }
  expect_golden("metrics/points.txt", table);
}

}  // namespace
}  // namespace assay::metrics
