// LivePage: one page to look at while a client run goes on: which category is asked, how far it is,
// TTFT and tokens per second so far. It listens on loopback only and only reads snapshots, on a
// thread of its own; measuring threads never wait for it.
//
// The URL's token is new with each launch and opens the page once; then a cookie replaces it that
// scripts cannot read and other sites' requests do not carry. A foreign Host is refused (DNS
// rebinding), and so is any method but GET and HEAD. The page loads nothing from elsewhere.
//
// open() binds, so that a taken port is an error before the run begins. One thread calls these
// functions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "desk/series.h"
#include "metrics/live.h"

namespace assay::desk {

// What the page asks for again and again: the snapshot's figures, the category that is asked now,
// and the facts.
Json live_page_json(const Series& series, const Json& facts, const metrics::LiveSnapshot& snapshot);

class LivePage {
 public:
  // Port 0 takes a free one. `facts`: model, server, folder, as texts.
  static Result<std::unique_ptr<LivePage>> open(std::uint16_t port, Series series, Json facts);
  ~LivePage();

  std::string url() const;  // with the token
  void show(std::function<metrics::LiveSnapshot()> snapshot);
  // After it returns, the snapshot is not called any more.
  void hide();

 private:
  struct State;
  explicit LivePage(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace assay::desk
