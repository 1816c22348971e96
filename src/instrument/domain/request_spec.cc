#include "domain/request_spec.h"

#include "base/check.h"

namespace assay {

std::string_view to_string(Api api) {
  switch (api) {
    case Api::openai:
      return "openai";
    case Api::openai_completions:
      return "openai_completions";
    case Api::sglang:
      return "sglang";
    case Api::videogen:
      return "videogen";
  }
  CHECK(false && "no such Api");
  return "";
}

std::optional<Api> api_from(std::string_view text) {
  for (const Api api : {Api::openai, Api::openai_completions, Api::sglang, Api::videogen}) {
    if (text == to_string(api)) return api;
  }
  return std::nullopt;
}

}  // namespace assay
