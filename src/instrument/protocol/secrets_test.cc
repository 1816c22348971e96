#include "protocol/secrets.h"

#include <gtest/gtest.h>

namespace assay::protocol {
namespace {

TEST(Secrets, keys_words_that_authorise_and_secret_values_of_the_query_are_found) {
  Endpoints where;
  where.urls = {"https://host/v1?api-version=2024-10-21&sig=abcdEFGH1234",
                "http://ann:wonderland@host/v1"};
  where.api_key = "sk-0123456789";
  where.headers = {{"Authorization", "Bearer eyJhbGciOiJIUzI1NiJ9"},
                   {"Cookie", "session=0f1e2d3c4b5a; lang=en"},
                   {"X-Tenant", "hospital-17"},
                   {"Accept", "text/event-stream"}};
  const Redactor redactor = redactor_of(where);
  EXPECT_EQ(redactor.text("key sk-0123456789"), "key <redacted>");
  EXPECT_EQ(redactor.text("got eyJhbGciOiJIUzI1NiJ9"), "got <redacted>");
  EXPECT_EQ(redactor.text("no session 0f1e2d3c4b5a"), "no session <redacted>");
  EXPECT_EQ(redactor.text("of hospital-17"), "of <redacted>");
  EXPECT_EQ(redactor.text("sig abcdEFGH1234 is old"), "sig <redacted> is old");
  EXPECT_EQ(redactor.text("user ann, password wonderland"), "user ann, password <redacted>");
  // Words that occur in every reply are no secrets.
  EXPECT_EQ(redactor.text("Bearer: text/event-stream 2024-10-21 en"),
            "Bearer: text/event-stream 2024-10-21 en");
}

TEST(Secrets, without_any_the_redactor_is_empty) {
  Endpoints where;
  where.urls = {"http://127.0.0.1:8000"};
  where.headers = {{"Accept", "application/json"}, {"X-A", "b"}};
  EXPECT_TRUE(redactor_of(where).empty());
}

}  // namespace
}  // namespace assay::protocol
