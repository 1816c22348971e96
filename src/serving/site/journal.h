// Journal: what a site knows of its runs, in its own SQLite store: an append-only history for each
// run. It moves by the same state machine as the hub's (sites/federation.h), and is ahead of it
// where an act was not sent yet. The bytes of a release stand in the entry of the review: what was
// shown is what is signed, whatever the policy says by then.
//
// One thread, its own Store.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sites/federation.h"
#include "sites/release.h"
#include "store/store.h"

namespace assay::site {

struct LocalRun {
  std::string id{};
  std::string benchmark{};
  std::string dataset{};
  std::string dataset_sha256{};
  std::string model{};
  std::vector<std::string> wanted{};  // fields
  sites::RunState state = sites::RunState::ordered;
  std::vector<sites::MeasuredLevel> measured{};  // from held on
  std::string document{};                        // from reviewed on
  std::string signature{};                       // of released
  std::string reason{};                          // of failed
};

class Journal {
 public:
  // The reference must outlive it.
  explicit Journal(store::Store& store) : store_(store) {}

  // nullopt: this site has not taken it. Code::corrupt where the chain of hashes is broken.
  Result<std::optional<LocalRun>> run(std::string_view id) const;
  Result<std::vector<LocalRun>> runs() const;

  // Each is one entry. Code::refused where the run's state does not allow it.
  Result<void> take(const LocalRun& run, const std::string& at);
  Result<void> hold(std::string_view id, const std::vector<sites::MeasuredLevel>& measured,
                    const std::string& at);
  Result<void> fail(std::string_view id, std::string_view reason, const std::string& at);
  Result<void> review(std::string_view id, const std::string& document, const std::string& at);
  Result<void> release(std::string_view id, const std::string& signature, const std::string& at);
  Result<void> withhold(std::string_view id, const std::string& at);

 private:
  Result<void> append(std::string_view id, sites::ActKind kind, const Json& body,
                      const std::string& at);
  store::Store& store_;
};

// The acts, in order, that the hub lacks to be where the run is here.
std::vector<sites::Act> acts_to_send(const LocalRun& run, sites::RunState at_hub);

}  // namespace assay::site
