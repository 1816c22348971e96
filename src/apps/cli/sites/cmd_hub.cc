#include <signal.h>

#include <cstdio>
#include <thread>

#include "base/clock.h"
#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/secret.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "hub/hub.h"
#include "hub/ledger.h"
#include "site/agent.h"
#include "store/open_store.h"

namespace assay::cli {
namespace {

struct HubFlags {
  std::string what{};
  std::string id{};
  std::string store{};
  std::string host = "127.0.0.1";
  std::uint64_t port = 8643;
  std::string certificate{};
  std::string certificate_key{};
  std::string role{};
  std::string organisation{};
  std::string name{};
  std::string hub{};
  std::string token_file{};
  std::string ca_file{};
  std::string benchmark{};
  std::string dataset{};
  std::string model{};
  std::string description{};
  std::string measurement{};
  std::string key{};
  bool json = false;
};

void add_hub_flags(Flags& flags, HubFlags& o) {
  flags.add("WHAT", &o.what, "serve, token, revoke, verify, show, or an act")
      .choices({"serve", "token", "revoke", "verify", "show", "add_benchmark", "add_model",
                "associate", "approve", "reject", "order"})
      .required();
  flags.add("ID", &o.id, "of what an act makes; of revoke, the token's first digits");
  flags.add("--json", &o.json, "print the result as JSON");
  static constexpr const char* kServer = "The server: serve, token, revoke, verify";
  flags.add("--store", &o.store, "a file, or postgresql://…; else ~/.local/share/assay/store.db")
      .value("STORE")
      .group(kServer);
  flags.add("--host", &o.host, "listen here; other than loopback needs a certificate")
      .value("HOST")
      .group(kServer);
  flags.add("--port", &o.port, "0 takes any that is free").value("PORT").group(kServer);
  flags.add("--certificate", &o.certificate, "HTTPS with this PEM file of the chain")
      .value("FILE")
      .group(kServer);
  flags.add("--certificate-key", &o.certificate_key, "its key").value("FILE").group(kServer);
  flags.add("--role", &o.role, "of token: benchmark_owner, data_owner or model_owner")
      .value("ROLE")
      .group(kServer);
  flags.add("--organisation", &o.organisation, "of token").value("NAME").group(kServer);
  flags.add("--name", &o.name, "of token: whose it is").value("NAME").group(kServer);
  static constexpr const char* kParty = "A party: show and acts";
  flags.add("--hub", &o.hub, "the hub's address").value("URL").group(kParty);
  flags.add("--token-file", &o.token_file, "a file with the token alone")
      .value("FILE")
      .group(kParty);
  flags.add("--ca-file", &o.ca_file, "trust these certificates, not the system's")
      .value("FILE")
      .group(kParty);
  flags.add("--benchmark", &o.benchmark, "of associate, approve, reject and order")
      .value("ID")
      .group(kParty);
  flags.add("--dataset", &o.dataset, "likewise").value("ID").group(kParty);
  flags.add("--model", &o.model, "likewise").value("ID").group(kParty);
  flags.add("--description", &o.description, "of add_benchmark and add_model")
      .value("TEXT")
      .group(kParty);
  flags.add("--measurement", &o.measurement, "of add_benchmark: JSON, docs/formats/sites.md")
      .value("FILE")
      .group(kParty);
  flags.add("--key", &o.key, "the act's key; the same act with the same key counts once")
      .value("KEY")
      .group(kParty);
  flags.example("assay hub serve --store hub.db");
  flags.example("assay hub token --store hub.db --role data_owner --organisation Hospital");
  flags.example("assay hub approve --benchmark triage --dataset hospital-a \\");
  flags.example("          --hub https://hub.example --token-file token");
}

Result<int> serve_hub(const HubFlags& o) {
  if (o.port > 65535) return invalid("--port: at most 65535");
  if (o.certificate.empty() != o.certificate_key.empty()) {
    return invalid("--certificate and --certificate-key belong together");
  }
  const sigset_t ends = block_ending_signals();
  const auto opened = hub::Hub::open({.store = o.store,
                                      .host = o.host,
                                      .port = static_cast<std::uint16_t>(o.port),
                                      .certificate_file = o.certificate,
                                      .key_file = o.certificate_key});
  if (!opened) return with_free_port(opened.error());
  hub::Hub& hub = **opened;
  print(o.json ? Json::object().set("url", hub.url()).dump() + "\n" : hub.url() + "\n");
  std::fflush(stdout);
  std::thread server([&hub] { hub.run(); });
  int signal = 0;
  sigwait(&ends, &signal);
  hub.stop();
  server.join();
  return exit_code(ExitCode::done);
}

Result<int> make_hub_token(const HubFlags& o) {
  ASSIGN_OR_RETURN(const sites::Role role, sites::role_named(o.role));
  if (o.organisation.empty()) return invalid("--organisation: whose token is it?");
  ASSIGN_OR_RETURN(const auto store, store::open_store(o.store));
  const std::string token = random_secret();
  TRY(store->put_token({.hash = sha256_hex(token),
                        .role = std::string(to_string(role)),
                        .organisation = o.organisation,
                        .name = o.name,
                        .created = rfc3339(wall_now()),
                        .revoked = false}));
  if (o.json) {
    print(Json::object().set("token", token).set("id", sha256_hex(token).substr(0, 12)).dump() +
          "\n");
  } else {
    print(token + "\n");
    say(format("hand it over once; to end it: assay hub revoke {}",
               sha256_hex(token).substr(0, 12)));
  }
  return exit_code(ExitCode::done);
}

Result<int> revoke_hub_token(const HubFlags& o) {
  ASSIGN_OR_RETURN(const auto store, store::open_store(o.store));
  ASSIGN_OR_RETURN(auto tokens, store->tokens());
  std::erase_if(tokens, [&o](const store::TokenRecord& one) {
    return !one.hash.starts_with(o.id) || !sites::role_named(one.role);
  });
  if (o.id.size() < 6 || tokens.size() != 1) {
    return Error{Code::not_found,
                 format("'{}' is the beginning of {} tokens of a party; at least 6 "
                        "digits of one are needed",
                        o.id, tokens.size())};
  }
  tokens.front().revoked = true;
  TRY(store->put_token(tokens.front()));
  print(o.json ? Json::object().set("revoked", tokens.front().hash.substr(0, 12)).dump() + "\n"
               : format("revoked: {}, {}\n", tokens.front().organisation, tokens.front().role));
  return exit_code(ExitCode::done);
}

Result<int> verify_hub(const HubFlags& o) {
  ASSIGN_OR_RETURN(const auto store, store::open_store(o.store));
  hub::Ledger ledger(*store);
  if (const auto read = ledger.refresh(); !read) {
    if (read.error().code != Code::corrupt) return read.error();
    print(read.error().message + "\n");
    return exit_code(ExitCode::findings);
  }
  print(o.json
            ? Json::object().set("entries", ledger.count()).set("head", ledger.head()).dump() + "\n"
            : format("{} entries, every hash is right and every act allowed\nhead {}\n",
                     ledger.count(), ledger.head()));
  return exit_code(ExitCode::done);
}

std::string shown(const Json& federation) {
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

Result<sites::Act> act_of_flags(const HubFlags& o) {
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

Result<int> ask_hub(const HubFlags& o) {
  if (o.hub.empty() || o.token_file.empty()) return invalid("--hub and --token-file: are needed");
  const OsClock clock;
  ASSIGN_OR_RETURN(
      const auto link,
      site::HubLink::open({.url = o.hub, .token_file = o.token_file, .ca_file = o.ca_file}, clock));
  if (o.what != "show") {
    ASSIGN_OR_RETURN(const sites::Act act, act_of_flags(o));
    TRY(link.send(act));
    print(o.json ? sites::to_json(act).dump() + "\n" : format("accepted: {}\n", o.what));
    return exit_code(ExitCode::done);
  }
  ASSIGN_OR_RETURN(const Json federation, link.federation());
  print(o.json ? federation.dump(2) + "\n" : shown(federation));
  return exit_code(ExitCode::done);
}

}  // namespace

Result<int> cmd_hub(Args args) {
  HubFlags o;
  Flags flags("hub", "federated evaluation: what parties approve, order and release");
  add_hub_flags(flags, o);
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);
  if (o.what == "serve") return serve_hub(o);
  if (o.what == "token") return make_hub_token(o);
  if (o.what == "revoke") return revoke_hub_token(o);
  if (o.what == "verify") return verify_hub(o);
  return ask_hub(o);
}

}  // namespace assay::cli
