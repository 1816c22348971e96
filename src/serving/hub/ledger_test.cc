#include "hub/ledger.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/check.h"
#include "base/hash.h"
#include "base/testing_temp_folder.h"
#include "hub/answer.h"
#include "store/open_store.h"
#include "store/testing_postgres.h"

namespace assay::hub {
namespace {

const std::string kNow = "2026-11-24T00:00:00Z";
const sites::Actor kOwner{sites::Role::benchmark_owner, "Committee"};

sites::Act model_act(const std::string& id) {
  return {.kind = sites::ActKind::add_model, .key = "add-" + id, .id = id};
}
const sites::Actor kVendor{sites::Role::model_owner, "Vendor"};

class Ledgers : public testing::TestWithParam<const char*> {
 protected:
  Ledgers()
      : where_(std::string(GetParam()) == "postgresql" ? store::TestPostgres::shared().fresh_url()
                                                       : (folder_.path() / "hub.db").string()) {}

  std::unique_ptr<store::Store> open() {
    auto opened = store::open_store(where_);
    CHECK(opened.has_value());
    return std::move(*opened);
  }

  TempFolder folder_{};
  std::string where_;
};

TEST_P(Ledgers, state_is_the_same_in_another_process_and_an_act_sent_twice_counts_once) {
  const auto store = open();
  Ledger ledger(*store);
  ASSERT_EQ(*ledger.act(kVendor, model_act("m"), kNow), sites::Effect::done);
  ASSERT_EQ(*ledger.act(kVendor, model_act("m"), kNow), sites::Effect::repeated);
  ASSERT_EQ(ledger.act(kOwner, model_act("n"), kNow).error().code, Code::refused);

  const auto other = open();
  Ledger again(*other);
  ASSERT_TRUE(again.refresh().has_value());
  EXPECT_EQ(again.count(), 1);
  EXPECT_EQ(again.head(), ledger.head());
  EXPECT_EQ(to_json(again.state(), nullptr), to_json(ledger.state(), nullptr));
}

TEST_P(Ledgers, two_writers_lose_nothing) {
  const auto first = open();
  const auto second = open();
  Ledger one(*first);
  Ledger two(*second);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(one.act(kVendor, model_act("a" + std::to_string(i)), kNow).has_value());
    ASSERT_TRUE(two.act(kVendor, model_act("b" + std::to_string(i)), kNow).has_value());
  }
  ASSERT_TRUE(one.refresh().has_value());
  EXPECT_EQ(one.count(), 20);
  EXPECT_EQ(one.head(), two.head());
}

TEST_P(Ledgers, an_entry_that_was_put_in_is_found) {
  const auto store = open();
  Ledger ledger(*store);
  ASSERT_TRUE(ledger.act(kVendor, model_act("m"), kNow).has_value());
  // As a person does who can write to the database; its hash is of nothing.
  rulebook::HistoryEntry forged{.submission = "the federation",
                                .sequence = 2,
                                .at = kNow,
                                .actor = "Vendor",
                                .role = "model_owner",
                                .kind = "add_model",
                                .body = sites::to_json(model_act("n")).dump(),
                                .previous = ledger.head(),
                                .hash = std::string(64, 'f')};
  ASSERT_TRUE(store->append(forged).has_value());
  EXPECT_EQ(ledger.refresh().error().code, Code::corrupt);
  EXPECT_EQ(ledger.act(kVendor, model_act("o"), kNow).error().code, Code::corrupt);
}

INSTANTIATE_TEST_SUITE_P(Stores, Ledgers, testing::Values("sqlite", "postgresql"));

class Answers : public testing::Test {
 protected:
  Answers() : store_(std::move(*store::open_store(":memory:"))), ledger_(*store_) {
    add_token("good", "model_owner", false);
    add_token("old", "model_owner", true);
    add_token("board", "chair", false);
  }
  void add_token(const std::string& token, const std::string& role, bool revoked) {
    CHECK(store_->put_token({.hash = sha256_hex(token),
                             .role = role,
                             .organisation = "Vendor",
                             .name = token,
                             .created = kNow,
                             .revoked = revoked}));
  }
  // Returns the status. `head` is the request line and header fields, each with its line end.
  int ask(const std::string& head, std::string_view body = "") {
    return reply_to(head, body).status;
  }
  Reply reply_to(const std::string& head, std::string_view body = "") {
    const std::string text = head + "Host: hub\r\n\r\n";
    net::RequestHead read;
    std::size_t searched = 0;
    CHECK(net::parse_request_head(text, text.size(), searched, read).status ==
          net::ReadStatus::ready);
    Reply reply = answer(*store_, ledger_, read, body, kNow);
    CHECK(reply.page || Json::parse(reply.body).has_value());
    return reply;
  }
  static std::string post(const std::string& more = "") {
    return "POST /api/v1/acts HTTP/1.1\r\nAuthorization: Bearer good\r\n"
           "Content-Type: application/json\r\n" +
           more;
  }

  std::unique_ptr<store::Store> store_;
  Ledger ledger_;
};

const std::string kModel = R"({"kind":"add_model","key":"k","id":"m","description":"<b>&'"})";

TEST_F(Answers, nothing_is_answered_without_a_good_token_of_a_party) {
  const std::string get = "GET /api/v1/federation HTTP/1.1\r\n";
  EXPECT_EQ(ask(get), 401);
  for (const char* token : {"bad", "old", "board", ""}) {
    EXPECT_EQ(ask(get + "Authorization: Bearer " + token + "\r\n"), 401) << token;
  }
  EXPECT_EQ(ask(get + "Authorization: Basic good\r\n"), 401);
  EXPECT_EQ(ask(get + "Authorization: Bearer good\r\n"), 200);
  EXPECT_EQ(ask("GET /api/v1/federation?token=good HTTP/1.1\r\n"), 401);
}

TEST_F(Answers, an_act_is_taken_once_and_only_as_json_of_the_senders_own) {
  EXPECT_EQ(ask(post(), kModel), 201);
  EXPECT_EQ(ask(post(), kModel), 200);
  EXPECT_EQ(ledger_.count(), 1);
  EXPECT_EQ(ask(post("Origin: http://evil.example\r\n"), kModel), 403);
  EXPECT_EQ(ask(post("Sec-Fetch-Site: cross-site\r\n"), kModel), 403);
  EXPECT_EQ(ask("POST /api/v1/acts HTTP/1.1\r\nAuthorization: Bearer good\r\n"
                "Content-Type: text/plain\r\n",
                kModel),
            415);
  EXPECT_EQ(ask(post(), "{"), 400);
  EXPECT_EQ(ask(post(), R"({"kind":"take","key":"k2","id":"r"})"), 409);  // not a data owner
  EXPECT_EQ(ledger_.count(), 1);
}

TEST_F(Answers, the_page_needs_no_token_and_its_own_requests_are_none_of_another_site) {
  const Reply page = reply_to("GET / HTTP/1.1\r\n");
  EXPECT_EQ(page.status, 200);
  EXPECT_TRUE(page.page);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_EQ(ask("POST / HTTP/1.1\r\n"), 405);
  EXPECT_EQ(ask("GET /hub.db HTTP/1.1\r\n"), 404);
  const std::string get = "GET /api/v1/party HTTP/1.1\r\nAuthorization: Bearer good\r\n";
  EXPECT_EQ(ask(get + "Sec-Fetch-Site: same-origin\r\n"), 200);
  EXPECT_EQ(ask(get + "Sec-Fetch-Site: same-site\r\n"), 403);
  EXPECT_EQ(ask(get + "Origin: https://hub\r\n"), 200);
  for (const char* origin : {"null", "http://hub.evil", "http://hub:1", "http://evil/hub"}) {
    EXPECT_EQ(ask(get + "Origin: " + origin + "\r\n"), 403) << origin;
  }
  EXPECT_EQ(ask(get + "Origin: http://hub\r\nSec-Fetch-Site: cross-site\r\n"), 403);
}

TEST_F(Answers, other_addresses_and_methods_are_none) {
  const std::string token = "Authorization: Bearer good\r\n";
  for (const char* path : {"/api/v1/", "/api/v1/../hub.db", "/api/v1/acts/1", "/etc/passwd"}) {
    EXPECT_EQ(ask("GET " + std::string(path) + " HTTP/1.1\r\n" + token), 404) << path;
  }
  EXPECT_EQ(ask("DELETE /api/v1/acts HTTP/1.1\r\n" + token), 405);
  EXPECT_EQ(ask("GET /api/v1/acts HTTP/1.1\r\n" + token), 405);
  EXPECT_EQ(ask("POST /api/v1/federation HTTP/1.1\r\n" + token), 405);
}

}  // namespace
}  // namespace assay::hub
