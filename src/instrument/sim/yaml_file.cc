#include "sim/yaml_file.h"

#include "base/format.h"
#include "base/yaml.h"

namespace assay::sim {

Result<Json> parse_yaml(std::string_view text, std::string_view name) {
  constexpr yaml::Limits kLimits{
      .bytes = std::size_t{1} << 20, .nodes = 200'000, .keys = 200'000, .depth = 32};
  const auto node = yaml::parse(text, kLimits);
  if (!node) return invalid(format("{}:{}", name, node.error().message));
  return node->to_json();
}

}  // namespace assay::sim
