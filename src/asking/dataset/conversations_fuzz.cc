// Any bytes as conversations: every cut into pieces gives the same turns or the same error; each
// turn is a sample of its own, in order, and asks something.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "dataset/conversations.h"
#include "dataset/unpacker.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  using assay::dataset::Chunks;
  const assay::dataset::Spec spec{.name = "c", .path = "c", .keep_columns = true};
  const auto whole = read_conversations(spec, Chunks::of(text));
  const auto cut = read_conversations(spec, Chunks::of(text, 1 + data[0] % 7U));
  CHECK(whole.has_value() == cut.has_value());
  if (!whole) {
    // A decompressor may find a fault before or after it has given the bytes in front of it.
    if (assay::dataset::compression_of(text)) return 0;
    CHECK(whole.error().message == cut.error().message);
    return 0;
  }
  std::uint32_t next = 0;
  for (const assay::Conversation& one : whole->conversations) {
    CHECK(!one.turns.empty());
    for (const assay::Turn& turn : one.turns) {
      CHECK(turn.sample == next);
      CHECK(whole->samples[next].messages == cut->samples[next].messages);
      CHECK(whole->samples[next].messages.size() > 0);
      ++next;
    }
  }
  CHECK(next == whole->samples.size());
  return 0;
}
