#include "dataset/croissant.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"
#include "dataset/croissant_files.h"
#include "dataset/croissant_meta.h"
#include "dataset/croissant_value.h"

namespace assay::dataset {
namespace {

using croissant::Field;
using croissant::FieldValue;
using croissant::Metadata;
using croissant::RecordSet;
using croissant::Resource;
using croissant::Source;

constexpr int kJoinDepthMax = 8;
constexpr std::size_t kPartnersMax = 1'000'000;
constexpr std::size_t kJoinBytesMax = std::size_t{1} << 30;

// Shared by all record sets of one metadata file.
struct Context {
  Metadata metadata{};
  std::filesystem::path folder{};
  std::string sha256{};
};

struct Leaf {
  const Field* field = nullptr;
  const Field* parent = nullptr;  // the field it is a part of
  FieldValue value;
  std::size_t node = 0;  // whose row it reads, and which column of it
  std::string column{};
};

// Returns the node whose rows a source reads: a resource, or the record set of a field's id.
std::string node_of(const Metadata& metadata, const Source& source) {
  if (metadata.resource(source.node) != nullptr || metadata.record_set(source.node) != nullptr) {
    return source.node;
  }
  return source.node.substr(0, source.node.rfind('/'));
}

// Returns the column of that node's rows.
std::string column_of(const Metadata& metadata, const Source& source) {
  if (!source.column.empty() || metadata.resource(source.node) != nullptr) return source.column;
  return source.node.substr(source.node.rfind('/') + 1);
}

class InlineSource final : public RowSource {
 public:
  explicit InlineSource(const RecordSet& set) : set_(set) {}
  Result<std::optional<Json>> next() override {
    if (at_ == set_.data.size()) return std::optional<Json>();
    Json row = Json::object();
    for (const auto& [key, value] : set_.data[at_].members()) {
      row.set(key.substr(key.rfind('/') + 1), value);
    }
    ++at_;
    return std::optional(std::move(row));
  }
  std::string place() const override { return format("row {}", at_); }
  Result<std::string> sha256() override { return std::string(); }

 private:
  const RecordSet& set_;
  std::size_t at_ = 0;
};

// One pair of columns that must be equal for rows to join.
struct JoinSide {
  std::size_t node = 0;
  std::string column{};
  FieldValue value;
};

struct JoinKey {
  JoinSide left;
  JoinSide right;
  std::shared_ptr<const Field> field{};  // what one side's value is made of
};

struct Join {
  std::string node{};
  std::vector<JoinKey> keys{};
  std::map<std::string, std::vector<Json>, std::less<>> rows{};
};

class SetSource final : public RowSource {
 public:
  SetSource(std::shared_ptr<const Context> context, const RecordSet& set)
      : context_(std::move(context)), set_(set) {}

  static Result<std::unique_ptr<RowSource>> open(const std::shared_ptr<const Context>& context,
                                                 const RecordSet& set, int depth) {
    if (depth > kJoinDepthMax) {
      return invalid(format("recordSet '{}': its sources go in a circle, or too deep", set.id));
    }
    if (!set.data.is_null()) return std::unique_ptr<RowSource>(new InlineSource(set));
    auto out = std::make_unique<SetSource>(context, set);
    TRY(out->prepare(depth));
    return std::unique_ptr<RowSource>(std::move(out));
  }

  Result<std::optional<Json>> next() override {
    while (pending_ == joined_.size()) {
      ASSIGN_OR_RETURN(std::optional<Json> row, base_->next());
      if (!row) return std::optional<Json>();
      base_row_ = *std::move(row);
      pending_ = 0;
      TRY(find_partners());
    }
    return record(joined_[pending_++]);
  }

  std::string place() const override { return base_->place(); }
  Result<std::string> sha256() override { return context_->sha256; }

 private:
  Error wrong(std::string_view what) const {
    return invalid(format("recordSet '{}': {}", set_.id, what));
  }

  Result<void> collect(const std::vector<Field>& fields, const Field* parent) {
    for (const Field& field : fields) {
      if (!field.children.empty()) {
        TRY(collect(field.children, &field));
        continue;
      }
      if (!field.has_source && field.value.is_null()) {
        return wrong(format("field '{}' has neither source nor value", field.id));
      }
      ASSIGN_OR_RETURN(FieldValue value, FieldValue::make(field));
      leaves_.push_back({.field = &field, .parent = parent, .value = std::move(value)});
    }
    return {};
  }

  // Leaves that join their node to another.
  std::vector<const Leaf*> joining() const {
    std::vector<const Leaf*> out;
    for (const Leaf& leaf : leaves_) {
      const Field& field = *leaf.field;
      if (!field.has_references || !field.has_source) continue;
      if (left_of(leaf) != right_of(leaf)) out.push_back(&leaf);
    }
    return out;
  }
  std::string left_of(const Leaf& leaf) const {
    return node_of(context_->metadata, leaf.field->source);
  }
  std::string right_of(const Leaf& leaf) const {
    return node_of(context_->metadata, leaf.field->references);
  }
  std::optional<std::size_t> slot_of(const std::string& node) const {
    const auto at = std::find(nodes_.begin(), nodes_.end(), node);
    if (at == nodes_.end()) return std::nullopt;
    return static_cast<std::size_t>(at - nodes_.begin());
  }

  Result<void> prepare(int depth) {
    TRY(collect(set_.fields, nullptr));
    std::vector<const Leaf*> pending = joining();
    // The base is a node that no other refers to.
    std::string base;
    for (const Leaf* leaf : pending) {
      const std::string left = left_of(*leaf);
      const bool referred = std::any_of(pending.begin(), pending.end(), [&](const Leaf* other) {
        return right_of(*other) == left;
      });
      if (base.empty() && !referred) base = left;
    }
    if (base.empty() && !pending.empty()) base = left_of(*pending.front());
    for (const Leaf& leaf : leaves_) {
      if (base.empty() && leaf.field->has_source) base = left_of(leaf);
    }
    if (base.empty()) return wrong("none of its fields has a source");
    nodes_.push_back(base);
    TRY(order_joins(std::move(pending)));
    for (Leaf& leaf : leaves_) {
      if (!leaf.field->has_source) continue;
      leaf.column = column_of(context_->metadata, leaf.field->source);
      if (const auto slot = slot_of(left_of(leaf))) {
        leaf.node = *slot;
        continue;
      }
      return wrong(
          format("its fields come from several sources, and no `references` joins '{}' to "
                 "the others",
                 left_of(leaf)));
    }
    ASSIGN_OR_RETURN(base_, open_node(base, depth));
    for (Join& join : joins_) TRY(read_right(join, depth));
    return {};
  }

  // Orders the joins so that the node at which each one starts is already there. Two joins between
  // the same nodes become one join with two keys.
  Result<void> order_joins(std::vector<const Leaf*> pending) {
    while (!pending.empty()) {
      const auto ready = std::find_if(pending.begin(), pending.end(), [&](const Leaf* leaf) {
        return slot_of(left_of(*leaf)).has_value();
      });
      if (ready == pending.end()) {
        return wrong(format("field '{}' joins '{}', which nothing joins to the others",
                            pending.front()->field->id, left_of(*pending.front())));
      }
      const Leaf& leaf = **ready;
      const std::string right = right_of(leaf);
      const auto known = slot_of(right);
      if (known && *known == 0) return wrong("its joins go in a circle");
      if (!known) {
        nodes_.push_back(right);
        joins_.push_back({.node = right});
      }
      // A reference's transforms make the key.
      auto keyed = std::make_shared<Field>(*leaf.field);
      keyed->source = leaf.field->references;
      ASSIGN_OR_RETURN(FieldValue value, FieldValue::make(*keyed));
      JoinKey key{.left = {*slot_of(left_of(leaf)),
                           column_of(context_->metadata, leaf.field->source), leaf.value},
                  .right = {*slot_of(right), column_of(context_->metadata, leaf.field->references),
                            std::move(value)},
                  .field = std::move(keyed)};
      // A join looks up the later of its two nodes.
      if (key.left.node > key.right.node) std::swap(key.left, key.right);
      joins_[key.right.node - 1].keys.push_back(std::move(key));
      pending.erase(ready);
    }
    return {};
  }

  Result<std::unique_ptr<RowSource>> open_node(const std::string& node, int depth) {
    const Metadata& metadata = context_->metadata;
    const Resource* resource = metadata.resource(node);
    const RecordSet* other = metadata.record_set(node);
    if (resource == nullptr && other != nullptr) return open(context_, *other, depth + 1);
    if (resource == nullptr) return wrong(format("its source '{}' is not there", node));
    croissant::Wanted wanted;
    const auto want = [&](const Source& source) {
      if (node_of(metadata, source) != node) return;
      if (source.what == Source::What::json_path) wanted.paths.insert(source.column);
      if (source.what == Source::What::column) wanted.columns = true;
      wanted.content = wanted.content || source.column == "@content";
      wanted.lines = wanted.lines || source.column == "@lines" || source.column == "@lineNumbers";
    };
    for (const Leaf& leaf : leaves_) {
      if (leaf.field->has_source) want(leaf.field->source);
      if (leaf.field->has_references) want(leaf.field->references);
    }
    ASSIGN_OR_RETURN(auto files, croissant::Files(metadata, context_->folder).of(*resource));
    return croissant::read_files(std::move(files), *resource, std::move(wanted));
  }

  // Returns a row's key for a join: the values of its columns.
  Result<std::string> key_of(const Json& row, const JoinSide& side) const {
    const Json* const raw = row.find(side.column);
    if (raw == nullptr) return wrong(format("there is no column '{}' to join by", side.column));
    ASSIGN_OR_RETURN(const Json key, side.value.transform(*raw));
    return (key.is_string() ? std::string(key.as_string()) : key.dump()) + '\x1f';
  }

  // Reads the rows that a join looks up, by key.
  Result<void> read_right(Join& join, int depth) {
    ASSIGN_OR_RETURN(const auto source, open_node(join.node, depth));
    for (;;) {
      ASSIGN_OR_RETURN(std::optional<Json> row, source->next());
      if (!row) return {};
      std::string text;
      for (const JoinKey& key : join.keys) {
        ASSIGN_OR_RETURN(const std::string part, key_of(*row, key.right));
        text += part;
      }
      join_bytes_ += row->dump().size() + text.size();
      if (join_bytes_ > kJoinBytesMax) {
        return wrong("the tables to join are larger than memory may be");
      }
      join.rows[text].push_back(*std::move(row));
    }
  }

  // Finds the rows for each join as a left join does: a row without partners is kept, alone.
  Result<void> find_partners() {
    joined_.assign(1, {&base_row_});
    for (const Join& join : joins_) {
      std::vector<std::vector<const Json*>> next;
      for (std::vector<const Json*>& rows : joined_) {
        std::string text;
        bool whole = true;
        for (const JoinKey& key : join.keys) {
          const Json* const left = rows[key.left.node];
          if (left == nullptr) {
            whole = false;
            break;
          }
          ASSIGN_OR_RETURN(const std::string part, key_of(*left, key.left));
          text += part;
        }
        const auto found = whole ? join.rows.find(text) : join.rows.end();
        if (found == join.rows.end()) {
          rows.push_back(nullptr);
          next.push_back(std::move(rows));
          continue;
        }
        for (const Json& partner : found->second) {
          next.push_back(rows);
          next.back().push_back(&partner);
        }
        if (next.size() > kPartnersMax) {
          return wrong(format("a row joins more than {} others", kPartnersMax));
        }
      }
      joined_ = std::move(next);
    }
    return {};
  }

  Result<std::optional<Json>> record(const std::vector<const Json*>& rows) const {
    Json out = Json::object();
    for (const Leaf& leaf : leaves_) {
      Json value = leaf.field->value;
      if (leaf.field->has_source) {
        const Json* row = rows[leaf.node];
        const Json* cell = row == nullptr ? nullptr : row->find(leaf.column);
        if (cell == nullptr && row != nullptr) {
          return wrong(format("field '{}': there is no column '{}'", leaf.field->id, leaf.column));
        }
        if (cell != nullptr) {
          auto made = leaf.value.apply(*cell);
          if (!made) return made.error().within(place());
          value = *std::move(made);
        }
      }
      if (leaf.parent == nullptr) {
        out.set(leaf.field->name, std::move(value));
      } else {
        place_child(out, leaf, std::move(value));
      }
    }
    return std::optional(std::move(out));
  }

  // Puts a part into its field's object, or into one object a value if the field repeats.
  static void place_child(Json& out, const Leaf& leaf, Json value) {
    const std::string& name = leaf.parent->name;
    if (out.find(name) == nullptr) out.set(name, Json());
    Json& parent = *out.find(name);
    if (!leaf.parent->repeated || !value.is_array()) {
      parent.set(leaf.field->name, std::move(value));
      return;
    }
    Json::Array& list = parent.make_array();
    if (list.size() < value.size()) list.resize(value.size(), Json::object());
    for (std::size_t i = 0; i < value.size(); ++i) list[i].set(leaf.field->name, value[i]);
  }

  std::shared_ptr<const Context> context_;
  const RecordSet& set_;
  std::vector<Leaf> leaves_{};
  std::vector<std::string> nodes_{};  // the base, then what is joined to it
  std::unique_ptr<RowSource> base_{};
  std::vector<Join> joins_{};  // joins_[i] brings nodes_[i + 1]
  std::size_t join_bytes_ = 0;
  Json base_row_{};
  std::vector<std::vector<const Json*>> joined_{};  // rows of the nodes; null: there is no partner
  std::size_t pending_ = 0;
};

// Returns only rows whose fields have the requested values.
class FilteredSource final : public RowSource {
 public:
  FilteredSource(std::unique_ptr<RowSource> source,
                 std::vector<std::pair<std::string, std::string>> filters)
      : source_(std::move(source)), filters_(std::move(filters)) {}
  Result<std::optional<Json>> next() override {
    for (;;) {
      ASSIGN_OR_RETURN(std::optional<Json> row, source_->next());
      if (!row) return row;
      bool keep = true;
      for (const auto& [name, wanted] : filters_) {
        const Json* cell = row->find(name);
        if (cell == nullptr) return invalid(format("there is no field '{}' to filter by", name));
        keep = keep && (cell->is_string() ? cell->as_string() == wanted : cell->dump() == wanted);
      }
      if (keep) return row;
    }
  }
  std::string place() const override { return source_->place(); }
  Result<std::string> sha256() override { return source_->sha256(); }

 private:
  std::unique_ptr<RowSource> source_;
  std::vector<std::pair<std::string, std::string>> filters_;
};

struct Spelled {
  std::filesystem::path file{};
  std::string set{};
  std::vector<std::pair<std::string, std::string>> filters{};
};

Result<Spelled> spelled(std::string_view spec) {
  const CroissantSpec parts = croissant_spec(spec);
  Spelled out{.file = parts.file, .set = parts.record_set};
  if (parts.filters.empty()) return out;
  for (const std::string_view part : split(parts.filters, '&')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return invalid(format("'{}': a filter is field=value", part));
    }
    out.filters.emplace_back(part.substr(0, equals), part.substr(equals + 1));
  }
  return out;
}

}  // namespace

CroissantSpec croissant_spec(std::string_view spec) {
  if (spec.starts_with(kCroissantPrefix)) spec.remove_prefix(kCroissantPrefix.size());
  const std::size_t hash = std::min(spec.find('#'), spec.size());
  const std::size_t question = std::max(hash, std::min(spec.find('?', hash), spec.size()));
  CroissantSpec out{.file = std::string(spec.substr(0, hash))};
  if (hash < spec.size()) out.record_set = spec.substr(hash + 1, question - hash - 1);
  if (question < spec.size()) out.filters = spec.substr(question + 1);
  return out;
}

Result<std::unique_ptr<RowSource>> open_croissant(const std::string& spec) {
  ASSIGN_OR_RETURN(Spelled asked, spelled(spec));
  constexpr std::size_t kMetadataMax = std::size_t{64} << 20;
  ASSIGN_OR_RETURN(const std::string text, read_file(asked.file, kMetadataMax));
  const auto within = [&](const Error& error) {
    return Error{error.code, format("{}: {}", asked.file.string(), error.message)};
  };
  auto json = Json::parse(text);
  if (!json) return within(json.error());
  auto metadata = croissant::parse_metadata(*json);
  if (!metadata) return within(metadata.error());
  auto context = std::make_shared<Context>();
  context->metadata = *std::move(metadata);
  context->folder = asked.file.parent_path().empty() ? "." : asked.file.parent_path();
  context->sha256 = sha256_hex(text);
  const Metadata& all = context->metadata;
  const RecordSet* set = all.record_set(asked.set);
  if (set == nullptr && asked.set.empty() && all.record_sets.size() == 1) {
    set = &all.record_sets.front();
  }
  if (set == nullptr) {
    std::string names;
    for (const RecordSet& known : all.record_sets) names += (names.empty() ? "" : ", ") + known.id;
    return within(invalid(format("there is no record set '{}'; it has: {} (croissant:FILE#NAME)",
                                 asked.set, names.empty() ? "none" : names)));
  }
  auto source = SetSource::open(context, *set, 0);
  if (!source) return within(source.error());
  // Inline rows refer to the metadata.
  struct Owning final : RowSource {
    Owning(std::shared_ptr<const Context> held, std::unique_ptr<RowSource> rows)
        : context(std::move(held)), source(std::move(rows)) {}
    Result<std::optional<Json>> next() override { return source->next(); }
    std::string place() const override { return source->place(); }
    Result<std::string> sha256() override { return context->sha256; }
    std::shared_ptr<const Context> context;
    std::unique_ptr<RowSource> source;
  };
  std::unique_ptr<RowSource> out = std::make_unique<Owning>(context, *std::move(source));
  if (asked.filters.empty()) return out;
  return std::unique_ptr<RowSource>(
      std::make_unique<FilteredSource>(std::move(out), std::move(asked.filters)));
}

}  // namespace assay::dataset
