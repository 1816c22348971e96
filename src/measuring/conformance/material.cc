#include "conformance/material.h"

#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"

namespace assay::conformance {
namespace {

constexpr std::string_view kEnd = "<|end|>";

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  out += static_cast<char>(0xc0 | (code >> 6));
  out += static_cast<char>(0x80 | (code & 0x3f));
}

// GPT-2's characters for bytes: printable Latin-1 stands for itself, the others follow from 256.
std::vector<std::string> byte_characters() {
  std::vector<std::string> out(256);
  std::uint32_t next = 256;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    const bool plain = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    append_utf8(out[byte], plain ? byte : next++);
  }
  return out;
}

Json byte_level() {
  return Json()
      .set("type", "ByteLevel")
      .set("add_prefix_space", false)
      .set("trim_offsets", true)
      .set("use_regex", true);
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
  Json vocabulary = Json::object();
  std::int64_t id = 0;
  vocabulary.set(kEnd, id++);
  for (const std::string& character : byte_characters()) vocabulary.set(character, id++);
  Json model = nulls({"dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"});
  model.set("type", "BPE").set("fuse_unk", false).set("vocab", std::move(vocabulary));
  model.set("merges", Json::array());
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
  out.set("pre_tokenizer", byte_level()).set("decoder", byte_level());
  return out.set("model", std::move(model)).dump();
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
