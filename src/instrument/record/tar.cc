#include "record/tar.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/files.h"
#include "base/format.h"

namespace assay::record {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::uint64_t kMemberBytesMax = 077777777777;  // eleven octal digits: 8 GiB − 1
constexpr std::size_t kBuffer = std::size_t{1} << 20;

void put_field(std::array<char, kBlock>& header, std::size_t at, std::string_view text) {
  std::copy(text.begin(), text.end(), header.begin() + static_cast<std::ptrdiff_t>(at));
}

// The only valid header for a member with this name and size.
Result<std::array<char, kBlock>> header_of(const TarMember& member) {
  if (member.name.empty() || member.name.size() > kTarNameMax) {
    return invalid(
        format("'{}': a bundle's file names have 1 to {} bytes", member.name, kTarNameMax));
  }
  if (member.bytes > kMemberBytesMax) {
    return invalid(
        format("'{}' is larger than 8 GiB, the most a bundle's file can be", member.name));
  }
  std::array<char, kBlock> header{};
  put_field(header, 0, member.name);
  put_field(header, 100, "0000644");
  put_field(header, 108, "0000000");
  put_field(header, 116, "0000000");
  put_field(header, 124, format("{:011o}", member.bytes));
  put_field(header, 136, "00000000000");
  put_field(header, 148, "        ");  // counted as blanks in its own sum
  header[156] = '0';
  put_field(header, 257, std::string_view("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put_field(header, 148, format("{:06o}", sum));
  header[154] = '\0';
  return header;
}

std::uint64_t padding_of(std::uint64_t bytes) { return (kBlock - bytes % kBlock) % kBlock; }

Error corrupt_tar(std::uint64_t offset, std::string_view why) {
  return Error{Code::corrupt, format("offset {}: {}", offset, why)};
}

bool all_zero(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == '\0'; });
}

// Reads and counts the offset, so that an error can name it.
class TarReader {
 public:
  explicit TarReader(File file) : file_(std::move(file)) {}

  // Returns fewer bytes at the file's end.
  std::string_view take(std::size_t bytes) {
    buffer_.resize(std::max(buffer_.size(), bytes));
    const std::size_t n = std::fread(buffer_.data(), 1, bytes, file_.get());
    offset_ += n;
    return {buffer_.data(), n};
  }
  std::uint64_t offset() const { return offset_; }

 private:
  File file_;
  std::vector<char> buffer_{};
  std::uint64_t offset_ = 0;
};

Result<void> read_contents(TarReader& reader, const TarMember& member,
                           const std::function<Result<void>(std::string_view)>& on_bytes) {
  for (std::uint64_t left = member.bytes; left > 0;) {
    const std::string_view bytes =
        reader.take(static_cast<std::size_t>(std::min<std::uint64_t>(left, kBuffer)));
    if (bytes.empty()) {
      return corrupt_tar(reader.offset(), format("the archive ends inside '{}'", member.name));
    }
    left -= bytes.size();
    TRY(on_bytes(bytes));
  }
  const auto padding = static_cast<std::size_t>(padding_of(member.bytes));
  const std::uint64_t at = reader.offset();
  const std::string_view bytes = reader.take(padding);
  if (bytes.size() != padding || !all_zero(bytes)) {
    return corrupt_tar(at, format("the padding behind '{}' is not zero", member.name));
  }
  return {};
}

}  // namespace

TarWriter::TarWriter(StagedFile file) : file_(std::move(file)) {}

Result<TarWriter> TarWriter::create(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(StagedFile file, StagedFile::create(path));
  return TarWriter(std::move(file));
}

Result<void> TarWriter::begin(std::string_view name, std::uint64_t bytes) {
  ASSIGN_OR_RETURN(const auto header, header_of({std::string(name), bytes}));
  file_.append({header.data(), header.size()});
  return {};
}

void TarWriter::append_zeros(std::uint64_t count) {
  file_.append(std::string(static_cast<std::size_t>(count), '\0'));
}

Result<void> TarWriter::add_text(std::string_view name, std::string_view text) {
  TRY(begin(name, text.size()));
  file_.append(text);
  append_zeros(padding_of(text.size()));
  return {};
}

Result<void> TarWriter::add_file(std::string_view name, const std::filesystem::path& path,
                                 std::uint64_t bytes) {
  const File file(std::fopen(path.c_str(), "rbe"));
  if (!file) return errno_error(format("cannot open '{}'", path.string()));
  TRY(begin(name, bytes));
  std::vector<char> buffer(kBuffer);
  std::uint64_t copied = 0;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    file_.append({buffer.data(), n});
    copied += n;
    if (file_.failed()) return file_.commit();  // a full disk ends the write now
  }
  if (copied != bytes) {
    return Error{Code::io, format("'{}' changed while it was being bundled", path.string())};
  }
  append_zeros(padding_of(bytes));
  return {};
}

Result<void> TarWriter::finish() {
  append_zeros(2 * kBlock);
  return file_.commit();
}

bool may_be_tar(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return true;
  const File file(std::fopen(path.c_str(), "rbe"));
  if (!file) return true;
  std::array<char, kBlock> header{};
  const std::size_t n = std::fread(header.data(), 1, header.size(), file.get());
  return std::string_view(header.data(), n)
      .substr(std::min<std::size_t>(n, 257))
      .starts_with("ustar");
}

Result<void> read_tar(const std::filesystem::path& path,
                      const std::function<Result<void>(const TarMember&)>& on_member,
                      const std::function<Result<void>(std::string_view)>& on_bytes) {
  File file(std::fopen(path.c_str(), "rbe"));
  if (!file) return errno_error(format("cannot open '{}'", path.string()));
  TarReader reader(std::move(file));
  for (;;) {
    const std::uint64_t at = reader.offset();
    const std::string header(reader.take(kBlock));
    if (header.size() != kBlock) return corrupt_tar(at, "the archive ends without its end mark");
    if (all_zero(header)) break;
    TarMember member{.name = header.substr(0, std::min(header.find('\0'), kTarNameMax))};
    std::uint64_t bytes = 0;
    for (const char c : header.substr(124, 11)) {
      if (c < '0' || c > '7') return corrupt_tar(at, "a member's size is not an octal number");
      bytes = bytes * 8 + static_cast<std::uint64_t>(c - '0');
    }
    member.bytes = bytes;
    const auto expected = header_of(member);
    if (!expected || std::memcmp(expected->data(), header.data(), kBlock) != 0) {
      return corrupt_tar(at, format("the header of '{}' was changed", member.name));
    }
    TRY(on_member(member));
    TRY(read_contents(reader, member, on_bytes));
  }
  const std::uint64_t at = reader.offset();
  const std::string last(reader.take(kBlock + 1));
  if (last.size() != kBlock || !all_zero(last)) {
    return corrupt_tar(at, "the archive's end mark was changed, or something stands behind it");
  }
  return {};
}

}  // namespace assay::record
