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

TEST(Grpc, a_status_of_http_is_the_one_that_the_protocol_names) {
  // PROTOCOL-HTTP2, "HTTP2 Transport Mapping", and what it leaves open by its first digit.
  struct Row {
    int http;
    std::int32_t status;
  };
  for (const Row& row : {Row{200, 2},
                         {302, 2},
                         {400, 3},
                         {401, 16},
                         {403, 7},
                         {404, 5},
                         {405, 2},
                         {413, 8},
                         {429, 8},
                         {499, 2},
                         {500, 13},
                         {501, 12},
                         {502, 14},
                         {503, 14},
                         {504, 4},
                         {505, 13}}) {
    EXPECT_EQ(grpc_status_of(row.http), row.status) << row.http;
  }
}

TEST(Grpc, each_status_has_its_name_and_any_other_number_is_told) {
  EXPECT_EQ(grpc_status_name(0), "OK");
  EXPECT_EQ(grpc_status_name(4), "DEADLINE_EXCEEDED");
  EXPECT_EQ(grpc_status_name(16), "UNAUTHENTICATED");
  EXPECT_EQ(grpc_status_name(17), "status 17");
  EXPECT_EQ(grpc_status_name(-1), "status -1");
}

TEST(Grpc, codes_of_characters_are_read_in_both_cases_and_others_stay) {
  const auto words = [](std::string_view text) { return grpc_words(2, text).substr(18); };
  EXPECT_EQ(words("%4a%4A%61%7e"), "JJa~");
  EXPECT_EQ(words("%4"), "%4");
  EXPECT_EQ(words("a%"), "a%");
  EXPECT_EQ(words("%g1%1g%`1%1/%:0%@1%G0"), "%g1%1g%`1%1/%:0%@1%G0");
  EXPECT_EQ(words("%2525"), "%25") << "once";
  EXPECT_EQ(words("a%09%0A%0d%01"), "a\\t\\n\\r\\x01");
  EXPECT_EQ(words("%30%3F%41%F0%9F%98%80"), "0?A😀");
  std::string all;
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  const std::string coded = grpc_encoded(all);
  EXPECT_EQ(coded.substr(0, 6), "%01%02");
  EXPECT_NE(coded.find(" !\"#$%25&"), std::string::npos);
  EXPECT_NE(coded.find("}~%7F%80"), std::string::npos);
  EXPECT_TRUE(coded.ends_with("%FE%FF"));
}

}  // namespace
}  // namespace assay::net
