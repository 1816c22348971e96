// TokenCounter reads a run from its log and counts its tokens with the model's tokenizer, by the
// rules (their digest, section 2.10):
//   output       the rebuilt reply (text, reasoning, tool calls) in the model's chat template, less
//                the template with an empty reply; each rendering tokenized once
//   after_first  the same for the part after the first fragment: TPOT's denominator. A character
//                split between two fragments goes with the second
//   input        the request as sent: salt, chat template, tools and generation prompt
// Without a chat template, or where the API takes plain prompts, texts are tokenized directly. So
// is a reply that the template refuses; for a refused request, the JSON of its messages and tools
// is tokenized, as in the reference client. The result has the number of both. For a reply of
// several choices each is counted separately, and output and after_first are their sums.
//
// Run it after the clock has stopped: it uses `threads` cores. Memory holds the replies in flight
// and one batch. Calls come from one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "base/json.h"
#include "base/mutex.h"
#include "base/result.h"
#include "domain/quiet_sink.h"
#include "metrics/token_counts.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace assay::campaign {

struct TokenCounterOptions {
  unsigned threads = 1;
  std::size_t batch_bytes = std::size_t{32} << 20;
  std::int64_t now_unix_s = 0;  // the run's start, for templates that print the date
  // By phase: its dataset, and whether its prompts are salted, so that each prompt has its own
  // tokens. A phase without an entry is counted query by query.
  struct Phase {
    std::uint32_t dataset = 0;
    bool salted = true;
  };
  std::vector<Phase> phases{};
};

class TokenCounter final : public QuietSink {
 public:
  // Returns a query's request body as JSON. Called from several threads at once. Empty: no input
  // counts.
  using BodyOf = std::function<Result<Json>(const Query&)>;

  // `chat`: the model's template; null: none. Both must outlive the counter.
  static Result<std::unique_ptr<TokenCounter>> make(const text::Tokenizer& tokenizer,
                                                    const text::ChatFormat* chat, BodyOf body_of,
                                                    TokenCounterOptions options);

  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override;
  void on_done(const Event& event, std::string_view detail) override;

  // The counts of every successful reply. `source` has "output", "refused_by_template" (of the
  // replies), "inputs_refused_by_template", "inputs_uncounted" and "trouble"; the caller adds the
  // tokenizer's description. The counter is empty afterwards.
  metrics::TokenCounts finish();

 private:
  // One choice of a reply, from its fragments.
  struct Reply {
    std::uint16_t choice = 0;
    std::string content{};
    std::string reasoning{};
    std::string tool_calls{};
    Category first = Category::other;  // of the first fragment; other: none
    std::size_t first_bytes = 0;
  };
  struct Job {
    Query query{};
    std::vector<Reply> choices{};
    bool streamed = false;
    bool count_input = false;
    bool input_refused = false;
    metrics::TokenCount count{};
  };

  TokenCounter(const text::Tokenizer& tokenizer, const text::ChatFormat* chat, BodyOf body_of,
               TokenCounterOptions options)
      : tokenizer_(tokenizer),
        chat_(chat),
        body_of_(std::move(body_of)),
        options_(std::move(options)) {}

  std::uint64_t prompt_key(const Query& query) const;
  void run_batch();
  void work(Job& job);
  std::int32_t count_text(std::string_view text);
  void count_choices(Job& job);
  std::int32_t count_reply(const Reply& reply);
  std::int32_t count_after_first(const Reply& reply);
  // `refused`: set if the template refused it, so that its JSON was counted.
  std::int32_t count_body(const Json& body, bool& refused);
  Result<std::size_t> count_chat(const Json& body);
  void note_trouble(const Error& error);

  const text::Tokenizer& tokenizer_;
  const text::ChatFormat* chat_;
  const BodyOf body_of_;
  const TokenCounterOptions options_;
  std::unique_ptr<text::ReplyCounter> replies_counter_{};

  FlatMap<std::vector<Reply>> replies_{256};
  std::vector<Job> batch_{};
  std::size_t batch_bytes_ = 0;
  std::vector<std::pair<Query, metrics::TokenCount>> counted_{};
  struct Input {
    std::int32_t tokens = -1;
    bool refused = false;
  };
  std::unordered_map<std::uint64_t, Input> inputs_{};  // by prompt_key
  std::uint64_t inputs_refused_ = 0;                   // of queries with inputs of their own

  Mutex mutex_;
  // Templates from requests, by their text.
  std::map<std::string, std::shared_ptr<const text::ChatFormat>> own_formats_ GUARDED_BY(mutex_){};
  std::uint64_t refused_ GUARDED_BY(mutex_) = 0;
  std::string trouble_ GUARDED_BY(mutex_){};  // the first one
};

}  // namespace assay::campaign
