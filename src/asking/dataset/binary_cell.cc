#include "dataset/binary_cell.h"

#include "base/base64.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::dataset {
namespace {

struct Magic {
  std::string_view begins;
  std::string_view type;
  std::string_view eighth = {};  // of a container: the text from byte 8 on
};

using std::string_view_literals::operator""sv;

// https://mimesniff.spec.whatwg.org, and FLAC's and PDF's own specifications.
constexpr Magic kMagic[] = {
    {"\xff\xd8\xff"sv, "image/jpeg"},
    {"\x89PNG\r\n\x1a\n"sv, "image/png"},
    {"GIF87a"sv, "image/gif"},
    {"GIF89a"sv, "image/gif"},
    {"RIFF"sv, "image/webp", "WEBPVP"},
    {"RIFF"sv, "audio/wav", "WAVE"},
    {"BM"sv, "image/bmp"},
    {"II*\0"sv, "image/tiff"},
    {"MM\0*"sv, "image/tiff"},
    {"fLaC"sv, "audio/flac"},
    {"OggS\0"sv, "audio/ogg"},
    {"ID3"sv, "audio/mpeg"},
    {"\xff\xfb"sv, "audio/mpeg"},
    {"\x1a\x45\xdf\xa3"sv, "video/webm"},
    {"%PDF-"sv, "application/pdf"},
};

}  // namespace

std::string_view media_type_of(std::string_view bytes) {
  for (const Magic& magic : kMagic) {
    if (!bytes.starts_with(magic.begins)) continue;
    if (magic.eighth.empty()) return magic.type;
    if (bytes.size() >= 8 && bytes.substr(8).starts_with(magic.eighth)) return magic.type;
  }
  // ISO's container has its kind after the size of its first box.
  if (bytes.size() >= 8 && bytes.substr(4).starts_with("ftyp")) return "video/mp4";
  return {};
}

std::string binary_cell(std::string_view bytes) {
  if (valid_utf8(bytes)) return std::string(bytes);
  return format("data:{};base64,{}", media_type_of(bytes), encode_base64(bytes));
}

std::optional<std::string_view> base64_of_cell(std::string_view cell) {
  constexpr std::string_view kMark = ";base64,";
  constexpr std::size_t kHeadMax = 64;  // a scheme, a type, the mark
  if (!cell.starts_with("data:")) return std::nullopt;
  const std::size_t at = cell.substr(0, kHeadMax).find(kMark);
  if (at == std::string_view::npos) return std::nullopt;
  return cell.substr(at + kMark.size());
}

}  // namespace assay::dataset
