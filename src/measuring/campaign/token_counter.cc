#include "campaign/token_counter.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>

#include "base/text.h"
#include "domain/tool_call.h"
#include "metrics/token_truth.h"

namespace assay::campaign {
namespace {

// Not the number of a prompt: the query has its own input count.
constexpr std::uint64_t kOwn = std::numeric_limits<std::uint64_t>::max();

std::int32_t tokens(std::size_t count) {
  constexpr std::size_t kMax = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::min(count, kMax));
}

// How many of the first `bytes` bytes of `text` are whole characters.
std::size_t whole_characters(std::string_view text, std::size_t bytes) {
  std::size_t whole = std::min(bytes, text.size());
  if (whole == text.size()) return whole;
  while (whole > 0 && (static_cast<unsigned char>(text[whole]) & 0xC0) == 0x80) --whole;
  return whole;
}

// The request fields that a template gets besides messages and tools.
Json template_variables(const Json& body) {
  Json out =
      body["chat_template_kwargs"].is_object() ? body["chat_template_kwargs"] : Json::object();
  if (!body["tool_choice"].is_null()) out.set("tool_choice", body["tool_choice"]);
  return out;
}

}  // namespace

Result<std::unique_ptr<TokenCounter>> TokenCounter::make(const text::Tokenizer& tokenizer,
                                                         const text::ChatFormat* chat,
                                                         BodyOf body_of,
                                                         TokenCounterOptions options) {
  std::unique_ptr<TokenCounter> out(
      new TokenCounter(tokenizer, chat, std::move(body_of), std::move(options)));
  if (chat != nullptr) {
    ASSIGN_OR_RETURN(auto counter, text::ReplyCounter::make(tokenizer, *chat));
    out->replies_counter_ = std::make_unique<text::ReplyCounter>(counter);
  }
  return out;
}

void TokenCounter::on_stream_event(const Query& query, const StreamEvent& event,
                                   std::string_view text) {
  if (!is_fragment(event.category) || text.empty()) return;
  std::vector<Reply>& choices = replies_.insert(query_key(query));
  auto at = std::ranges::find(choices, event.choice, &Reply::choice);
  if (at == choices.end()) {
    if (choices.size() < metrics::ReplyEvidence::kChoicesMax) {
      choices.emplace_back().choice = event.choice;
    }
    at = choices.end() - 1;
  }
  Reply& reply = *at;
  if (reply.first == Category::other) {
    reply.first = event.category;
    reply.first_bytes = text.size();
  }
  if (event.category == Category::text) reply.content += text;
  if (event.category == Category::reasoning) reply.reasoning += text;
  if (event.category == Category::tool_call) reply.tool_calls += text;
}

void TokenCounter::on_done(const Event& event, std::string_view) {
  const std::uint64_t key = query_key(event.query);
  std::vector<Reply>* const choices = replies_.find(key);
  if (event.outcome == Outcome::ok) {
    Job job{.query = event.query, .streamed = event.streamed};
    if (choices != nullptr) job.choices = std::move(*choices);
    const std::uint64_t prompt = prompt_key(event.query);
    job.count_input = body_of_ && (prompt == kOwn || inputs_.emplace(prompt, Input{}).second);
    batch_bytes_ += sizeof(Job);
    for (const Reply& reply : job.choices) {
      batch_bytes_ += reply.content.size() + reply.reasoning.size() + reply.tool_calls.size();
    }
    batch_.push_back(std::move(job));
  }
  if (choices != nullptr) replies_.erase(key);
  if (batch_bytes_ >= options_.batch_bytes) run_batch();
}

std::uint64_t TokenCounter::prompt_key(const Query& query) const {
  if (query.phase >= options_.phases.size() || options_.phases[query.phase].salted) return kOwn;
  return std::uint64_t{options_.phases[query.phase].dataset} << 32 | query.sample;
}

void TokenCounter::run_batch() {
  std::atomic<std::size_t> next{0};
  const auto take = [this, &next] {
    for (std::size_t i = next.fetch_add(1); i < batch_.size(); i = next.fetch_add(1)) {
      work(batch_[i]);
    }
  };
  const std::size_t threads = std::min<std::size_t>(std::max(1U, options_.threads), batch_.size());
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(take);
  take();
  for (std::thread& other : others) other.join();
  for (const Job& job : batch_) {
    if (job.count_input) {
      if (const std::uint64_t prompt = prompt_key(job.query); prompt != kOwn) {
        inputs_[prompt] = {job.count.input, job.input_refused};
      } else if (job.input_refused) {
        ++inputs_refused_;
      }
    }
    counted_.emplace_back(job.query, job.count);
  }
  batch_.clear();
  batch_bytes_ = 0;
}

void TokenCounter::work(Job& job) {
  if (job.count_input) {
    const Result<Json> body = body_of_(job.query);
    if (body) {
      job.count.input = count_body(*body, job.input_refused);
    } else {
      note_trouble(body.error());
    }
  }
  count_choices(job);
}

// An uncounted choice makes the sum unknown.
void TokenCounter::count_choices(Job& job) {
  const auto add = [](std::int32_t& sum, std::int32_t part) {
    sum = sum < 0 || part < 0 ? -1 : sum + part;
  };
  job.count.output = 0;
  job.count.after_first = job.streamed ? 0 : -1;
  for (const Reply& reply : job.choices) {
    add(job.count.output, count_reply(reply));
    if (job.streamed) add(job.count.after_first, count_after_first(reply));
  }
}

std::int32_t TokenCounter::count_text(std::string_view text) {
  const Result<std::size_t> count = tokenizer_.count(text);
  if (count) return tokens(*count);
  note_trouble(count.error());
  return -1;
}

std::int32_t TokenCounter::count_reply(const Reply& reply) {
  if (reply.content.empty() && reply.reasoning.empty() && reply.tool_calls.empty()) return 0;
  if (replies_counter_ != nullptr) {
    const Result<std::size_t> count =
        replies_counter_->count({reply.content, reply.reasoning, tool_call_list(reply.tool_calls)});
    if (count) return tokens(*count);
    note_trouble(count.error());
    const Lock lock(mutex_);
    ++refused_;
  }
  std::string all;
  for (const std::string& part :
       {reply.reasoning, reply.content, tool_call_words(reply.tool_calls)}) {
    if (!all.empty() && !part.empty()) all += '\n';
    all += part;
  }
  return count_text(all);
}

std::int32_t TokenCounter::count_after_first(const Reply& reply) {
  Reply rest = reply;
  const auto cut = [&rest](std::string& text) {
    text.erase(0, whole_characters(text, rest.first_bytes));
  };
  if (rest.first == Category::text) cut(rest.content);
  if (rest.first == Category::reasoning) cut(rest.reasoning);
  if (rest.first == Category::tool_call) {
    // The rest is the end of a call, which no template can render, so its text is counted.
    cut(rest.tool_calls);
    const std::int32_t calls =
        rest.tool_calls.empty() ? 0 : count_text(tool_call_words(rest.tool_calls));
    rest.tool_calls.clear();
    const std::int32_t others = count_reply(rest);
    return calls < 0 || others < 0 ? -1 : calls + others;
  }
  return count_reply(rest);
}

std::int32_t TokenCounter::count_body(const Json& body, bool& refused) {
  for (const char* ids : {"prompt", "input_ids"}) {
    if (body[ids].is_array()) return tokens(body[ids].size());
  }
  for (const char* text : {"prompt", "text"}) {
    if (!body[text].is_string()) continue;
    // Includes the tokens that a server's tokenizer adds to a prompt (<s> …).
    const auto count = tokenizer_.count(body[text].as_string(), true);
    if (count) return tokens(*count);
    note_trouble(count.error());
    return -1;
  }
  if (!body["messages"].is_array()) return -1;
  const Result<std::size_t> count = count_chat(body);
  if (count) return tokens(*count);
  note_trouble(count.error());
  refused = true;
  Json asked = Json().set("messages", text::with_parsed_calls(body["messages"]));
  if (!body["tools"].is_null()) asked.set("tools", body["tools"]);
  return count_text(asked.dump());
}

Result<std::size_t> TokenCounter::count_chat(const Json& body) {
  const text::ChatRequest request{.messages = body["messages"],
                                  .tools = body["tools"],
                                  .kwargs = template_variables(body),
                                  .add_generation_prompt = true,
                                  .now_unix_s = options_.now_unix_s};
  const std::string own(body["chat_template"].as_string());
  if (own.empty()) {
    if (chat_ != nullptr) return chat_->count_input(tokenizer_, request);
    // Without a template only the prompt's text is known.
    std::string all;
    for (const Json& message : body["messages"].items()) {
      all += message["content"].as_string();
      for (const Json& part : message["content"].items()) all += part["text"].as_string();
      all += '\n';
    }
    if (!all.empty()) all.pop_back();
    return tokenizer_.count(all, true);
  }
  std::shared_ptr<const text::ChatFormat> format;
  {
    const Lock lock(mutex_);
    format = own_formats_[own];
  }
  if (format == nullptr) {
    auto made =
        chat_ != nullptr ? chat_->with_template(own) : text::ChatFormat::make(own, Json::object());
    if (!made) return made.error();
    format = std::make_shared<const text::ChatFormat>(*std::move(made));
    const Lock lock(mutex_);
    own_formats_[own] = format;
  }
  return format->count_input(tokenizer_, request);
}

void TokenCounter::note_trouble(const Error& error) {
  const Lock lock(mutex_);
  if (trouble_.empty()) trouble_ = error.message;
}

metrics::TokenCounts TokenCounter::finish() {
  run_batch();
  metrics::TokenCounts out;
  std::uint64_t uncounted = 0;
  for (auto& [query, count] : counted_) {
    if (const auto at = inputs_.find(prompt_key(query)); at != inputs_.end()) {
      count.input = at->second.tokens;
      if (at->second.refused) ++inputs_refused_;
    }
    if (body_of_ && count.input < 0) ++uncounted;
    out.set(query, count);
  }
  counted_.clear();
  inputs_.clear();
  replies_.clear();
  const Lock lock(mutex_);
  out.source.set("output", chat_ != nullptr ? "chat template, two renderings" : "plain text");
  out.source.set("refused_by_template", refused_);
  out.source.set("inputs_refused_by_template", std::exchange(inputs_refused_, 0));
  out.source.set("inputs_uncounted", uncounted);
  out.source.set("trouble", trouble_.empty() ? Json() : Json(trouble_));
  return out;
}

}  // namespace assay::campaign
