// A body as a form (multipart/form-data, RFC 7578): every field of the body is a field of the form,
// a list is repeated as NAME[], and the sample's attachments are files.
#include <string>
#include <string_view>

#include "base/format.h"
#include "protocol/kind/kind.h"

namespace assay::protocol {
namespace {

void add_part(std::string& out, std::string_view boundary, std::string_view disposition,
              std::string_view value) {
  out += format("--{}\r\nContent-Disposition: form-data; {}\r\n\r\n", boundary, disposition);
  out += value;
  out += "\r\n";
}

std::string field_text(const Json& value) {
  return value.is_string() ? std::string(value.as_string()) : value.dump();
}

// A name between quotes in a part's head, as browsers write it.
std::string quoted_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') {
      out += "%22";
    } else if (c == '\r' || c == '\n') {
      out += c == '\r' ? "%0D" : "%0A";
    } else {
      out += c;
    }
  }
  return out + '"';
}

void add_fields(const Json& body, const Sample& sample, std::string_view boundary,
                std::string& out) {
  for (const auto& [name, value] : body.members()) {
    if (!value.is_array()) {
      add_part(out, boundary, "name=" + quoted_name(name), field_text(value));
      continue;
    }
    for (const Json& item : value.items()) {
      add_part(out, boundary, "name=" + quoted_name(name + "[]"), field_text(item));
    }
  }
  for (const Attachment& file : sample.attachments) {
    const std::string type = file.type.empty() ? "application/octet-stream" : file.type;
    add_part(out, boundary,
             format("name={}; filename={}\r\nContent-Type: {}", quoted_name(file.name),
                    quoted_name(file.file), type),
             file.bytes);
  }
  out += format("--{}--\r\n", boundary);
}

// How often it stands in the text.
std::size_t count_of(std::string_view text, std::string_view word) {
  std::size_t out = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
    ++out;
  return out;
}

}  // namespace

void encode_form(const Json& body, const Sample& sample, RequestBody& out) {
  std::string boundary(kFormType.substr(kFormType.rfind('=') + 1));
  for (;; boundary += 'x') {
    out.bytes.clear();
    add_fields(body, sample, boundary, out.bytes);
    // One before each part, and the last.
    std::size_t parts = 1 + sample.attachments.size();
    for (const auto& [name, value] : body.members()) parts += value.is_array() ? value.size() : 1;
    if (count_of(out.bytes, boundary) == parts) break;
  }
  const std::string type = "multipart/form-data; boundary=" + boundary;
  if (type != kFormType) out.headers = {{"Content-Type", type}};
}

Result<void> encode_plain_form(const Json& body, const Sample& sample, RequestBody& out) {
  encode_form(body, sample, out);
  return {};
}

}  // namespace assay::protocol
