// Any bytes as a form with the boundary "b": each part's value lies in the body, and a form that is
// read ends with its last line.
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "endpoint/form.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay::endpoint;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  std::vector<FormPart> parts;
  const bool sound = read_form(body, "b", parts);
  CHECK(!sound || body.find("--b--") != std::string_view::npos);
  CHECK(parts.size() <= 64);
  for (const FormPart& part : parts) {
    CHECK(!part.name.empty());
    CHECK(part.value.data() >= body.data());
    CHECK(part.value.data() + part.value.size() <= body.data() + body.size());
    CHECK(part.value.find("\r\n--b") == std::string_view::npos);
  }
  CHECK(boundary_of(body).size() <= 70);
  return 0;
}
