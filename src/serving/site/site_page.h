// SitePage: the server behind `assay site serve`: the site's runs as a page on this machine, where
// a person reviews the bytes that would leave and releases them. It listens on loopback alone, and
// wants the launch token, as the explorer does (explorer/access.h).
//
//   GET  /api/v1/site                {"runs": […], "release": {fields, k_minimum, digits}}
//   POST /api/v1/site/review    {"run"}            {"document", "sha256", "kept_back"}
//   POST /api/v1/site/release   {"run", "sha256"}  {"signature"}
//   POST /api/v1/site/withhold  {"run"}            {}
//
// open() binds; run() serves until stop(), which any thread may call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "site/policy.h"

namespace assay::site {

class SitePage {
 public:
  // The policy must outlive it. `port` 0: any that is free.
  static Result<std::unique_ptr<SitePage>> open(const Policy& policy, std::uint16_t port);
  ~SitePage();

  std::string url() const;  // http://127.0.0.1:8644/?token=…
  void run();
  void stop();

 private:
  struct State;
  explicit SitePage(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace assay::site
