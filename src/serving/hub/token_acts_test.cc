#include "hub/token_acts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "base/exit_code.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/testing_talk.h"
#include "base/testing_temp_folder.h"
#include "hub/ledger.h"
#include "store/open_store.h"

namespace assay::hub {
namespace {

using testing::HasSubstr;

class TokenActs : public testing::Test {
 protected:
  TokenActs() { asked_.store = (folder_.path() / "hub.db").string(); }

  std::vector<store::TokenRecord> kept() const {
    const auto store = store::open_store(asked_.store);
    CHECK(store.has_value());
    return (*store)->tokens().value();
  }
  // A token made for a party; as a JSON of its own.
  Json made(const char* role, const char* organisation) {
    heard_ = {};
    asked_.role = role;
    asked_.organisation = organisation;
    asked_.json = true;
    EXPECT_EQ(make_hub_token(asked_, heard_.talk()).value_or(-1), exit_code(ExitCode::done));
    asked_.json = false;
    return Json::parse(heard_.printed).value();
  }

  TempFolder folder_{};
  TokenAsked asked_{};
  Heard heard_{};
};

TEST_F(TokenActs, a_token_is_printed_once_and_its_hash_alone_is_kept) {
  asked_.role = "data_owner";
  asked_.organisation = "Clinic";
  asked_.name = "nightly";
  ASSERT_EQ(make_hub_token(asked_, heard_.talk()).value_or(-1), exit_code(ExitCode::done));
  const std::string token = heard_.printed.substr(0, heard_.printed.find('\n'));
  EXPECT_EQ(heard_.printed, token + "\n");
  EXPECT_THAT(heard_.said, HasSubstr("assay hub revoke " + sha256_hex(token).substr(0, 12)));
  const auto tokens = kept();
  ASSERT_EQ(tokens.size(), 1U);
  EXPECT_EQ(tokens[0].hash, sha256_hex(token));
  EXPECT_EQ(tokens[0].role, "data_owner");
  EXPECT_EQ(tokens[0].organisation, "Clinic");
  EXPECT_EQ(tokens[0].name, "nightly");
  EXPECT_FALSE(tokens[0].revoked);
  EXPECT_NE(made("data_owner", "Clinic")["token"].as_string(), token);
}

TEST_F(TokenActs, a_token_is_of_somebody_in_a_role) {
  asked_.role = "data_owner";
  EXPECT_THAT(make_hub_token(asked_, heard_.talk()).error().message, HasSubstr("--organisation"));
  asked_.organisation = "Clinic";
  asked_.role = "nobody";
  EXPECT_FALSE(make_hub_token(asked_, heard_.talk()));
  EXPECT_EQ(heard_.printed, "");
}

TEST_F(TokenActs, six_digits_of_one_token_revoke_it_and_no_other) {
  const Json first = made("data_owner", "Clinic");
  const Json second = made("model_owner", "Vendor");
  const std::string id(second["id"].as_string());
  EXPECT_EQ(id, sha256_hex(second["token"].as_string()).substr(0, 12));
  for (const std::string& wrong : {id.substr(0, 5), std::string("zzzzzz"), std::string()}) {
    asked_.id = wrong;
    const auto done = revoke_hub_token(asked_, heard_.talk());
    ASSERT_FALSE(done) << wrong;
    EXPECT_EQ(done.error().code, Code::not_found);
  }
  asked_.id = id.substr(0, 6);
  heard_ = {};
  ASSERT_EQ(revoke_hub_token(asked_, heard_.talk()).value_or(-1), exit_code(ExitCode::done));
  EXPECT_EQ(heard_.printed, "revoked: Vendor, model_owner\n");
  for (const store::TokenRecord& one : kept()) {
    EXPECT_EQ(one.revoked, one.organisation == "Vendor") << one.organisation;
  }
}

TEST_F(TokenActs, a_token_of_another_service_is_not_the_hubs_to_revoke) {
  const std::string hash = sha256_hex("a reviewer's");
  {
    const auto store = store::open_store(asked_.store);
    ASSERT_TRUE(store);
    ASSERT_TRUE((*store)->put_token({.hash = hash,
                                     .role = "reviewer",
                                     .organisation = "Board",
                                     .name = "",
                                     .created = "2026-11-24T00:00:00Z",
                                     .revoked = false}));
  }
  asked_.id = hash.substr(0, 12);
  EXPECT_FALSE(revoke_hub_token(asked_, heard_.talk()));
  EXPECT_FALSE(kept().at(0).revoked);
}

TEST_F(TokenActs, the_history_is_verified_and_its_head_shown) {
  std::string head;
  {
    const auto store = store::open_store(asked_.store);
    ASSERT_TRUE(store);
    Ledger ledger(**store);
    const sites::Actor vendor{sites::Role::model_owner, "Vendor"};
    const sites::Act act{.kind = sites::ActKind::add_model, .key = "k", .id = "m"};
    ASSERT_EQ(*ledger.act(vendor, act, "2026-11-24T00:00:00Z"), sites::Effect::done);
    head = ledger.head();
  }
  ASSERT_EQ(verify_hub(asked_, heard_.talk()).value_or(-1), exit_code(ExitCode::done));
  EXPECT_EQ(heard_.printed,
            "1 entry, every hash is right and every act allowed\nhead " + head + "\n");
  heard_ = {};
  asked_.json = true;
  ASSERT_EQ(verify_hub(asked_, heard_.talk()).value_or(-1), exit_code(ExitCode::done));
  const Json json = Json::parse(heard_.printed).value();
  EXPECT_EQ(json["entries"].as_uint(), 1U);
  EXPECT_EQ(json["head"].as_string(), head);
}

}  // namespace
}  // namespace assay::hub
