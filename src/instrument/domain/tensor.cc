#include "domain/tensor.h"

#include <array>
#include <limits>
#include <utility>

#include "base/format.h"

namespace assay {
namespace {

constexpr std::array<std::pair<std::string_view, std::size_t>, 14> kDatatypes{{{"BOOL", 1},
                                                                               {"UINT8", 1},
                                                                               {"UINT16", 2},
                                                                               {"UINT32", 4},
                                                                               {"UINT64", 8},
                                                                               {"INT8", 1},
                                                                               {"INT16", 2},
                                                                               {"INT32", 4},
                                                                               {"INT64", 8},
                                                                               {"FP16", 2},
                                                                               {"BF16", 2},
                                                                               {"FP32", 4},
                                                                               {"FP64", 8},
                                                                               {"BYTES", 0}}};
constexpr std::size_t kLengthBytes = 4;

// Takes one element from the front; false where the bytes end inside it.
bool take_text(std::string_view& bytes, std::string_view& out) {
  if (bytes.size() < kLengthBytes) return false;
  std::size_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  }
  if (length > bytes.size() - kLengthBytes) return false;
  out = bytes.substr(kLengthBytes, length);
  bytes.remove_prefix(kLengthBytes + length);
  return true;
}

}  // namespace

std::size_t tensor_element_bytes(std::string_view datatype) {
  for (const auto& [name, bytes] : kDatatypes) {
    if (name == datatype) return bytes;
  }
  return 0;
}

bool is_tensor_datatype(std::string_view datatype) {
  return datatype == "BYTES" || tensor_element_bytes(datatype) > 0;
}

Result<void> check_tensor(std::string_view datatype, std::span<const std::int64_t> shape,
                          std::string_view bytes) {
  if (!is_tensor_datatype(datatype)) {
    return invalid(
        format("'{}' is not a datatype; they are BOOL, UINT8 … INT64, FP16, BF16, FP32, "
               "FP64 and BYTES",
               datatype));
  }
  std::uint64_t elements = 1;
  for (const std::int64_t size : shape) {
    if (size < 0) return invalid(format("a dimension of {} in its shape", size));
    const auto wide = static_cast<std::uint64_t>(size);
    if (wide > 0 && elements > std::numeric_limits<std::uint64_t>::max() / 16 / wide) {
      return invalid("its shape has too many elements");
    }
    elements *= wide;
  }
  if (datatype != "BYTES") {
    const std::uint64_t wanted = elements * tensor_element_bytes(datatype);
    if (wanted == bytes.size()) return {};
    return invalid(format("{} elements of {} are {} bytes, and it has {}", elements, datatype,
                          wanted, bytes.size()));
  }
  std::uint64_t found = 0;
  for (std::string_view text; !bytes.empty(); ++found) {
    if (!take_text(bytes, text)) return invalid("its last text ends before its stated length");
  }
  if (found == elements) return {};
  return invalid(format("its shape has {} elements, and {} texts came", elements, found));
}

std::vector<std::string_view> tensor_texts(std::string_view bytes) {
  std::vector<std::string_view> out;
  for (std::string_view text; take_text(bytes, text);) out.push_back(text);
  return out;
}

void append_tensor_text(std::string& bytes, std::string_view text) {
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    bytes += static_cast<char>(text.size() >> (8 * i) & 255);
  }
  bytes += text;
}

}  // namespace assay
