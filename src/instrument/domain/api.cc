#include "domain/api.h"

namespace assay {
namespace {

constexpr bool in_order() {
  for (std::size_t i = 0; i < kApis.size(); ++i) {
    if (static_cast<std::size_t>(kApis[i].api) != i) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

std::optional<Api> api_from(std::string_view text) {
  for (const ApiRow& row : kApis) {
    if (row.name == text) return row.api;
  }
  return std::nullopt;
}

}  // namespace assay
