// Explorer: the server behind `assay serve`, as a library: listeners, threads, the page, the API.
//
// open() binds, so that url() is known; start() serves on threads of its own; stop() ends them. One
// thread calls these functions.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "explorer/import.h"
#include "explorer/safety_pairs.h"
#include "rules/calendar.h"

namespace assay::explorer {

struct ExplorerOptions {
  std::string store{};  // as for open_store
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  bool token = true;  // require a launch token
  bool writable = false;
  unsigned threads = 2;
  std::vector<std::filesystem::path> watched{};
  ImportOptions import{};  // for runs that end while we watch
  // Runs that ended, or had their last write, before this are not live. Unix time.
  WallTime watched_since{};
  rules::Holidays holidays{};    // of the review board's calendar
  std::filesystem::path head{};  // of its history's head; "": none
  SafetyPairs pairs{};           // how the safety of two curves is compared; may be empty
};

class Explorer {
 public:
  static Result<std::unique_ptr<Explorer>> open(const ExplorerOptions& options);
  ~Explorer();

  // http://127.0.0.1:8000/?token=…
  std::string url() const;
  std::string api_url() const;  // http://127.0.0.1:8000/api/v1
  const std::string& token() const;
  void start();
  void stop();

 private:
  struct State;
  explicit Explorer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace assay::explorer
