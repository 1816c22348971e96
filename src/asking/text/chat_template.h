// Chat templates: the text that a model really sees, made from messages as the model's own template
// says (Jinja, from tokenizer_config.json or chat_template.jinja), with the public libraries'
// settings. And what the rules count with it: input tokens with template and salt, output tokens of
// a reply with reasoning and tool calls.
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
  // `name` stands in errors: "NAME:LINE: what".
  static Result<ChatTemplate> parse(std::string_view source,
                                    std::string_view name = "chat template");
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  // `variables`: an object; what the template may name. `now_unix_s`: what strftime_now prints,
  // in UTC.
  Result<std::string> render(const Json& variables, std::int64_t now_unix_s = 0) const;

 private:
  ChatTemplate();
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Messages whose tool calls' arguments, where they spell a JSON object, are that object.
Json with_parsed_calls(const Json& messages);

struct ChatRequest {
  // As the OpenAI API has them. A tool call's arguments that are a JSON object's text are rendered
  // as that object, as servers and the reference client do: templates go through its members.
  Json messages{};
  Json tools{};   // null: none
  Json kwargs{};  // chat_template_kwargs, an object or null: more variables
  bool add_generation_prompt = true;
  std::int64_t now_unix_s = 0;
};

// A model's template with the special tokens that it may name (bos_token, eos_token …).
class ChatFormat {
 public:
  // From a folder with chat_template.jinja, chat_template.json or tokenizer_config.json.
  static Result<ChatFormat> load(const std::filesystem::path& folder);
  static Result<ChatFormat> make(std::string_view source, Json special_tokens);
  // Another template with this one's special tokens: a request may bring its own.
  Result<ChatFormat> with_template(std::string_view source) const { return make(source, special_); }
  const std::string& source() const { return source_; }

  Result<std::string> render(const ChatRequest& request) const;
  // Tokens of the rendered request: ISL with template and generation prompt.
  Result<std::size_t> count_input(const Tokenizer& tokenizer, const ChatRequest& request) const;

 private:
  ChatFormat(ChatTemplate chat, Json special, std::string source)
      : chat_(std::move(chat)), special_(std::move(special)), source_(std::move(source)) {}
  ChatTemplate chat_;
  Json special_;
  std::string source_;
};

// What a reply said, its fragments joined in the order in which they came.
struct ReplyText {
  std::string content{};
  std::string reasoning{};
  Json tool_calls{};  // a list as the OpenAI API has it, in order of index; null: none
};

// The rule's output tokens: an empty user's message with the rebuilt reply, less the same with an
// empty reply, both rendered without generation prompt and tokenized once; never below 0.
// Source: the digest of the rules, 2.10.
//
// The second rendering is the same for every reply, so it is counted once. Any number of threads;
// tokenizer and format must outlive it.
class ReplyCounter {
 public:
  static Result<ReplyCounter> make(const Tokenizer& tokenizer, const ChatFormat& format);
  // Fails where the template refuses the reply.
  Result<std::size_t> count(const ReplyText& reply) const;

 private:
  ReplyCounter(const Tokenizer& tokenizer, const ChatFormat& format, std::size_t frame)
      : tokenizer_(&tokenizer), format_(&format), frame_(frame) {}
  const Tokenizer* tokenizer_;
  const ChatFormat* format_;
  std::size_t frame_;  // tokens around an empty reply
};

// The tokenizer that `name` means: a folder or file, or a Hugging Face id ("org/model") that the
// local cache holds ($HF_HUB_CACHE, $HF_HOME/hub, ~/.cache/huggingface/hub). Nothing is downloaded.
Result<std::filesystem::path> find_tokenizer(std::string_view name);

}  // namespace assay::text
