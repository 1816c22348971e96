// Page: the built web page (web/), embedded in the binary by cmake/web.cmake; where it was built
// without npm, a page that says how to get it. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::explorer {

struct EmbeddedFile {
  std::string_view name{};  // "index.html", "explorer.js"
  std::string_view bytes{};
};
std::vector<EmbeddedFile> embedded_page();

// nullptr where there is no such file.
const EmbeddedFile* page_file(std::string_view name);
std::string_view content_type_of(std::string_view name);

}  // namespace assay::explorer
