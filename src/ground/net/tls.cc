#include "net/tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <span>

#include "base/check.h"
#include "base/format.h"

namespace assay::net {
namespace {

// A connection's larger buffer is freed when it is empty.
constexpr std::size_t kKeepOutBytes = 64 * 1024;

std::string last_error() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "unknown error";
  std::array<char, 256> text{};
  ERR_error_string_n(code, text.data(), text.size());
  const char* reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : text.data();
}

struct FreeContext {
  void operator()(SSL_CTX* p) const { SSL_CTX_free(p); }
};
using ContextPtr = std::unique_ptr<SSL_CTX, FreeContext>;

constexpr std::array<unsigned char, 12> kBoth{2,   'h', '2', 8,   'h', 't',
                                              't', 'p', '/', '1', '.', '1'};
constexpr std::string_view kHttp1{"\x08http/1.1", 9};

int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* offered, unsigned offered_size, void* http2) {
  std::span<const unsigned char> wanted = kBoth;
  if (http2 == nullptr) wanted = wanted.last(kHttp1.size());
  unsigned char* chosen = nullptr;
  const int found =
      SSL_select_next_proto(&chosen, out_size, wanted.data(), static_cast<unsigned>(wanted.size()),
                            offered, offered_size);
  *out = chosen;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

struct TlsContext::State {
  ContextPtr context{};
  bool server = false;
};

TlsContext::TlsContext(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsContext::TlsContext(TlsContext&&) noexcept = default;
TlsContext& TlsContext::operator=(TlsContext&&) noexcept = default;
TlsContext::~TlsContext() = default;

Result<TlsContext> TlsContext::client(const TlsClientOptions& options) {
  auto state = std::make_unique<State>();
  state->context.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* const context = state->context.get();
  if (context == nullptr) return Error{Code::io, "TLS: " + last_error()};
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // Another handshake in the middle of a reply is answered with a refusal, as HTTP/2 demands it:
  // what it costs would be measured, and the endpoint could show another certificate.
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_verify(context, options.insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  const bool loaded = options.ca_file.empty() ? SSL_CTX_set_default_verify_paths(context) == 1
                                              : SSL_CTX_load_verify_locations(
                                                    context, options.ca_file.c_str(), nullptr) == 1;
  if (!loaded) {
    return invalid(
        format("cannot read the certificates in '{}': {}", options.ca_file, last_error()));
  }
  const auto* const http1 = reinterpret_cast<const unsigned char*>(kHttp1.data());
  const int refused = options.offer_http2
                          ? SSL_CTX_set_alpn_protos(context, kBoth.data(), kBoth.size())
                          : SSL_CTX_set_alpn_protos(context, http1, kHttp1.size());
  CHECK(refused == 0);
  return TlsContext(std::move(state));
}

namespace {

Result<ContextPtr> new_server_context(bool offer_http2) {
  ContextPtr context(SSL_CTX_new(TLS_server_method()));
  if (!context) return Error{Code::io, "TLS: " + last_error()};
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  static int http2_wanted = 1;
  SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol, offer_http2 ? &http2_wanted : nullptr);
  return context;
}

struct FreeKey {
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
};
struct FreeCertificate {
  void operator()(X509* p) const { X509_free(p); }
};
struct FreeExtension {
  void operator()(X509_EXTENSION* p) const { X509_EXTENSION_free(p); }
};
struct FreeBio {
  void operator()(BIO* p) const { BIO_free(p); }
};

bool add_extension(X509* certificate, int id, const char* value) {
  const std::unique_ptr<X509_EXTENSION, FreeExtension> extension(
      X509V3_EXT_conf_nid(nullptr, nullptr, id, value));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

}  // namespace

Result<TlsContext> TlsContext::server(const std::string& certificate_file,
                                      const std::string& key_file, bool offer_http2) {
  ASSIGN_OR_RETURN(ContextPtr context, new_server_context(offer_http2));
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate_file.c_str()) != 1) {
    return invalid(format("cannot use certificate '{}': {}", certificate_file, last_error()));
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    return invalid(format("cannot use key '{}': {}", key_file, last_error()));
  }
  auto state = std::make_unique<State>();
  state->context = std::move(context);
  state->server = true;
  return TlsContext(std::move(state));
}

Result<TlsContext> TlsContext::self_signed_server(std::string* certificate_pem_out,
                                                  bool offer_http2) {
  ASSIGN_OR_RETURN(ContextPtr context, new_server_context(offer_http2));
  const std::unique_ptr<EVP_PKEY, FreeKey> key(EVP_EC_gen("P-256"));
  const std::unique_ptr<X509, FreeCertificate> certificate(X509_new());
  if (!key || !certificate) return Error{Code::io, "TLS: " + last_error()};
  constexpr long kValidSeconds = 30L * 24 * 3600;
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kValidSeconds);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* const name = X509_get_subject_name(certificate.get());
  const auto* const host = reinterpret_cast<const unsigned char*>("localhost");
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, host, -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  const bool made =
      add_extension(certificate.get(), NID_basic_constraints, "critical,CA:TRUE") &&
      add_extension(certificate.get(), NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1") &&
      X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0 &&
      SSL_CTX_use_certificate(context.get(), certificate.get()) == 1 &&
      SSL_CTX_use_PrivateKey(context.get(), key.get()) == 1;
  if (!made) return Error{Code::io, "TLS: cannot make a certificate: " + last_error()};
  if (certificate_pem_out != nullptr) {
    const std::unique_ptr<BIO, FreeBio> memory(BIO_new(BIO_s_mem()));
    PEM_write_bio_X509(memory.get(), certificate.get());
    const char* text = nullptr;
    const long size = BIO_ctrl(memory.get(), BIO_CTRL_INFO, 0, &text);
    certificate_pem_out->assign(text, static_cast<std::size_t>(size));
  }
  auto state = std::make_unique<State>();
  state->context = std::move(context);
  state->server = true;
  return TlsContext(std::move(state));
}

// OpenSSL reads and writes the caller's bytes, without a buffer of its own. A memory BIO copies
// each record in and out of one, a quarter of a small record's cost.
struct TlsSession::State {
  SSL* ssl = nullptr;
  std::string_view in{};  // ciphertext not yet read; the caller's, or in `kept`
  std::string kept{};
  std::string out{};  // ciphertext to be sent
  std::size_t out_at = 0;
  bool refused_handshake = false;  // the peer asked for another one

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { SSL_free(ssl); }

  static int read(BIO* bio, char* buffer, std::size_t size, std::size_t* got) {
    std::string_view& in = static_cast<State*>(BIO_get_data(bio))->in;
    BIO_clear_retry_flags(bio);
    *got = in.copy(buffer, size);
    in.remove_prefix(*got);
    if (*got == 0) BIO_set_retry_read(bio);
    return *got == 0 ? 0 : 1;
  }
  static int write(BIO* bio, const char* bytes, std::size_t size, std::size_t* written) {
    static_cast<State*>(BIO_get_data(bio))->out.append(bytes, size);
    *written = size;
    return 1;
  }
  static void on_alert(const SSL* ssl, int where, int alert) {
    if (where != SSL_CB_WRITE_ALERT || (alert & 0xFF) != SSL_AD_NO_RENEGOTIATION) return;
    static_cast<State*>(BIO_get_data(SSL_get_rbio(ssl)))->refused_handshake = true;
  }
  static long control(BIO*, int what, long, void*) { return what == BIO_CTRL_FLUSH ? 1 : 0; }
  static BIO_METHOD* method() {
    static BIO_METHOD* const made = [] {
      BIO_METHOD* const m =
          BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "bytes in hand");
      CHECK(m != nullptr);
      BIO_meth_set_read_ex(m, read);
      BIO_meth_set_write_ex(m, write);
      BIO_meth_set_ctrl(m, control);
      return m;
    }();
    return made;
  }
};

TlsSession::TlsSession(const TlsContext& context, std::string_view host)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.ssl = SSL_new(context.state_->context.get());
  CHECK(s.ssl != nullptr);
  BIO* const bio = BIO_new(State::method());
  CHECK(bio != nullptr);
  BIO_set_data(bio, &s);
  SSL_set_bio(s.ssl, bio, bio);
  if (context.state_->server) {
    SSL_set_accept_state(s.ssl);
    return;
  }
  SSL_set_connect_state(s.ssl);
  SSL_set_info_callback(s.ssl, State::on_alert);
  std::string name(host);
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  // A numeric address is checked against the certificate's addresses and is never sent as SNI.
  X509_VERIFY_PARAM* const check = SSL_get0_param(s.ssl);
  if (X509_VERIFY_PARAM_set1_ip_asc(check, name.c_str()) != 1) {
    ERR_clear_error();
    SSL_ctrl(s.ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
    SSL_set1_host(s.ssl, name.c_str());
  }
}

TlsSession::TlsSession(TlsSession&&) noexcept = default;
TlsSession& TlsSession::operator=(TlsSession&&) noexcept = default;
TlsSession::~TlsSession() = default;

void TlsSession::feed(std::string_view ciphertext) {
  feed_in_place(ciphertext);
  keep_input();
}

void TlsSession::feed_in_place(std::string_view ciphertext) {
  State& s = *state_;
  if (s.in.empty()) {
    s.in = ciphertext;
    return;
  }
  keep_input();
  s.kept.append(ciphertext);
  s.in = s.kept;
}

void TlsSession::keep_input() {
  State& s = *state_;
  if (s.in.empty()) return;
  s.kept.assign(s.in);  // which may be a part of it
  s.in = s.kept;
}

void TlsSession::fail(std::string_view what) {
  SSL* const ssl = state_->ssl;
  const long verdict = SSL_get_verify_result(ssl);
  std::string reason = last_error();
  if (state_->refused_handshake) reason += ", after it asked to renegotiate, which is refused";
  // A session that asks no questions has a verdict too, and fails for other reasons.
  const bool refused = verdict != X509_V_OK && SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE;
  error_ = refused ? format("{}: certificate: {}", what, X509_verify_cert_error_string(verdict))
                   : format("{}: {}", what, reason);
}

TlsSession::Step TlsSession::handshake() {
  const int result = SSL_do_handshake(state_->ssl);
  if (result == 1) return Step::done;
  const int why = SSL_get_error(state_->ssl, result);
  if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return Step::pending;
  fail("TLS handshake failed");
  return Step::failed;
}

std::ptrdiff_t TlsSession::read(char* buffer, std::size_t size) {
  std::size_t got = 0;
  if (SSL_read_ex(state_->ssl, buffer, size, &got) == 1) return static_cast<std::ptrdiff_t>(got);
  const int why = SSL_get_error(state_->ssl, 0);
  if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return 0;
  if (why == SSL_ERROR_ZERO_RETURN) {
    closed_ = true;
    return 0;
  }
  fail("TLS read failed");
  return -1;
}

bool TlsSession::read_empty() const {
  return state_->in.empty() && SSL_has_pending(state_->ssl) == 0;
}

std::size_t TlsSession::input_left() const { return state_->in.size(); }

bool TlsSession::write(std::string_view plaintext) {
  std::size_t written = 0;
  if (plaintext.empty()) return true;
  if (SSL_write_ex(state_->ssl, plaintext.data(), plaintext.size(), &written) == 1) return true;
  fail("TLS write failed");
  return false;
}

std::string_view TlsSession::output() {
  return std::string_view(state_->out).substr(state_->out_at);
}

void TlsSession::consume(std::size_t bytes) {
  State& s = *state_;
  CHECK(bytes <= s.out.size() - s.out_at);
  s.out_at += bytes;
  if (s.out_at < s.out.size()) return;
  s.out.clear();
  s.out_at = 0;
  if (s.out.capacity() > kKeepOutBytes) std::string().swap(s.out);  // `= {}` keeps the memory
}

void TlsSession::speak_at_most_tls_1_2() {
  SSL_ctrl(state_->ssl, SSL_CTRL_SET_MAX_PROTO_VERSION, TLS1_2_VERSION, nullptr);
}

bool TlsSession::change_keys(bool also_the_clients) {
  const int update = also_the_clients ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED;
  return SSL_key_update(state_->ssl, update) == 1 && SSL_do_handshake(state_->ssl) == 1;
}

bool TlsSession::ask_for_another_handshake() {
  return SSL_renegotiate(state_->ssl) == 1 && SSL_do_handshake(state_->ssl) == 1;
}

bool TlsSession::say_goodbye() { return SSL_shutdown(state_->ssl) >= 0; }

std::string_view TlsSession::version() const { return SSL_get_version(state_->ssl); }

std::string_view TlsSession::application() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(state_->ssl, &name, &size);
  return name == nullptr ? std::string_view{}
                         : std::string_view(reinterpret_cast<const char*>(name), size);
}

}  // namespace assay::net
