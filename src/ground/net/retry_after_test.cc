#include "net/retry_after.h"

#include <gtest/gtest.h>

#include <array>
#include <ctime>
#include <limits>

#include "base/rng.h"

namespace assay::net {
namespace {

TEST(RetryAfter, a_date_is_counted_from_the_replys_own) {
  RetryAfter retry;
  retry.take_retry_after("Wed, 21 Oct 2015 07:28:30 GMT");
  EXPECT_EQ(retry.seconds(), -1) << "from when is not known";
  retry.take_date("Wed, 21 Oct 2015 07:28:00 GMT");
  EXPECT_EQ(retry.seconds(), 30);
  retry.take_date("Wed, 21 Oct 2015 08:00:00 GMT");
  EXPECT_EQ(retry.seconds(), 0) << "it is over";
}

TEST(RetryAfter, seconds_stand_for_themselves_and_words_for_nothing) {
  RetryAfter retry;
  retry.take_date("Wed, 21 Oct 2015 07:28:00 GMT");
  for (const auto& [text, seconds] : {std::pair{"7", 7},
                                      {"0", 0},
                                      {"-3", -1},
                                      {"soon", -1},
                                      {"", -1},
                                      {"7 s", -1},
                                      {"-0", -1},
                                      {"2147483647", 2147483647},
                                      {"2147483648", 2147483647},
                                      {"99999999999999999999999", 2147483647}}) {
    retry.take_retry_after(text);
    EXPECT_EQ(retry.seconds(), seconds) << text;
  }
}

TEST(RetryAfter, dates_are_those_of_the_calendar) {
  EXPECT_EQ(http_date_s("Thu, 01 Jan 1970 00:00:00 GMT"), 0);
  EXPECT_EQ(http_date_s("Sun, 06 Nov 1994 08:49:37 GMT"), 784111777);
  EXPECT_EQ(http_date_s("Thu, 29 Feb 2024 23:59:59 GMT"), 1709251199);
  for (const char* wrong : {"Thu, 29 Feb 2023 23:59:59 GMT", "Thu, 29 Foo 2024 23:59:59 GMT",
                            "Thu, 29 Feb 2024 24:59:59 GMT", "Sun Nov  6 08:49:37 1994",
                            "Thu, 2x Feb 2024 23:59:59 GMT", "Thu, 29 Feb 2024 23:59:59 CET"}) {
    EXPECT_EQ(http_date_s(wrong), -1) << wrong;
  }
}

TEST(RetryAfter, any_instant_is_read_as_the_c_library_writes_it) {
  Rng rng(11);
  for (int i = 0; i < 2000; ++i) {
    const auto at = static_cast<std::time_t>(rng.below(1ULL << 33U));
    std::tm fields{};
    ASSERT_NE(gmtime_r(&at, &fields), nullptr);
    std::array<char, 40> text{};
    ASSERT_GT(std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &fields), 0U);
    EXPECT_EQ(http_date_s(text.data()), at) << text.data();
  }
}

TEST(RetryAfter, a_field_beyond_its_limits_makes_no_date) {
  EXPECT_EQ(http_date_s("Thu, 29 Feb 2024 23:59:60 GMT"), 1709251200) << "a leap second";
  for (const char* wrong : {"Thu, 29 Feb 2024 23:60:59 GMT", "Thu, 29 Feb 2024 23:59:61 GMT",
                            "Thu, 29 Feb 2024 -1:59:59 GMT", "Thu, 29 Feb 2024 23:-1:59 GMT",
                            "Thu, 29 Feb 2024 23:59:-1 GMT", "Thu, 00 Feb 2024 23:59:59 GMT",
                            "Thu, 32 Jan 2024 23:59:59 GMT", "Thu, -1 Jan 2024 23:59:59 GMT",
                            "Wed, 31 Dec 1969 23:59:59 GMT", "Thu  29 Feb 2024 23:59:59 GMT",
                            "Thu, 29 Feb 2024 23:59:59 GMT ", "Thu, 29 Feb 202x 23:59:59 GMT"}) {
    EXPECT_EQ(http_date_s(wrong), -1) << wrong;
  }
}

TEST(RetryAfter, the_first_second_of_time_is_one_and_a_wait_without_end_has_a_limit) {
  RetryAfter retry;
  retry.take_date("Thu, 01 Jan 1970 00:00:00 GMT");
  retry.take_retry_after("Thu, 01 Jan 1970 00:00:05 GMT");
  EXPECT_EQ(retry.seconds(), 5);
  retry.take_retry_after("Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(retry.seconds(), 0);
  retry.take_retry_after("Fri, 31 Dec 9999 00:00:00 GMT");
  EXPECT_EQ(retry.seconds(), std::numeric_limits<std::int32_t>::max());
  retry.take_date("");
  EXPECT_EQ(retry.seconds(), -1);
}

}  // namespace
}  // namespace assay::net
