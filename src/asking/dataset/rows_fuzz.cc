// Any bytes as JSON lines and as a JSON array: every cut gives the same rows or the same error, and
// no row becomes a sample that asks nothing.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "dataset/json_rows.h"
#include "dataset/rows.h"
#include "dataset/sharegpt.h"

namespace {

using assay::dataset::Chunks;

template <typename Reader>
std::vector<std::string> rows(std::string_view text, std::size_t step) {
  Reader reader(Chunks::of(text, step));
  std::vector<std::string> out;
  for (;;) {
    const auto row = reader.next();
    if (!row) {
      out.push_back("error " + row.error().message);
      return out;
    }
    if (!*row) return out;
    out.push_back(std::to_string(reader.line()) + " " + std::string(**row));
  }
}

void map(std::string_view text, assay::dataset::RowMapper::Cells cells) {
  auto row = assay::Json::parse(text);
  if (!row || !row->is_object()) return;
  if (assay::dataset::is_conversation(*row)) {
    const auto conversation = assay::dataset::parse_conversation(*row);
    if (conversation) conversation->first_user_turn();
  }
  static constexpr std::array<std::string_view, 2> kColumns{"input", "size"};
  const assay::dataset::Spec spec{.parser = {{"prompt", "p"}, {"body.x", "q"}},
                                  .prefer_token_ids = true,
                                  .kind_columns = kColumns,
                                  .keep_columns = true};
  assay::dataset::RowMapper mapper(spec, cells);
  const auto sample = mapper.map(*std::move(row));
  if (!sample) return;
  CHECK(!sample->prompt.empty() || !sample->messages.is_null() ||
        !sample->content_parts.is_null() || !sample->input_tokens.empty() ||
        sample->body["input"].is_array());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text = " " + std::string(reinterpret_cast<const char*>(data), size);
  const std::size_t step = 1 + data[0] % 7U;
  using assay::dataset::ElementReader;
  using assay::dataset::LineReader;
  CHECK(rows<LineReader>(text, text.size()) == rows<LineReader>(text, step));
  CHECK(rows<ElementReader>(text, text.size()) == rows<ElementReader>(text, step));
  map(text, assay::dataset::RowMapper::Cells::typed);
  map(text, assay::dataset::RowMapper::Cells::text);
  return 0;
}
