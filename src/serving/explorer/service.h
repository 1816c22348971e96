// Service: one thread's part of the explorer, between its sockets (net/http_server.h) and Api,
// Access and the page. It holds the streams of /live and feeds them once a turn.
#pragma once

#include <string_view>
#include <vector>

#include "explorer/access.h"
#include "explorer/api.h"
#include "explorer/live.h"
#include "net/http_server.h"
#include "store/store.h"

namespace assay::explorer {

class Service final : public net::HttpService {
 public:
  // The references must outlive the service.
  Service(const Access& access, store::Store& store, const LiveRuns& live,
          const rules::Holidays& holidays, std::filesystem::path head, SafetyPairs pairs)
      : access_(access),
        store_(store),
        live_(live),
        api_(store, holidays, std::move(head), std::move(pairs)) {}
  void set_server(net::HttpServer* server) { server_ = server; }

  void on_request(net::ConnectionId connection, const net::RequestHead& head,
                  std::string_view body) override;
  void on_gone(net::ConnectionId connection) override;
  void on_progress(net::ConnectionId, std::uint64_t) override {}
  Instant on_turn(Instant now) override;

 private:
  struct Reply {
    int status = 200;
    std::string_view content_type = "application/json";
    std::string_view body{};
    std::string_view etag{};
    std::string_view location{};
    std::string_view cookie{};
    bool gzipped = false;
  };

  void answer_api(net::ConnectionId connection, const net::RequestHead& head, std::string_view body,
                  const Session& session);
  void answer_page(net::ConnectionId connection, const net::RequestHead& head);
  bool take_token(net::ConnectionId connection, const net::RequestHead& head);
  void begin_live(net::ConnectionId connection, const net::RequestHead& head);
  void refuse(net::ConnectionId connection, const net::RequestHead& head, Access::Verdict verdict);
  // Sends with the ETag of the body; 304 if the peer has it.
  void send_tagged(net::ConnectionId connection, const net::RequestHead& head, Reply reply);
  void send(net::ConnectionId connection, const net::RequestHead& head, const Reply& reply);

  const Access& access_;
  store::Store& store_;
  const LiveRuns& live_;
  Api api_;
  net::HttpServer* server_ = nullptr;
  std::vector<net::ConnectionId> streams_{};
  Instant next_look_{};
  Instant next_comment_{};
  std::int64_t revision_ = -1;
  std::uint64_t live_seen_ = 0;
};

}  // namespace assay::explorer
