// What a command takes, as JSON for programs.

#include "base/flags.h"

namespace assay {
namespace {

Json texts_json(const std::vector<std::string>& texts) {
  Json out = Json::array();
  for (const std::string& text : texts) out.push_back(text);
  return out;
}

std::string_view kind_of(bool*) { return "bool"; }
std::string_view kind_of(std::string*) { return "text"; }
std::string_view kind_of(std::int64_t*) { return "integer"; }
std::string_view kind_of(std::uint64_t*) { return "count"; }
std::string_view kind_of(double*) { return "number"; }
std::string_view kind_of(Duration*) { return "duration"; }
std::string_view kind_of(std::vector<std::string>*) { return "texts"; }
template <typename T>
std::string_view kind_of(std::optional<T>*) {
  return kind_of(static_cast<T*>(nullptr));
}

}  // namespace

std::string_view Flag::kind() const {
  if (last_counts_) return "text";
  return std::visit([](auto* target) { return kind_of(target); }, target_);
}

Json Flag::description() const {
  Json out = Json::object();
  out.set("names", texts_json(names_)).set("kind", kind());
  if (!value_.empty()) out.set("value", value_);
  out.set("help", help_);
  if (!default_text().empty()) out.set("default", default_text());
  if (!group_.empty()) out.set("group", group_);
  if (!choices_.empty()) out.set("choices", texts_json(choices_));
  return out.set("required", required_).set("hidden", hidden_);
}

Json Flags::description() const {
  Json flags = Json::array();
  for (const Flag& flag : flags_) flags.push_back(flag.description());
  return Json::object()
      .set("command", command_)
      .set("summary", summary_)
      .set("flags", std::move(flags))
      .set("examples", texts_json(examples_));
}

}  // namespace assay
