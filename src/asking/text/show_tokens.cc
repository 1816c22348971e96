#include "text/show_tokens.h"

#include <iterator>
#include <map>

#include "base/clock.h"
#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "base/thread_books.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace assay::text {
namespace {

struct Total {
  std::size_t texts = 0;
  std::size_t tokens = 0;
  std::size_t bytes = 0;
  Duration spent{};  // of this thread's CPU, on encoding alone
  std::size_t characters = 0;

  Json to_json() const {
    return Json()
        .set("texts", texts)
        .set("tokens", tokens)
        .set("bytes", bytes)
        .set("characters", characters)
        .set("tokens_per_character", rate())
        .set("encode_cpu_s", spent.seconds());
  }
  // What a tokenizer costs in a language: a reply of as many characters takes this many tokens.
  Json rate() const {
    if (characters == 0) return {};
    return Json(static_cast<double>(tokens) / static_cast<double>(characters));
  }
};

// The text of a line of JSON lines: a string, or an object's "text" or "prompt".
Result<std::string> text_of(const Json& line, std::size_t number) {
  for (const Json* value : {&line, line.find("text"), line.find("prompt")}) {
    if (value != nullptr && value->is_string()) return std::string(value->as_string());
  }
  return invalid(
      format("line {}: must be a JSON string, or an object with \"text\" or \"prompt\"", number));
}

std::string ids_text(std::span<const TokenId> ids) {
  std::string out = "[";
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i > 0) out += ',';
    out += std::to_string(ids[i]);
  }
  return out + "]";
}

Result<void> encode_one(const Tokenizer& tokenizer, const ShownTokens& options,
                        std::string_view text, ThreadBooksReader& books, Total& total,
                        const Talk& talk) {
  const auto began = books.look();
  ASSIGN_OR_RETURN(const std::vector<TokenId> ids, tokenizer.encode(text, options.special));
  const auto ended = books.look();
  if (began && ended) total.spent += ended->ran - began->ran;
  ++total.texts;
  total.tokens += ids.size();
  total.bytes += text.size();
  total.characters += character_count(text);
  if (options.ids) {
    talk.print(ids_text(ids) + "\n");
  } else if (options.jsonl && !options.json && options.by.empty()) {
    talk.print(format("{}\n", ids.size()));
  }
  return {};
}

Result<void> decode_one(const Tokenizer& tokenizer, const ShownTokens& options, const Json& line,
                        Total& total, const Talk& talk) {
  std::vector<TokenId> ids;
  for (const Json& id : line.items()) ids.push_back(static_cast<TokenId>(id.as_int(-1)));
  std::string text;
  if (options.stream) {
    StreamDecoder decoder(tokenizer, !options.special);
    for (const TokenId id : ids) text += decoder.push(id);
    text += decoder.finish();
  } else {
    text = tokenizer.decode(ids, !options.special);
  }
  ++total.texts;
  total.tokens += ids.size();
  total.bytes += text.size();
  total.characters += character_count(text);
  talk.print(json_quote(text) + "\n");
  return {};
}

Result<void> each_line(std::string_view input,
                       const std::function<Result<void>(const Json&, std::size_t)>& take) {
  std::size_t number = 0;
  while (!input.empty()) {
    const std::size_t end = input.find('\n');
    const std::string_view line = input.substr(0, end);
    input.remove_prefix(end == std::string_view::npos ? input.size() : end + 1);
    ++number;
    if (trim(line).empty()) continue;
    const auto json = Json::parse(line);
    if (!json) return json.error().within(format("line {}", number));
    TRY(take(*json, number));
  }
  return {};
}

// Reads lines of a template's variables ("messages", "tools" …); prints the rendered text or the
// error of each.
Result<int> render_lines(const ShownTokens& options, std::string_view input, const Talk& talk) {
  ASSIGN_OR_RETURN(const std::string source, read_file(options.chat_template, 1 << 20));
  ASSIGN_OR_RETURN(const auto chat, ChatTemplate::parse(source, options.chat_template));
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t now = options.now ? *options.now : wall_now().ns / kSecond;
  if (source.find("strftime_now") != std::string::npos) {
    talk.say(format("strftime_now: {} ({}); a run uses the time of its start",
                    rfc3339(WallTime{now * kSecond}),
                    options.now ? "--now" : "the machine's time, see --now"));
  }
  bool failed = false;
  TRY(each_line(input, [&](const Json& line, std::size_t) -> Result<void> {
    const auto rendered = chat.render(line, now);
    failed = failed || !rendered;
    talk.print((rendered ? json_quote(*rendered)
                         : Json::object().set("error", rendered.error().message).dump()) +
               "\n");
    return {};
  }));
  return exit_code(failed ? ExitCode::findings : ExitCode::done);
}

// Counts for each value of a member of the lines, such as a locale.
Result<int> count_by(const Tokenizer& tokenizer, const ShownTokens& options, std::string_view input,
                     const Talk& talk) {
  std::map<std::string, Total> totals;
  ThreadBooksReader books;
  TRY(each_line(input, [&](const Json& line, std::size_t number) -> Result<void> {
    ASSIGN_OR_RETURN(const std::string text, text_of(line, number));
    const Json& value = line[options.by];
    if (!value.is_string()) {
      return invalid(format("line {}: --by: there is no text \"{}\"", number, options.by));
    }
    return encode_one(tokenizer, options, text, books, totals[std::string(value.as_string())],
                      talk);
  }));
  Json rows = Json::array();
  for (const auto& [value, total] : totals) {
    Json row = Json().set(options.by, value);
    const Json counts = total.to_json();
    for (const auto& [key, figure] : counts.members()) row.set(key, figure);
    if (!options.json) {
      talk.print(
          format("{:<12} {:>10} tokens {:>10} characters {:>7.3f} tokens a character ({} texts)\n",
                 value, total.tokens, total.characters, total.rate().as_double(), total.texts));
    }
    rows.push_back(std::move(row));
  }
  if (options.json) {
    talk.print(Json()
                   .set("tokenizer", tokenizer.description())
                   .set("by", options.by)
                   .set("rows", std::move(rows))
                   .dump(2) +
               "\n");
  }
  return exit_code(ExitCode::done);
}

// Counts one text, of texts, or lines of ids.
Result<int> count_all(const Tokenizer& tokenizer, const ShownTokens& options,
                      std::string_view input, const Talk& talk) {
  Total total;
  ThreadBooksReader books;
  if (options.decode || options.jsonl) {
    TRY(each_line(input, [&](const Json& line, std::size_t number) -> Result<void> {
      if (options.decode) return decode_one(tokenizer, options, line, total, talk);
      ASSIGN_OR_RETURN(const std::string text, text_of(line, number));
      return encode_one(tokenizer, options, text, books, total, talk);
    }));
  } else {
    TRY(encode_one(tokenizer, options, input, books, total, talk));
  }
  if (options.json) {
    Json out = Json().set("tokenizer", tokenizer.description());
    const Json counts = total.to_json();
    for (const auto& [key, figure] : counts.members()) out.set(key, figure);
    talk.print(out.dump(2) + "\n");
  } else if (!options.ids && !options.decode && !options.jsonl) {
    talk.print(format("{} tokens ({}; {})\n",
                      with_thousands(static_cast<std::int64_t>(total.tokens)),
                      human_bytes(total.bytes), tokenizer.description()));
  }
  return exit_code(ExitCode::done);
}

}  // namespace

Result<int> show_tokens(const ShownTokens& options, std::string_view input, const Talk& talk) {
  constexpr std::int64_t kLastSecond = 9'000'000'000;  // the year 2255
  if (options.now && (*options.now < 0 || *options.now > kLastSecond)) {
    return invalid(format("--now: must be 0 to {}", kLastSecond));
  }
  if (!options.chat_template.empty()) return render_lines(options, input, talk);
  if (options.tokenizer.empty()) return invalid("--tokenizer: is missing");
  ASSIGN_OR_RETURN(const auto tokenizer,
                   load_tokenizer(options.tokenizer, {.tiktoken_pattern = options.pattern}));
  if (!options.by.empty()) {
    if (options.decode || options.ids) return invalid("--by: goes without --decode and --ids");
    return count_by(*tokenizer, options, input, talk);
  }
  return count_all(*tokenizer, options, input, talk);
}

}  // namespace assay::text
