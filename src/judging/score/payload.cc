#include "score/payload.h"

#include <bit>
#include <cstring>

#include "base/base64.h"
#include "base/json.h"
#include "base/text.h"

namespace assay::score {

Result<std::vector<float>> read_floats(std::string_view text) {
  text = trim(text);
  std::vector<float> out;
  if (text.empty()) return out;
  if (text.front() == '[') {
    ASSIGN_OR_RETURN(const Json list, Json::parse(text));
    for (const Json& one : list.items()) {
      if (!one.is_number()) return invalid("a payload's list must hold numbers");
      out.push_back(static_cast<float>(one.as_double()));
    }
    return out;
  }
  const auto bytes = decode_base64(text);
  if (!bytes || bytes->empty() || bytes->size() % sizeof(float) != 0) {
    return invalid("a payload is neither a JSON list nor base64 of float32");
  }
  static_assert(std::endian::native == std::endian::little);
  out.resize(bytes->size() / sizeof(float));
  std::memcpy(out.data(), bytes->data(), bytes->size());
  return out;
}

}  // namespace assay::score
