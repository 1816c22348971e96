#include "net/socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/format.h"

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

}  // namespace
}  // namespace assay::net
