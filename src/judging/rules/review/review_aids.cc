#include <cmath>

#include "base/has_word.h"
#include "base/text.h"
#include "rules/catalogue.h"

namespace assay::rules {
namespace {

void check_review_log_readable(const Scope& at, Out& out) {
  if (!at.point->log) return out.not_applicable();
  const EventSummary& log = *at.point->log;
  if (!log.trouble.empty()) {
    out.warning({at.point->events, log.trouble_line}, log.trouble,
                "a log in the reference client's form");
  }
}

void check_review_curve_shape(const Scope& at, Out& out) {
  // Signs that no real server shows: faster for each of more users, or gains above proportion.
  constexpr double kSlack = 1.10;
  constexpr double kCollapse = 0.5;
  const PointFolder* last = nullptr;
  const PointFolder* fastest = nullptr;  // the best throughput so far
  for (const PointFolder& point : at.curve->points) {
    const Metrics& m = point.metrics;
    const double rate = m.throughput().value_or(0);
    if (point.dedicated() || !point.measured() || rate <= 0) continue;
    const std::string_view counted =
        m.unit.empty() ? "/output_sequence_lengths/total" : "/assay/units/completed";
    if (last != nullptr && point.concurrency > last->concurrency) {
      const Metrics& before = last->metrics;
      const double users =
          static_cast<double>(point.concurrency) / static_cast<double>(last->concurrency);
      if (rate > *before.throughput() * users * kSlack) {
        out.warning(point.summary.place(counted),
                    format("{:.2f} times the users of {} and {:.2f} times its {}", users,
                           last->name, rate / *before.throughput(), m.throughput_unit()),
                    "no more than in proportion");
      }
      if (m.tps_per_user && before.tps_per_user &&
          *m.tps_per_user > *before.tps_per_user * kSlack) {
        out.warning(point.summary.place("/tpot/percentiles"),
                    format("each user gets {:.1f} tokens/s, {:.1f} at {}", *m.tps_per_user,
                           *before.tps_per_user, last->name),
                    "no more than with fewer users");
      }
    }
    if (fastest != nullptr && rate < kCollapse * *fastest->metrics.throughput()) {
      out.warning(point.summary.place(counted),
                  format("{:.1f} {}, less than half of {}'s {:.1f}", rate, m.throughput_unit(),
                         fastest->name, *fastest->metrics.throughput()),
                  "throughput that holds, or the reason");
    }
    last = &point;
    if (fastest == nullptr || rate > *fastest->metrics.throughput()) fastest = &point;
  }
}

void check_review_uniform_ttft(const Scope& at, Out& out) {
  constexpr std::int64_t kFar = 8;
  constexpr double kSame = 0.02;
  const PointFolder* low = nullptr;
  for (const PointFolder& point : at.curve->points) {
    if (point.dedicated() || !point.metrics.ttft_p90_ns) continue;
    if (low == nullptr) low = &point;
    const double there = *low->metrics.ttft_p90_ns;
    const double here = *point.metrics.ttft_p90_ns;
    const bool far = point.concurrency >= kFar * low->concurrency;
    if (far && there > 0 && std::fabs(here - there) <= kSame * there) {
      out.warning(
          point.summary.place("/ttft/percentiles"),
          format("TTFT P90 is {:.1f} ms, and {:.1f} ms at {}", here / 1e6, there / 1e6, low->name),
          "a TTFT that grows with the load");
    }
    const double mean = point.summary.at("/ttft/avg").as_double();
    const Json& deviation = point.summary.at("/ttft/std_dev");
    constexpr double kStill = 0.005;
    constexpr std::int64_t kEnough = 100;
    if (deviation.is_number() && point.metrics.completed.value_or(0) >= kEnough && mean > 0 &&
        deviation.as_double() < kStill * mean) {
      out.warning(point.summary.place("/ttft/std_dev"),
                  format("TTFT varies by {:.2f} % of its mean over {} replies",
                         deviation.as_double() / mean * 100, *point.metrics.completed),
                  "the scatter of a real server");
    }
  }
}

void check_review_filler_first_tokens(const Scope& at, Out& out) {
  if (!at.point->log) return out.not_applicable();
  const EventSummary& log = *at.point->log;
  constexpr double kShare = 0.05;
  if (static_cast<double>(log.filler_first.count) > kShare * static_cast<double>(log.completed)) {
    out.warning({at.point->events, log.filler_first.line},
                format("{} of {} replies begin with white space alone, such as {}",
                       log.filler_first.count, log.completed, log.filler_first.example),
                "text, reasoning or a tool call");
  }
}

void check_review_repeated_output(const Scope& at, Out& out) {
  if (!at.point->log) return out.not_applicable();
  const EventSummary& log = *at.point->log;
  constexpr double kShare = 0.01;
  const double enough = kShare * static_cast<double>(log.completed);
  if (static_cast<double>(log.same_output.count) > enough) {
    out.warning({at.point->events, log.same_output.line},
                format("{} of {} replies are word for word those to other prompts",
                       log.same_output.count, log.completed),
                "an answer of its own for each prompt");
  }
  if (static_cast<double>(log.padded.count) > enough) {
    out.warning({at.point->events, log.padded.line},
                format("{} of {} replies end in one short piece again and again", log.padded.count,
                       log.completed),
                "output that ends when it is done");
  }
}

void check_review_warmup_overlap(const Scope& at, Out& out) {
  if (at.point->usable()) {
    const std::string source = lower(at.point->point.at("/warmup/data_source").as_string());
    const std::string dataset = lower(at.point->point.at("/dataset").as_string());
    // A dataset may be called "prompts", and synthetic prompts are none of it.
    const bool synthetic = source.starts_with("synthetic");
    // "orca" is not in "open_orca".
    if (!synthetic && has_word(source, dataset, "_-")) {
      out.warning(at.point->point.place("/warmup/data_source"),
                  format("warm-up with {}", said(at.point->point.at("/warmup/data_source"))),
                  "other data than the performance set");
    }
  }
  if (!at.point->log) return;
  const EventSummary& log = *at.point->log;
  if (log.warmup_prompts.count > 0) {
    out.warning(
        {at.point->events, log.warmup_prompts.line},
        format("{} measured prompts were asked in warm-up before", log.warmup_prompts.count),
        "no prompt twice");
  }
}

void check_review_offline_pass_mixing(const Scope& at, Out& out) {
  if (!at.point->log || !at.point->dedicated()) return out.not_applicable();
  const EventSummary& log = *at.point->log;
  // Between two passes, some overlap is only the end of the first one.
  constexpr double kShare = 0.05;
  if (static_cast<double>(log.early.count) > kShare * static_cast<double>(log.issued)) {
    out.warning({at.point->events, log.early.line},
                format("{} of {} queries ended while an earlier pass was in flight",
                       log.early.count, log.issued),
                "passes one after the other");
  }
}

constexpr Rule kReviewAids[] = {
    {.id = "review-log-readable",
     .severity = Severity::warning,
     .action = Action::flag,
     .clause = "Manual review",
     .demand = "an event log in the tree can be read to its end",
     .fix = "copy the log again, or leave it out: it is not part of a submission",
     .check = check_review_log_readable},
    {.id = "review-curve-shape",
     .level = Level::curve,
     .severity = Severity::warning,
     .action = Action::flag,
     .clause = "Manual review",
     .demand = "throughput and speed behave as a queueing system's do",
     .fix =
         "look at the two points: client limits, other settings, warm caches; be ready to explain",
     .check = check_review_curve_shape},
    {.id = "review-uniform-ttft",
     .level = Level::curve,
     .severity = Severity::warning,
     .action = Action::flag,
     .clause = "Manual review",
     .demand = "TTFT differs between very different concurrencies, and within a run",
     .fix = "show what the first fragment holds; a fixed delay or a canned first token looks "
            "like this",
     .check = check_review_uniform_ttft},
    {.id = "review-filler-first-tokens",
     .severity = Severity::warning,
     .action = Action::flag,
     .clause = "Manual review",
     .demand = "first fragments carry output",
     .fix = "TTFT must be genuine: a first fragment of white space stops the clock for nothing",
     .check = check_review_filler_first_tokens},
    {.id = "review-repeated-output",
     .severity = Severity::warning,
     .action = Action::flag,
     .clause = "Manual review",
     .demand = "replies are neither copies of each other nor padded",
     .fix = "check for a response cache and for a generation that never stops; either "
            "invalidates the point",
     .check = check_review_repeated_output},
    {.id = "review-warmup-overlap",
     .severity = Severity::warning,
     .action = Action::flag,
     .clause = "Manual review",
     .demand = "warm-up used none of the performance data",
     .fix = "warm up with synthetic or accuracy data",
     .check = check_review_warmup_overlap},
    {.id = "review-offline-pass-mixing",
     .severity = Severity::warning,
     .action = Action::flag,
     .clause = "Manual review",
     .demand = "a dedicated Offline run finishes each pass over the dataset before the next",
     .fix = "requests may be reordered within a pass, never across passes",
     .check = check_review_offline_pass_mixing},
};

}  // namespace

std::span<const Rule> review_aids() { return kReviewAids; }

}  // namespace assay::rules
