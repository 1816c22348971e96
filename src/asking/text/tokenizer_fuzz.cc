// Any bytes as a tokenizer.json, a tekken.json, a tiktoken file or a SentencePiece model: an error,
// or a tokenizer that encodes and decodes without a fault.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "text/tokenizer.h"

namespace {

void use(const assay::text::Tokenizer& tokenizer, std::string_view text) {
  const auto rendered = tokenizer.count_rendered(text);
  const auto ids = tokenizer.encode(text, true);
  if (!ids) return;
  const auto whole = tokenizer.decode(*ids, false);
  assay::text::StreamDecoder decoder(tokenizer, false);
  for (const auto id : *ids) decoder.push(id);
  decoder.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  assay::Result<std::unique_ptr<const assay::text::Tokenizer>> made = assay::invalid("");
  switch (data[0] % 3) {
    case 0:
      made = assay::text::parse_tokenizer_json(bytes, "fuzz");
      break;
    case 1:
      made = assay::text::parse_tiktoken(bytes, "gpt2", {});
      break;
    default:
      made = assay::text::parse_sentencepiece(bytes, "fuzz");
      break;
  }
  if (!made) return 0;
  use(**made, "Hello, w\xC3\xB6rld! 123 \xE4\xBA\xBA\n\n  <s>");
  use(**made, bytes.substr(0, 200));
  return 0;
}
