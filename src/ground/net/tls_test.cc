#include "net/tls.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.h"
#include "base/format.h"

namespace assay::net {
namespace {

void carry(TlsSession& from, TlsSession& to) {
  const std::string bytes(from.output());
  from.consume(bytes.size());
  to.feed(bytes);
}

TlsSession::Step shake(TlsSession& client, TlsSession& server) {
  for (int i = 0; i < 10; ++i) {
    const auto c = client.handshake();
    if (c == TlsSession::Step::failed) return c;
    carry(client, server);
    const auto s = server.handshake();
    carry(server, client);
    if (c == TlsSession::Step::done && s == TlsSession::Step::done) return c;
  }
  return TlsSession::Step::pending;
}

struct Pair {
  TlsContext server_context;
  TlsContext client_context;
};

Pair make_pair(bool insecure, bool trust, bool http2 = false) {
  std::string pem;
  auto server = TlsContext::self_signed_server(&pem, http2);
  const auto file = std::filesystem::temp_directory_path() / format("assay_tls_{}.pem", getpid());
  EXPECT_TRUE(write_file_atomic(file, pem));
  auto client = TlsContext::client(
      {.insecure = insecure, .offer_http2 = http2, .ca_file = trust ? file.string() : ""});
  std::filesystem::remove(file);
  return {std::move(*server), std::move(*client)};
}

TEST(Tls, records_come_out_whole_however_the_bytes_are_cut) {
  Pair pair = make_pair(false, true);
  TlsSession client(pair.client_context, "127.0.0.1");
  TlsSession server(pair.server_context, "");
  ASSERT_EQ(shake(client, server), TlsSession::Step::done) << client.error();
  std::string sent;
  for (int i = 0; i < 40; ++i) {
    const std::string record(static_cast<std::size_t>(1 + i * i), static_cast<char>('a' + i % 26));
    ASSERT_TRUE(client.write(record));
    sent += record;
  }
  const std::string bytes(client.output());
  client.consume(bytes.size());
  std::string got;
  std::string hand;  // overwritten again and again, like a receive buffer
  for (std::size_t at = 0, step = 1; at < bytes.size(); at += step, step = step * 7 % 1009) {
    step = std::min(step, bytes.size() - at);
    hand.assign(bytes, at, step);
    server.feed_in_place(hand);
    char buffer[256];
    // Now and then only one read of the available bytes: the rest must wait.
    const int reads = at % 3 == 0 ? 1 : 1000;
    for (int i = 0; i < reads; ++i) {
      const std::ptrdiff_t n = server.read(buffer, sizeof buffer);
      ASSERT_GE(n, 0) << server.error();
      if (n == 0) break;
      got.append(buffer, static_cast<std::size_t>(n));
    }
    server.keep_input();
    hand.assign(hand.size(), '!');
  }
  char buffer[4096];
  while (const std::ptrdiff_t n = server.read(buffer, sizeof buffer)) {
    ASSERT_GT(n, 0) << server.error();
    got.append(buffer, static_cast<std::size_t>(n));
  }
  EXPECT_EQ(got, sent);
  EXPECT_TRUE(server.read_empty());
  EXPECT_EQ(server.input_left(), 0U);
}

TEST(Tls, carries_bytes_both_ways) {
  Pair pair = make_pair(false, true);
  TlsSession client(pair.client_context, "127.0.0.1");
  TlsSession server(pair.server_context, "");
  ASSERT_EQ(shake(client, server), TlsSession::Step::done) << client.error();
  ASSERT_TRUE(client.write("hello"));
  carry(client, server);
  char buffer[64];
  ASSERT_EQ(server.read(buffer, sizeof buffer), 5);
  EXPECT_EQ(std::string_view(buffer, 5), "hello");
  EXPECT_EQ(server.read(buffer, sizeof buffer), 0);
  EXPECT_EQ(client.version(), "TLSv1.3");
}

TEST(Tls, an_unknown_certificate_is_refused_by_name) {
  Pair pair = make_pair(false, false);
  TlsSession client(pair.client_context, "localhost");
  TlsSession server(pair.server_context, "");
  EXPECT_EQ(shake(client, server), TlsSession::Step::failed);
  EXPECT_NE(client.error().find("certificate"), std::string::npos) << client.error();
}

TEST(Tls, another_hosts_certificate_is_refused) {
  Pair pair = make_pair(false, true);
  TlsSession client(pair.client_context, "example.org");
  TlsSession server(pair.server_context, "");
  EXPECT_EQ(shake(client, server), TlsSession::Step::failed);
}

TEST(Tls, insecure_asks_no_questions) {
  Pair pair = make_pair(true, false);
  TlsSession client(pair.client_context, "example.org");
  TlsSession server(pair.server_context, "");
  EXPECT_EQ(shake(client, server), TlsSession::Step::done) << client.error();
}

TEST(Tls, alpn_chooses_http2_when_both_offer_it) {
  Pair pair = make_pair(true, false, true);
  TlsSession client(pair.client_context, "localhost");
  TlsSession server(pair.server_context, "");
  ASSERT_EQ(shake(client, server), TlsSession::Step::done);
  EXPECT_EQ(client.application(), "h2");
}

// Moves what each side has to send, and reads what the client got.
struct Talk {
  explicit Talk(bool old = false) {
    if (old) server.speak_at_most_tls_1_2();
    EXPECT_EQ(shake(client, server), TlsSession::Step::done) << client.error();
    EXPECT_EQ(heard(server, client), "");
  }
  std::string heard(TlsSession& by, TlsSession& from) {
    carry(from, by);
    std::string out;
    char buffer[256];
    for (;;) {
      last = by.read(buffer, sizeof buffer);
      if (last <= 0) return out;
      out.append(buffer, static_cast<std::size_t>(last));
    }
  }
  Pair pair = make_pair(true, false);
  TlsSession client{pair.client_context, "localhost"};
  TlsSession server{pair.server_context, ""};
  std::ptrdiff_t last = 0;
};

TEST(Tls, keys_may_change_in_the_middle_of_a_reply) {
  for (const bool both : {false, true}) {
    SCOPED_TRACE(both);
    Talk talk;
    std::string said;
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(talk.server.write("half "));
      ASSERT_TRUE(talk.server.change_keys(both));
      ASSERT_TRUE(talk.server.write("whole;"));
      said += "half whole;";
    }
    EXPECT_EQ(talk.heard(talk.client, talk.server), said);
    EXPECT_EQ(talk.last, 0) << talk.client.error();
    EXPECT_EQ(talk.client.output().empty(), !both) << "new keys that were asked for";
    ASSERT_TRUE(talk.client.write("next"));
    EXPECT_EQ(talk.heard(talk.server, talk.client), "next") << talk.server.error();
  }
}

TEST(Tls, another_handshake_is_refused_and_what_was_said_before_is_read) {
  Talk talk(true);
  EXPECT_EQ(talk.client.version(), "TLSv1.2");
  EXPECT_FALSE(talk.server.change_keys(false)) << "of TLS 1.3 alone";
  ASSERT_TRUE(talk.server.write("half"));
  ASSERT_TRUE(talk.server.ask_for_another_handshake());
  ASSERT_TRUE(talk.server.write(" whole"));
  EXPECT_EQ(talk.heard(talk.client, talk.server), "half whole");
  EXPECT_EQ(talk.last, 0);
  EXPECT_FALSE(talk.client.output().empty()) << "the refusal";
  // OpenSSL's server takes that for a failure.
  talk.heard(talk.server, talk.client);
  talk.heard(talk.client, talk.server);
  EXPECT_EQ(talk.last, -1);
  EXPECT_NE(talk.client.error().find("after it asked to renegotiate, which is refused"),
            std::string::npos)
      << talk.client.error();
}

// A client that asks no questions has a doubt about the certificate, and fails for other reasons.
TEST(Tls, a_certificate_that_nobody_asked_about_is_not_to_blame) {
  Talk talk;
  talk.client.feed("\x17\x03\x03");
  talk.client.feed(std::string_view("\0\x10", 2));
  talk.client.feed(std::string(16, 'x'));
  char buffer[64];
  EXPECT_EQ(talk.client.read(buffer, sizeof buffer), -1);
  EXPECT_EQ(talk.client.error().find("certificate"), std::string::npos) << talk.client.error();
}

}  // namespace
}  // namespace assay::net
