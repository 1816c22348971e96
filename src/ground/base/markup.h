// Escapes text for HTML, SVG and XML, in content and in quoted attributes. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace assay {

// Turns & < > " ' into character references; keeps every other byte.
std::string escape_markup(std::string_view text);

// As escape_markup(), for a whole document: characters that XML forbids and bytes that are not
// UTF-8 become U+FFFD.
std::string markup_text(std::string_view text);

}  // namespace assay
