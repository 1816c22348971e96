#include "meter/director.h"

#include <gtest/gtest.h>

namespace assay::meter {
namespace {

TEST(Director, a_place_has_a_host_a_port_and_a_label) {
  const auto plain = parse_director_place("lab").value();
  EXPECT_EQ(plain.host, "lab");
  EXPECT_EQ(plain.port, 4950);
  EXPECT_EQ(plain.label, "assay");
  const auto whole = parse_director_place("[::1]:77/night_2").value();
  EXPECT_EQ(whole.host, "::1");
  EXPECT_EQ(whole.port, 77);
  EXPECT_EQ(whole.label, "night_2");
  for (const std::string_view wrong : {"", ":1", "h:0", "h:70000", "h/", "h/a,b", "h/a b"}) {
    EXPECT_FALSE(parse_director_place(wrong)) << wrong;
  }
}

TEST(Director, a_session_is_a_plain_name_for_it_becomes_a_path) {
  const auto read = read_director_session("OK 2026-11-26_20-00-00_night,ab-cd").value();
  EXPECT_EQ(read.first, "2026-11-26_20-00-00_night");
  EXPECT_EQ(read.second, "ab-cd");
  for (const std::string_view wrong :
       {"Error: busy", "OK", "OK ,x", "OK ../../etc,x", "OK a,", "OK a b,c"}) {
    EXPECT_FALSE(read_director_session(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace assay::meter
