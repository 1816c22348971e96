// Random bytes as a request to the explorer's API: the first line is the target, "!" before it
// makes it a POST, the rest is the body. Every reply is JSON with a documented status, and none is
// an internal error.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "base/check.h"
#include "base/json.h"
#include "explorer/api.h"
#include "explorer/board.h"
#include "store/open_store.h"

namespace assay::explorer {
namespace {

std::unique_ptr<store::Store> small_store() {
  auto store = store::open_store(":memory:");
  CHECK(store);
  store::CurveRecord curve{
      .id = "c1", .system = {"sys", "System", "{}"}, .model = "m", .dataset = "d"};
  curve.document = R"({"id":"c1","system":"sys"})";
  for (int i = 1; i < 4; ++i) {
    curve.points.push_back({.id = "p" + std::to_string(i),
                            .concurrency = double(i),
                            .system_tps = 10.0 * i,
                            .document = R"({"id":"p","concurrency":1,"system_tps":1})",
                            .run = "{}"});
  }
  CHECK((*store)->put(curve));
  const rules::Actor chair{"chair", ""};
  CHECK(submit(**store, Json().set("id", "s1").set("organisation", "We"), chair, {}, ""));
  CHECK(act(**store, "s1", Json().set("kind", "check_passed"), chair, {}, ""));
  return std::move(*store);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::set<int> kStatuses{200, 201, 400, 403, 404, 405, 409};
  static const rules::Holidays kHolidays;
  static const auto kStore = small_store();
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(bytes.find('\n'), bytes.size());
  const bool posts = bytes.starts_with("!");
  const std::string target = "/api/v1/" + bytes.substr(posts ? 1 : 0, end - (posts ? 1 : 0));
  // Writes must not reach the next input.
  const auto own = posts ? small_store() : nullptr;
  Api api(posts ? *own : *kStore, kHolidays, "");
  const ApiReply reply =
      api.answer({.method = posts ? "POST" : "GET",
                  .target = target,
                  .body = std::string_view(bytes).substr(std::min(end + 1, size)),
                  .session = {.role = Role::chair},
                  .writable = true});
  CHECK(kStatuses.contains(reply.status));
  CHECK(Json::parse(reply.body));
  return 0;
}

}  // namespace assay::explorer
