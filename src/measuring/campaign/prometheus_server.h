// PrometheusServer: a run's own figures over HTTP while it runs, for Prometheus to scrape: GET
// /metrics. It only reads snapshots, on a thread of its own, so the measuring threads never wait
// for a scrape; each costs some tens of microseconds of another core.
//
// open() binds, so that a port that is taken is an error before the run begins. One thread calls
// these.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "metrics/live.h"

namespace assay::campaign {

class PrometheusServer {
 public:
  // `where`: "9464" (on 127.0.0.1), "0.0.0.0:9464", "[::]:9464"; port 0 takes one that is free.
  static Result<std::unique_ptr<PrometheusServer>> open(const std::string& where);
  ~PrometheusServer();

  std::string url() const;
  // What to show from now on. Without it, /metrics says 503.
  void show(Json facts, std::function<metrics::LiveSnapshot()> snapshot);
  // The snapshot is not called any more when this returns.
  void hide();

 private:
  struct State;
  explicit PrometheusServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace assay::campaign
