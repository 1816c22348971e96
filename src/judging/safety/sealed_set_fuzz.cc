// Any bytes as a sealed set, and any JSON as used rows: an error or a set, never a crash.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "safety/agreement.h"
#include "safety/sealed_set.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto key = assay::seal_key_from(
      "assay-seal-key-1 "
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n");
  if (const auto set = assay::safety::read_sealed(text)) {
    (void)assay::safety::open_rows(*set, *key);
    (void)assay::safety::used_rows(*set, 1, "seed");
  }
  if (const auto json = assay::Json::parse(text)) (void)assay::safety::read_used(*json);
  (void)assay::safety::labels_from(text);
  return 0;
}
