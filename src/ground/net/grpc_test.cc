#include "net/grpc.h"

#include <gtest/gtest.h>

namespace assay::net {
namespace {

using namespace std::string_literals;

TEST(Grpc, a_message_stands_behind_its_length) {
  EXPECT_EQ(grpc_framed("abc"), "\0\0\0\0\x03"s + "abc");
  EXPECT_EQ(grpc_framed(std::string(258, 'x')).substr(0, 5), "\0\0\0\x01\x02"s);
  const auto read =
      grpc_message_of(std::string_view("\0\0\0\0\x03"
                                       "abc",
                                       8));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->bytes, "abc");
  EXPECT_FALSE(read->compressed);
  EXPECT_TRUE(grpc_message_of(std::string_view("\x01\0\0\0\0", 5))->compressed);
}

TEST(Grpc, a_body_that_is_not_one_message_is_none) {
  for (const std::string& body : {""s, "\0\0\0\0"s,
                                  "\0\0\0\0\x03"
                                  "ab"s,
                                  "\0\0\0\0\x01"
                                  "ab"s,
                                  "\x02\0\0\0\0"s}) {
    EXPECT_FALSE(grpc_message_of(body));
  }
}

TEST(Grpc, statuses_have_names_and_words) {
  EXPECT_EQ(grpc_words(3, "bad%20shape%3A 100%"), "gRPC INVALID_ARGUMENT (3): bad shape: 100%");
  EXPECT_EQ(grpc_words(16, ""), "gRPC UNAUTHENTICATED (16)");
  EXPECT_EQ(grpc_words(99, "x"), "gRPC status 99 (99): x");
  EXPECT_EQ(grpc_encoded("50% of\n"), "50%25 of%0A");
  EXPECT_EQ(grpc_status_of(404), 5);
  EXPECT_EQ(grpc_status_of(503), 14);
  EXPECT_EQ(grpc_status_of(500), 13);
  EXPECT_EQ(grpc_status_of(418), 2);
}

}  // namespace
}  // namespace assay::net
