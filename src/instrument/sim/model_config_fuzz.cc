// Any JSON as a model's config.json: a shape whose counts are finite, or an error that names the
// file.
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "sim/model_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay::sim;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto json = assay::Json::parse(bytes);
  if (!json) return 0;
  const auto model = read_model_config(*json, "model", "config.json");
  if (!model) {
    CHECK(model.error().message.find("config.json") != std::string::npos);
    return 0;
  }
  CHECK(std::isfinite(model->total_weights()) && model->total_weights() >= 0);
  CHECK(model->active_weights() >= 0);
  CHECK(model->attention_layers() <= model->layers && model->moe_layers() <= model->layers);
  CHECK(std::isfinite(model->kv_elements_growing(8)) && std::isfinite(model->state_elements(8)));
  CHECK(same_shape(*model, *model));
  return 0;
}
