#include "explorer/page.h"

#include "base/format.h"

#include <algorithm>

namespace assay::explorer {

const EmbeddedFile* page_file(std::string_view name) {
  static const std::vector<EmbeddedFile> files = embedded_page();
  const auto found = std::ranges::find(files, name, &EmbeddedFile::name);
  return found == files.end() ? nullptr : &*found;
}

std::string page_bytes(const EmbeddedFile& file, std::string_view view) {
  constexpr std::string_view kExplorers = R"(name="assay-data" content="api")";
  std::string out(file.bytes);
  if (file.name != "index.html") return out;
  if (const std::size_t at = out.find(kExplorers); at != std::string::npos) {
    out.replace(at, kExplorers.size(), format(R"(name="assay-data" content="{}")", view));
  }
  return out;
}

std::string_view content_type_of(std::string_view name) {
  const std::string_view suffix = name.substr(std::min(name.size(), name.rfind('.') + 1));
  if (suffix == "html") return "text/html; charset=utf-8";
  if (suffix == "js") return "text/javascript; charset=utf-8";
  if (suffix == "css") return "text/css; charset=utf-8";
  if (suffix == "svg") return "image/svg+xml";
  if (suffix == "json") return "application/json";
  if (suffix == "png") return "image/png";
  if (suffix == "woff2") return "font/woff2";
  return "application/octet-stream";
}

}  // namespace assay::explorer
