#include "net/socket.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "base/format.h"
#include "base/reach.h"

namespace assay::net {
namespace {

std::string scratch_path(std::string_view name) {
  return format("{}/assay_{}_{}", std::filesystem::temp_directory_path().string(), ::getpid(),
                name);
}

bool wait_for(const Fd& fd, short events) {
  pollfd entry{.fd = fd.get(), .events = events, .revents = 0};
  return ::poll(&entry, 1, 10'000) == 1;
}

// Connects to `where` and returns {client, server}.
std::pair<Fd, Fd> connected_pair(const Fd& listener, const Address& where) {
  auto client = start_connect(where);
  EXPECT_TRUE(client) << client.error().message;
  EXPECT_TRUE(wait_for(listener, POLLIN));
  auto server = accept_one(listener);
  EXPECT_TRUE(server && server->open());
  EXPECT_TRUE(wait_for(*client, POLLOUT));
  EXPECT_EQ(connect_result(*client), 0);
  return {std::move(*client), std::move(*server)};
}

TEST(Address, prints_what_it_parsed) {
  EXPECT_EQ(Address::numeric("127.0.0.1", 80)->to_string(), "127.0.0.1:80");
  EXPECT_EQ(Address::numeric("::1", 8080)->to_string(), "[::1]:8080");
  EXPECT_EQ(Address::numeric("[::1]", 8080)->to_string(), "[::1]:8080");
  EXPECT_EQ(Address::unix_path("/run/x.sock")->to_string(), "unix:/run/x.sock");
  EXPECT_EQ(Address::unix_path("/run/x.sock")->port(), 0);
}

TEST(Address, refuses_what_is_no_address) {
  EXPECT_FALSE(Address::numeric("localhost", 80));
  EXPECT_FALSE(Address::numeric("1.2.3", 80));
  EXPECT_FALSE(Address::unix_path(""));
  EXPECT_FALSE(Address::unix_path(std::string(200, 'x')));
  EXPECT_TRUE(Address::unix_path(std::string(107, 'x')));
}

TEST(Resolve, numeric_needs_no_resolver) {
  const auto addresses = resolve("127.0.0.1", 7);
  ASSERT_TRUE(addresses);
  ASSERT_EQ(addresses->size(), 1u);
  EXPECT_EQ(addresses->front().to_string(), "127.0.0.1:7");
}

TEST(Socket, tcp_and_unix_connect) {
  const std::string path = scratch_path("socket_test.sock");
  for (const Address& where : {*Address::numeric("127.0.0.1", 0), *Address::unix_path(path)}) {
    auto listener = listen_on(where, {});
    ASSERT_TRUE(listener) << listener.error().message;
    const Address bound = *local_address(*listener);
    auto [client, server] = connected_pair(*listener, bound);
    ASSERT_EQ(::write(client.get(), "hello", 5), 5);
    ASSERT_TRUE(wait_for(server, POLLIN));
    char buffer[8] = {};
    EXPECT_EQ(::read(server.get(), buffer, sizeof(buffer)), 5);
    EXPECT_STREQ(buffer, "hello");
  }
  ::unlink(path.c_str());
}

TEST(Socket, nobody_waiting_is_no_error) {
  auto listener = listen_on(*Address::numeric("127.0.0.1", 0), {});
  ASSERT_TRUE(listener);
  const auto none = accept_one(*listener);
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->open());
}

TEST(Socket, a_refused_connection_says_so) {
  Address where = *Address::numeric("127.0.0.1", 0);
  {
    auto listener = listen_on(where, {});
    ASSERT_TRUE(listener);
    where = *local_address(*listener);
  }
  auto client = start_connect(where);
  if (client) {
    ASSERT_TRUE(wait_for(*client, POLLOUT));
    EXPECT_EQ(connect_result(*client), ECONNREFUSED);
  } else {
    EXPECT_EQ(client.error().code, Code::refused);
  }
}

TEST(Socket, a_dead_unix_socket_is_replaced_and_a_live_one_is_not) {
  const std::string path = scratch_path("dead.sock");
  const Address where = *Address::unix_path(path);
  { ASSERT_TRUE(listen_on(where, {})); }  // its file stays
  auto second = listen_on(where, {});
  ASSERT_TRUE(second) << second.error().message;
  const auto third = listen_on(where, {});
  ASSERT_FALSE(third);
  EXPECT_THAT(third.error().message, testing::HasSubstr("in use"));
  ::unlink(path.c_str());
}

TEST(Socket, reset_on_close_reaches_the_peer) {
  auto listener = listen_on(*Address::numeric("127.0.0.1", 0), {});
  ASSERT_TRUE(listener);
  auto [client, server] = connected_pair(*listener, *local_address(*listener));
  EXPECT_TRUE(set_reset_on_close(server));
  server.reset();
  ASSERT_TRUE(wait_for(client, POLLIN));
  char byte = 0;
  EXPECT_EQ(::read(client.get(), &byte, 1), -1);
  EXPECT_EQ(errno, ECONNRESET);
}

TEST(Socket, the_descriptor_limit_is_told) { EXPECT_GE(raise_descriptor_limit(), 256u); }

// A limit of descriptors for one test.
class LimitOf {
 public:
  explicit LimitOf(rlim_t most) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit less{.rlim_cur = most, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &less), 0);
  }
  ~LimitOf() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  rlim_t hard() const { return before_.rlim_max; }

 private:
  rlimit before_{};
};

TEST(Socket, the_descriptor_limit_is_raised_to_the_hard_one) {
  const LimitOf low(200);
  EXPECT_EQ(raise_descriptor_limit(), low.hard());
  EXPECT_EQ(raise_descriptor_limit(), low.hard());
}

TEST(Socket, a_connection_that_finds_no_descriptor_is_an_error) {
  auto listener = listen_on(*Address::numeric("127.0.0.1", 0), {});
  ASSERT_TRUE(listener);
  auto client = start_connect(*local_address(*listener));
  ASSERT_TRUE(client);
  ASSERT_TRUE(wait_for(*listener, POLLIN));
  const int next = ::dup(listener->get());
  ::close(next);
  {
    const LimitOf none(static_cast<rlim_t>(next));
    const auto refused = accept_one(*listener);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, testing::HasSubstr("cannot accept a connection"));
    const Address where = *local_address(*listener);
    EXPECT_EQ(start_connect(where).error().message,
              "cannot make a socket for " + where.to_string() + ": Too many open files");
    EXPECT_EQ(listen_on(where, {}).error().message,
              "cannot make a socket for " + where.to_string() + ": Too many open files");
  }
  EXPECT_TRUE(accept_one(*listener)->open());
}

TEST(Fd, owns_one_descriptor_and_closes_it_once) {
  const auto is_open = [](int fd) { return ::fcntl(fd, F_GETFD) >= 0; };
  EXPECT_FALSE(Fd().open());
  EXPECT_EQ(Fd().get(), -1);
  Fd one(::dup(2));
  Fd other(::dup(2));
  const int first = one.get();
  const int second = other.get();
  EXPECT_TRUE(one.open());
  one = std::move(other);
  EXPECT_FALSE(is_open(first));
  EXPECT_TRUE(is_open(second));
  EXPECT_EQ(one.get(), second);
  Fd moved(std::move(one));
  EXPECT_EQ(moved.release(), second);
  EXPECT_FALSE(moved.open());
  moved.reset();
  EXPECT_EQ(moved.get(), -1);
  EXPECT_TRUE(is_open(second));
  { const Fd last(second); }
  EXPECT_FALSE(is_open(second));
}

TEST(Fd, zero_is_a_descriptor_as_any_other) {
  const int kept = ::dup(0);
  Fd zero(0);
  EXPECT_TRUE(zero.open());
  zero.reset();
  EXPECT_LT(::fcntl(0, F_GETFD), 0);
  ::dup2(kept, 0);
  ::close(kept);
}

TEST(Address, knows_which_are_of_this_machine) {
  for (const auto& [text, here] : {std::pair{"127.0.0.1", true},
                                   {"127.255.0.9", true},
                                   {"126.0.0.1", false},
                                   {"128.0.0.1", false},
                                   {"1.0.0.127", false},
                                   {"::1", true},
                                   {"::2", false},
                                   {"::ffff:127.0.0.1", true},
                                   {"::ffff:128.0.0.1", false},
                                   {"::ffff:1.127.0.127", false}}) {
    EXPECT_EQ(Address::numeric(text, 1)->is_loopback(), here) << text;
  }
  EXPECT_TRUE(Address::unix_path("/x")->is_loopback());
}

TEST(Address, has_a_port_that_can_be_changed_and_a_path_has_none) {
  for (const char* host : {"127.0.0.1", "::1"}) {
    Address address = *Address::numeric(host, 80);
    EXPECT_EQ(address.port(), 80);
    EXPECT_EQ(address.is_ipv6(), host[0] == ':');
    EXPECT_FALSE(address.is_unix());
    address.set_port(258);
    EXPECT_EQ(address.port(), 258);
  }
  Address path = *Address::unix_path("/x");
  path.set_port(258);
  EXPECT_EQ(path.port(), 0);
  EXPECT_EQ(path.to_string(), "unix:/x");
  EXPECT_TRUE(path.is_unix());
  EXPECT_FALSE(Address::unix_path(std::string(108, 'x')));
  EXPECT_EQ(Address::unix_path(std::string(107, 'x'))->to_string(),
            "unix:" + std::string(107, 'x'));
  EXPECT_THAT(Address::unix_path("").error().message, testing::HasSubstr("1 to 107 bytes"));
  EXPECT_THAT(Address::numeric("[]", 1).error().message, testing::HasSubstr("'[]'"));
  EXPECT_THAT(Address::numeric("[::1", 1).error().message, testing::HasSubstr("'[::1'"));
  EXPECT_THAT(Address::numeric("::1]", 1).error().message, testing::HasSubstr("'::1]'"));
}

TEST(Resolve, a_name_has_addresses_with_the_port) {
  const auto addresses = resolve("localhost", 7);
  ASSERT_TRUE(addresses) << addresses.error().message;
  for (const Address& one : *addresses) {
    EXPECT_EQ(one.port(), 7);
    EXPECT_TRUE(one.is_loopback()) << one.to_string();
  }
}

TEST(Socket, listeners_share_a_port_only_where_each_wants_to) {
  auto first = listen_on(*Address::numeric("127.0.0.1", 0), {.reuse_port = true});
  ASSERT_TRUE(first);
  const Address where = *local_address(*first);
  EXPECT_TRUE(listen_on(where, {.reuse_port = true}));
  const auto alone = listen_on(where, {});
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().message.find("cannot listen on " + where.to_string()), 0U);
}

TEST(Socket, a_file_that_is_no_socket_is_left_alone) {
  const std::string path = scratch_path("a_file");
  std::ofstream(path) << "mine";
  const auto listener = listen_on(*Address::unix_path(path), {});
  ASSERT_FALSE(listener);
  EXPECT_THAT(listener.error().message, testing::HasSubstr("exists and is not a socket"));
  EXPECT_EQ(std::filesystem::file_size(path), 4U);
  std::filesystem::remove(path);
}

TEST(Socket, a_connection_comes_from_the_source_that_was_asked_for) {
  auto listener = listen_on(*Address::numeric("127.0.0.1", 0), {});
  ASSERT_TRUE(listener);
  const Address source = *Address::numeric("127.0.0.2", 0);
  const auto client = start_connect(*local_address(*listener), &source);
  ASSERT_TRUE(client) << client.error().message;
  EXPECT_THAT(local_address(*client)->to_string(), testing::StartsWith("127.0.0.2:"));
  const Address nowhere = *Address::numeric("192.0.2.1", 0);
  EXPECT_THAT(start_connect(*local_address(*listener), &nowhere).error().message,
              testing::HasSubstr("cannot send from 192.0.2.1"));
}

int option_of(const Fd& fd, int level, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  EXPECT_EQ(::getsockopt(fd.get(), level, option, &value, &size), 0);
  return value;
}

// What quick ACKs say of a socket that has bytes to acknowledge tells the two apart.
TEST(Socket, an_acknowledgement_is_sent_once_and_the_next_read_sends_none_by_itself) {
  for (const bool always : {false, true}) {
    auto listener = listen_on(*Address::numeric("127.0.0.1", 0), {});
    ASSERT_TRUE(listener);
    auto [client, server] = connected_pair(*listener, *local_address(*listener));
    const int off = 0;
    ASSERT_EQ(::setsockopt(server.get(), IPPROTO_TCP, TCP_QUICKACK, &off, sizeof off), 0);
    ASSERT_EQ(::write(client.get(), "x", 1), 1);
    ASSERT_TRUE(wait_for(server, POLLIN));
    const int on = 1;
    EXPECT_TRUE(always ? ::setsockopt(server.get(), IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on) == 0
                       : acknowledge_now(server));
    EXPECT_EQ(option_of(server, IPPROTO_TCP, TCP_QUICKACK), always ? 1 : 0);
  }
  EXPECT_FALSE(acknowledge_now(Fd()));
}

TEST(Socket, options_are_set_and_a_closed_socket_refuses_them) {
  auto listener = listen_on(*Address::numeric("127.0.0.1", 0), {});
  ASSERT_TRUE(listener);
  EXPECT_EQ(option_of(*listener, SOL_SOCKET, SO_REUSEADDR), 1);
  auto [client, server] = connected_pair(*listener, *local_address(*listener));
  EXPECT_EQ(option_of(client, IPPROTO_TCP, TCP_NODELAY), 1) << "of a connection that we open";
  EXPECT_EQ(option_of(server, IPPROTO_TCP, TCP_NODELAY), 0);
  const Address source = *Address::numeric("127.0.0.2", 0);
  const Fd other = std::move(*start_connect(*local_address(*listener), &source));
  EXPECT_EQ(option_of(other, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT), 1);
  EXPECT_TRUE(set_no_delay(server));
  EXPECT_EQ(option_of(server, IPPROTO_TCP, TCP_NODELAY), 1);
  const int receive_before = option_of(server, SOL_SOCKET, SO_RCVBUF);
  const int send_before = option_of(server, SOL_SOCKET, SO_SNDBUF);
  EXPECT_TRUE(set_buffers(server, 0, 0));
  EXPECT_EQ(option_of(server, SOL_SOCKET, SO_RCVBUF), receive_before);
  EXPECT_EQ(option_of(server, SOL_SOCKET, SO_SNDBUF), send_before);
  EXPECT_TRUE(set_buffers(server, 8192, 0));
  EXPECT_EQ(option_of(server, SOL_SOCKET, SO_RCVBUF), 2 * 8192);  // the kernel doubles it
  EXPECT_EQ(option_of(server, SOL_SOCKET, SO_SNDBUF), send_before);
  EXPECT_TRUE(set_buffers(server, 0, 16'384));
  EXPECT_EQ(option_of(server, SOL_SOCKET, SO_SNDBUF), 2 * 16'384);
  const Fd none;
  EXPECT_FALSE(set_no_delay(none));
  EXPECT_FALSE(set_buffers(none, 1, 0));
  EXPECT_FALSE(set_buffers(none, 0, 1));
  EXPECT_TRUE(set_buffers(none, 0, 0));
  EXPECT_FALSE(set_reset_on_close(none));
  EXPECT_EQ(connect_result(none), EBADF);
  EXPECT_EQ(local_address(none).error().message,
            "cannot read a socket's address: Bad file descriptor");
}

TEST(Address, of_a_path_ends_with_one_zero) {
  const Address path = *Address::unix_path("/x");
  EXPECT_EQ(path.raw_size(), offsetof(sockaddr_un, sun_path) + 3);
  EXPECT_EQ(Address::numeric("[::1", 1).error().message, "'[::1' is not an IPv4 or IPv6 address");
  EXPECT_EQ(Address::numeric("::1]", 1).error().message, "'::1]' is not an IPv4 or IPv6 address");
}

TEST(Resolve, a_name_has_each_address_once) {
  const auto addresses = resolve("localhost", 7);
  ASSERT_TRUE(addresses);
  std::set<std::string> different;
  for (const Address& one : *addresses) different.insert(one.to_string());
  EXPECT_EQ(different.size(), addresses->size());
}

// What the environment says is read once by a process: each of these has one of its own.
TEST(SocketDeathTest, other_machines_are_reached_unless_the_environment_forbids_it) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto all = Address::numeric("0.0.0.0", 0).value();
  const auto here = Address::numeric("127.0.0.1", 0).value();
  EXPECT_EXIT(
      {
        ::setenv(kLoopbackOnly, "1", 1);
        const auto refused = listen_on(all, {});
        const auto told = "0.0.0.0:0 is not an address of this machine, and " +
                          std::string(kLoopbackOnly) + " is set";
        const bool right = !refused && refused.error().message == told &&
                           !start_connect(Address::numeric("192.0.2.1", 9).value()) &&
                           listen_on(here, {});
        std::_Exit(right ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        ::unsetenv(kLoopbackOnly);
        std::_Exit(listen_on(all, {}) && listen_on(here, {}) ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace assay::net
