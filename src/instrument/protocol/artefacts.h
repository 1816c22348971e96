// Artefacts: what a reply made that is no text: pictures, a video, a sound, as the bytes of files.
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/api.h"

namespace assay::protocol {

struct Artefact {
  std::string bytes{};
  std::string_view type{};    // a media type
  std::string_view ending{};  // of a file's name, without a dot
};

// Whether replies of the kind may have artefacts.
bool has_artefacts(Api api);
// Those of a successful reply. `body`: the whole body, or the bytes of the sound. Empty where the
// server kept them (an address, a path).
Result<std::vector<Artefact>> artefacts_of(Api api, std::string_view body);

}  // namespace assay::protocol
