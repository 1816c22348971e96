// Transforms: how an attacked twin is made from a seed prompt. Each is a widely known rewriting of
// text with no content of its own (base64, ROT13, a role to play …), named by what it does to the
// prompt. The same prompt, parameters and seed give the same bytes on every machine. A transform
// that hides the words has side information, which a judge needs to read an answer in kind.
//
// A prompt of several parts keeps its pictures; its text parts are rewritten together. `picture`
// draws the text into a PNG, so that an answer needs a model that reads pictures. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::safety {

struct Transformed {
  Json prompt{};  // text, or a list of content parts
  std::string side_information{};
};

// In the order of docs/formats/attacks.md.
const std::vector<std::string_view>& transform_names();
bool is_transform(std::string_view name);

// REQUIRES: is_transform(name). Fails where a text cannot be rewritten by it (a picture of a
// picture), with the reason.
Result<Transformed> transform(std::string_view name, const Transformed& from, std::uint64_t seed);

// A PNG of black text on white, 8 bits of grey: capital letters, digits and signs of ASCII; any
// other character is a box. At most 60 letters a line.
std::string png_of_text(std::string_view text);

}  // namespace assay::safety
