// Any bytes as a Parquet file: an error or rows, in bounded time and memory.
#include <cstddef>
#include <cstdint>
#include <string>

#include "dataset/parquet.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto read = [](std::string file) {
    const auto source = assay::dataset::open_parquet(assay::dataset::InputFile::of(file), "fuzz");
    if (!source) return;
    constexpr int kRowsMax = 1000;
    for (int i = 0; i < kRowsMax; ++i) {
      const auto row = (*source)->next();
      if (!row || !*row) return;
    }
  };
  read(std::string(bytes));
  // The same bytes as a footer with its frame, which the fuzzer would not find.
  std::string framed = "PAR1" + std::string(bytes);
  for (std::size_t i = 0; i < 4; ++i) framed += static_cast<char>(size >> 8 * i & 255);
  read(framed + "PAR1");
  return 0;
}
