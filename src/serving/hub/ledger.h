// Ledger: the federation of a store: its history of acts, and the state that they make. An act is
// appended after the state machine has accepted it, in the order in which the database takes them;
// where another process was faster, the act is judged again on the newer state. So a killed hub
// leaves an act whole in the history, or not at all.
//
// One thread, its own Store. The reference must outlive the ledger.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "sites/federation.h"
#include "store/store.h"

namespace assay::hub {

class Ledger {
 public:
  explicit Ledger(store::Store& store) : store_(store) {}

  // Reads what was appended since. Code::corrupt: an entry was changed, left out or put in.
  Result<void> refresh();
  // `at`: RFC 3339. Errors are those of sites::apply(), and the store's.
  Result<sites::Effect> act(const sites::Actor& actor, const sites::Act& act,
                            const std::string& at);

  // After the last refresh() or act().
  const sites::Federation& state() const { return state_; }
  std::int64_t count() const { return sequence_; }
  const std::string& head() const { return head_; }  // hash of the last entry

 private:
  store::Store& store_;
  sites::Federation state_{};
  std::int64_t sequence_ = 0;
  std::string head_{};
};

}  // namespace assay::hub
