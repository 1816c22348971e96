// ProbeConnection: one blocking connection of a probe, which keeps every read with its instant.
// Only for probe_ask.cc; it waits for as long as its deadlines say. One thread.
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "net/http1_response.h"
#include "net/poller.h"
#include "net/receive.h"
#include "net/tls.h"
#include "protocol/probe_socket.h"
#include "protocol/recording.h"

namespace assay::protocol {

class ProbeConnection {
 public:
  ProbeConnection(net::Fd fd, net::Poller poller, const Clock& clock)
      : fd_(std::move(fd)), poller_(std::move(poller)), clock_(clock) {}

  Result<void> shake_hands(const net::TlsContext& context, const std::string& host,
                           Instant deadline) {
    tls_.emplace(context, host);
    for (;;) {
      const net::TlsSession::Step step = tls_->handshake();
      if (!send_tls(deadline)) return Error{Code::refused, "the connection closed during TLS"};
      if (step == net::TlsSession::Step::done) return {};
      if (step == net::TlsSession::Step::failed) return Error{Code::refused, tls_->error()};
      std::string bytes;
      const Recording::Ending ending = receive(deadline, bytes);
      if (ending == Recording::Ending::timed_out) {
        return Error{Code::timed_out, "no end of the TLS handshake in time"};
      }
      if (ending != Recording::Ending::open) {
        return Error{Code::refused, "the connection closed during TLS"};
      }
      tls_->feed(bytes);
    }
  }

  std::string tls_version() const { return tls_ ? std::string(tls_->version()) : ""; }

  static constexpr std::size_t kReplyBytesMax = std::size_t{64} << 20;

  // `turn`: what comes is of a WebSocket.
  Recording ask(std::string_view request, Duration timeout, ProbeTurn* turn = nullptr) {
    Recording out;
    // Read the clock before the send: a server on this machine may answer before we run again.
    out.sent = clock_.now();
    const Instant deadline = out.sent + timeout;
    if (!send(request, deadline)) {
      out.ending = Recording::Ending::reset;
      out.ended = clock_.now();
      usable_ = false;
      return out;
    }
    net::ResponseParser parser;
    std::size_t total = 0;
    while (out.ending == Recording::Ending::open && total < kReplyBytesMax) {
      RecordedRead read;
      out.ending = receive(deadline, read.bytes);
      read.at = clock_.now();
      if (out.ending == Recording::Ending::open && tls_) decrypt(read.bytes);
      if (turn != nullptr) {
        std::string answer;
        turn->take(read.bytes, answer);
        if (out.reads.empty() && !answer.empty()) out.sent = clock_.now();
        if (!answer.empty()) send(answer, deadline);
      }
      total += read.bytes.size();
      std::string_view rest = read.bytes;
      parser.feed(
          rest, [](const net::ResponseHead&) {}, [](std::string_view) {});
      if (!read.bytes.empty()) out.reads.push_back(std::move(read));
      if (tls_ && tls_->closed()) out.ending = Recording::Ending::closed;
      const auto state = parser.state();
      if (state == net::ResponseParser::State::complete) break;
      if (state == net::ResponseParser::State::failed) break;
    }
    out.ended = clock_.now();
    usable_ = turn == nullptr && out.ending == Recording::Ending::open &&
              parser.state() == net::ResponseParser::State::complete && parser.head().keep_alive;
    return out;
  }

  // Whether the peer accepts another query, as far as we can see.
  bool usable() {
    if (!usable_) return false;
    char byte = 0;
    const ssize_t n = ::recv(fd_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n > 0 || (n < 0 && errno == EAGAIN);  // TLS may have sent a session ticket
  }

 private:
  bool wait(Instant deadline) {
    const Instant now = clock_.now();
    if (now >= deadline) return false;
    poller_.wait(deadline - now);
    return true;
  }

  bool send_raw(std::string_view& bytes, Instant deadline) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(n));
      } else if (errno != EAGAIN || !wait(deadline)) {
        return false;
      }
    }
    return true;
  }

  bool send_tls(Instant deadline) {
    std::string_view bytes = tls_->output();
    const std::size_t size = bytes.size();
    const bool sent = send_raw(bytes, deadline);
    tls_->consume(size - bytes.size());
    return sent;
  }

  bool send(std::string_view bytes, Instant deadline) {
    if (!tls_) return send_raw(bytes, deadline);
    return tls_->write(bytes) && send_tls(deadline);
  }

  // One read; ciphertext under TLS.
  Recording::Ending receive(Instant deadline, std::string& out) {
    for (;;) {
      const net::Received got = net::receive(fd_, buffer_.data(), buffer_.size());
      if (got.bytes > 0) {
        out.assign(buffer_.data(), static_cast<std::size_t>(got.bytes));
        return Recording::Ending::open;
      }
      if (got.bytes == 0) return Recording::Ending::closed;
      if (got.error != EAGAIN) return Recording::Ending::reset;
      if (!wait(deadline)) return Recording::Ending::timed_out;
    }
  }

  void decrypt(std::string& bytes) {
    tls_->feed(bytes);
    bytes.clear();
    for (;;) {
      const std::ptrdiff_t n = tls_->read(buffer_.data(), buffer_.size());
      if (n <= 0) return;
      bytes.append(buffer_.data(), static_cast<std::size_t>(n));
    }
  }

  net::Fd fd_;
  net::Poller poller_;
  const Clock& clock_;
  std::optional<net::TlsSession> tls_{};
  std::array<char, 64 * 1024> buffer_{};
  bool usable_ = true;
};

}  // namespace assay::protocol
