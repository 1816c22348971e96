// TLS over bytes that somebody else moves: the session never touches a socket.
//
// The caller receives ciphertext with its own reads, so that the kernel's receive stamp is known
// for the record that completes an event; it feeds the bytes in, takes plaintext out, and sends
// what output() holds. OpenSSL does the cryptography (docs/decisions/0002). One thread a session; a
// context may be shared.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay::net {

struct TlsClientOptions {
  bool insecure = false;     // no check of certificate or host name
  bool offer_http2 = false;  // ALPN h2 before http/1.1
  std::string ca_file{};     // PEM; "" for the system's store
};

class TlsContext {
 public:
  static Result<TlsContext> client(const TlsClientOptions& options);
  // PEM files of the certificate chain and its key.
  static Result<TlsContext> server(const std::string& certificate_file, const std::string& key_file,
                                   bool offer_http2);
  // A certificate for localhost, 127.0.0.1 and ::1, made now and signed by itself, for tests and
  // demos. `certificate_pem_out` gets it, so that a client can be told to trust it.
  static Result<TlsContext> self_signed_server(std::string* certificate_pem_out, bool offer_http2);

  TlsContext(TlsContext&&) noexcept;
  TlsContext& operator=(TlsContext&&) noexcept;
  ~TlsContext();

 private:
  friend class TlsSession;
  struct State;
  explicit TlsContext(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class TlsSession {
 public:
  // `host`: for SNI and the certificate check of a client; "" for a server. The context must
  // outlive it.
  TlsSession(const TlsContext& context, std::string_view host);
  TlsSession(TlsSession&&) noexcept;
  TlsSession& operator=(TlsSession&&) noexcept;
  ~TlsSession();

  enum class Step { pending, done, failed };

  // Ciphertext from the peer.
  void feed(std::string_view ciphertext);
  // The same without a copy, for the measuring path: it must stay where it is until read() has
  // given 0 or read_empty() is true, or until keep_input(), which copies what is left.
  void feed_in_place(std::string_view ciphertext);
  void keep_input();
  // Goes on with the handshake as far as the bytes fed allow.
  Step handshake();
  // Plaintext into the buffer: its size, 0 when none is complete, −1 on failure. closed() says
  // whether the peer has ended the session properly.
  std::ptrdiff_t read(char* buffer, std::size_t size);
  bool write(std::string_view plaintext);
  bool closed() const { return closed_; }
  // Ciphertext that was fed and not yet read: of records to come.
  std::size_t input_left() const;
  // Nothing is left to decrypt or to hand out: asking read() once more is a microsecond for a zero.
  bool read_empty() const;

  // Ciphertext to be sent; consume() what was.
  std::string_view output();
  void consume(std::size_t bytes);

  std::string_view version() const;      // TLSv1.3
  std::string_view application() const;  // the protocol that ALPN chose: "h2", "http/1.1" or ""
  // Why it failed, for a person; says when it was the certificate.
  const std::string& error() const { return error_; }

 private:
  struct State;
  void fail(std::string_view what);
  std::unique_ptr<State> state_;
  bool closed_ = false;
  std::string error_{};
};

}  // namespace assay::net
