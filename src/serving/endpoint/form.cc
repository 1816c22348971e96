#include "endpoint/form.h"

#include <algorithm>

#include "base/text.h"

namespace assay::endpoint {
namespace {

constexpr std::size_t kPartsMax = 64;
constexpr std::size_t kBoundaryMax = 70;  // RFC 2046

// The value behind NAME= in a header, without its quotes; false where there is none.
bool parameter(std::string_view header, std::string_view name, std::string& out) {
  for (std::size_t at = 0; (at = header.find(name, at)) != std::string_view::npos; ++at) {
    const bool begins = at > 0 && (header[at - 1] == ' ' || header[at - 1] == ';');
    std::string_view rest = header.substr(at + name.size());
    if (!begins || !rest.starts_with('=')) continue;
    rest.remove_prefix(1);
    if (rest.starts_with('"')) {
      rest.remove_prefix(1);
      out = std::string(rest.substr(0, rest.find('"')));
    } else {
      out = std::string(trim(rest.substr(0, rest.find(';'))));
    }
    return true;
  }
  return false;
}

}  // namespace

std::string boundary_of(std::string_view content_type) {
  std::string out;
  if (!lower(content_type).starts_with("multipart/form-data")) return out;
  if (!parameter(content_type, "boundary", out) || out.size() > kBoundaryMax) out.clear();
  return out;
}

bool read_form(std::string_view body, std::string_view boundary, std::vector<FormPart>& out) {
  if (boundary.empty()) return false;
  const std::string first = "--" + std::string(boundary);
  const std::string next = "\r\n" + first;
  if (!body.starts_with(first)) return false;
  body.remove_prefix(first.size());
  for (;;) {
    if (body.starts_with("--")) return true;
    if (!body.starts_with("\r\n") || out.size() == kPartsMax) return false;
    const std::size_t head_end = body.find("\r\n\r\n");
    if (head_end == std::string_view::npos) return false;
    const std::size_t end = body.find(next, head_end + 2);
    if (end == std::string_view::npos) return false;
    FormPart part;
    for (const std::string_view line : split(body.substr(0, head_end), '\n')) {
      if (!lower(line).starts_with("content-disposition:")) continue;
      parameter(line, "name", part.name);
      part.is_file = parameter(line, "filename", part.file);
    }
    const std::size_t begin = std::min(head_end + 4, end);
    part.value = body.substr(begin, end - begin);
    if (part.name.empty()) return false;
    out.push_back(std::move(part));
    body.remove_prefix(end + next.size());
  }
}

}  // namespace assay::endpoint
