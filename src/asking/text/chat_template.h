// Chat templates: the text that a model receives, made from messages by the model's own template
// (Jinja, from tokenizer_config.json or chat_template.jinja), with the public libraries' settings.
// Also the rules' token counts: input tokens with template and salt, output tokens of a reply with
// reasoning and tool calls.
//
// Immutable once parsed; any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "text/tokenizer.h"

namespace assay::text {

class ChatTemplate {
 public:
  // Errors begin with "NAME:LINE: ", where NAME is `name`.
  static Result<ChatTemplate> parse(std::string_view source,
                                    std::string_view name = "chat template");
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  // `variables`: an object with the names that the template may use. `now_unix_s`: the time for
  // strftime_now, in UTC.
  Result<std::string> render(const Json& variables, std::int64_t now_unix_s = 0) const;

 private:
  ChatTemplate();
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Returns messages with tool calls' arguments parsed, if they are the text of a JSON object.
Json with_parsed_calls(const Json& messages);

struct ChatRequest {
  // Messages of the OpenAI API. A tool call's arguments that are the text of a JSON object become
  // that object, as in servers and the reference client: templates use its members.
  Json messages{};
  Json tools{};   // null: none
  Json kwargs{};  // chat_template_kwargs: more variables; an object or null
  bool add_generation_prompt = true;
  std::int64_t now_unix_s = 0;
};

// A model's template with its special tokens (bos_token, eos_token …).
class ChatFormat {
 public:
  // Loads chat_template.jinja, chat_template.json or tokenizer_config.json from a folder.
  static Result<ChatFormat> load(const std::filesystem::path& folder);
  static Result<ChatFormat> make(std::string_view source, Json special_tokens);
  // Returns another template with this one's special tokens: a request may bring its own.
  Result<ChatFormat> with_template(std::string_view source) const { return make(source, special_); }
  const std::string& source() const { return source_; }

  Result<std::string> render(const ChatRequest& request) const;
  // Counts the tokens of the rendered request: ISL with template and generation prompt.
  Result<std::size_t> count_input(const Tokenizer& tokenizer, const ChatRequest& request) const;

 private:
  ChatFormat(ChatTemplate chat, Json special, std::string source)
      : chat_(std::move(chat)), special_(std::move(special)), source_(std::move(source)) {}
  ChatTemplate chat_;
  Json special_;
  std::string source_;
};

// A reply's texts, each joined from its fragments in their order.
struct ReplyText {
  std::string content{};
  std::string reasoning{};
  Json tool_calls{};  // OpenAI's list, in order of index; null: none
};

// The rule's output tokens: an empty user message with the rebuilt reply, minus the same with an
// empty reply. Both are rendered without generation prompt and tokenized once; the result is at
// least 0. Source: the digest of the rules, 2.10.
//
// The second rendering is the same for every reply, so it is counted once. Any number of threads;
// tokenizer and format must outlive it.
class ReplyCounter {
 public:
  static Result<ReplyCounter> make(const Tokenizer& tokenizer, const ChatFormat& format);
  // Fails if the template refuses the reply.
  Result<std::size_t> count(const ReplyText& reply) const;

 private:
  ReplyCounter(const Tokenizer& tokenizer, const ChatFormat& format, std::size_t frame)
      : tokenizer_(&tokenizer), format_(&format), frame_(frame) {}
  const Tokenizer* tokenizer_;
  const ChatFormat* format_;
  std::size_t frame_;  // tokens around an empty reply
};

// Returns the tokenizer for `name`: a folder or file, or a Hugging Face id ("org/model") in the
// local cache ($HF_HUB_CACHE, $HF_HOME/hub, ~/.cache/huggingface/hub). Nothing is downloaded.
Result<std::filesystem::path> find_tokenizer(std::string_view name);

}  // namespace assay::text
