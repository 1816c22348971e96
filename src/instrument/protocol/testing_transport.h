// For tests: a transport by itself, without a socket. The test gives it bytes with stamps, and
// looks at what it gives out and reports.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/testing_by_hand.h"
#include "protocol/transport.h"

namespace assay::protocol {

class LoneTransport {
 public:
  using Make = std::unique_ptr<Transport> (*)(Lane&, TransportShared&);

  explicit LoneTransport(Make make) : transport(make(lane, shared)) {
    const Plan plan{.phases = {PhasePlan{.order = SampleOrder::sequential(1)}}};
    std::vector<PlannedDataset> datasets(1);
    datasets[0].dataset.name = "test";
    datasets[0].dataset.samples.push_back(Sample{.prompt = "hello"});
    datasets[0].generation.model = "m";
    Endpoints endpoints;
    endpoints.urls = {"http://127.0.0.1:1"};
    endpoints.request_ids = false;
    auto bodies = PreparedBodies::make(plan, datasets, endpoints);
    EXPECT_TRUE(bodies) << bodies.error().message;
    shared.requests =
        PreparedRequests(std::make_shared<const PreparedBodies>(std::move(*bodies)), plan);
    shared.sink = &notes;
  }

  // Begins the next query at `now`, as HttpTarget does. Its bytes, where they come at once, are in
  // `request`.
  Slot& begin() {
    const Query query{.index = index_++};
    Slot& slot = slots.emplace_back(nullptr);
    slot.exchange.begin(query, now, 0, shared.requests.asked(query));
    slot.exchange.set_sent(now, now);
    lane.active.push_back(&slot);
    Pieces pieces;
    EXPECT_TRUE(transport->begin(slot, now, false, &pieces));
    request.clear();
    for (const std::string_view part : pieces.all()) request += part;
    return slot;
  }
  // A read at `now`.
  Fed feed(std::string_view bytes, std::size_t rest = 0) {
    return feed(bytes, rest, {.arrival = now, .read = now});
  }
  Fed feed(std::string_view bytes, std::size_t rest, const Stamp& at) {
    std::string padded(bytes);
    padded.resize(bytes.size() + kDecodePadding);
    return transport->feed({padded.data(), bytes.size()}, rest, at);
  }
  // Everything that the transport has to send.
  std::string sent() {
    std::string out;
    for (;;) {
      const std::string_view bytes = transport->output();
      if (bytes.empty()) return out;
      out += bytes;
    }
  }
  // Takes the ended queries out of the lane, as HttpTarget does.
  std::vector<Slot*> take_ended() {
    for (Slot* const slot : shared.ended) lane.remove(slot);
    return std::exchange(shared.ended, {});
  }

  Instant now = Instant{} + 1000_s;
  Notes notes{};
  Lane lane{};
  TransportShared shared{1, nullptr};
  std::deque<Slot> slots{};
  std::unique_ptr<Transport> transport;
  std::string request{};

 private:
  std::uint32_t index_ = 0;
};

}  // namespace assay::protocol
