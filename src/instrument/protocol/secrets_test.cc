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

TEST(Secrets, the_beginning_of_each_key_is_one_wherever_it_was_given) {
  Endpoints where;
  where.urls = {"http://marianne-of-ward-seven:wonderland-and-more@host/v1?key=abcdEFGH1234"};
  where.api_key = "sk-0123456789";
  where.headers = {{"Authorization", "Bearer eyJhbGciOiJIUzI1NiJ9"}};
  const Redactor redactor = redactor_of(where);
  for (const char* const beginning : {"marianne-of-ward", "wonderland-and", "abcdEFGH12",
                                      "sk-0123456", "eyJhbGciOiJ", "Bearer eyJhbG"}) {
    const std::string said = redactor.text(std::string("it began with ") + beginning);
    EXPECT_EQ(said, "it began with <redacted>") << beginning;
  }
}

// Whether what was given with that header is hidden.
bool hides(const std::string& name, const std::string& value, const std::string& text) {
  Endpoints where;
  where.headers = {{name, value}};
  return redactor_of(where).text(text).find("<redacted>") != std::string::npos;
}

TEST(Secrets, a_header_is_one_by_its_name_or_by_its_length) {
  for (const char* const name : {"X-Auth", "my-KEY-id", "Token", "the-secret", "Set-Cookie",
                                 "a-password", "x-signature", "sig", "Code"}) {
    EXPECT_TRUE(hides(name, "abcd", "abcd")) << name;
  }
  for (const char* const name : {"signal", "codes", "x-sig", "Via"}) {
    EXPECT_FALSE(hides(name, "value-1", "value-1")) << name << ": it may be an everyday word";
    EXPECT_TRUE(hides(name, "value-01", "value-01")) << name;
  }
  for (const char* const name : {"Accept", "ACCEPT-language", "Content-Language", "User-Agent",
                                 "Connection", "Host", "Cache-Control"}) {
    EXPECT_FALSE(hides(name, "value-01", "value-01")) << name;
  }
}

TEST(Secrets, a_word_of_eight_letters_is_one_and_the_whole_value_too) {
  for (const char* const between : {" ", ";", ",", "=", "\t"}) {
    const std::string value = std::string("shorter") + between + "longword";
    EXPECT_FALSE(hides("Authorization", value, "shorter")) << between;
    EXPECT_TRUE(hides("Authorization", value, "longword")) << between;
    EXPECT_TRUE(hides("Authorization", value, value)) << between;
  }
  // Its beginning is one too, that of another header's value is not.
  EXPECT_TRUE(hides("Authorization", "longword-and-more", "longword-and"));
  EXPECT_FALSE(hides("X-Tenant", "longword-and-more", "longword-and"));
}

TEST(Secrets, a_url_has_them_in_its_query_and_before_its_host) {
  const auto shown = [](const std::string& url, const std::string& text) {
    Endpoints where;
    where.urls = {url};
    return redactor_of(where).text(text);
  };
  EXPECT_EQ(shown("http://h?a=1234&key=ab=cd&token", "1234 ab=cd token"), "1234 <redacted> token");
  EXPECT_EQ(shown("http://h?key=abcdefghij", "abcdefghi"), "<redacted>") << "its beginning too";
  EXPECT_EQ(shown("http://h/key=abcd", "abcd"), "abcd");
  EXPECT_EQ(shown("http://user:word@h:1/", "user word user:word"), "user <redacted> <redacted>");
  EXPECT_EQ(shown("http://user@h", "user"), "<redacted>");
  for (const char* const none :
       {"http://h/user@x", "http://h?x=user@x", "http://h#user@x", "user@h", "http://h"}) {
    EXPECT_EQ(shown(none, "user h?x=user"), "user h?x=user") << none;
  }
}

TEST(Secrets, without_any_the_redactor_is_empty) {
  Endpoints where;
  where.urls = {"http://127.0.0.1:8000"};
  where.headers = {{"Accept", "application/json"}, {"X-A", "b"}};
  EXPECT_TRUE(redactor_of(where).empty());
}

}  // namespace
}  // namespace assay::protocol
