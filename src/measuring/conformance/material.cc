#include "conformance/material.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "endpoint/words.h"

namespace assay::conformance {
namespace {

constexpr std::string_view kEnd = "<|end|>";

// The words of the endpoint's replies, each of which it sends as one token.
std::vector<std::string> reply_words() {
  std::vector<std::string> out;
  for (std::uint32_t i = 0; i < endpoint::kWords; ++i) {
    const auto text = std::string(endpoint::word(endpoint::Vocabulary::common, i).text);
    if (std::ranges::find(out, text) == out.end()) out.push_back(text);
  }
  return out;
}

// A regular expression that cuts a reply into those words: longer ones first, each by itself.
std::string cutting(std::vector<std::string> words) {
  std::ranges::stable_sort(words, std::greater{}, &std::string::size);
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += '|';
    for (const char c : word) {
      if (std::string_view("\\.\"").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
    // " the" is not the beginning of " there".
    if (word.back() >= 'a' && word.back() <= 'z') out += "(?![a-z])";
  }
  return out;
}

// Members that readers of a tokenizer want to see, without a value.
Json nulls(std::initializer_list<const char*> names) {
  Json out = Json::object();
  for (const char* const name : names) out.set(name, Json());
  return out;
}

}  // namespace

std::string prompt_lines(std::uint32_t count) {
  std::string out;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string text =
        format("Story {}: a ship, a storm, a lighthouse, and who was saved in the end?", i);
    out += Json().set("prompt", text).set("text", text).dump() + "\n";
  }
  return out;
}

std::string tokenizer_json() {
  const std::vector<std::string> words = reply_words();
  Json vocabulary = Json::object();
  std::int64_t id = 0;
  vocabulary.set(kEnd, id++);
  for (const std::string& word : words) vocabulary.set(word, id++);
  Json added = Json::array();
  added.push_back(Json()
                      .set("id", 0)
                      .set("content", kEnd)
                      .set("single_word", false)
                      .set("lstrip", false)
                      .set("rstrip", false)
                      .set("normalized", false)
                      .set("special", true));
  Json out = nulls({"truncation", "padding", "normalizer", "post_processor"});
  out.set("version", "1.0").set("added_tokens", std::move(added));
  out.set("pre_tokenizer", Json()
                               .set("type", "Split")
                               .set("pattern", Json().set("Regex", cutting(words)))
                               .set("behavior", "Isolated")
                               .set("invert", false));
  out.set("decoder", Json().set("type", "Fuse"));
  // What is none of the words, such as a prompt's, is a token too.
  out.set(
      "model",
      Json().set("type", "WordLevel").set("vocab", std::move(vocabulary)).set("unk_token", kEnd));
  return out.dump();
}

Result<void> write_material(const std::filesystem::path& folder, std::uint32_t prompts) {
  TRY(write_file_atomic(folder / "prompts.jsonl", prompt_lines(prompts)));
  TRY(write_file_atomic(folder / "tokenizer/tokenizer.json", tokenizer_json()));
  return write_file_atomic(folder / "tokenizer/tokenizer_config.json",
                           Json()
                               .set("tokenizer_class", "PreTrainedTokenizerFast")
                               .set("bos_token", kEnd)
                               .set("eos_token", kEnd)
                               .set("model_max_length", 131072)
                               .dump());
}

}  // namespace assay::conformance
