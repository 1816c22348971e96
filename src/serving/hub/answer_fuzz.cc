// Any bytes as a request to a hub: up to the first empty line its head, whose line ends become
// those of HTTP, behind it the body. With a token of a party, or without: the reply is JSON or a
// file of the page with a documented status, without a token nothing of the federation is answered,
// and what was accepted is in the history.
#include "hub/answer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "store/open_store.h"

namespace assay::hub {
namespace {

const std::string kAt = "2026-01-01T00:00:00Z";

std::unique_ptr<store::Store> store_with_tokens() {
  auto opened = store::open_store(":memory:");
  CHECK(opened);
  for (const char* role : {"benchmark_owner", "data_owner", "model_owner", "chair"}) {
    CHECK((*opened)->put_token({.hash = sha256_hex(role),
                                .role = role,
                                .organisation = role,
                                .name = role,
                                .created = kAt,
                                .revoked = false}));
  }
  return std::move(*opened);
}

}  // namespace
}  // namespace assay::hub

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  static const std::set<int> kStatuses{200, 201, 400, 401, 403, 404, 405, 409, 415};
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t behind = bytes.find("\n\n");
  if (behind == std::string_view::npos) return 0;
  std::string head_text;
  for (const char c : bytes.substr(0, behind + 2))
    head_text += c == '\n' ? "\r\n" : std::string(1, c);
  const std::string_view body = bytes.substr(behind + 2);
  net::RequestHead head;
  std::size_t searched = 0;
  const auto read = net::parse_request_head(head_text, head_text.size(), searched, head);
  if (read.status != net::ReadStatus::ready) return 0;
  const auto store = hub::store_with_tokens();
  hub::Ledger ledger(*store);
  for (int times = 0; times < 2; ++times) {
    const std::int64_t before = ledger.count();
    const hub::Reply reply = hub::answer(*store, ledger, head, body, hub::kAt);
    CHECK(kStatuses.contains(reply.status));
    CHECK(reply.page || Json::parse(reply.body).has_value());
    CHECK((reply.status == 201) == (ledger.count() == before + 1));
    // A repeated act is not taken twice.
    CHECK(times == 0 || reply.status != 201);
    const bool api = head.path().starts_with("/api/");
    CHECK(!api || !head.find("authorization").empty() || reply.status == 401 ||
          reply.status == 403);
  }
  hub::Ledger again(*store);
  CHECK(again.refresh().has_value() && again.count() == ledger.count());
  return 0;
}
