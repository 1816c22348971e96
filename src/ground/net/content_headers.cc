#include "net/content_headers.h"

#include <cstdint>
#include <cstring>

#include "base/check.h"

namespace assay::net {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::uint64_t kEach = 0x0101010101010101;  // times a byte: that byte in each place

std::uint64_t word_at(const char* p) {
  std::uint64_t word = 0;
  std::memcpy(&word, p, kWord);
  return word;
}

// The top bit of each byte below 0x80 tells whether it is at least `least`; no place carries.
std::uint64_t at_least(std::uint64_t low_bits, char least) {
  return low_bits + kEach * (0x80U - static_cast<unsigned char>(least));
}

// Eight bytes with the ASCII capitals in lower case.
std::uint64_t lower_of(std::uint64_t word) {
  const std::uint64_t low_bits = word & (kEach * 0x7f);
  const std::uint64_t capital = at_least(low_bits, 'A') & ~at_least(low_bits, 'Z' + 1) & ~word;
  return word | ((capital & (kEach * 0x80)) >> 2);
}

}  // namespace

// Each reply's head is compared so: eight bytes at a time, the last eight again where they overlap.
bool equal_fold(std::string_view a, std::string_view lower) {
  if (a.size() != lower.size()) return false;
  if (a.empty()) return true;
  if (a.size() < kWord) {
    std::uint64_t left = 0;
    std::uint64_t right = 0;
    std::memcpy(&left, a.data(), a.size());
    std::memcpy(&right, lower.data(), a.size());
    return lower_of(left) == right;
  }
  const std::size_t last = a.size() - kWord;
  for (std::size_t at = 0; at < last; at += kWord) {
    if (lower_of(word_at(a.data() + at)) != word_at(lower.data() + at)) return false;
  }
  return lower_of(word_at(a.data() + last)) == word_at(lower.data() + last);
}

std::string_view trim_space(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return text;
}

ContentType content_type_of(std::string_view value) {
  const std::string_view media = trim_space(value.substr(0, value.find(';')));
  if (equal_fold(media, "text/event-stream")) return ContentType::event_stream;
  if (equal_fold(media, "application/json")) return ContentType::json;
  if (equal_fold(media.substr(0, 5), "text/")) return ContentType::text;
  return ContentType::other;
}

ContentCoding content_coding_of(std::string_view value) {
  if (value.empty() || equal_fold(value, "identity")) return ContentCoding::identity;
  if (equal_fold(value, "gzip") || equal_fold(value, "x-gzip")) return ContentCoding::gzip;
  if (equal_fold(value, "deflate")) return ContentCoding::deflate;
  if (equal_fold(value, "br")) return ContentCoding::br;
  if (equal_fold(value, "zstd")) return ContentCoding::zstd;
  return ContentCoding::other;
}

std::string_view to_string(ContentCoding coding) {
  switch (coding) {
    case ContentCoding::identity:
      return "identity";
    case ContentCoding::gzip:
      return "gzip";
    case ContentCoding::deflate:
      return "deflate";
    case ContentCoding::br:
      return "br";
    case ContentCoding::zstd:
      return "zstd";
    case ContentCoding::other:
      return "a coding that is not known";
  }
  CHECK(false && "no such ContentCoding");
}

}  // namespace assay::net
