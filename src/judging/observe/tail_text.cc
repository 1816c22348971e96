// The words, the JSON and the lines of tail.h.
#include <algorithm>

#include "base/enum_name.h"
#include "base/format.h"
#include "base/text.h"
#include "observe/tail.h"

namespace assay::observe {
namespace {

constexpr std::size_t kShownMax = 20;  // in JSON

}  // namespace

std::string_view to_string(TailCause cause) { return enum_name(cause); }

std::string_view tail_words(TailCause cause) {
  switch (cause) {
    case TailCause::client_late:
      return "this client sent or read late; look at its verdict, --threads";
    case TailCause::connect:
      return "opened a connection; connections are closed, or too few";
    case TailCause::long_prompt:
      return "a long prompt, its own or another's; chunked prefill, or a class of its own";
    case TailCause::cache_miss:
      return "less of its prompt was in the cache than usual; more KV cache, or a router that "
             "keeps "
             "prefixes together";
    case TailCause::queue:
      return "waited in the server's queue; more replicas, or fewer queries";
    case TailCause::before_first:
      return "late first token, no word of the server on why; --metrics URL shows its queue";
    case TailCause::stall:
      return "every stream stood still at once; a pause of the server";
    case TailCause::network:
      return "the server went on, and its output came late and at once; retransmits, a proxy that "
             "gathers";
    case TailCause::preemption:
      return "the server put queries back; more KV cache, or fewer at once";
    case TailCause::gap:
      return "its stream alone stood still";
    case TailCause::batch:
      return "every token slower, as more were under way";
    case TailCause::slow_tokens:
      return "every token slower, with no more under way; clocks, power";
    case TailCause::not_explained:
      return "no part holds half of it";
  }
  return {};
}

Json to_json(const Tail& tail) {
  Json causes = Json::object();
  for (std::size_t i = 0; i < kTailCauses; ++i) {
    if (tail.by_cause[i] > 0) {
      causes.set(to_string(static_cast<TailCause>(i)), tail.by_cause[i]);
    }
  }
  Json slow = Json::array();
  for (const SlowQuery& one : tail.slow) {
    if (slow.size() >= kShownMax) break;
    slow.push_back(Json()
                       .set("query", one.index)
                       .set("sample", one.sample)
                       .set("due_ns", one.due.ns)
                       .set("took_ns", one.took.ns)
                       .set("expected_ns", one.expected.ns)
                       .set("cause", to_string(one.cause))
                       .set("share", one.share));
  }
  return Json()
      .set("queries", tail.queries)
      .set("slow", tail.slow.size())
      .set("first", tail.ranked.empty() ? "" : to_string(tail.ranked.front()))
      .set("causes", std::move(causes))
      .set("slowest", std::move(slow));
}

std::vector<std::pair<std::string, std::string>> tail_lines(const Tail& tail) {
  std::vector<std::pair<std::string, std::string>> out;
  if (tail.queries < kTailRepliesMin) {
    out.emplace_back("tail", format("{} replies are too few to say what is slow", tail.queries));
    return out;
  }
  if (tail.slow.empty()) {
    out.emplace_back("tail", "nothing stands out: no query took half as long again as expected");
    return out;
  }
  for (const TailCause cause : tail.ranked) {
    const auto example = std::ranges::find(tail.slow, cause, &SlowQuery::cause);
    out.emplace_back("tail",
                     format("{} of {} slow queries: {} ({}); for example query {}: {} where {} was "
                            "to be expected{}",
                            tail.by_cause[static_cast<std::size_t>(cause)], tail.slow.size(),
                            to_string(cause), tail_words(cause), example->index,
                            human_duration(example->took), human_duration(example->expected),
                            cause == TailCause::not_explained
                                ? std::string()
                                : format(", {:.0f} % of it by this", 100 * example->share)));
  }
  return out;
}

}  // namespace assay::observe
