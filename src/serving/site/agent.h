// Agent: the site's side of the conversation with the hub. It only asks: nothing connects to a
// site. Each turn reads the hub's runs of this site's data, refuses what the policy does not allow,
// takes and measures what it does, and sends the acts that the hub lacks, and how far the pipelines
// are that prepare its data. Every step may be the
// last: acts are idempotent, and a run that was taken and not measured is measured again.
//
// One thread; one agent a site, which `Agent::open` makes sure of.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "net/socket.h"
#include "site/journal.h"
#include "site/policy.h"

namespace assay::site {

// The hub as the site calls it.
class HubLink {
 public:
  // Reads the token's file. The clock must outlive it.
  static Result<HubLink> open(const HubAddress& address, const Clock& clock);

  Result<Json> federation() const;
  Result<void> send(const sites::Act& act) const;

 private:
  HubLink(HubAddress address, const Clock& clock, std::string token)
      : address_(std::move(address)), clock_(&clock), token_(std::move(token)) {}
  Result<Json> ask(const std::string& method, std::string_view path, const std::string& body) const;

  HubAddress address_;
  const Clock* clock_;
  std::string token_;
};

struct Turn {
  int refused = 0;
  int measured = 0;
  int failed = 0;
  int sent = 0;  // acts, take and refuse included
};

class Agent {
 public:
  // Code::refused while another agent, or a run that one started, is at work here; Code::invalid
  // where the key of a model is not in the environment.
  // `say`: gets a line for the site's own terminal.
  static Result<Agent> open(const Policy& policy, Journal& journal, const HubLink& hub,
                            std::filesystem::path program,
                            std::function<void(const std::string&)> say);

  Result<Turn> turn();

 private:
  Agent(const Policy& policy, Journal& journal, const HubLink& hub, std::filesystem::path program,
        std::function<void(const std::string&)> say, net::Fd lock)
      : policy_(policy),
        journal_(journal),
        hub_(hub),
        program_(std::move(program)),
        say_(std::move(say)),
        lock_(std::move(lock)) {}

  Result<void> begin(const Json& federation, const Json& run, Turn& turn);
  Result<void> work(const Json& federation, const LocalRun& run, Turn& turn);
  Result<void> report(const LocalRun& run, sites::RunState at_hub, Turn& turn);
  // Sends the counts of each preparation that the hub does not have yet.
  Result<void> report_preparations(const Json& federation, Turn& turn);

  const Policy& policy_;
  Journal& journal_;
  const HubLink& hub_;
  std::filesystem::path program_;
  std::function<void(const std::string&)> say_;
  net::Fd lock_;
};

// The site's private key.
Result<std::string> site_key(const Policy& policy);

// The act that registers a dataset of the policy: its digest and count of rows, nothing of a row.
Result<sites::Act> dataset_act(const Policy& policy, const std::string& id);

// The document that the review shows and the release sends, and what stays.
sites::Candidate candidate_of(const Policy& policy, const LocalRun& run);

}  // namespace assay::site
