#include "base/exit_code.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace assay {

void Ending::add(ExitCode code, std::string why) {
  CHECK(code != ExitCode::done);
  ExitCause cause{code, std::move(why)};
  if (std::ranges::find(causes_, cause) != causes_.end()) return;
  causes_.push_back(std::move(cause));
  std::ranges::stable_sort(causes_, {}, [](const ExitCause& one) {
    return std::ranges::find(kGravest, one.code) - kGravest.begin();
  });
}

void Ending::add(const Ending& other) {
  for (const ExitCause& cause : other.causes_) add(cause.code, cause.why);
}

bool Ending::has(ExitCode code) const {
  return std::ranges::find(causes_, code, &ExitCause::code) != causes_.end();
}

int Ending::code() const { return exit_code(clean() ? ExitCode::done : causes_.front().code); }

Json Ending::json() const {
  Json causes = Json::array();
  for (const ExitCause& cause : causes_) {
    causes.push_back(Json().set("code", exit_code(cause.code)).set("why", cause.why));
  }
  return Json().set("code", code()).set("causes", std::move(causes));
}

}  // namespace assay
