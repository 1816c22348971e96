// For tests: signs that the review aids must find, in summaries and in event logs.
#pragma once

#include <string>
#include <vector>

#include "rules/testing_mutation.h"

namespace assay::rules {

// An event log in the reference client's form. Replies end in the order of their queries, unless a
// test asks otherwise.
class GoldenLog {
 public:
  void tracking() { event("session.start_performance_tracking", "", "null"); }
  void ask(int query, std::string_view prompt) {
    event("sample.issued", uuid(query),
          format("[\"PromptData\",{},null,null,null,null,null,null]", json_quote(prompt)));
  }
  void answer(int query, std::string_view first, std::string_view rest) {
    event("sample.recv_first", uuid(query), "null");
    event("sample.complete", uuid(query),
          format("[\"TextModelOutput\",[{},{}],null,null]", json_quote(first), json_quote(rest)));
  }
  // Returns a unique reply, long enough to count.
  static std::string text(int query) {
    std::string out;
    for (int i = 0; i < 60; ++i) out += format("{} ", (query + 7) * (i + 13) % 100'003);
    return out;
  }
  const std::string& lines() const { return lines_; }

 private:
  static std::string uuid(int query) { return format("q{}", query); }
  void event(std::string_view type, const std::string& id, std::string_view data) {
    lines_ += format(
        "{{\"event_type\":\"{}\",\"timestamp_ns\":{},\"sample_uuid\":\"{}\","
        "\"conversation_id\":\"\",\"turn\":null,\"data\":{}}}\n",
        type, at_ += 1000, id, data);
  }

  std::string lines_{};
  std::int64_t at_ = 0;
};

// `queries` asked and answered one after the other; `answer` writes each answer.
inline std::string golden_log(int queries, const std::function<void(GoldenLog&, int)>& answer) {
  GoldenLog log;
  log.tracking();
  for (int i = 0; i < queries; ++i) {
    log.ask(i, "prompt " + std::to_string(i));
    answer(log, i);
  }
  return log.lines();
}

inline std::vector<Mutation> summary_review_mutations() {
  return {
      {.rule = "review-curve-shape",
       .what = "more users, each served faster",
       .change =
           [](GoldenTree& t) {
             Json& block = inner(t.summary("r512"), {"tpot", "percentiles"});
             block.set("50.0", golden_tpot_ms(8) * 0.7e6).set("90.0", golden_tpot_ms(8) * 1e6);
             t.summary("r512").set("tps_per_user", 1000 / golden_tpot_ms(8));
           },
       .severity = Severity::warning},
      {.rule = "review-uniform-ttft",
       .what = "one TTFT at 8 and at 512",
       .change =
           [](GoldenTree& t) {
             inner(t.summary("r512"), {"ttft", "percentiles"}).set("50.0", 4e7).set("90.0", 56.5e6);
           },
       .severity = Severity::warning},
      {.rule = "review-uniform-ttft",
       .what = "no scatter at all",
       .change = [](GoldenTree& t) { inner(t.summary("r96"), {"ttft"}).set("std_dev", 1000); },
       .severity = Severity::warning},
      {.rule = "review-warmup-overlap",
       .what = "the performance set named as warm-up data",
       .change =
           [](GoldenTree& t) {
             inner(t.point("r96"), {"warmup"})
                 .set("data_source", "the first rows of mlperf_gpt_oss_performance");
           },
       .severity = Severity::warning},
  };
}

inline std::vector<Mutation> log_review_mutations() {
  const auto with = [](std::string_view point, std::string log) {
    return [point, log](GoldenTree& t) {
      t.texts[format("{}/{}/events.jsonl", t.curve, point)] = log;
    };
  };
  const std::string filler = golden_log(
      100, [](GoldenLog& log, int i) { log.answer(i, i % 2 == 0 ? " \n" : "a", log.text(i)); });
  const std::string copies =
      golden_log(100, [](GoldenLog& log, int i) { log.answer(i, "a", log.text(i % 50)); });
  const std::string padded = golden_log(100, [](GoldenLog& log, int i) {
    std::string rest = log.text(i);
    for (int k = 0; k < 200 && i % 20 == 0; ++k) rest += "and so on ";
    log.answer(i, "a", rest);
  });
  GoldenLog overlap;
  overlap.ask(0, "prompt 5");
  overlap.answer(0, "a", GoldenLog::text(900));
  const std::string warmed = overlap.lines() + golden_log(20, [](GoldenLog& log, int i) {
                               log.answer(i, "a", log.text(i));
                             });
  return {
      {.rule = "review-log-readable",
       .what = "a log that is cut off",
       .change = with("r96", "{\"event_type\":\"session.started\""),
       .severity = Severity::warning},
      {.rule = "review-filler-first-tokens",
       .what = "half of the replies begin with white space",
       .change = with("r96", filler),
       .severity = Severity::warning},
      {.rule = "review-repeated-output",
       .what = "the same answers to other prompts",
       .change = with("r96", copies),
       .severity = Severity::warning},
      {.rule = "review-repeated-output",
       .what = "answers that never end",
       .change = with("r96", padded),
       .severity = Severity::warning},
      {.rule = "review-warmup-overlap",
       .what = "a measured prompt asked in warm-up",
       .change = with("r96", warmed),
       .severity = Severity::warning},
  };
}

inline std::vector<Mutation> pass_review_mutations() {
  // Two passes of gpqa's 198, all asked at once; the second pass is answered first.
  GoldenLog mixed;
  mixed.tracking();
  constexpr int kPass = 198;
  for (int i = 0; i < 2 * kPass; ++i) mixed.ask(i, "prompt " + std::to_string(i % kPass));
  for (int i = 2 * kPass - 1; i >= 0; --i) mixed.answer(i, "a", GoldenLog::text(i));
  return {
      {.rule = "review-offline-pass-mixing",
       .what = "the second pass answered before the first",
       .change =
           [log = mixed.lines()](GoldenTree& t) {
             t.each("point.yaml", [](Json& one) { one.set("dataset", "gpqa"); });
             t.each("result_summary.json", [](Json& one) {
               one.set("n_samples_issued", 198 * 5).set("n_samples_completed", 198 * 5);
             });
             t.texts[t.curve + "/r6396/events.jsonl"] = log;
           },
       .severity = Severity::warning},
  };
}

}  // namespace assay::rules
