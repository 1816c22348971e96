// EndpointProcess runs `assay endpoint`, or `assay proxy` before one, as a child process, so that
// its descriptors and its CPU time are separate from the client's. It listens on a free port of
// 127.0.0.1 and ends with stop() or the destructor. One thread.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::campaign {

class EndpointProcess {
 public:
  // `flags`: those of `assay endpoint`. `cores`: where it may run; empty: anywhere.
  static Result<std::unique_ptr<EndpointProcess>> start(std::vector<std::string> flags,
                                                        const std::vector<int>& cores);
  // `flags`: those of `assay proxy` but for --record: its trace goes into `folder`, which is new.
  static Result<std::unique_ptr<EndpointProcess>> start_proxy(const std::string& server,
                                                              const std::string& folder,
                                                              const std::vector<std::string>& flags,
                                                              const std::vector<int>& cores);
  ~EndpointProcess();
  EndpointProcess(const EndpointProcess&) = delete;
  EndpointProcess& operator=(const EndpointProcess&) = delete;

  const std::string& url() const { return url_; }
  // Asks it to end and waits; its truth log is complete afterwards.
  Result<void> stop();

 private:
  explicit EndpointProcess(pid_t pid) : pid_(pid) {}
  static Result<std::unique_ptr<EndpointProcess>> start_command(
      const std::vector<std::string>& args, const std::vector<int>& cores);
  Result<void> wait_until_it_listens(int descriptor);

  pid_t pid_;
  std::string url_{};
};

}  // namespace assay::campaign
