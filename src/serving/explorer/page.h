// Page: the built web page (web/), embedded in the binary by cmake/web.cmake; in a build without
// npm, a page with instructions. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::explorer {

// The page's content security policy: its own script, style and server, and nothing else.
inline constexpr std::string_view kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

struct EmbeddedFile {
  std::string_view name{};  // "index.html", "explorer.js"
  std::string_view bytes{};
};
std::vector<EmbeddedFile> embedded_page();

// nullptr for an unknown name.
const EmbeddedFile* page_file(std::string_view name);
// The file's bytes; its index with the word by which the script starts another view than the
// explorer's: "site", "hub".
std::string page_bytes(const EmbeddedFile& file, std::string_view view);
std::string_view content_type_of(std::string_view name);

}  // namespace assay::explorer
