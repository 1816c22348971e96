// The parts of a form (multipart/form-data, RFC 7578) in a request's body. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::endpoint {

struct FormPart {
  std::string name{};
  std::string file{};  // its file's name
  bool is_file = false;
  std::string_view value{};  // in the body
};

// "" where the content type is no form with a boundary.
std::string boundary_of(std::string_view content_type);

// At most 64 parts, in order. False where the body is no form with that boundary.
bool read_form(std::string_view body, std::string_view boundary, std::vector<FormPart>& out);

}  // namespace assay::endpoint
