#include "rules/inference/detail_log.h"

#include "base/files.h"
#include "base/text.h"

namespace assay::rules::inference {
namespace {

constexpr std::string_view kMark = ":::MLLOG";
constexpr std::size_t kErrorsMax = 100;
constexpr std::size_t kTextMax = 4096;  // a list of all loaded samples is not kept

}  // namespace

DetailLog DetailLog::read(const std::filesystem::path& root, std::string name) {
  std::error_code ignored;
  DetailLog out;
  out.name_ = std::move(name);
  if (!std::filesystem::is_regular_file(root / out.name_, ignored)) return out;
  auto text = read_file(root / out.name_, kDetailLogBytesMax);
  if (text) return parse(std::move(out.name_), *text);
  out.state_ = State::broken;
  out.trouble_ = text.error().message;
  return out;
}

DetailLog DetailLog::parse(std::string name, std::string_view text) {
  DetailLog out;
  out.name_ = std::move(name);
  out.state_ = State::good;
  int number = 0;
  while (!text.empty() && out.state_ == State::good) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out.read_line(trim(text.substr(0, end)), ++number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (number == 0) {
    out.state_ = State::broken;
    out.trouble_ = "the file is empty";
  }
  return out;
}

void DetailLog::read_line(std::string_view line, int number) {
  if (!line.starts_with(kMark)) {
    if (number > 1) return;
    state_ = State::broken;
    trouble_ = "the first line does not begin with :::MLLOG";
    trouble_line_ = 1;
    return;
  }
  auto parsed = Json::parse(line.substr(kMark.size()));
  if (!parsed || !(*parsed)["key"].is_string()) {
    state_ = State::broken;
    trouble_ = "a line is not a JSON object with a key";
    trouble_line_ = number;
    return;
  }
  const Json& value = (*parsed)["value"];
  if ((*parsed)["metadata"]["is_error"].as_bool()) {
    ++error_count_;
    if (errors_.size() < kErrorsMax) {
      errors_.push_back({value.is_string() ? std::string(value.as_string().substr(0, kTextMax))
                                           : value.dump().substr(0, kTextMax),
                         number});
    }
  }
  const bool long_text = value.as_string().size() > kTextMax;
  values_.try_emplace(std::string((*parsed)["key"].as_string()),
                      Value{long_text ? Json("…") : value, number});
}

const Json& DetailLog::operator[](std::string_view key) const {
  static const Json kNull;
  const auto found = values_.find(key);
  return found == values_.end() ? kNull : found->second.json;
}

Place DetailLog::place(std::string_view key) const {
  if (state_ == State::broken) return {name_, trouble_line_};
  const auto found = values_.find(key);
  return {name_, found == values_.end() ? 0 : found->second.line};
}

}  // namespace assay::rules::inference
