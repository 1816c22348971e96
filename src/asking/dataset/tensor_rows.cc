#include "dataset/tensor_rows.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <span>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"
#include "dataset/archive.h"
#include "domain/tensor.h"

namespace assay::dataset {
namespace {

constexpr std::string_view kNumpyMagic = "\x93NUMPY";
constexpr std::size_t kDimensionsMax = 32;

// The value behind 'key': in the header's Python dictionary, to the end of the header.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(format("'{}':", key));
  return at == std::string_view::npos ? std::string_view{}
                                      : trim(header.substr(at + key.size() + 3));
}

constexpr std::string_view kTruth = "truth.";

// A type as NumPy writes it ("<f4", "|S12"), in the protocol's words.
struct NumpyType {
  std::string_view datatype{};
  std::size_t item_bytes = 0;  // in the file
  bool texts = false;
  bool wide = false;  // of four bytes a character
};

Result<NumpyType> numpy_type(std::string_view code) {
  if (code.size() < 3 || std::string_view("<|=>").find(code[0]) == std::string_view::npos) {
    return invalid(format("its type '{}' is not a plain NumPy type", code));
  }
  if (code[0] == '>') {
    return invalid(
        format("its type '{}' is big-endian: save array.astype('<{}')", code, code.substr(1)));
  }
  const std::string_view kind = code.substr(1);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kTypes{{{"b1", "BOOL"},
                                                                                  {"u1", "UINT8"},
                                                                                  {"u2", "UINT16"},
                                                                                  {"u4", "UINT32"},
                                                                                  {"u8", "UINT64"},
                                                                                  {"i1", "INT8"},
                                                                                  {"i2", "INT16"},
                                                                                  {"i4", "INT32"},
                                                                                  {"i8", "INT64"},
                                                                                  {"f2", "FP16"},
                                                                                  {"f4", "FP32"},
                                                                                  {"f8", "FP64"}}};
  for (const auto& [numpy, datatype] : kTypes) {
    if (kind == numpy) return NumpyType{datatype, tensor_element_bytes(datatype), false, false};
  }
  constexpr std::uint64_t kTextBytesMax = std::uint64_t{1} << 24;
  const auto length = parse_uint(kind.substr(1));
  if ((kind[0] == 'S' || kind[0] == 'U') && length && *length > 0 && *length <= kTextBytesMax) {
    const bool wide = kind[0] == 'U';
    return NumpyType{"BYTES", static_cast<std::size_t>(*length) * (wide ? 4 : 1), true, wide};
  }
  return invalid(
      format("its type '{}' is none of bool, integers, floats of 2 to 8 bytes and texts", code));
}

// (3, 4) and (3,) and ().
Result<std::vector<std::int64_t>> numpy_shape(std::string_view text) {
  const std::size_t end = text.find(')');
  if (!text.starts_with('(') || end == std::string_view::npos) return invalid("it has no shape");
  std::vector<std::int64_t> out;
  for (const std::string_view part : split(text.substr(1, end - 1), ',')) {
    if (trim(part).empty()) continue;
    const auto size = parse_uint(trim(part));
    if (!size || *size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) ||
        out.size() == kDimensionsMax) {
      return invalid(format("its shape {} can't be read", text.substr(0, end + 1)));
    }
    out.push_back(static_cast<std::int64_t>(*size));
  }
  return out;
}

void append_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 63));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 63));
    out += static_cast<char>(0x80 | (c & 63));
  } else {
    out += static_cast<char>(0xF0 | (c >> 18 & 7));
    out += static_cast<char>(0x80 | (c >> 12 & 63));
    out += static_cast<char>(0x80 | (c >> 6 & 63));
    out += static_cast<char>(0x80 | (c & 63));
  }
}

// One element of type S or U, without the NULs that fill it up.
std::string numpy_text(std::string_view item, bool wide) {
  std::string out;
  if (!wide) {
    out = item;
  } else {
    for (std::size_t at = 0; at + 4 <= item.size(); at += 4) {
      std::uint32_t c = 0;
      for (std::size_t i = 4; i-- > 0;) c = c << 8 | static_cast<unsigned char>(item[at + i]);
      append_utf8(out, c);
    }
  }
  while (out.ends_with('\0')) out.pop_back();
  return out;
}

// One array: its type, its shape, and the bytes of its elements as they stand in the file.
struct Array {
  std::string name{};
  NumpyType type{};
  std::vector<std::int64_t> shape{};
  std::string file{};
  std::size_t at = 0;  // of the first element in `file`

  std::string_view elements() const { return std::string_view(file).substr(at); }
};

Result<Array> parse_npy(std::string bytes) {
  Array out;
  out.file = std::move(bytes);
  const std::string_view file = out.file;
  constexpr std::size_t kShortHead = 10;
  if (!file.starts_with(kNumpyMagic) || file.size() < kShortHead)
    return invalid("it is no .npy file");
  const int version = file[6];
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  if (version < 1 || version > 3 || file.size() < 8 + length_bytes) {
    return invalid(format("version {} of .npy is not known", version));
  }
  std::size_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(file[8 + i]);
  }
  out.at = 8 + length_bytes + length;
  if (out.at > file.size()) return invalid("its header is cut");
  const std::string_view header = file.substr(8 + length_bytes, length);
  const std::string_view type = value_of(header, "descr");
  const std::size_t end = type.size() < 2 ? std::string_view::npos : type.find('\'', 1);
  if (!type.starts_with('\'') || end == std::string_view::npos) {
    return invalid("its type is none of bool, integers, floats and texts");
  }
  if (!value_of(header, "fortran_order").starts_with("False")) {
    return invalid("it is column major: save numpy.ascontiguousarray(array)");
  }
  ASSIGN_OR_RETURN(out.type, numpy_type(type.substr(1, end - 1)));
  ASSIGN_OR_RETURN(out.shape, numpy_shape(value_of(header, "shape")));
  std::uint64_t wanted = out.type.item_bytes;
  for (const std::int64_t size : out.shape) {
    const auto wide = static_cast<std::uint64_t>(size);
    if (wide > 0 && wanted > std::numeric_limits<std::uint64_t>::max() / wide) {
      return invalid("its shape has too many elements");
    }
    wanted *= wide;
  }
  if (wanted == out.elements().size()) return out;
  return invalid(format("its elements are {} bytes, where its shape and type say {}",
                        out.elements().size(), wanted));
}

// The elements [begin, end) of the file, as the protocol has them.
std::string raw_bytes(const Array& array, std::size_t begin, std::size_t end) {
  const std::size_t item = array.type.item_bytes;
  const std::string_view slice = array.elements().substr(begin * item, (end - begin) * item);
  if (!array.type.texts) return std::string(slice);
  std::string out;
  for (std::size_t i = 0; i < end - begin; ++i) {
    append_tensor_text(out, numpy_text(slice.substr(i * item, item), array.type.wide));
  }
  return out;
}

std::size_t elements_of(std::span<const std::int64_t> shape) {
  std::size_t out = 1;
  for (const std::int64_t size : shape) out *= static_cast<std::size_t>(size);
  return out;
}

Attachment row_of(const Array& array, std::size_t row) {
  const std::size_t each = elements_of(std::span(array.shape).subspan(1));
  Attachment out{.name = array.name, .type = std::string(array.type.datatype)};
  out.shape = array.shape;
  out.shape[0] = 1;
  out.bytes = raw_bytes(array, row * each, (row + 1) * each);
  return out;
}

Result<std::vector<Array>> arrays_of(const Spec& spec, std::string_view format, std::string file) {
  std::vector<Array> out;
  const auto add = [&](std::string bytes, std::string name) -> Result<void> {
    auto array = parse_npy(std::move(bytes));
    if (!array) return array.error().within(assay::format("{}: array '{}'", spec.path, name));
    if (array->shape.empty() || array->shape[0] == 0) {
      return invalid(assay::format("{}: array '{}' has no rows", spec.path, name));
    }
    array->name = std::move(name);
    out.push_back(*std::move(array));
    return {};
  };
  if (format == "npy") {
    TRY(add(std::move(file), std::filesystem::path(spec.path).stem().string()));
    return out;
  }
  ASSIGN_OR_RETURN(const Archive archive, Archive::open(InputFile::of(std::move(file)), spec.path));
  for (const Archive::Member& member : archive.members()) {
    if (!member.name.ends_with(".npy")) continue;
    ASSIGN_OR_RETURN(std::string bytes, archive.read(member));
    TRY(add(std::move(bytes), member.name.substr(0, member.name.size() - 4)));
  }
  if (out.empty()) return invalid(assay::format("{}: no arrays in it", spec.path));
  return out;
}

Result<void> rename_arrays(const Spec& spec, std::vector<Array>& arrays) {
  for (const auto& [target, source] : spec.parser) {
    const auto found = std::ranges::find(arrays, source, &Array::name);
    if (found == arrays.end()) {
      std::string names;
      for (const Array& array : arrays) names += (names.empty() ? "" : ", ") + array.name;
      return invalid(format("{}: parser.{}: there is no array '{}'; it has: {}", spec.path, target,
                            source, names));
    }
    found->name = target;
  }
  for (const Array& array : arrays) {
    if (array.shape[0] == arrays[0].shape[0]) continue;
    return invalid(format("{}: '{}' has {} rows, '{}' has {}", spec.path, arrays[0].name,
                          arrays[0].shape[0], array.name, array.shape[0]));
  }
  return {};
}

// The elements of one row as a scorer reads them: one of them alone, several as a list.
template <typename T>
Json json_numbers(std::string_view bytes) {
  Json out = Json::array();
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T one;
    std::memcpy(&one, bytes.data() + at, sizeof(T));
    if constexpr (std::is_floating_point_v<T>) {
      out.push_back(static_cast<double>(one));
    } else {
      out.push_back(static_cast<std::int64_t>(one));
    }
  }
  return out.size() == 1 ? out[0] : out;
}

Result<Json> truth_of(const Array& array, std::size_t row) {
  const std::size_t each = elements_of(std::span(array.shape).subspan(1)) * array.type.item_bytes;
  const std::string_view bytes = array.elements().substr(row * each, each);
  if (array.type.texts) {
    if (each != array.type.item_bytes) return invalid("a row has one text");
    return Json(numpy_text(bytes, array.type.wide));
  }
  const std::string_view type = array.type.datatype;
  if (type == "INT64") return json_numbers<std::int64_t>(bytes);
  if (type == "INT32") return json_numbers<std::int32_t>(bytes);
  if (type == "INT16") return json_numbers<std::int16_t>(bytes);
  if (type == "INT8") return json_numbers<std::int8_t>(bytes);
  if (type == "UINT8" || type == "BOOL") return json_numbers<std::uint8_t>(bytes);
  if (type == "UINT16") return json_numbers<std::uint16_t>(bytes);
  if (type == "UINT32") return json_numbers<std::uint32_t>(bytes);
  if (type == "FP32") return json_numbers<float>(bytes);
  if (type == "FP64") return json_numbers<double>(bytes);
  return invalid(
      format("its type {} is none of integers up to 64 bits with a sign, float32, "
             "float64 and texts",
             type));
}

// One entry of a row's `inputs` that names a file.
Result<Attachment> file_tensor(const Json& entry, const std::filesystem::path& folder) {
  const std::string name(entry["name"].as_string());
  const std::filesystem::path path = folder / std::string(entry["file"].as_string());
  const auto at = [&](const Error& error) {
    return error.within(format("inputs: '{}': {}", name, path.string()));
  };
  if (name.empty()) return invalid("inputs: a tensor without a name");
  if (!is_safe_path(entry["file"].as_string())) {
    return invalid(format("inputs: '{}': its file must lie in the data set's folder", name));
  }
  auto bytes = read_file(path);
  if (!bytes) return at(bytes.error());
  Attachment out;
  if (std::string_view(*bytes).starts_with(kNumpyMagic)) {
    auto array = read_npy(*bytes);
    if (!array) return at(array.error());
    out = *std::move(array);
  } else {
    out.type = entry["datatype"].as_string();
    for (const Json& size : entry["shape"].items()) out.shape.push_back(size.as_int(-1));
    out.bytes = *std::move(bytes);
    const auto sound = check_tensor(out.type, out.shape, out.bytes);
    if (!sound) return at(sound.error());
  }
  out.name = name;
  return out;
}

}  // namespace

bool is_tensor_format(std::string_view format) { return format == "npy" || format == "npz"; }

Result<Attachment> read_npy(std::string_view bytes) {
  ASSIGN_OR_RETURN(const Array array, parse_npy(std::string(bytes)));
  return Attachment{.type = std::string(array.type.datatype),
                    .shape = array.shape,
                    .bytes = raw_bytes(array, 0, elements_of(array.shape))};
}

Result<Dataset> load_tensors(const Spec& spec, std::string_view format) {
  ASSIGN_OR_RETURN(std::string file, read_file(spec.path));
  Dataset out{.name = spec.name, .path = spec.path, .sha256 = sha256_hex(file)};
  if (out.name.empty()) out.name = std::filesystem::path(spec.path).stem().string();
  ASSIGN_OR_RETURN(std::vector<Array> arrays, arrays_of(spec, format, std::move(file)));
  TRY(rename_arrays(spec, arrays));
  auto rows = static_cast<std::uint64_t>(arrays[0].shape[0]);
  if (rows > std::numeric_limits<std::uint32_t>::max()) {
    return invalid(assay::format("{}: more rows than can be numbered in 32 bits", spec.path));
  }
  if (spec.rows_max > 0) rows = std::min(rows, spec.rows_max);
  const std::uint64_t kept = spec.keep_max > 0 ? std::min(rows, spec.keep_max) : rows;
  for (std::uint64_t row = 0; row < kept; ++row) {
    Sample& sample = out.samples.emplace_back();
    for (const Array& array : arrays) {
      if (!array.name.starts_with(kTruth)) {
        sample.attachments.push_back(row_of(array, row));
        continue;
      }
      auto truth = truth_of(array, row);
      if (!truth) {
        return truth.error().within(assay::format("{}: array '{}'", spec.path, array.name));
      }
      sample.columns.set(array.name.substr(kTruth.size()), *std::move(truth));
    }
    if (sample.attachments.empty()) {
      return invalid(assay::format("{}: it has truths, and no input", spec.path));
    }
  }
  out.not_kept = rows - kept;
  return out;
}

Result<void> attach_tensor_files(Dataset& dataset, const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (std::size_t row = 0; row < dataset.samples.size(); ++row) {
    Sample& sample = dataset.samples[row];
    Json* const inputs = sample.body.is_object() ? sample.body.find("inputs") : nullptr;
    if (inputs == nullptr || !inputs->is_array()) continue;
    Json rest = Json::array();
    for (const Json& entry : inputs->items()) {
      if (!entry["file"].is_string()) {
        rest.push_back(entry);
        continue;
      }
      auto tensor = file_tensor(entry, folder);
      if (!tensor) return tensor.error().within(format("{}: sample {}", path, row));
      sample.attachments.push_back(*std::move(tensor));
    }
    *inputs = std::move(rest);
  }
  return {};
}

}  // namespace assay::dataset
