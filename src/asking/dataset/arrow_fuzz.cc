// Any bytes as an Arrow stream: an error or rows, in bounded time and memory.
#include <cstddef>
#include <cstdint>
#include <string>

#include "dataset/arrow.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto source =
      assay::dataset::open_arrow(assay::dataset::InputFile::of(std::move(bytes)), "fuzz");
  if (!source) return 0;
  constexpr int kRowsMax = 1000;
  for (int i = 0; i < kRowsMax; ++i) {
    const auto row = (*source)->next();
    if (!row || !*row) return 0;
  }
  return 0;
}
