#include "dataset/archive.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/text.h"

namespace assay::dataset {
namespace {

constexpr std::size_t kMembersMax = 10'000'000;
constexpr std::size_t kTarBlock = 512;

std::uint64_t little(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t out = 0;
  for (std::size_t i = size; i-- > 0;) {
    out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  return out;
}

// Reads a tar header's number: octal digits, or GNU's big-endian form.
Result<std::uint64_t> tar_number(std::string_view field) {
  if ((static_cast<unsigned char>(field[0]) & 0x80) != 0) {
    std::uint64_t out = static_cast<unsigned char>(field[0]) & 0x7FU;
    for (const char c : field.substr(1)) {
      if (out >> 56 != 0) return Error{Code::corrupt, "a size that no file can have"};
      out = out << 8 | static_cast<unsigned char>(c);
    }
    return out;
  }
  std::uint64_t out = 0;
  for (const char c : field) {
    if (c == ' ' || c == '\0') {
      if (out > 0) break;
      continue;
    }
    if (c < '0' || c > '7' || out >> 60 != 0) return Error{Code::corrupt, "a broken header"};
    out = out * 8 + static_cast<std::uint64_t>(c - '0');
  }
  return out;
}

std::string_view tar_text(std::string_view field) { return field.substr(0, field.find('\0')); }

// Finds "path" in a pax header: "LENGTH key=value\n" records.
std::string pax_path(std::string_view records) {
  std::string out;
  while (!records.empty()) {
    const auto length = parse_uint(records.substr(0, records.find(' ')));
    if (!length || *length == 0 || *length > records.size()) break;
    std::string_view record = records.substr(0, *length);
    records.remove_prefix(*length);
    record = record.substr(record.find(' ') + 1);
    if (record.starts_with("path=") && record.ends_with('\n')) {
      out = record.substr(5, record.size() - 6);
    }
  }
  return out;
}

struct ZipEnd {
  std::uint64_t count = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
};

Result<ZipEnd> find_zip_end(const InputFile& file) {
  constexpr std::size_t kEnd = 22;
  constexpr std::size_t kCommentMax = 65535;
  const Error broken{Code::corrupt, "a zip file without its directory; is it cut short?"};
  if (file.size() < kEnd) return broken;
  const std::uint64_t from = file.size() - std::min<std::uint64_t>(file.size(), kEnd + kCommentMax);
  ASSIGN_OR_RETURN(const std::string tail, file.read(from, kEnd + kCommentMax));
  const std::size_t at = tail.rfind("PK\x05\x06");
  if (at == std::string::npos || tail.size() - at < kEnd) return broken;
  ZipEnd out{.count = little(tail, at + 10, 2),
             .size = little(tail, at + 12, 4),
             .offset = little(tail, at + 16, 4)};
  constexpr std::size_t kLocator = 20;
  constexpr std::size_t kEnd64 = 56;
  if (at >= kLocator && tail.compare(at - kLocator, 4, "PK\x06\x07") == 0) {
    const std::uint64_t where = little(tail, at - kLocator + 8, 8);
    ASSIGN_OR_RETURN(const std::string end, file.read(where, kEnd64));
    if (end.size() != kEnd64 || !end.starts_with("PK\x06\x06")) return broken;
    out = {.count = little(end, 32, 8), .size = little(end, 40, 8), .offset = little(end, 48, 8)};
  }
  constexpr std::uint64_t kDirectoryMax = std::uint64_t{1} << 30;
  if (out.offset > file.size() || out.size > file.size() - out.offset || out.size > kDirectoryMax) {
    return broken;
  }
  return out;
}

// Reads the 64-bit sizes of a zip entry, if the short fields are full.
void take_zip64(std::string_view extra, bool size, bool compressed, bool offset,
                Archive::Member& member) {
  while (extra.size() >= 4) {
    const std::uint64_t id = little(extra, 0, 2);
    const std::uint64_t length = little(extra, 2, 2);
    extra.remove_prefix(4);
    if (length > extra.size()) return;
    if (id == 1) {
      std::string_view field = extra.substr(0, length);
      const auto take = [&](bool wanted, std::uint64_t& out) {
        if (!wanted || field.size() < 8) return;
        out = little(field, 0, 8);
        field.remove_prefix(8);
      };
      take(size, member.size);
      take(compressed, member.compressed);
      take(offset, member.offset);
    }
    extra.remove_prefix(length);
  }
}

}  // namespace

bool is_safe_path(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.find('\\') != std::string_view::npos ||
      name.find('\0') != std::string_view::npos || (name.size() > 1 && name[1] == ':')) {
    return false;
  }
  for (const std::string_view part : split(name, '/')) {
    if (part == "..") return false;
  }
  return true;
}

Result<void> Archive::add(Member member) {
  if (!is_safe_path(member.name)) {
    return invalid(format("'{}': its member '{}' would leave the folder; the archive is refused",
                          name_, member.name));
  }
  if (members_.size() == kMembersMax) return invalid(format("'{}': too many members", name_));
  members_.push_back(std::move(member));
  return {};
}

Result<bool> Archive::is_archive(const InputFile& file) {
  ASSIGN_OR_RETURN(const std::string head, file.read(0, kTarBlock));
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) return true;
  return head.size() == kTarBlock && head.compare(257, 5, "ustar") == 0;
}

Result<Archive> Archive::open(InputFile file, const std::string& name) {
  ASSIGN_OR_RETURN(const std::string head, file.read(0, 4));
  if (head.starts_with("\x1F\x8B")) {
    auto plain = gunzipped(file);
    if (!plain) return plain.error().within(format("'{}'", name));
    return open(InputFile::of(*std::move(plain)), name);
  }
  Archive out(std::move(file), name);
  out.zip_ = head.starts_with("PK");
  auto read = out.zip_ ? out.read_zip() : out.read_tar();
  if (!read) {
    return read.error().code == Code::corrupt ? read.error().within(format("'{}'", name))
                                              : read.error();
  }
  return out;
}

Result<void> Archive::read_zip() {
  ASSIGN_OR_RETURN(const ZipEnd end, find_zip_end(file_));
  ASSIGN_OR_RETURN(const std::string directory, file_.read(end.offset, end.size));
  std::string_view rest = directory;
  constexpr std::size_t kEntry = 46;
  constexpr std::uint64_t kFull = 0xFFFFFFFF;
  for (std::uint64_t i = 0; i < end.count; ++i) {
    if (rest.size() < kEntry || !rest.starts_with("PK\x01\x02")) {
      return Error{Code::corrupt, "its directory is broken"};
    }
    const std::uint64_t names = little(rest, 28, 2);
    const std::uint64_t extras = little(rest, 30, 2);
    const std::uint64_t comments = little(rest, 32, 2);
    if (rest.size() < kEntry + names + extras + comments) {
      return Error{Code::corrupt, "its directory is broken"};
    }
    Member member{.name = std::string(rest.substr(kEntry, names)),
                  .size = little(rest, 24, 4),
                  .offset = little(rest, 42, 4),
                  .compressed = little(rest, 20, 4),
                  .crc = static_cast<std::uint32_t>(little(rest, 16, 4))};
    take_zip64(rest.substr(kEntry + names, extras), member.size == kFull,
               member.compressed == kFull, member.offset == kFull, member);
    const std::uint64_t flags = little(rest, 8, 2);
    const std::uint64_t method = little(rest, 10, 2);
    rest.remove_prefix(kEntry + names + extras + comments);
    if (member.name.ends_with('/')) {
      if (!is_safe_path(member.name)) return add(std::move(member));
      continue;
    }
    if ((flags & 1) != 0) return invalid(format("'{}': '{}' is encrypted", name_, member.name));
    if (method != 0 && method != 8) {
      return invalid(format("'{}': '{}' is compressed with method {}; stored and deflate are read",
                            name_, member.name, method));
    }
    member.compression = method == 0 ? Compression::none : Compression::deflate;
    TRY(add(std::move(member)));
  }
  return {};
}

Result<void> Archive::read_tar() {
  std::uint64_t at = 0;
  std::string long_name;
  while (at + kTarBlock <= file_.size()) {
    ASSIGN_OR_RETURN(const std::string head, file_.read(at, kTarBlock));
    if (head.find_first_not_of('\0') == std::string::npos) break;
    if (head.compare(257, 5, "ustar") != 0) {
      return Error{Code::corrupt, "neither a zip nor a tar file, or a broken one"};
    }
    ASSIGN_OR_RETURN(const std::uint64_t size, tar_number(std::string_view(head).substr(124, 12)));
    at += kTarBlock;
    if (size > file_.size() - at) return Error{Code::corrupt, "it is cut short"};
    const char kind = head[156];
    constexpr std::uint64_t kNameMax = 1 << 20;
    if (kind == 'L' || kind == 'x') {
      if (size > kNameMax) return Error{Code::corrupt, "a name that is too long"};
      ASSIGN_OR_RETURN(const std::string text, file_.read(at, size));
      long_name = kind == 'L' ? std::string(tar_text(text)) : pax_path(text);
    } else if (kind == '0' || kind == '\0') {
      Member member;
      member.name.swap(long_name);
      long_name.clear();
      member.size = size;
      member.offset = at;
      if (member.name.empty()) {
        const std::string_view prefix = tar_text(std::string_view(head).substr(345, 155));
        const std::string_view name = tar_text(std::string_view(head).substr(0, 100));
        member.name = prefix.empty() ? std::string(name) : format("{}/{}", prefix, name);
      }
      if (member.name.starts_with("./")) member.name.erase(0, 2);
      TRY(add(std::move(member)));
    } else if (kind != 'g') {
      long_name.clear();
    }
    at += (size + kTarBlock - 1) / kTarBlock * kTarBlock;
  }
  return {};
}

Result<std::string> Archive::read(const Member& member) const {
  const auto wrong = [&](std::string_view what) {
    return Error{Code::corrupt, format("'{}': '{}': {}", name_, member.name, what)};
  };
  if (member.size > kMemberBytesMax) {
    return wrong(format("it has {} bytes; {} may be read", member.size, kMemberBytesMax));
  }
  if (!zip_) return file_.read(member.offset, member.size);
  constexpr std::size_t kLocal = 30;
  ASSIGN_OR_RETURN(const std::string head, file_.read(member.offset, kLocal));
  if (head.size() != kLocal || !head.starts_with("PK\x03\x04")) return wrong("a broken header");
  const std::uint64_t data = member.offset + kLocal + little(head, 26, 2) + little(head, 28, 2);
  if (data > file_.size() || member.compressed > file_.size() - data) {
    return wrong("it stands outside the file");
  }
  // Deflate reaches at most 1032 to 1; a declared size above that is an error before unpacking.
  constexpr std::uint64_t kRatioMax = 1040;
  if (member.size > (member.compressed + 64) * kRatioMax) return wrong("its size is a lie");
  ASSIGN_OR_RETURN(const std::string bytes, file_.read(data, member.compressed));
  auto plain = decompress(member.compression, bytes, member.size);
  if (!plain) return wrong(plain.error().message);
  const auto crc =
      crc32(0, reinterpret_cast<const Bytef*>(plain->data()), static_cast<uInt>(plain->size()));
  if (crc != member.crc) return wrong("its checksum does not agree");
  return plain;
}

Result<std::string> gunzipped(const InputFile& file) {
  ASSIGN_OR_RETURN(const std::string head, file.read(0, 2));
  constexpr std::uint64_t kFileMax = std::uint64_t{2} << 30;
  if (file.size() > kFileMax) {
    return Error{Code::unsupported, format("more than {} bytes in one piece", kFileMax)};
  }
  ASSIGN_OR_RETURN(std::string bytes, file.read(0, file.size()));
  if (!head.starts_with("\x1F\x8B")) return bytes;
  return decompress_up_to(Compression::gzip, bytes, kMemberBytesMax);
}

}  // namespace assay::dataset
