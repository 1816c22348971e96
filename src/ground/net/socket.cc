#include "net/socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "base/format.h"
#include "base/reach.h"

namespace assay::net {
namespace {

bool set_int(const Fd& fd, int level, int option, int value) {
  return ::setsockopt(fd.get(), level, option, &value, sizeof(value)) == 0;
}

Result<Fd> make_socket(const Address& address) {
  Fd fd(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.open()) return errno_error(format("cannot make a socket for {}", address.to_string()));
  return fd;
}

// bind() would always fail on a socket file that an ended process left behind.
Result<void> remove_dead_unix_socket(const Address& address) {
  const std::string path = address.to_string().substr(std::strlen("unix:"));
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode)) {
    return invalid(format("'{}' exists and is not a socket; choose another path", path));
  }
  const Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (::connect(probe.get(), address.raw(), address.raw_size()) == 0 || errno != ECONNREFUSED) {
    return Error{Code::refused, format("'{}' is in use by another process", path)};
  }
  if (::unlink(path.c_str()) != 0) return errno_error(format("cannot remove '{}'", path));
  return {};
}

Result<void> stay_here(const Address& address) {
  if (!loopback_only() || address.is_loopback()) return {};
  return Error{Code::refused, format("{} is not an address of this machine, and {} is set",
                                     address.to_string(), kLoopbackOnly)};
}

}  // namespace

void Fd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

bool Address::is_loopback() const {
  if (is_unix()) return true;
  if (!is_ipv6()) {
    const auto* const four = reinterpret_cast<const sockaddr_in*>(raw());
    return (ntohl(four->sin_addr.s_addr) >> 24) == 127;
  }
  const in6_addr& six = reinterpret_cast<const sockaddr_in6*>(raw())->sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&six)) return six.s6_addr[12] == 127;
  return IN6_IS_ADDR_LOOPBACK(&six);
}

Address Address::from_raw(const sockaddr* raw, socklen_t size) {
  CHECK(size <= sizeof(sockaddr_storage));
  Address address;
  std::memcpy(address.bytes_.data(), raw, size);
  address.size_ = size;
  return address;
}

Result<Address> Address::numeric(std::string_view host, std::uint16_t port) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  const std::string text(host);
  sockaddr_in v4{};
  if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    return from_raw(reinterpret_cast<const sockaddr*>(&v4), sizeof(v4));
  }
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    return from_raw(reinterpret_cast<const sockaddr*>(&v6), sizeof(v6));
  }
  return invalid(format("'{}' is not an IPv4 or IPv6 address", text));
}

Result<Address> Address::unix_path(std::string_view path) {
  sockaddr_un un{};
  if (path.empty() || path.size() >= sizeof(un.sun_path)) {
    return invalid(format("'{}': the path of a Unix socket must have 1 to {} bytes", path,
                          sizeof(un.sun_path) - 1));
  }
  un.sun_family = AF_UNIX;
  std::memcpy(un.sun_path, path.data(), path.size());
  const std::size_t size = offsetof(sockaddr_un, sun_path) + path.size() + 1;
  return from_raw(reinterpret_cast<const sockaddr*>(&un), static_cast<socklen_t>(size));
}

std::uint16_t Address::port() const {
  if (family() == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(raw())->sin_port);
  if (is_ipv6()) return ntohs(reinterpret_cast<const sockaddr_in6*>(raw())->sin6_port);
  return 0;
}

void Address::set_port(std::uint16_t port) {
  if (family() == AF_INET) reinterpret_cast<sockaddr_in*>(bytes_.data())->sin_port = htons(port);
  if (is_ipv6()) reinterpret_cast<sockaddr_in6*>(bytes_.data())->sin6_port = htons(port);
}

std::string Address::to_string() const {
  if (is_unix()) {
    const auto* un = reinterpret_cast<const sockaddr_un*>(raw());
    const std::size_t room = size_ - offsetof(sockaddr_un, sun_path);
    return format("unix:{}", std::string_view(un->sun_path, ::strnlen(un->sun_path, room)));
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (is_ipv6()) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(raw());
    ::inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
    return format("[{}]:{}", text.data(), port());
  }
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(raw());
  ::inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
  return format("{}:{}", text.data(), port());
}

Result<std::vector<Address>> resolve(std::string_view host, std::uint16_t port) {
  if (auto address = Address::numeric(host, port)) return std::vector<Address>{*address};
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const std::string name(host);
  if (const int error = ::getaddrinfo(name.c_str(), nullptr, &hints, &list); error != 0) {
    return Error{Code::refused, format("host '{}': {}", name, ::gai_strerror(error))};
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, ::freeaddrinfo);
  std::vector<Address> addresses;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    Address address = Address::from_raw(entry->ai_addr, entry->ai_addrlen);
    address.set_port(port);
    addresses.push_back(address);
  }
  return addresses;
}

Result<Fd> listen_on(const Address& address, const ListenOptions& options) {
  TRY(stay_here(address));
  ASSIGN_OR_RETURN(Fd fd, make_socket(address));
  if (address.is_unix()) {
    TRY(remove_dead_unix_socket(address));
  } else {
    set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (options.reuse_port && !set_int(fd, SOL_SOCKET, SO_REUSEPORT, 1)) {
      return errno_error(format("cannot share {}", address.to_string()));
    }
  }
  if (::bind(fd.get(), address.raw(), address.raw_size()) != 0 ||
      ::listen(fd.get(), options.backlog) != 0) {
    return errno_error(format("cannot listen on {}", address.to_string()));
  }
  return fd;
}

Result<Address> local_address(const Fd& fd) {
  sockaddr_storage raw{};
  socklen_t size = sizeof(raw);
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&raw), &size) != 0) {
    return errno_error("cannot read a socket's address");
  }
  return Address::from_raw(reinterpret_cast<const sockaddr*>(&raw), size);
}

Result<Fd> start_connect(const Address& address, const Address* source) {
  TRY(stay_here(address));
  ASSIGN_OR_RETURN(Fd fd, make_socket(address));
  if (source != nullptr) {
    // connect() chooses the port, when the whole tuple is known: many more are free then.
    set_int(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    if (::bind(fd.get(), source->raw(), source->raw_size()) != 0) {
      return errno_error(format("cannot send from {}", source->to_string()));
    }
  }
  if (!address.is_unix()) set_no_delay(fd);
  if (::connect(fd.get(), address.raw(), address.raw_size()) != 0 && errno != EINPROGRESS) {
    return errno_error(format("cannot connect to {}", address.to_string()));
  }
  return fd;
}

int connect_result(const Fd& fd) {
  int error = 0;
  socklen_t size = sizeof(error);
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

Result<Fd> accept_one(const Fd& listener) {
  Fd fd(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (fd.open()) return fd;
  switch (errno) {
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      return errno_error("cannot accept a connection");
    default:
      return Fd();
  }
}

bool set_no_delay(const Fd& fd) { return set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1); }

// An even value sends the ACK that is due and leaves the interactive mode on, in which a read sends
// none (tcp(7); __tcp_sock_set_quickack in the kernel).
bool acknowledge_now(const Fd& fd) { return set_int(fd, IPPROTO_TCP, TCP_QUICKACK, 2); }

bool set_buffers(const Fd& fd, int receive_bytes, int send_bytes) {
  bool agreed = true;
  if (receive_bytes > 0) agreed &= set_int(fd, SOL_SOCKET, SO_RCVBUF, receive_bytes);
  if (send_bytes > 0) agreed &= set_int(fd, SOL_SOCKET, SO_SNDBUF, send_bytes);
  return agreed;
}

bool set_reset_on_close(const Fd& fd) {
  const linger now{.l_onoff = 1, .l_linger = 0};
  return ::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now)) == 0;
}

std::uint64_t raise_descriptor_limit() {
  rlimit limit{};
  CHECK(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

}  // namespace assay::net
