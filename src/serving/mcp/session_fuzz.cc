// Any lines: no crash, each reply is JSON with the id of a request, and each call is replied once.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "mcp/session.h"

namespace {

assay::mcp::Session fresh_session() {
  assay::CommandHelp help;
  help.command = "probe";
  help.flags = {{.names = {"URL"}, .kind = "text", .help = "where", .required = true},
                {.names = {"--rate"}, .kind = "number", .help = "queries a second"},
                {.names = {"--header"}, .kind = "texts", .help = "extra header"}};
  return assay::mcp::Session({{.name = "probe", .help = help}}, {});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  assay::mcp::Session session = fresh_session();
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const assay::mcp::Session::Step step = session.receive(rest.substr(0, end));
    for (const std::string& reply : step.replies) {
      const auto json = assay::Json::parse(reply);
      if (!json || json->find("id") == nullptr) std::abort();
    }
    if (step.start) {
      session.progress(step.start->number, "x");
      if (session.ended(step.start->number, {.out = "{}"}).empty()) std::abort();
      if (!session.ended(step.start->number, {}).empty()) std::abort();
    }
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return 0;
}
