// Sockets: owned descriptors, addresses, and the socket options that net/ uses.
//
// Every socket made here is non-blocking and close-on-exec. Only resolve() waits: it asks the
// system's resolver, so call it before a measurement, never during one. Errors name the address.
// Where only loopback is allowed (base/reach.h), connecting elsewhere and listening elsewhere fail.
// Any thread; an Fd belongs to one.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace assay::net {

// Owns a descriptor and closes it.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void reset();
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

// Where to listen or connect: an IPv4 or IPv6 address with a port, or a path of a Unix socket.
class Address {
 public:
  // `host` is numeric ("127.0.0.1", "::1", "[::1]"); for names see resolve().
  static Result<Address> numeric(std::string_view host, std::uint16_t port);
  static Result<Address> unix_path(std::string_view path);
  static Address from_raw(const sockaddr* raw, socklen_t size);

  int family() const { return raw()->sa_family; }
  bool is_unix() const { return family() == AF_UNIX; }
  bool is_ipv6() const { return family() == AF_INET6; }
  // 127.0.0.0/8, ::1, or a Unix socket: no byte leaves the machine.
  bool is_loopback() const;
  std::uint16_t port() const;  // 0 for a Unix socket
  void set_port(std::uint16_t port);
  // 127.0.0.1:80 · [::1]:80 · unix:/path
  std::string to_string() const;

  const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(bytes_.data()); }
  socklen_t raw_size() const { return size_; }

 private:
  Address() = default;

  alignas(std::max_align_t) std::array<std::byte, sizeof(sockaddr_storage)> bytes_{};
  socklen_t size_ = 0;
};

// Returns numeric addresses unchanged; asks the system's resolver for names, in its order. Waits.
Result<std::vector<Address>> resolve(std::string_view host, std::uint16_t port);

struct ListenOptions {
  int backlog = 4096;
  bool reuse_port = false;  // several listeners of one port share its connections
};

// Removes a Unix path first if it is a socket without a listener; any other file there is an error.
Result<Fd> listen_on(const Address& address, const ListenOptions& options);
// The address that a socket is bound to; it has the port that the system chose.
Result<Address> local_address(const Fd& fd);

// Starts to connect; wait for writability, then ask connect_result(). `source` may be null.
Result<Fd> start_connect(const Address& address, const Address* source = nullptr);
// 0 once connected, else the errno with which connecting failed.
int connect_result(const Fd& fd);

// Accepts one connection, non-blocking. Returns an Fd that is not open() when no connection waits
// (or its peer has left); an error when the process is out of descriptors.
Result<Fd> accept_one(const Fd& listener);

// Each returns whether the kernel agreed; a Unix socket refuses TCP options without an error.
bool set_no_delay(const Fd& fd);
// Sends the ACK of what was read; the next read sends none by itself. A read on loopback takes half
// as long without it: for one that forwards first and acknowledges then.
bool acknowledge_now(const Fd& fd);
bool set_buffers(const Fd& fd, int receive_bytes, int send_bytes);  // 0 leaves one as it is
// Closing then sends a reset and discards unsent bytes.
bool set_reset_on_close(const Fd& fd);

// Lifts the process's descriptor limit to its hard limit; returns the limit now in force.
std::uint64_t raise_descriptor_limit();

}  // namespace assay::net
