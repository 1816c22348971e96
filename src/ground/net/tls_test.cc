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

}  // namespace
}  // namespace assay::net
