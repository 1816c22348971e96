// Any text as a user's line of DLRMv3's data: it is refused, or gives a request whose tensors are
// as long as their shapes say.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "dataset/dlrm_data.h"
#include "domain/tensor.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  for (const std::uint32_t step : {0U, 1U}) {
    const auto made = assay::dataset::dlrm_request(
        line, {.steps = 3, .trained_steps = 1, .items_of_category = 25}, step, 1, 2);
    if (!made) continue;
    for (const assay::Attachment& tensor : made->attachments) {
      CHECK(assay::check_tensor(tensor.type, tensor.shape, tensor.bytes));
    }
  }
  return 0;
}
