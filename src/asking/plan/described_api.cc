#include "plan/described_api.h"

#include <memory>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/yaml.h"

namespace assay::plan {

Result<DescribedKind> load_described_kind(const std::string& path) {
  constexpr std::size_t kBytesMax = std::size_t{1} << 20;
  ASSIGN_OR_RETURN(const std::string text, read_file(path, kBytesMax));
  const auto root = yaml::parse(text);
  if (!root) return invalid(format("{}:{}", path, root.error().message));
  auto kind = parse_described_kind(root->to_json());
  if (!kind) return kind.error().within(path);
  return kind;
}

void read_kind(Config& config, Reading& reading) {
  constexpr std::string_view kWhere = "endpoint_config.kind";
  EndpointConfig& asked = config.endpoint_config;
  if (asked.kind.is_null()) {
    if (asked.api_type == Api::described) {
      reading.wrong_setting("endpoint_config.api_type", "described: no file describes the kind",
                            "--kind FILE");
    }
    return;
  }
  if (asked.api_type != Api::openai && asked.api_type != Api::described) {
    reading.wrong_setting(std::string(kWhere), "api_type names another kind",
                          "leave out one of the two");
    return;
  }
  const Json* const file = asked.kind.find("file");
  auto kind = file != nullptr ? load_described_kind(std::string(file->as_string()))
                              : parse_described_kind(asked.kind);
  if (!kind) {
    reading.wrong_setting(std::string(kWhere), kind.error().message,
                          "docs/formats/kind.md has the keys and an example");
    return;
  }
  asked.api_type = Api::described;
  asked.kind = kind->source;
  asked.described = std::make_shared<const DescribedKind>(*std::move(kind));
}

}  // namespace assay::plan
