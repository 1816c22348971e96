#include "net/tls.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/testing_temp_folder.h"
#include "net/testing_memory.h"

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
struct TlsTalk {
  explicit TlsTalk(bool old = false) {
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
    TlsTalk talk;
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
  TlsTalk talk(true);
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
  TlsTalk talk;
  talk.client.feed("\x17\x03\x03");
  talk.client.feed(std::string_view("\0\x10", 2));
  talk.client.feed(std::string(16, 'x'));
  char buffer[64];
  EXPECT_EQ(talk.client.read(buffer, sizeof buffer), -1);
  EXPECT_EQ(talk.client.error().find("certificate"), std::string::npos) << talk.client.error();
  EXPECT_EQ(talk.client.error().find("renegotiate"), std::string::npos) << talk.client.error();
}

TEST(Tls, an_error_of_another_call_is_no_error_of_a_session) {
  TlsTalk talk;
  EXPECT_FALSE(TlsContext::client({.ca_file = "/none"}));
  EXPECT_EQ(talk.heard(talk.client, talk.server), "");
  EXPECT_EQ(talk.last, 0) << talk.client.error();
  const TlsSession other(talk.pair.client_context, "no.address");
  EXPECT_EQ(talk.heard(talk.client, talk.server), "");
  EXPECT_EQ(talk.last, 0) << talk.client.error();
  EXPECT_FALSE(talk.server.ask_for_another_handshake()) << "of TLS 1.2 alone";
}

TEST(Tls, what_was_read_of_a_piece_is_not_read_again_with_the_next) {
  TlsTalk talk;
  ASSERT_TRUE(talk.client.write("first") && talk.client.write("second"));
  const std::string bytes(talk.client.output());
  talk.server.feed(bytes.substr(0, bytes.size() - 3));
  char buffer[64];
  ASSERT_EQ(talk.server.read(buffer, sizeof buffer), 5);
  EXPECT_FALSE(talk.server.read_empty()) << "a part of a record is there";
  const std::string rest = bytes.substr(bytes.size() - 3);
  talk.server.feed_in_place(rest);
  EXPECT_EQ(talk.server.read(buffer, 1), 1);
  EXPECT_FALSE(talk.server.read_empty()) << "a part of a plain text is there";
  ASSERT_EQ(talk.server.read(buffer, sizeof buffer), 5);
  EXPECT_EQ(std::string_view(buffer, 5), "econd");
  EXPECT_TRUE(talk.server.read_empty());
}

TEST(Tls, a_session_keeps_no_more_than_it_needs) {
  EXPECT_LT(bytes_kept_by(20, [] { const TlsTalk talk; }), 20'000);
  TlsTalk talk;
  const auto say = [&](const std::string& words) {
    ASSERT_TRUE(talk.client.write(words));
    talk.client.consume(talk.client.output().size());
  };
  const std::string small(1000, 'x');
  EXPECT_LT(bytes_kept_by(100, [&] { say(small); }), 10'000);
  const std::string large(4'000'000, 'x');
  const std::ptrdiff_t before = heap_bytes();
  say(large);
  EXPECT_LT(heap_bytes(), before + 500'000) << "a large buffer is given back";
}

// A certificate for localhost and its key, as PEM files.
struct CertificateFiles {
  CertificateFiles() {
    const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> own(EVP_EC_gen("P-256"), EVP_PKEY_free);
    const std::unique_ptr<X509, void (*)(X509*)> made(X509_new(), X509_free);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
    X509_set_pubkey(made.get(), own.get());
    EXPECT_GT(X509_sign(made.get(), own.get(), EVP_sha256()), 0);
    const File key_file(std::fopen(key.c_str(), "wb"));
    EXPECT_EQ(
        PEM_write_PrivateKey(key_file.get(), own.get(), nullptr, nullptr, 0, nullptr, nullptr), 1);
    const File certificate_file(std::fopen(certificate.c_str(), "wb"));
    EXPECT_EQ(PEM_write_X509(certificate_file.get(), made.get()), 1);
  }
  TempFolder folder{};
  std::string key = folder.path() / "key.pem";
  std::string certificate = folder.path() / "certificate.pem";
};

TEST(Tls, a_server_has_a_certificate_and_its_key_from_files) {
  const CertificateFiles files;
  const CertificateFiles others;
  const auto context = TlsContext::server(files.certificate, files.key, true);
  ASSERT_TRUE(context) << context.error().message;
  const TlsContext asks = *TlsContext::client({.insecure = true, .offer_http2 = true});
  TlsSession client(asks, "localhost");
  TlsSession server(*context, "");
  ASSERT_EQ(shake(client, server), TlsSession::Step::done) << client.error();
  EXPECT_EQ(client.application(), "h2");
  const auto why = [](const std::string& certificate, const std::string& key,
                      const char* reason = nullptr) {
    const auto refused = TlsContext::server(certificate, key, false);
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::invalid);
    if (reason != nullptr) {
      EXPECT_NE(refused.error().message.find(reason), std::string::npos) << refused.error().message;
    }
    return refused.error().message.substr(0, refused.error().message.find(':'));
  };
  EXPECT_EQ(why("/none", files.key, "No such file or directory"), "cannot use certificate '/none'");
  EXPECT_EQ(why(files.certificate, "/none"), "cannot use key '/none'");
  // Each error is the call's own, not one that an earlier call left.
  EXPECT_EQ(why(files.certificate, others.key, "key values mismatch"),
            "cannot use key '" + others.key + "'");
  const auto no_store = TlsContext::client({.ca_file = "/none"});
  ASSERT_FALSE(no_store);
  EXPECT_EQ(no_store.error().message.find("cannot read the certificates in '/none': "), 0U);
}

TEST(Tls, the_certificate_made_now_is_of_this_machines_names_and_holds_for_a_month) {
  std::string pem;
  ASSERT_TRUE(TlsContext::self_signed_server(&pem, false));
  const std::unique_ptr<BIO, void (*)(BIO*)> bytes(BIO_new(BIO_s_mem()), BIO_free_all);
  BIO_write(bytes.get(), pem.data(), static_cast<int>(pem.size()));
  const std::unique_ptr<X509, void (*)(X509*)> made(
      PEM_read_bio_X509(bytes.get(), nullptr, nullptr, nullptr), X509_free);
  ASSERT_NE(made, nullptr) << pem;
  EXPECT_EQ(X509_get_version(made.get()), X509_VERSION_3);
  EXPECT_EQ(ASN1_INTEGER_get(X509_get0_serialNumber(made.get())), 1);
  char name[64] = {};
  X509_NAME_oneline(X509_get_subject_name(made.get()), name, sizeof name);
  EXPECT_STREQ(name, "/CN=localhost");
  EXPECT_EQ(X509_NAME_cmp(X509_get_subject_name(made.get()), X509_get_issuer_name(made.get())), 0);
  EXPECT_EQ(X509_check_ca(made.get()), 1);
  EXPECT_EQ(X509_check_host(made.get(), "localhost", 0, 0, nullptr), 1);
  for (const char* const address : {"127.0.0.1", "::1"}) {
    EXPECT_EQ(X509_check_ip_asc(made.get(), address, 0), 1) << address;
  }
  int days = 0;
  int seconds = 0;
  EXPECT_EQ(ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(made.get()),
                           X509_get0_notAfter(made.get())),
            1);
  EXPECT_EQ(days, 30);
  EXPECT_GE(seconds, 3600) << "it began an hour ago";
  EXPECT_LT(seconds, 3700);
}

TEST(Tls, alpn_chooses_what_both_sides_speak) {
  for (const bool server_has : {false, true}) {
    for (const bool client_has : {false, true}) {
      const TlsContext serves = *TlsContext::self_signed_server(nullptr, server_has);
      const TlsContext asks = *TlsContext::client({.insecure = true, .offer_http2 = client_has});
      TlsSession client(asks, "localhost");
      TlsSession server(serves, "");
      ASSERT_EQ(shake(client, server), TlsSession::Step::done) << client.error();
      EXPECT_EQ(client.application(), server_has && client_has ? "h2" : "http/1.1");
      EXPECT_EQ(server.application(), client.application());
    }
  }
}

TEST(Tls, an_address_in_brackets_is_checked_against_the_certificates_addresses) {
  for (const auto& [host, good] : {std::pair{"[::1]", true},
                                   {"::1", true},
                                   {"localhost", true},
                                   {"[::2]", false},
                                   {"127.0.0.2", false}}) {
    Pair pair = make_pair(false, true);
    TlsSession client(pair.client_context, host);
    TlsSession server(pair.server_context, "");
    EXPECT_EQ(shake(client, server) == TlsSession::Step::done, good) << host;
    if (!good) {
      EXPECT_EQ(client.error().find("TLS handshake failed: certificate: "), 0U) << client.error();
    }
  }
}

TEST(Tls, output_may_be_taken_in_parts) {
  Pair pair = make_pair(true, false);
  TlsSession client(pair.client_context, "localhost");
  EXPECT_EQ(client.handshake(), TlsSession::Step::pending);
  const std::string all(client.output());
  ASSERT_GT(all.size(), 10U);
  client.consume(3);
  EXPECT_EQ(client.output(), all.substr(3));
  client.consume(4);
  EXPECT_EQ(client.output(), all.substr(7));
  client.consume(all.size() - 7);
  EXPECT_EQ(client.output(), "");
  EXPECT_TRUE(client.write(""));
}

TEST(Tls, what_is_written_before_the_handshake_is_an_error_and_nothing_is_none) {
  Pair pair = make_pair(true, false);
  TlsSession client(pair.client_context, "localhost");
  EXPECT_TRUE(client.write(""));
  EXPECT_EQ(client.output(), "");
  EXPECT_EQ(client.error(), "");
  EXPECT_FALSE(client.write("x"));
  EXPECT_TRUE(client.error().starts_with("TLS write failed: ")) << client.error();
}

// OpenSSL by itself as the server, which can do what a TlsSession does not.
class BareServer {
 public:
  BareServer() : context_(SSL_CTX_new(TLS_server_method())) {
    EXPECT_EQ(SSL_CTX_use_certificate_file(context_, files_.certificate.c_str(), SSL_FILETYPE_PEM),
              1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey_file(context_, files_.key.c_str(), SSL_FILETYPE_PEM), 1);
    ssl = SSL_new(context_);
    SSL_set_accept_state(ssl);
    SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  }
  BareServer(const BareServer&) = delete;
  BareServer& operator=(const BareServer&) = delete;
  ~BareServer() {
    SSL_free(ssl);
    SSL_CTX_free(context_);
  }
  void hear(TlsSession& client) {
    const std::string bytes(client.output());
    client.consume(bytes.size());
    BIO_write(SSL_get_rbio(ssl), bytes.data(), static_cast<int>(bytes.size()));
  }
  std::string say() const {
    std::string out(1 << 16, '\0');
    const int n = BIO_read(SSL_get_wbio(ssl), out.data(), static_cast<int>(out.size()));
    out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return out;
  }
  SSL* ssl = nullptr;

 private:
  CertificateFiles files_{};
  SSL_CTX* context_;
};

TEST(Tls, the_servers_name_is_sent_and_its_end_of_the_session_is_told) {
  for (const std::string host : {"localhost", "127.0.0.1", "[ab", "ab]"}) {
    const TlsContext asks = *TlsContext::client({.insecure = true});
    TlsSession client(asks, host);
    BareServer server;
    for (int i = 0; i < 4; ++i) {
      client.handshake();
      server.hear(client);
      SSL_do_handshake(server.ssl);
      client.feed(server.say());
    }
    EXPECT_EQ(client.handshake(), TlsSession::Step::done) << client.error();
    const char* const name = SSL_get_servername(server.ssl, TLSEXT_NAMETYPE_host_name);
    EXPECT_EQ(name == nullptr ? "" : std::string(name), host == "127.0.0.1" ? "" : host);
    EXPECT_EQ(SSL_write(server.ssl, "last", 4), 4);
    SSL_shutdown(server.ssl);
    client.feed(server.say());
    char buffer[64];
    EXPECT_EQ(client.read(buffer, sizeof buffer), 4);
    EXPECT_FALSE(client.closed());
    EXPECT_EQ(client.read(buffer, sizeof buffer), 0);
    EXPECT_TRUE(client.closed());
    EXPECT_EQ(client.error(), "");
  }
}

}  // namespace
}  // namespace assay::net
