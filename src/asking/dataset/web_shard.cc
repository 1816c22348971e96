#include "dataset/web_shard.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "dataset/archive.h"
#include "dataset/binary_cell.h"

namespace assay::dataset {
namespace {

constexpr std::string_view kKey = "__key__";

struct MemberName {
  std::string key{};
  std::string column{};  // empty: the member is no part of a row
};

MemberName split_name(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  const std::size_t base = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t dot = name.find('.', base);
  if (dot == std::string::npos || dot == base) return {};
  return {name.substr(0, dot), lower(name.substr(dot + 1))};
}

class WebShard final : public RowSource {
 public:
  WebShard(Archive archive, std::string sha256, std::string name)
      : archive_(std::move(archive)), sha256_(std::move(sha256)), name_(std::move(name)) {}

  Result<std::optional<Json>> next() override {
    Json row = Json::object();
    key_.clear();
    for (; at_ < archive_.members().size(); ++at_) {
      const Archive::Member& member = archive_.members()[at_];
      MemberName name = split_name(member.name);
      if (name.column.empty()) continue;
      if (key_.empty()) {
        key_ = name.key;
        row.set(kKey, key_);
      } else if (name.key != key_) {
        break;
      }
      ASSIGN_OR_RETURN(std::string bytes, archive_.read(member));
      TRY(add(row, member, name.column, std::move(bytes)));
    }
    if (key_.empty()) return std::optional<Json>();
    return std::optional<Json>(std::move(row));
  }
  std::string place() const override { return key_; }
  Result<std::string> sha256() override { return sha256_; }

 private:
  Error wrong(const Archive::Member& member, std::string_view what) const {
    return invalid(format("'{}': '{}': {}", name_, member.name, what));
  }

  Result<void> add(Json& row, const Archive::Member& member, const std::string& column,
                   std::string bytes) const {
    if (column == "json") {
      auto json = Json::parse(bytes);
      if (!json) return wrong(member, json.error().message);
      if (!json->is_object()) return set(row, member, column, *std::move(json));
      for (auto& [name, value] : json->make_object()) {
        TRY(set(row, member, name, std::move(value)));
      }
      return {};
    }
    if (column == "cls" || column == "index") {
      const auto number = parse_int(trim(bytes));
      if (!number) return wrong(member, "expected a whole number");
      return set(row, member, column, Json(*number));
    }
    return set(row, member, column, Json(binary_cell(bytes)));
  }

  Result<void> set(Json& row, const Archive::Member& member, const std::string& column,
                   Json value) const {
    if (row.find(column) != nullptr) {
      return wrong(member, format("its row '{}' has a column '{}' already", key_, column));
    }
    row.set(column, std::move(value));
    return {};
  }

  Archive archive_;
  std::string sha256_;
  std::string name_;
  std::size_t at_ = 0;
  std::string key_{};
};

}  // namespace

Result<std::unique_ptr<RowSource>> open_web_shard(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(InputFile file, InputFile::open(path));
  return open_web_shard(std::move(file), path.string());
}

Result<std::unique_ptr<RowSource>> open_web_shard(InputFile file, const std::string& name) {
  ASSIGN_OR_RETURN(std::string sha256, file.sha256());
  auto archive = Archive::open(std::move(file), name);
  if (!archive) return archive.error();
  const auto in_a_row = [](const Archive::Member& member) {
    return !split_name(member.name).column.empty();
  };
  if (std::ranges::none_of(archive->members(), in_a_row)) {
    return invalid(format("'{}': no tar file with a row, such as 0001.json and 0001.jpg", name));
  }
  return std::unique_ptr<RowSource>(
      std::make_unique<WebShard>(*std::move(archive), std::move(sha256), name));
}

}  // namespace assay::dataset
