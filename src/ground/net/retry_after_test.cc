#include "net/retry_after.h"

#include <gtest/gtest.h>

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
                                      {"99999999999", -1}}) {
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

}  // namespace
}  // namespace assay::net
