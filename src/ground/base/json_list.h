// json_list: values as a JSON array, each as `write` makes it, a function or a member:
//
//     json.set("notes", json_list(notes)).set("phases", json_list(phases, &Phase::name));
#pragma once

#include <functional>

#include "base/json.h"

namespace assay {

template <typename Values, typename Write = std::identity>
Json json_list(const Values& values, Write&& write = {}) {
  Json out = Json::array();
  for (const auto& value : values) out.push_back(std::invoke(write, value));
  return out;
}

}  // namespace assay
