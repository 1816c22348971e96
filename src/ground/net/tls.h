// TLS without a socket: the caller moves the bytes.
//
// The caller receives ciphertext with its own reads, so that it knows the kernel's receive stamp of
// the record that completes an event; it feeds the bytes in, takes plaintext out, and sends what
// output() holds. OpenSSL does the cryptography (docs/decisions/0002). One thread a session; a
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
  // A self-signed certificate for localhost, 127.0.0.1 and ::1, made now, for tests and demos.
  // `certificate_pem_out` gets it, so that a client can trust it.
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
  // `host`: for a client's SNI and certificate check; "" for a server. The context must outlive the
  // session.
  TlsSession(const TlsContext& context, std::string_view host);
  TlsSession(TlsSession&&) noexcept;
  TlsSession& operator=(TlsSession&&) noexcept;
  ~TlsSession();

  enum class Step { pending, done, failed };

  // Ciphertext from the peer.
  void feed(std::string_view ciphertext);
  // As feed(), without a copy, for the measuring path: the bytes must stay in place until read()
  // returns 0 or read_empty() is true, or until keep_input(), which copies what is left.
  void feed_in_place(std::string_view ciphertext);
  void keep_input();
  // Continues the handshake as far as the fed bytes allow.
  Step handshake();
  // Writes plaintext into the buffer: returns its size, 0 when no record is complete, −1 on
  // failure. closed() says whether the peer has ended the session properly.
  std::ptrdiff_t read(char* buffer, std::size_t size);
  bool write(std::string_view plaintext);
  bool closed() const { return closed_; }
  // Ciphertext bytes that were fed and not yet read, of incomplete records.
  std::size_t input_left() const;
  // No plaintext is left: skip a call of read(), which costs a microsecond and returns 0.
  bool read_empty() const;

  // Ciphertext to send; call consume() with the number of bytes sent.
  std::string_view output();
  void consume(std::size_t bytes);

  // What few servers do in the middle of a session, for tests of a client. The first is called
  // before the handshake, and the third is of TLS 1.2 alone. False: not in this state.
  void speak_at_most_tls_1_2();
  bool change_keys(bool also_the_clients);
  bool ask_for_another_handshake();
  // Ends the session as TLS has it (close_notify); the connection stays.
  bool say_goodbye();

  std::string_view version() const;      // TLSv1.3
  std::string_view application() const;  // the protocol that ALPN chose: "h2", "http/1.1" or ""
  // Why the session failed, for a person; names the certificate if that was the cause.
  const std::string& error() const { return error_; }

 private:
  struct State;
  void fail(std::string_view what);
  std::unique_ptr<State> state_;
  bool closed_ = false;
  std::string error_{};
};

}  // namespace assay::net
