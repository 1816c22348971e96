#include "net/content_headers.h"

#include "base/check.h"

namespace assay::net {

bool equal_fold(std::string_view a, std::string_view lower) {
  if (a.size() != lower.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == lower[i]) continue;
    if (a[i] < 'A' || a[i] > 'Z' || a[i] + 32 != lower[i]) return false;
  }
  return true;
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
