#include "hub/token_acts.h"

#include <signal.h>

#include "base/clock.h"
#include "base/exit_code.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/secret.h"
#include "base/text.h"
#include "hub/ledger.h"
#include "store/open_store.h"

namespace assay::hub {

Result<int> make_hub_token(const TokenAsked& o, const Talk& talk) {
  ASSIGN_OR_RETURN(const sites::Role role, sites::role_named(o.role));
  if (o.organisation.empty()) return invalid("--organisation: whose token is it?");
  ASSIGN_OR_RETURN(const auto store, store::open_store(o.store));
  const std::string token = random_secret();
  TRY(store->put_token({.hash = sha256_hex(token),
                        .role = std::string(to_string(role)),
                        .organisation = o.organisation,
                        .name = o.name,
                        .created = rfc3339(wall_now()),
                        .revoked = false}));
  if (o.json) {
    talk.print(
        Json::object().set("token", token).set("id", sha256_hex(token).substr(0, 12)).dump() +
        "\n");
  } else {
    talk.print(token + "\n");
    talk.say(format("hand it over once; to end it: assay hub revoke {}",
                    sha256_hex(token).substr(0, 12)));
  }
  return exit_code(ExitCode::done);
}

Result<int> revoke_hub_token(const TokenAsked& o, const Talk& talk) {
  ASSIGN_OR_RETURN(const auto store, store::open_store(o.store));
  ASSIGN_OR_RETURN(auto tokens, store->tokens());
  std::erase_if(tokens, [&o](const store::TokenRecord& one) {
    return !one.hash.starts_with(o.id) || !sites::role_named(one.role);
  });
  if (o.id.size() < 6 || tokens.size() != 1) {
    return Error{Code::not_found,
                 format("'{}' is the beginning of {} tokens of a party; at least 6 "
                        "digits of one are needed",
                        o.id, tokens.size())};
  }
  tokens.front().revoked = true;
  TRY(store->put_token(tokens.front()));
  talk.print(o.json
                 ? Json::object().set("revoked", tokens.front().hash.substr(0, 12)).dump() + "\n"
                 : format("revoked: {}, {}\n", tokens.front().organisation, tokens.front().role));
  return exit_code(ExitCode::done);
}

Result<int> verify_hub(const TokenAsked& o, const Talk& talk) {
  ASSIGN_OR_RETURN(const auto store, store::open_store(o.store));
  Ledger ledger(*store);
  if (const auto read = ledger.refresh(); !read) {
    if (read.error().code != Code::corrupt) return read.error();
    talk.print(read.error().message + "\n");
    return exit_code(ExitCode::findings);
  }
  talk.print(o.json
                 ? Json::object().set("entries", ledger.count()).set("head", ledger.head()).dump() +
                       "\n"
                 : format("{}, every hash is right and every act allowed\nhead {}\n",
                          counted(ledger.count(), "entry", "entries"), ledger.head()));
  return exit_code(ExitCode::done);
}

}  // namespace assay::hub
