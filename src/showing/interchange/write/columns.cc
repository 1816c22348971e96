#include "interchange/write/columns.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace assay::interchange {
namespace {

constexpr std::int64_t kNullable = 2;  // ARROW_FLAG_NULLABLE
constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// `text` with each byte that belongs to no valid character replaced.
std::string repaired(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t size = std::min<std::size_t>(4, text.size());
    while (size > 0 && !valid_utf8(text.substr(0, size))) --size;
    out += size == 0 ? kReplacement : text.substr(0, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return out;
}

}  // namespace

void Column::grow(std::size_t count) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  values.resize(std::max((bytes + count + kWord - 1) / kWord, values.size() * 2));
}

void Column::all_valid() {
  valid.assign(static_cast<std::size_t>(rows / 8 + 1), 0);
  for (std::int64_t row = 0; row < rows; ++row) set_bit(valid, row, true);
}

void Bits::add(bool value) {
  const auto row = static_cast<std::size_t>(column_->rows);
  const std::uint8_t none = 0;
  if (row % 8 == 0) column_->append_bytes(&none, 1);
  auto* const bytes = reinterpret_cast<std::uint8_t*>(column_->values.data());
  if (value) bytes[row / 8] = static_cast<std::uint8_t>(bytes[row / 8] | 1U << (row % 8));
  column_->note(true);
}

void Texts::add(std::string_view text) {
  if (valid_utf8(text)) {
    column_->append_bytes(text.data(), text.size());
  } else {
    const std::string better = repaired(text);
    column_->append_bytes(better.data(), better.size());
  }
  column_->offsets.push_back(static_cast<std::int64_t>(column_->bytes));
  column_->note(true);
}

Column& Columns::make(std::string_view name, std::string_view format) {
  CHECK(find(name) == nullptr);
  columns_.push_back(std::make_unique<Column>());
  columns_.back()->name = name;
  columns_.back()->format = format;
  return *columns_.back();
}

Texts Columns::texts(std::string_view name) {
  Column& column = make(name, "U");
  column.offsets.push_back(0);
  return Texts(column);
}

Numbers<std::int16_t> Columns::words(std::string_view name, const std::vector<std::string>& words) {
  Column& column = make(name, "s");
  column.words = std::make_unique<Column>();
  column.words->format = "U";
  column.words->offsets.push_back(0);
  Texts dictionary(*column.words);
  for (const std::string& word : words) dictionary.add(word);
  return Numbers<std::int16_t>(column);
}

const Column* Columns::find(std::string_view name) const {
  for (const auto& column : columns_) {
    if (column->name == name) return column.get();
  }
  return nullptr;
}

// What keeps the exported structures alive. A reader may take a child away and release it by
// itself, so each child has its own.
namespace {

using Table = std::shared_ptr<const Columns>;

struct SchemaKeeper {
  Table table{};
  std::vector<ArrowSchema> children{};
  std::vector<ArrowSchema*> pointers{};
  ArrowSchema dictionary{};
};

void release_schema(ArrowSchema* schema) {
  auto* const keeper = static_cast<SchemaKeeper*>(schema->private_data);
  for (ArrowSchema* const child : keeper->pointers) {
    if (child->release != nullptr) child->release(child);
  }
  if (keeper->dictionary.release != nullptr) keeper->dictionary.release(&keeper->dictionary);
  schema->release = nullptr;
  delete keeper;
}

ArrowSchema schema_of(SchemaKeeper* keeper, const char* format, const char* name) {
  ArrowSchema out{};
  out.format = format;
  out.name = name;
  out.n_children = static_cast<std::int64_t>(keeper->pointers.size());
  out.children = keeper->pointers.empty() ? nullptr : keeper->pointers.data();
  out.dictionary = keeper->dictionary.release != nullptr ? &keeper->dictionary : nullptr;
  out.release = &release_schema;
  out.private_data = keeper;
  return out;
}

ArrowSchema column_schema(const Table& table, const Column& column) {
  auto* const keeper = new SchemaKeeper{.table = table};
  if (column.words) keeper->dictionary = column_schema(table, *column.words);
  ArrowSchema out = schema_of(keeper, column.format.c_str(), column.name.c_str());
  out.flags = column.nulls > 0 ? kNullable : 0;
  return out;
}

struct ArrayKeeper {
  Table table{};
  std::vector<ArrowArray> children{};
  std::vector<ArrowArray*> pointers{};
  ArrowArray dictionary{};
  std::array<const void*, 3> buffers{};
};

void release_array(ArrowArray* array) {
  auto* const keeper = static_cast<ArrayKeeper*>(array->private_data);
  for (ArrowArray* const child : keeper->pointers) {
    if (child->release != nullptr) child->release(child);
  }
  if (keeper->dictionary.release != nullptr) keeper->dictionary.release(&keeper->dictionary);
  array->release = nullptr;
  delete keeper;
}

ArrowArray array_of(ArrayKeeper* keeper, std::int64_t rows, std::int64_t buffers) {
  ArrowArray out{};
  out.length = rows;
  out.n_buffers = buffers;
  out.buffers = keeper->buffers.data();
  out.n_children = static_cast<std::int64_t>(keeper->pointers.size());
  out.children = keeper->pointers.empty() ? nullptr : keeper->pointers.data();
  out.dictionary = keeper->dictionary.release != nullptr ? &keeper->dictionary : nullptr;
  out.release = &release_array;
  out.private_data = keeper;
  return out;
}

ArrowArray column_array(const Table& table, const Column& column) {
  auto* const keeper = new ArrayKeeper{.table = table};
  const bool text = !column.offsets.empty();
  keeper->buffers[0] = column.nulls > 0 ? column.valid.data() : nullptr;
  keeper->buffers[1] =
      text ? static_cast<const void*>(column.offsets.data()) : column.values.data();
  keeper->buffers[2] = text ? column.values.data() : nullptr;
  if (column.words) keeper->dictionary = column_array(table, *column.words);
  ArrowArray out = array_of(keeper, column.rows, text ? 3 : 2);
  out.null_count = column.nulls;
  return out;
}

struct Stream {
  Table table{};
  bool done = false;
};

int next_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  export_schema(static_cast<Stream*>(stream->private_data)->table, *out);
  return 0;
}

int next_array(ArrowArrayStream* stream, ArrowArray* out) {
  auto* const state = static_cast<Stream*>(stream->private_data);
  if (std::exchange(state->done, true)) {
    *out = ArrowArray{};  // released: the end
    return 0;
  }
  export_array(state->table, *out);
  return 0;
}

const char* no_error(ArrowArrayStream*) { return nullptr; }

void release_stream(ArrowArrayStream* stream) {
  delete static_cast<Stream*>(stream->private_data);
  stream->release = nullptr;
}

}  // namespace

void export_schema(const std::shared_ptr<const Columns>& table, ArrowSchema& out) {
  auto* const keeper = new SchemaKeeper{.table = table};
  keeper->children.reserve(table->columns().size());
  for (const auto& column : table->columns()) {
    keeper->children.push_back(column_schema(table, *column));
    keeper->pointers.push_back(&keeper->children.back());
  }
  out = schema_of(keeper, "+s", "");
}

void export_array(const std::shared_ptr<const Columns>& table, ArrowArray& out) {
  auto* const keeper = new ArrayKeeper{.table = table};
  keeper->children.reserve(table->columns().size());
  for (const auto& column : table->columns()) {
    keeper->children.push_back(column_array(table, *column));
    keeper->pointers.push_back(&keeper->children.back());
  }
  out = array_of(keeper, table->rows(), 1);
}

void export_stream(std::shared_ptr<const Columns> table, ArrowArrayStream& out) {
  out = ArrowArrayStream{.get_schema = &next_schema,
                         .get_next = &next_array,
                         .get_last_error = &no_error,
                         .release = &release_stream,
                         .private_data = new Stream{.table = std::move(table)}};
}

}  // namespace assay::interchange
