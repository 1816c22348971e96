#include "net/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
      {"http://[::g]/", "no IPv6 address"},
      {"http://[::1%25a/b]/", "without ']'"},
      {"http://[::1%]/", "interface's name"},
      {"http+unix://", "no socket file"},
      {"http+unix:///", "no socket file"},
      {"http+unix://%2/v1", "two hex digits"},
      {"http+unix://%2Fa%00b/v1", "control byte"},
      {"http+unix://relative.sock/v1", "no socket file"},
  };
  for (const auto& [text, reason] : cases) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_THAT(url.error().message, HasSubstr(reason)) << text;
    EXPECT_EQ(url.error().code, Code::invalid);
  }
  EXPECT_FALSE(parse_url("http+unix:///" + std::string(107, 'a')));
  EXPECT_TRUE(parse_url("http+unix:///" + std::string(106, 'a')));
  EXPECT_FALSE(parse_url("http://h/" + std::string(9000, 'a')));
}

TEST(Url, a_password_is_refused_and_not_repeated) {
  for (const char* text : {"http://user:hunter2@h/", "https://hunter2@h:1/v1?x",
                           "http://a:hunter2@b@h", "user:hunter2@h:80/v1"}) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_THAT(url.error().message, Not(HasSubstr("hunter2")));
  }
  EXPECT_TRUE(parse_url("http://h/path@with/at?and=@"));
}

}  // namespace
}  // namespace assay::net
