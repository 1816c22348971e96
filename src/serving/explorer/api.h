// Api: the REST API of docs/formats/api.yaml as a function from a request to a reply, without
// sockets. The caller has already authenticated the request (access.h).
//
// Replies are cached with the store's revision, so that a popular page costs one database query a
// request. One thread, its own Store.
#pragma once

#include <list>
#include <string>
#include <string_view>

#include "explorer/access.h"
#include "explorer/run_events.h"
#include "explorer/safety_pairs.h"
#include "rules/calendar.h"
#include "store/store.h"

namespace assay::explorer {

struct ApiRequest {
  std::string_view method{};  // GET, POST
  std::string_view target{};  // from "/api/v1" on
  std::string_view body{};
  Session session{};
  bool writable = false;
};

struct ApiReply {
  int status = 200;
  std::string body{};  // JSON
};

// {"error":{"code":…,"message":…}}
ApiReply api_error(int status, std::string_view code, std::string_view message);

class Api {
 public:
  // The references must outlive it. `holidays`: of the review board's calendar. `head`: the file of
  // its history's head, "" for none. `pairs`: may be empty, and then no safety is compared.
  Api(store::Store& store, const rules::Holidays& holidays, std::filesystem::path head,
      SafetyPairs pairs = {})
      : store_(store), holidays_(holidays), head_(std::move(head)), pairs_(std::move(pairs)) {}

  ApiReply answer(const ApiRequest& request);

  static constexpr std::string_view kRoot = "/api/v1";

 private:
  struct Remembered {
    std::string target{};
    std::int64_t revision = 0;
    ApiReply reply{};
  };

  ApiReply get(const ApiRequest& request);
  ApiReply get_fresh(const ApiRequest& request);
  ApiReply post(const ApiRequest& request);
  ApiReply session(const ApiRequest& request);
  // One submission, or all if `id` is "".
  ApiReply submissions(const std::string& id, const ApiRequest& request);
  ApiReply events(std::string_view id, std::string_view target);
  ApiReply compare_safety(std::string_view target);

  store::Store& store_;
  const rules::Holidays& holidays_;
  std::filesystem::path head_;
  SafetyPairs pairs_;
  ServedRuns runs_{};
  std::list<Remembered> remembered_{};  // the latest first
};

}  // namespace assay::explorer
