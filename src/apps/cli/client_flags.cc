#include "cli/client_flags.h"

namespace assay::cli {

void add_client_flags(Flags& flags, campaign::ClientOptions& client) {
  static constexpr const char* kClient = "This client";
  flags.add("--threads", &client.threads, "measuring threads, one a core")
      .value("N")
      .group(kClient);
  flags.add("--pin", &client.pin, "bind each measuring thread to a core").group(kClient);
  flags.add("--spin", &client.spin, "never sleep before a send: uses the whole core")
      .group(kClient);
  flags
      .add("--no-kernel-timestamps", &client.no_kernel_timestamps,
           "time arrivals by our own reads alone")
      .group(kClient);
  flags.add("--ca-file", &client.ca_file, "PEM of certificates to trust instead of the system's")
      .value("FILE")
      .group(kClient);
  flags
      .add("--allow-client-limited", &client.allow_client_limited,
           "exit 0 even when the client was the bottleneck; the result says so all the same")
      .group(kClient);
  flags
      .add("--allow-code", &client.allow_code,
           "score code that the model wrote by running it, in a sandbox, after the run")
      .group(kClient);
  flags
      .add("--require-accuracy", &client.require_accuracy,
           "exit 1 unless the whole dataset's scores are what the workload demands")
      .group(kClient);
}

}  // namespace assay::cli
