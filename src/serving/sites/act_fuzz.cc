// Foreign bytes as an act and as a release document: what is accepted is written back and read as
// the same, and no act of another party moves the state of an empty federation's runs.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "sites/federation.h"
#include "sites/release.h"

namespace sites = assay::sites;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto document = sites::parse_release(text)) {
    CHECK(sites::to_text(*document) == text);
  }
  const auto act = sites::parse_act(text);
  if (!act) return 0;
  const std::string written = sites::to_json(*act).dump();
  const auto again = sites::parse_act(written);
  CHECK(again.has_value());
  CHECK(sites::to_json(*again).dump() == written);
  for (const sites::Role role :
       {sites::Role::benchmark_owner, sites::Role::data_owner, sites::Role::model_owner}) {
    sites::Federation state;
    const auto done = sites::apply(state, {role, "Somewhere"}, *act);
    CHECK(state.runs.empty() && state.associations.empty());
    CHECK(done.has_value() == (state.keys.size() == 1));
  }
  return 0;
}
