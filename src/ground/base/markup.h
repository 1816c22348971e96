// Text inside HTML, SVG and XML, in content and in quoted attributes. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace assay {

// & < > " ' as references to characters; every other byte as it stands.
std::string escape_markup(std::string_view text);

// The same for a document of ours: characters that XML forbids, and bytes that are no UTF-8, become
// U+FFFD.
std::string markup_text(std::string_view text);

}  // namespace assay
