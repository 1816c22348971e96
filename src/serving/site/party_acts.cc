#include "site/party_acts.h"

#include <signal.h>

#include "base/clock.h"
#include "base/exit_code.h"
#include "base/format.h"
#include "base/json.h"
#include "base/secret.h"
#include "site/agent.h"

namespace assay::site {
namespace {

std::string shown_federation(const Json& federation) {
  std::string out;
  for (const Json& one : federation["preparations"].items()) {
    out += format("preparing {} at {}:", one["id"].as_string(), one["owner"].as_string());
    for (const Json& step : one["steps"].items()) {
      out += format(" {}/{}", step["done"].as_int(),
                    step["total"].as_int() - step["skipped"].as_int());
      if (step["failed"].as_int() > 0) out += format(" ({} failed)", step["failed"].as_int());
    }
    out += '\n';
  }
  for (const Json& one : federation["associations"].items()) {
    const bool dataset = one["dataset"].is_string();
    out += format("{} {} for {}: {}, asked by {}\n", dataset ? "dataset" : "model",
                  one[dataset ? "dataset" : "model"].as_string(), one["benchmark"].as_string(),
                  one["approval"].as_string(), one["asked_by"].as_string());
  }
  for (const Json& run : federation["runs"].items()) {
    out += format("run {}: {} of {} at {}: {}\n", run["id"].as_string(), run["model"].as_string(),
                  run["benchmark"].as_string(), run["site"].as_string(), run["state"].as_string());
    out += run["document"].as_string();
  }
  return out.empty() ? "no associations and no runs of yours\n" : out;
}

Result<sites::Act> act_of_flags(const PartyAsked& o) {
  Json json = Json::object();
  json.set("kind", o.what).set("key", o.key.empty() ? random_secret() : o.key);
  const auto set = [&json](std::string_view name, const std::string& value) {
    if (!value.empty()) json.set(name, value);
  };
  set("id", o.id);
  set("benchmark", o.benchmark);
  set("dataset", o.dataset);
  set("model", o.model);
  set("description", o.description);
  if (!o.measurement.empty()) {
    ASSIGN_OR_RETURN(Json measurement, read_json_file(o.measurement));
    json.set("measurement", std::move(measurement));
  }
  return sites::parse_act(json.dump());
}

}  // namespace

Result<int> ask_hub(const PartyAsked& o, const Talk& talk) {
  if (o.hub.empty() || o.token_file.empty()) return invalid("--hub and --token-file: are needed");
  const OsClock clock;
  ASSIGN_OR_RETURN(
      const auto link,
      HubLink::open({.url = o.hub, .token_file = o.token_file, .ca_file = o.ca_file}, clock));
  if (o.what != "show") {
    ASSIGN_OR_RETURN(const sites::Act act, act_of_flags(o));
    TRY(link.send(act));
    talk.print(o.json ? sites::to_json(act).dump() + "\n" : format("accepted: {}\n", o.what));
    return exit_code(ExitCode::done);
  }
  ASSIGN_OR_RETURN(const Json federation, link.federation());
  talk.print(o.json ? federation.dump(2) + "\n" : shown_federation(federation));
  return exit_code(ExitCode::done);
}

}  // namespace assay::site
