// PrometheusServer serves a running run's figures over HTTP, at GET /metrics, for Prometheus to
// scrape. It only reads snapshots, on its own thread, so the measuring threads never wait for a
// scrape; each scrape takes some tens of microseconds of another core.
//
// open() binds, so that a taken port is an error before the run begins. One thread calls these
// functions.
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
  // `where`: "9464" (on 127.0.0.1), "0.0.0.0:9464", "[::]:9464"; port 0 takes a free one.
  static Result<std::unique_ptr<PrometheusServer>> open(const std::string& where);
  ~PrometheusServer();

  std::string url() const;
  // Sets the run to show. Without one, /metrics replies 503.
  void show(Json facts, std::function<metrics::LiveSnapshot()> snapshot);
  // After it returns, the snapshot is not called any more.
  void hide();

 private:
  struct State;
  explicit PrometheusServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace assay::campaign
