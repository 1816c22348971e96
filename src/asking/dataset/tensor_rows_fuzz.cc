// Any bytes as an .npy file and as the texts of a tensor: an array is refused, or its bytes are
// those of its shape and datatype.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "dataset/tensor_rows.h"
#include "domain/tensor.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto array = assay::dataset::read_npy(bytes);
  CHECK(!array || assay::check_tensor(array->type, array->shape, array->bytes));
  std::size_t taken = 0;
  for (const std::string_view text : assay::tensor_texts(bytes)) taken += 4 + text.size();
  CHECK(taken <= size);
  return 0;
}
