// Every cut of the file gives the same rows or the same error. The rows, written again with every
// field in quotes, are read as the same rows.
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "dataset/csv.h"

namespace {

using Rows = std::vector<std::vector<std::string>>;

bool parse(std::string_view text, std::size_t step, Rows& rows, std::string& error) {
  assay::dataset::CsvReader reader(assay::dataset::Chunks::of(text, step));
  for (;;) {
    auto row = reader.next();
    if (!row) {
      error = row.error().message;
      return false;
    }
    if (!*row) return true;
    rows.push_back(**std::move(row));
  }
}

std::string quoted(const Rows& rows) {
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out += ',';
      out += '"';
      for (const char c : row[i]) {
        out += c;
        if (c == '"') out += c;
      }
      out += '"';
    }
    out += "\r\n";
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // Byte order marks count only in the first piece.
  const std::string text = "a" + std::string(reinterpret_cast<const char*>(data), size);
  Rows whole;
  Rows pieces;
  std::string error_whole;
  std::string error_pieces;
  const bool ok = parse(text, text.size(), whole, error_whole);
  CHECK(ok == parse(text, 1 + data[0] % 7U, pieces, error_pieces));
  CHECK(whole == pieces && error_whole == error_pieces);
  if (!ok) return 0;
  Rows again;
  std::string error;
  CHECK(parse(quoted(whole), 5, again, error));
  CHECK(again == whole);
  return 0;
}
