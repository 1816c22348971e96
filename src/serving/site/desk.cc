#include "site/desk.h"

#include "base/format.h"
#include "base/hash.h"
#include "base/signature.h"
#include "site/agent.h"

namespace assay::site {
namespace {

Result<LocalRun> need_run(const Journal& journal, std::string_view id) {
  ASSIGN_OR_RETURN(auto run, journal.run(id));
  if (!run) return Error{Code::not_found, format("this site has no run '{}'", id)};
  return std::move(*run);
}

}  // namespace

Result<Shown> review_run(const Policy& policy, Journal& journal, std::string_view id,
                         const std::string& at) {
  ASSIGN_OR_RETURN(const LocalRun run, need_run(journal, id));
  if (run.state != sites::RunState::held && run.document.empty()) {
    return Error{Code::refused,
                 format("the run is {}: there is nothing to review", to_string(run.state))};
  }
  sites::Candidate candidate = candidate_of(policy, run);
  Shown shown{.document = run.document, .kept_back = std::move(candidate.kept_back)};
  if (run.state == sites::RunState::held) {
    shown.document = sites::to_text(candidate.document);
    TRY(journal.review(run.id, shown.document, at));
  }
  shown.sha256 = sha256_hex(shown.document);
  return shown;
}

Result<std::string> release_run(const Policy& policy, Journal& journal, std::string_view id,
                                std::string_view sha256, const std::string& at) {
  ASSIGN_OR_RETURN(const LocalRun run, need_run(journal, id));
  if (run.state != sites::RunState::reviewed) {
    return Error{Code::refused, format("the run is {}, not reviewed\n  assay site review {}",
                                       to_string(run.state), run.id)};
  }
  if (sha256 != sha256_hex(run.document)) {
    return invalid(
        format("--sha256: is not of the bytes that were shown\n  assay site review {}", run.id));
  }
  ASSIGN_OR_RETURN(const std::string key, site_key(policy));
  ASSIGN_OR_RETURN(std::string signature, sign_ed25519(run.document, key));
  TRY(journal.release(run.id, signature, at));
  return signature;
}

Result<void> withhold_run(Journal& journal, std::string_view id, const std::string& at) {
  TRY(need_run(journal, id));
  return journal.withhold(id, at);
}

Json runs_json(const std::vector<LocalRun>& runs) {
  Json out = Json::array();
  for (const LocalRun& run : runs) {
    Json one = Json::object();
    one.set("id", run.id)
        .set("state", to_string(run.state))
        .set("benchmark", run.benchmark)
        .set("dataset", run.dataset)
        .set("model", run.model);
    if (!run.document.empty()) {
      one.set("document", run.document).set("sha256", sha256_hex(run.document));
    }
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace assay::site
