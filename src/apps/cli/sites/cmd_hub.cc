#include <signal.h>

#include <cstdio>
#include <thread>

#include "base/ending_signals.h"
#include "base/exit_code.h"
#include "base/flags.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "hub/hub.h"
#include "hub/token_acts.h"
#include "site/party_acts.h"

namespace assay::cli {
namespace {

struct HubFlags {
  hub::TokenAsked token{};
  site::PartyAsked party{};
  std::string host = "127.0.0.1";
  std::uint64_t port = 8643;
  std::string certificate{};
  std::string certificate_key{};
};

void add_hub_flags(Flags& flags, HubFlags& o) {
  flags.add("WHAT", &o.party.what, "serve, token, revoke, verify, show, or an act")
      .choices({"serve", "token", "revoke", "verify", "show", "add_benchmark", "add_model",
                "associate", "approve", "reject", "order"})
      .required();
  flags.add("ID", &o.party.id, "of what an act makes; of revoke, the token's first digits");
  flags.add("--json", &o.party.json, "print the result as JSON");
  flags.group("The server: serve, token, revoke, verify");
  flags.add("--store=STORE", &o.token.store,
            "a file, or postgresql://…; else ~/.local/share/assay/store.db");
  flags.add("--host=HOST", &o.host, "listen here; other than loopback needs a certificate");
  flags.add("--port=PORT", &o.port, "0 takes any that is free");
  flags.add("--certificate=FILE", &o.certificate, "HTTPS with this PEM file of the chain");
  flags.add("--certificate-key=FILE", &o.certificate_key, "its key");
  flags.add("--role=ROLE", &o.token.role, "of token: benchmark_owner, data_owner or model_owner");
  flags.add("--organisation=NAME", &o.token.organisation, "of token");
  flags.add("--name=NAME", &o.token.name, "of token: whose it is");
  flags.group("A party: show and acts");
  flags.add("--hub=URL", &o.party.hub, "the hub's address");
  flags.add("--token-file=FILE", &o.party.token_file, "a file with the token alone");
  flags.add("--ca-file=FILE", &o.party.ca_file, "trust these certificates, not the system's");
  flags.add("--benchmark=ID", &o.party.benchmark, "of associate, approve, reject and order");
  flags.add("--dataset=ID", &o.party.dataset, "likewise");
  flags.add("--model=ID", &o.party.model, "likewise");
  flags.add("--description=TEXT", &o.party.description, "of add_benchmark and add_model");
  flags.add("--measurement=FILE", &o.party.measurement,
            "of add_benchmark: JSON, docs/formats/sites.md");
  flags.add("--key=KEY", &o.party.key, "the act's key; the same act with the same key counts once");
  flags.example("assay hub serve --store hub.db");
  flags.example("assay hub token --store hub.db --role data_owner --organisation Hospital");
  flags.example("assay hub approve --benchmark triage --dataset hospital-a \\");
  flags.example("          --hub https://hub.example --token-file token");
  flags.group("");
}

Result<int> serve_hub(const HubFlags& o) {
  if (o.port > 65535) return invalid("--port: at most 65535");
  if (o.certificate.empty() != o.certificate_key.empty()) {
    return invalid("--certificate and --certificate-key belong together");
  }
  const sigset_t ends = block_ending_signals();
  const auto opened = hub::Hub::open({.store = o.token.store,
                                      .host = o.host,
                                      .port = static_cast<std::uint16_t>(o.port),
                                      .certificate_file = o.certificate,
                                      .key_file = o.certificate_key});
  if (!opened) return with_free_port(opened.error());
  hub::Hub& hub = **opened;
  print(o.party.json ? Json::object().set("url", hub.url()).dump() + "\n" : hub.url() + "\n");
  std::fflush(stdout);
  std::thread server([&hub] { hub.run(); });
  int signal = 0;
  sigwait(&ends, &signal);
  hub.stop();
  server.join();
  return exit_code(ExitCode::done);
}

}  // namespace

Result<int> cmd_hub(Args args) {
  HubFlags o;
  Flags flags("hub", "federated evaluation: what parties approve, order and release");
  add_hub_flags(flags, o);
  PARSE_OR_RETURN(flags, args);
  o.token.id = o.party.id;
  o.token.json = o.party.json;
  if (o.party.what == "serve") return serve_hub(o);
  if (o.party.what == "token") return hub::make_hub_token(o.token, console());
  if (o.party.what == "revoke") return hub::revoke_hub_token(o.token, console());
  if (o.party.what == "verify") return hub::verify_hub(o.token, console());
  return site::ask_hub(o.party, console());
}

}  // namespace assay::cli
