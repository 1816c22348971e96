// Retry-After as a server writes it (RFC 9110, 10.2.3): seconds, or a date. A date is compared with
// the Date of the same reply, so that the server's clock may differ from ours. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace assay::net {

// Seconds since 1970 of "Wed, 21 Oct 2015 07:28:00 GMT", the one form that servers write; -1 for
// anything else.
std::int64_t http_date_s(std::string_view text);

// Both fields of one reply, in any order.
class RetryAfter {
 public:
  void take_retry_after(std::string_view value);
  void take_date(std::string_view value) { date_s_ = http_date_s(value); }
  // Seconds to wait; -1 where the reply has no Retry-After, or a date there but no Date field.
  std::int32_t seconds() const;

 private:
  std::int32_t wait_s_ = -1;
  std::int64_t at_s_ = -1;
  std::int64_t date_s_ = -1;
};

}  // namespace assay::net
