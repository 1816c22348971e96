#include "net/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/format.h"

namespace assay::net {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Case {
  const char* text;
  const char* scheme;
  const char* host;
  int port;
  const char* path;
  const char* query;
  const char* unix_path;
  const char* host_header;
};

TEST(Url, is_split_into_what_a_connection_and_a_request_line_need) {
  const Case cases[] = {
      {"http://h", "http", "h", 80, "/", "", "", "h"},
      {"HTTP://Example.ORG:8000/v1", "http", "example.org", 8000, "/v1", "", "",
       "example.org:8000"},
      {"https://h/", "https", "h", 443, "/", "", "", "h"},
      {"https://h:443/a/b/?x=1&y=2", "https", "h", 443, "/a/b/", "x=1&y=2", "", "h"},
      {"https://h:80/", "https", "h", 80, "/", "", "", "h:80"},
      {"http://h:?q", "http", "h", 80, "/", "q", "", "h"},
      {"http://127.0.0.1:1", "http", "127.0.0.1", 1, "/", "", "", "127.0.0.1:1"},
      {"http://[2001:DB8::1]:8000/v1", "http", "2001:db8::1", 8000, "/v1", "", "",
       "[2001:db8::1]:8000"},
      {"http://[::1]", "http", "::1", 80, "/", "", "", "[::1]"},
      {"http://[fe80::1%25eth0]:9/", "http", "fe80::1%eth0", 9, "/", "", "", "[fe80::1]:9"},
      {"http://[fe80::1%eth0]:9/", "http", "fe80::1%eth0", 9, "/", "", "", "[fe80::1]:9"},
      {"http+unix:///run/x.sock:/v1?k=v", "http+unix", "localhost", 0, "/v1", "k=v", "/run/x.sock",
       "localhost"},
      {"http+unix:///run/x.sock", "http+unix", "localhost", 0, "/", "", "/run/x.sock", "localhost"},
      {"unix:///run/x:1.sock:/", "http+unix", "localhost", 0, "/", "", "/run/x:1.sock",
       "localhost"},
      {"http+unix://%2Frun%2Fx.sock/v1", "http+unix", "localhost", 0, "/v1", "", "/run/x.sock",
       "localhost"},
      {"http+unix:///run/x.sock?a:/b", "http+unix", "localhost", 0, "/", "a:/b", "/run/x.sock",
       "localhost"},
      {"http+unix:///run/x.sock:/?a:/b", "http+unix", "localhost", 0, "/", "a:/b", "/run/x.sock",
       "localhost"},
      {"http+unix://%2frun%2F%21%7e%C3%A9?q", "http+unix", "localhost", 0, "/", "q",
       "/run/!~\xC3\xA9", "localhost"},
      {"http+unix://%2Fx%2E", "http+unix", "localhost", 0, "/", "", "/x.", "localhost"},
      {"http://h:1/", "http", "h", 1, "/", "", "", "h:1"},
      {"https://h:65535/", "https", "h", 65535, "/", "", "", "h:65535"},
      {"http://h:443/", "http", "h", 443, "/", "", "", "h:443"},
      {"http://[::1]:/~", "http", "::1", 80, "/~", "", "", "[::1]"},
      {"http://[fe80::1%25]", "http", "fe80::1%25", 80, "/", "", "", "[fe80::1]"},
      {"http://[fe80::1%251]", "http", "fe80::1%1", 80, "/", "", "", "[fe80::1]"},
  };
  for (const Case& c : cases) {
    const auto url = parse_url(c.text);
    ASSERT_TRUE(url) << c.text << ": " << url.error().message;
    EXPECT_EQ(url->scheme, c.scheme) << c.text;
    EXPECT_EQ(url->host, c.host) << c.text;
    EXPECT_EQ(url->port, c.port) << c.text;
    EXPECT_EQ(url->path, c.path) << c.text;
    EXPECT_EQ(url->query, c.query) << c.text;
    EXPECT_EQ(url->unix_path, c.unix_path) << c.text;
    EXPECT_EQ(url->tls, url->scheme == "https") << c.text;
    EXPECT_EQ(host_header(*url), c.host_header) << c.text;
    const auto again = parse_url(to_string(*url));
    ASSERT_TRUE(again) << to_string(*url) << ": " << again.error().message;
    EXPECT_EQ(to_string(*again), to_string(*url));
    EXPECT_EQ(again->host, url->host);
    EXPECT_EQ(again->unix_path, url->unix_path);
  }
}

TEST(Url, what_is_refused_names_the_reason) {
  const std::pair<const char*, const char*> cases[] = {
      {"localhost:8000", "write http://"},
      {"", "write http://"},
      {"ftp://h/", "scheme 'ftp'"},
      {"http://", "names no host"},
      {"http:///v1", "names no host"},
      {"http://h:0/", "from 1 to 65535"},
      {"http://h:65536/", "from 1 to 65535"},
      {"http://h:+80/", "from 1 to 65535"},
      {"http://h:80a/", "from 1 to 65535"},
      {"http://h/a b", "blank"},
      {"http://h/a\r\nX: y", "control byte"},
      {"http://h\x01/", "control byte"},
      {"http://h/#top", "fragment"},
      {"http://h\xC3\xA9/", "outside ASCII"},
      {"http://h!/", "cannot stand in a host name"},
      {"http://::1/", "needs brackets"},
      {"http://[::1", "without ']'"},
      {"http://[::1]80", "only :port"},
      {"http://[::g]/", "not an IPv6 address"},
      {"http://[::1%25a/b]/", "without ']'"},
      {"http://[::1%]/", "interface's name"},
      {"http+unix://", "no socket file"},
      {"http+unix:///", "no socket file"},
      {"http+unix://%2/v1", "two hex digits"},
      {"http+unix://%2Fa%00b/v1", "control byte"},
      {"http+unix://%2Fa%7fb/v1", "control byte"},
      {"http+unix://relative.sock/v1", "no socket file"},
      {"http+unix:///run/", "no socket file"},
      {"http+unix://%2Fa%2/v1", "two hex digits"},
      {"http+unix://%2Fa%g0/v1", "two hex digits"},
      {"http+unix://%2Fa%0g/v1", "two hex digits"},
      {"http://h/\x1f", "control byte"},
      {"http://h/\x7f", "control byte"},
      {"http://h/\x80", "outside ASCII"},
      {"http://h:-1/", "from 1 to 65535"},
      {"http://h y@/", "blank"},
      {"a_b://h", "write http://"},
      {"a@b://h", "write http://"},
      {"h2.x+y-0://h", "scheme 'h2.x+y-0'"},
      {"http://[fe80::1%25]80", "only :port"},
  };
  for (const auto& [text, reason] : cases) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_THAT(url.error().message, HasSubstr(reason)) << text;
    EXPECT_EQ(url.error().code, Code::invalid);
  }
}

TEST(Url, each_part_may_be_as_long_as_it_can_be_used_and_no_longer) {
  EXPECT_TRUE(parse_url("http+unix:///" + std::string(106, 'a')));
  EXPECT_FALSE(parse_url("http+unix:///" + std::string(107, 'a')));
  EXPECT_TRUE(parse_url("http://" + std::string(253, 'a')));
  EXPECT_FALSE(parse_url("http://" + std::string(254, 'a')));
  const std::string longest = "http://h/" + std::string(8192 - 9, 'a');
  EXPECT_TRUE(parse_url(longest));
  EXPECT_FALSE(parse_url(longest + "a"));
}

std::string ascii_without(std::string_view left_out) {
  std::string out;
  for (char c = '!'; c <= '~'; ++c) {
    if (left_out.find(c) == std::string_view::npos) out += c;
  }
  return out;
}

constexpr std::string_view kNameBytes =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-._";

TEST(Url, names_hold_letters_digits_and_three_marks) {
  const auto host = parse_url(format("http://{}/", kNameBytes));
  ASSERT_TRUE(host);
  EXPECT_EQ(host->host, "0123456789abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz-._");
  const auto zone = parse_url(format("http://[fe80::1%25{}]/", kNameBytes));
  ASSERT_TRUE(zone);
  EXPECT_EQ(zone->host, format("fe80::1%{}", kNameBytes));
  EXPECT_EQ(to_string(*zone), format("http://[fe80::1%25{}]/", kNameBytes));
  for (const char c : ascii_without(std::string(kNameBytes) + "/?#@:[]")) {
    EXPECT_FALSE(parse_url(format("http://a{}b/", c))) << c;
    EXPECT_FALSE(parse_url(format("http://[fe80::1%25a{}b]/", c))) << c;
  }
}

TEST(Url, a_scheme_holds_letters_digits_and_three_marks) {
  const std::string known = "0189abyzABYZ+-.";
  for (const char c : known) {
    const auto url = parse_url(format("x{}://h/", c));
    ASSERT_FALSE(url);
    EXPECT_NE(url.error().message.find("scheme 'x"), std::string::npos) << url.error().message;
  }
  for (const char c : ascii_without(known + "cdefghijklmnopqrstuvwxCDEFGHIJKLMNOPQRSTUVWX234567")) {
    const auto url = parse_url(format("x{}://h/", c));
    ASSERT_FALSE(url) << c;
    EXPECT_EQ(url.error().message.find("scheme 'x"), std::string::npos) << url.error().message;
  }
}

TEST(Url, a_socket_is_spelled_with_each_byte_but_plain_ones_encoded) {
  Url url = parse_url("http+unix:///x").value();
  url.unix_path = "/" + std::string(kNameBytes) + "~!:@`{[\x7f\xff";
  EXPECT_EQ(to_string(url), format("http+unix://%2F{}~%21%3A%40%60%7B%5B%7F%FF/", kNameBytes));
}

TEST(Url, one_spelling_has_no_port_that_the_scheme_has_anyway) {
  for (const auto& [text, spelled] : {std::pair{"HTTP://H:80", "http://h/"},
                                      {"https://h:443?q", "https://h/?q"},
                                      {"http://h:443/a", "http://h:443/a"},
                                      {"https://h:80/", "https://h:80/"},
                                      {"http://[::1%25e]:9", "http://[::1%25e]:9/"},
                                      {"unix:///x:/v1?q", "http+unix://%2Fx/v1?q"}}) {
    EXPECT_EQ(to_string(parse_url(text).value()), spelled);
  }
}

std::string refusal(const std::string& text) {
  const auto url = parse_url(text);
  return url ? "" : url.error().message;
}

TEST(Url, what_is_refused_is_shown_short_and_without_control_bytes) {
  EXPECT_THAT(refusal("http://h/\x1f\x7f"), testing::StartsWith("URL 'http://h/?\?':"));
  EXPECT_THAT(refusal("http://h/ ~"), testing::StartsWith("URL 'http://h/ ~':"));
  const std::string whole = "x://" + std::string(196, 'a');
  EXPECT_THAT(refusal(whole), testing::StartsWith("URL '" + whole + "':"));
  EXPECT_THAT(refusal(whole + "b"), testing::StartsWith("URL '" + whole + "…':"));
}

TEST(Url, a_password_is_refused_and_not_repeated) {
  const std::pair<const char*, const char*> cases[] = {
      {"http://user:hunter2@h/", "http://…@h/"},
      {"https://hunter2@h:1/v1?x", "https://…@h:1/v1?x"},
      {"http://a:hunter2@b@h", "http://…@h"},
      {"user:hunter2@h:80/v1", "user:…@h:80/v1"},
      {"user:hunter2@h://x", "user:…@h://x"},
      {"hunter2@h:80", "…@h:80"},
      {"http:/a:hunter2@h?b@c", "http:/…@h?b@c"},
      {"http:///a:hunter2@h#b@c", "http:///…@h#b@c"},
  };
  for (const auto& [text, shown] : cases) {
    EXPECT_THAT(refusal(text), testing::StartsWith(format("URL '{}':", shown)));
    EXPECT_THAT(refusal(text), Not(HasSubstr("hunter2")));
  }
  EXPECT_TRUE(parse_url("http://h/path@with/at?and=@"));
}

}  // namespace
}  // namespace assay::net
