#include "net/content_headers.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/rng.h"

namespace assay::net {
namespace {

TEST(ContentHeaders, names_are_equal_in_any_case_and_nothing_else_is) {
  EXPECT_TRUE(equal_fold("AZaz-09", "azaz-09"));
  EXPECT_TRUE(equal_fold("", ""));
  EXPECT_FALSE(equal_fold("ab", "a"));
  EXPECT_FALSE(equal_fold("a", "ab"));
  EXPECT_FALSE(equal_fold("xbc", "abc"));
  EXPECT_FALSE(equal_fold("abx", "abc"));
  // The bytes beside A and Z, and the bytes 32 above them.
  EXPECT_FALSE(equal_fold("@", "`"));
  EXPECT_FALSE(equal_fold("[", "{"));
}

// Against a twin that goes byte by byte, over all bytes and lengths.
TEST(ContentHeaders, names_are_compared_as_a_slow_twin_does) {
  Rng rng(1);
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  for (int round = 0; round < 20'000; ++round) {
    std::string a(rng.below(40), ' ');
    std::string lower = a;
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<char>(rng.below(2) == 0 ? rng.below(256) : 'A' + rng.below(26));
      lower[i] = small(a[i]);
    }
    EXPECT_TRUE(equal_fold(a, lower)) << a;
    if (a.empty()) continue;
    const std::size_t at = rng.below(a.size());
    a[at] = static_cast<char>(a[at] ^ (1 << rng.below(8)));
    EXPECT_EQ(equal_fold(a, lower), small(a[at]) == lower[at]) << a;
  }
}

TEST(ContentHeaders, a_value_is_without_the_space_around_it) {
  EXPECT_EQ(trim_space(" \t a b\t \r"), "a b");
  EXPECT_EQ(trim_space("\ra"), "\ra");
  EXPECT_EQ(trim_space(" \t"), "");
  EXPECT_EQ(trim_space(""), "");
}

TEST(ContentHeaders, a_media_type_is_known_whatever_its_parameters) {
  const std::pair<std::string_view, ContentType> cases[] = {
      {"text/event-stream", ContentType::event_stream},
      {"Text/Event-Stream ; charset=utf-8", ContentType::event_stream},
      {"application/json;charset=utf-8", ContentType::json},
      {"application/jsonl", ContentType::other},
      {"TEXT/html", ContentType::text},
      {"text/", ContentType::text},
      {"text", ContentType::other},
      {"image/png;text/html", ContentType::other},
      {"", ContentType::other},
  };
  for (const auto& [value, type] : cases) EXPECT_EQ(content_type_of(value), type) << value;
}

TEST(ContentHeaders, a_coding_is_known_by_each_of_its_names) {
  const std::pair<std::string_view, ContentCoding> cases[] = {
      {"", ContentCoding::identity},       {"Identity", ContentCoding::identity},
      {"gzip", ContentCoding::gzip},       {"X-GZIP", ContentCoding::gzip},
      {"deflate", ContentCoding::deflate}, {"br", ContentCoding::br},
      {"zstd", ContentCoding::zstd},       {"gzip, br", ContentCoding::other},
      {"compress", ContentCoding::other},
  };
  for (const auto& [value, coding] : cases) EXPECT_EQ(content_coding_of(value), coding) << value;
}

TEST(ContentHeaders, a_coding_is_told_by_its_name) {
  for (const std::string_view name : {"identity", "gzip", "deflate", "br", "zstd"}) {
    EXPECT_EQ(to_string(content_coding_of(name)), name);
  }
  EXPECT_EQ(to_string(ContentCoding::other), "a coding that is not known");
}

}  // namespace
}  // namespace assay::net
