#include "run/guard.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/format.h"
#include "base/text.h"
#include "run/run.h"

namespace assay::run {
namespace {

constexpr std::uint64_t kNoCount = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kShareFrom = 20;

void add(std::atomic<std::uint64_t>& count, std::uint64_t n) {
  count.store(count.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

// Outcome and status in one number, never 0.
std::uint32_t key_of(const Event& event) {
  return (static_cast<std::uint32_t>(event.outcome) + 1) << 16 | event.http_status;
}

std::string words_of(std::uint32_t key) {
  if (const std::uint32_t status = key & 0xffff; status != 0) return format("HTTP {}", status);
  return std::string(to_string(static_cast<Outcome>((key >> 16) - 1)));
}

std::string counted(std::uint64_t n) { return with_thousands(static_cast<std::int64_t>(n)); }

bool has_budget(const GuardRule& rule) {
  return rule.tokens_max != kNoCount || std::isfinite(rule.cost_max);
}

bool judges(const GuardRule& rule) {
  return rule.fatal_max > 0 || rule.failures_max != kNoCount || rule.failed_share_max < 1 ||
         has_budget(rule);
}

}  // namespace

std::uint64_t share_is_judged_from(double failed_share_max) {
  if (failed_share_max <= 0) return 1;
  constexpr double kMost = 1e6;
  return std::max(kShareFrom,
                  static_cast<std::uint64_t>(std::min(kMost, std::ceil(1 / failed_share_max))));
}

bool is_fatal(const Event& event) {
  switch (event.outcome) {
    case Outcome::connect_failed:
    case Outcome::tls_failed:
      return true;
    case Outcome::http_error:
      switch (event.http_status) {
        case 400:
        case 401:
        case 402:
        case 403:
        case 404:
        case 405:
        case 410:
        case 415:
        case 422:
        case 501:
          return true;
        default:
          return event.http_status >= 300 && event.http_status < 400;  // the resource is elsewhere
      }
    case Outcome::ok:
    case Outcome::reset:
    case Outcome::truncated:
    case Outcome::stream_error:
    case Outcome::bad_reply:
    case Outcome::timed_out:
    case Outcome::cancelled:
    case Outcome::over_memory:
      break;
  }
  return false;
}

Guard::Guard(const GuardRule& rule, std::uint32_t shards, std::uint32_t first)
    : rule_(rule),
      judges_(judges(rule)),
      budgets_(has_budget(rule)),
      first_(first),
      cells_(std::max(1U, shards)) {}

void Guard::on_issued(std::uint32_t shard) {
  Cell& cell = cell_of(shard);
  add(cell.issued, 1);
  if (budgets_) cell.judged = false;  // it now has its part of the budget
}

void Guard::on_done(std::uint32_t shard, const Event& event) {
  Cell& cell = cell_of(shard);
  cell.judged = false;
  add(cell.ended, 1);
  const bool ok = event.outcome == Outcome::ok;
  if (ok) {
    add(cell.ok, 1);
  } else if (event.outcome != Outcome::cancelled) {
    add(cell.failed, 1);  // a query that we cancelled is no failure of the endpoint
  }
  const Usage& usage = event.usage;
  add(cell.tokens_in, static_cast<std::uint64_t>(std::max(usage.prompt_tokens, 0)));
  add(cell.tokens_out, usage.completion_tokens >= 0
                           ? static_cast<std::uint64_t>(usage.completion_tokens)
                           : event.fragments);
  const std::uint32_t key = is_fatal(event) ? key_of(event) : 0;
  if (key != cell.fatal.load(std::memory_order_relaxed)) {
    cell.streak.store(0, std::memory_order_relaxed);
    cell.since.store(event.done.ns, std::memory_order_relaxed);
    cell.fatal.store(key, std::memory_order_relaxed);
  }
  add(cell.streak, 1);
  if (rule_.honour_retry_after && event.retry_after.ns >= 0 && event.done.known()) {
    const std::int64_t until = (event.done + event.retry_after).ns;
    std::int64_t before = held_back_.load(std::memory_order_relaxed);
    while (before < until && !held_back_.compare_exchange_weak(before, until)) {
    }
  }
}

Guard::Sums Guard::sums(bool drains) const {
  Sums out;
  std::uint64_t issued = 0;
  std::uint64_t in = 0;
  std::uint64_t replied = 0;
  for (const Cell& cell : cells_) {
    issued += cell.issued.load(std::memory_order_relaxed);
    out.ended += cell.ended.load(std::memory_order_relaxed);
    out.failed += cell.failed.load(std::memory_order_relaxed);
    out.ok += cell.ok.load(std::memory_order_relaxed);
    in += cell.tokens_in.load(std::memory_order_relaxed);
    replied += cell.tokens_out.load(std::memory_order_relaxed);
  }
  if (drains) out.in_flight = issued - std::min(issued, out.ended);
  out.tokens = static_cast<double>(in) + static_cast<double>(replied);
  out.cost =
      static_cast<double>(in) * rule_.price_in + static_cast<double>(replied) * rule_.price_out;
  sum_streaks(out);
  return out;
}

// There is one streak if every shard with ended queries last saw the same fatal answer.
void Guard::sum_streaks(Sums& out) const {
  for (const Cell& cell : cells_) {
    if (cell.ended.load(std::memory_order_relaxed) == 0) continue;
    const std::uint32_t fatal = cell.fatal.load(std::memory_order_relaxed);
    if (fatal == 0 || (out.fatal != 0 && fatal != out.fatal)) {
      out.fatal = 0;
      return;
    }
    out.since = std::max(out.fatal == 0 ? std::numeric_limits<std::int64_t>::min() : out.since,
                         cell.since.load(std::memory_order_relaxed));
    out.fatal = fatal;
    out.streak += cell.streak.load(std::memory_order_relaxed);
  }
}

bool Guard::refused(const Sums& sums, Instant now) const {
  if (rule_.fatal_max == 0 || sums.fatal == 0 || sums.streak < rule_.fatal_max) return false;
  return sums.ok == 0 || now - Instant{sums.since} >= rule_.fatal_patience;
}

bool Guard::too_many_failed(const Sums& sums) const {
  if (sums.failed > rule_.failures_max) return true;
  if (rule_.failed_share_max >= 1) return false;
  return sums.ended >= share_is_judged_from(rule_.failed_share_max) &&
         static_cast<double>(sums.failed) >
             rule_.failed_share_max * static_cast<double>(sums.ended);
}

// The queries in flight and one more, as a number of average successful queries.
double Guard::ahead(const Sums& sums) {
  if (sums.ok == 0) return 0;
  return (static_cast<double>(sums.in_flight) + 1) / static_cast<double>(sums.ok);
}

bool Guard::tokens_are_spent(const Sums& sums) const {
  return sums.tokens * (1 + ahead(sums)) > static_cast<double>(rule_.tokens_max);
}

bool Guard::money_is_spent(const Sums& sums) const {
  return sums.cost * (1 + ahead(sums)) > rule_.cost_max;
}

std::string Guard::words_for(StopReason why, const Sums& sums) const {
  if (why == StopReason::refused) {
    return format("{} queries in a row got {}{}", counted(sums.streak), words_of(sums.fatal),
                  sums.ok == 0 ? ", and none succeeded" : " and nothing else");
  }
  if (why == StopReason::failures) {
    return format("{} of {} queries failed, more than --max-failures allows", counted(sums.failed),
                  counted(sums.ended));
  }
  const auto tokens = static_cast<std::uint64_t>(sums.tokens);
  if (tokens_are_spent(sums)) {
    return format("the budget is used up: {} of {} tokens, and the next query would exceed it",
                  counted(tokens), counted(rule_.tokens_max));
  }
  return format(
      "the budget is used up: {:.4g} of {:.4g}, for {} tokens, and the next query would "
      "exceed it",
      sums.cost, rule_.cost_max, counted(tokens));
}

std::optional<StopReason> Guard::verdict(std::uint32_t shard, Instant now, bool drains) {
  if (!judges_) return std::nullopt;
  const int said = verdict_.load(std::memory_order_relaxed);
  if (said >= 0) return static_cast<StopReason>(said);
  Cell& cell = cell_of(shard);
  if (cell.judged) return std::nullopt;
  cell.judged = true;
  const Sums so_far = sums(drains);
  std::optional<StopReason> out;
  if (tokens_are_spent(so_far) || money_is_spent(so_far)) out = StopReason::budget;
  if (too_many_failed(so_far)) out = StopReason::failures;
  if (refused(so_far, now)) out = StopReason::refused;
  if (!out) return out;
  int none = -1;
  if (!verdict_.compare_exchange_strong(none, static_cast<int>(*out))) {
    return static_cast<StopReason>(none);
  }
  reason_ = words_for(*out, so_far);
  return out;
}

}  // namespace assay::run
