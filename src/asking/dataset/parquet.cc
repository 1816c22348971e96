#include "dataset/parquet.h"

#include <utility>
#include <vector>

#include "base/format.h"
#include "dataset/chunks.h"
#include "dataset/parquet_column.h"
#include "dataset/parquet_meta.h"

namespace assay::dataset {
namespace {

using parquet::Entry;
using parquet::Footer;
using parquet::Logical;
using parquet::Node;
using parquet::Repetition;

// The entries of one leaf that belong to a node's value.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Joins a row's entries of every leaf by the schema (Melnik et al., "Dremel: Interactive Analysis
// of Web-Scale Datasets", VLDB 2010).
class Assembler {
 public:
  explicit Assembler(const std::vector<std::vector<Entry>>& entries) : entries_(entries) {}

  Result<Json> row(const Node& root) {
    std::vector<Range> all;
    for (const auto& leaf : entries_) all.push_back({0, leaf.size()});
    return content(root, all);
  }

 private:
  // `ranges`: one for each of the node's leaves, in their order.
  Result<Json> field(const Node& node, const std::vector<Range>& ranges) {
    const Entry* first = front(node, ranges);
    if (first == nullptr) return broken(node);
    if (node.repetition == Repetition::required) return content(node, ranges);
    if (first->definition < node.definition) {
      return node.repetition == Repetition::repeated ? Json::array() : Json();
    }
    if (node.repetition == Repetition::optional) return content(node, ranges);
    Json list = Json::array();
    ASSIGN_OR_RETURN(const auto elements, split(node, ranges));
    for (const std::vector<Range>& element : elements) {
      ASSIGN_OR_RETURN(Json value, content(node, element));
      list.push_back(std::move(value));
    }
    return list;
  }

  Result<Json> content(const Node& node, const std::vector<Range>& ranges) {
    if (node.is_leaf()) return value(node, ranges);
    const bool wraps =
        node.children.size() == 1 && node.children[0].repetition == Repetition::repeated;
    if (node.logical == Logical::list && wraps) return list(node.children[0], ranges);
    if (node.logical == Logical::map && wraps && node.children[0].children.size() == 2) {
      return map(node.children[0], ranges);
    }
    Json out = Json::object();
    for (const Node& child : node.children) {
      ASSIGN_OR_RETURN(Json member, field(child, below(node, child, ranges)));
      out.make_object().emplace_back(child.name, std::move(member));
    }
    return out;
  }

  // Reads the format's three-level lists, and the two-level ones of older writers.
  Result<Json> list(const Node& repeated, const std::vector<Range>& ranges) {
    const bool single = !repeated.is_leaf() && repeated.children.size() == 1 &&
                        repeated.name != "array" && !repeated.name.ends_with("_tuple");
    if (!single) return field(repeated, ranges);
    const Entry* first = front(repeated, ranges);
    if (first == nullptr) return broken(repeated);
    Json out = Json::array();
    if (first->definition < repeated.definition) return out;
    ASSIGN_OR_RETURN(const auto elements, split(repeated, ranges));
    for (const std::vector<Range>& element : elements) {
      ASSIGN_OR_RETURN(Json value, field(repeated.children[0], element));
      out.push_back(std::move(value));
    }
    return out;
  }

  Result<Json> map(const Node& repeated, const std::vector<Range>& ranges) {
    ASSIGN_OR_RETURN(Json pairs, field(repeated, ranges));
    const std::string& key = repeated.children[0].name;
    const std::string& value = repeated.children[1].name;
    Json out = Json::object();
    for (const Json& pair : pairs.items()) {
      if (!pair[key].is_string()) return pairs;
      out.set(pair[key].as_string(), pair[value]);
    }
    return out;
  }

  Result<Json> value(const Node& leaf, const std::vector<Range>& ranges) {
    const Range& range = ranges.front();
    if (range.end - range.begin != 1) return broken(leaf);
    const Entry& entry = entries_[leaf.leaf_begin][range.begin];
    return entry.value;
  }

  const Entry* front(const Node& node, const std::vector<Range>& ranges) const {
    if (ranges.empty() || ranges.front().begin == ranges.front().end) return nullptr;
    return &entries_[node.leaf_begin][ranges.front().begin];
  }

  static std::vector<Range> below(const Node& node, const Node& child,
                                  const std::vector<Range>& ranges) {
    const auto begin =
        ranges.begin() + static_cast<std::ptrdiff_t>(child.leaf_begin - node.leaf_begin);
    return {begin, begin + static_cast<std::ptrdiff_t>(child.leaf_end - child.leaf_begin)};
  }

  // Splits a repeated node's ranges into elements: an element begins where the level says so.
  Result<std::vector<std::vector<Range>>> split(const Node& node,
                                                const std::vector<Range>& ranges) const {
    std::vector<std::vector<Range>> out;
    for (std::size_t leaf = 0; leaf < ranges.size(); ++leaf) {
      const std::vector<Entry>& entries = entries_[node.leaf_begin + leaf];
      std::size_t element = 0;
      for (std::size_t i = ranges[leaf].begin; i < ranges[leaf].end;) {
        std::size_t end = i + 1;
        while (end < ranges[leaf].end && entries[end].repetition > node.repeat) ++end;
        if (leaf == 0) out.emplace_back();
        if (element >= out.size()) return broken(node);
        out[element++].push_back({i, end});
        i = end;
      }
      if (element != out.size()) return broken(node);
    }
    return out;
  }

  static Error broken(const Node& node) {
    return Error{Code::corrupt, format("column '{}': its levels do not make a row", node.name)};
  }

  const std::vector<std::vector<Entry>>& entries_;
};

void leaves_of(const Node& node, std::vector<const Node*>& out) {
  if (node.is_leaf()) out.push_back(&node);
  for (const Node& child : node.children) leaves_of(child, out);
}

class ParquetSource final : public RowSource {
 public:
  ParquetSource(std::string name, InputFile file, Footer footer)
      : name_(std::move(name)), file_(std::move(file)), footer_(std::move(footer)) {
    std::vector<const Node*> leaves;
    leaves_of(footer_.root, leaves);
    for (const Node* leaf : leaves) columns_.emplace_back(file_, *leaf);
    entries_.resize(columns_.size());
  }

  Result<std::optional<Json>> next() override {
    while (left_ == 0) {
      if (group_ == footer_.groups.size()) return std::optional<Json>();
      const parquet::RowGroup& group = footer_.groups[group_++];
      left_ = group.rows;
      for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i].begin(group.chunks[i]);
    }
    --left_;
    ++row_;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      auto read = read_entries(columns_[i], entries_[i], bytes);
      if (!read) return at_row(read.error());
    }
    auto row = Assembler(entries_).row(footer_.root);
    if (!row) return at_row(row.error());
    return std::optional(*std::move(row));
  }

  std::string place() const override { return format("row {}", row_); }

  Result<std::string> sha256() override { return file_.sha256(); }

 private:
  Error at_row(const Error& error) const {
    return Error{error.code == Code::io ? Code::io : Code::invalid,
                 format("{}:row {}: {}", name_, row_, error.message)};
  }

  // Reads one row's entries of a column.
  static Result<void> read_entries(parquet::ColumnReader& column, std::vector<Entry>& out,
                                   std::size_t& bytes) {
    out.clear();
    ASSIGN_OR_RETURN(int level, column.peek());
    if (level != 0) return Error{Code::corrupt, "it has fewer rows than it says"};
    do {
      ASSIGN_OR_RETURN(Entry entry, column.take());
      bytes += sizeof(Entry) + entry.value.as_string().size();
      if (bytes > kRowBytesMax) {
        return Error{Code::unsupported, format("a row of more than {} bytes", kRowBytesMax)};
      }
      out.push_back(std::move(entry));
      ASSIGN_OR_RETURN(level, column.peek());
    } while (level > 0);
    return {};
  }

  std::string name_;
  InputFile file_;
  Footer footer_;
  std::vector<parquet::ColumnReader> columns_{};
  std::vector<std::vector<Entry>> entries_{};
  std::size_t group_ = 0;
  std::uint64_t left_ = 0;
  std::uint64_t row_ = 0;
};

}  // namespace

Result<std::unique_ptr<RowSource>> open_parquet(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(InputFile file, InputFile::open(path));
  return open_parquet(std::move(file), path.string());
}

Result<std::unique_ptr<RowSource>> open_parquet(InputFile file, const std::string& name) {
  constexpr std::size_t kTail = 8;
  constexpr std::uint64_t kFooterMax = std::uint64_t{64} << 20;
  const auto wrong = [&](std::string_view what) { return invalid(format("'{}': {}", name, what)); };
  if (file.size() < kTail + 4) return wrong("too short for a Parquet file");
  ASSIGN_OR_RETURN(const std::string head, file.read(0, 64));
  if (is_lfs_pointer(head)) return wrong(kLfsPointer);
  ASSIGN_OR_RETURN(const std::string tail, file.read(file.size() - kTail, kTail));
  if (tail.substr(4) == "PARE") return wrong("an encrypted Parquet file");
  if (tail.substr(4) != "PAR1")
    return wrong("not a Parquet file, or cut short: no PAR1 at its end");
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    size |= std::uint64_t{static_cast<unsigned char>(tail[i])} << 8 * i;
  }
  if (size > file.size() - kTail - 4 || size > kFooterMax) return wrong("its footer is broken");
  ASSIGN_OR_RETURN(const std::string bytes, file.read(file.size() - kTail - size, size));
  auto footer = parquet::parse_footer(bytes, file.size());
  if (!footer) return wrong(footer.error().message);
  return std::unique_ptr<RowSource>(
      std::make_unique<ParquetSource>(name, std::move(file), *std::move(footer)));
}

}  // namespace assay::dataset
