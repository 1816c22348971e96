// Access identifies the sender of a request and decides what it may do, from its head alone, before
// anything else reads it.
//
// The launch token opens the page once (/?token=T). Then a cookie replaces it that scripts cannot
// read and that other sites' requests do not carry (HttpOnly, SameSite=Strict). Programs send the
// token as Authorization: Bearer. Personal tokens of the review board are looked up in the Store by
// their sha256. Two checks stop pages of other origins: a foreign Host is refused (DNS rebinding),
// and so is a POST without proof that our page sent it (CSRF).
//
// Immutable after construction; any thread. Each thread brings its own Store.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http1_request.h"
#include "store/store.h"

namespace assay::explorer {

enum class Role : std::uint8_t { reader, submitter, reviewer, chair };
std::string_view to_string(Role role);
Result<Role> role_named(std::string_view name);

struct Session {
  Role role = Role::reader;
  std::string organisation{};
};

struct AccessOptions {
  std::string launch_token{};  // "": reading needs no token
  std::uint16_t port = 0;
  bool loopback = true;  // then Host must be a loopback name with this port
  bool writable = false;
};

class Access {
 public:
  explicit Access(AccessOptions options);

  enum class Verdict : std::uint8_t {
    ok,
    bad_host,      // 403
    no_token,      // 401
    wrong_token,   // 401
    cross_origin,  // 403
    read_only,     // 403
    store_failed,  // 500
  };
  struct Answer {
    Verdict verdict = Verdict::ok;
    Session session{};
  };
  Answer judge(const net::RequestHead& head, store::Store& store) const;

  // The token of /?token=T; "" without one.
  static std::string token_of_target(std::string_view target);
  Answer judge_token(std::string_view token, store::Store& store) const;
  // The value of the Set-Cookie header that stores a token.
  std::string cookie(std::string_view token) const;
  bool writable() const { return options_.writable; }

 private:
  bool host_is_ours(std::string_view host) const;
  std::string cookie_name() const;
  std::string token_of(const net::RequestHead& head) const;

  AccessOptions options_;
  std::string launch_hash_;
};

// The query part of a request's target as names and values, decoded; "a=b&c=%20".
std::vector<std::pair<std::string, std::string>> query_of(std::string_view target);
// %XX decoded; a malformed escape stays as it is.
std::string percent_decoded(std::string_view text, bool plus_is_space);

}  // namespace assay::explorer
