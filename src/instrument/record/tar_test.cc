// One spelling for given contents, and every other one refused with its place.
#include "record/tar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>
#include <map>
#include <sstream>

#include "base/testing_temp_folder.h"
#include "record/file_list.h"
#include "record/testing_said.h"

namespace assay::record {
namespace {

using testing::HasSubstr;

class TarTest : public testing::Test {
 protected:
  std::filesystem::path at(const std::string& name) const { return folder_.path() / name; }
  std::string bytes_of(const std::filesystem::path& path) const {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }
  void write(const std::map<std::string, std::string>& members) const {
    auto writer = TarWriter::create(at("a.tar"));
    ASSERT_TRUE(writer);
    for (const auto& [name, text] : members) ASSERT_TRUE(writer->add_text(name, text));
    ASSERT_TRUE(writer->finish());
  }
  // What is in it, or the error.
  std::map<std::string, std::string> read() {
    std::map<std::string, std::string> out;
    std::string last;
    const auto done = read_tar(
        at("a.tar"),
        [&](const TarMember& member) -> Result<void> {
          last = member.name;
          out[last] = "";
          sizes_[last] = member.bytes;
          return {};
        },
        [&](std::string_view bytes) -> Result<void> {
          out[last] += bytes;
          return {};
        });
    error_ = done ? "" : done.error().message;
    return out;
  }
  TempFolder folder_;
  std::map<std::string, std::uint64_t> sizes_{};
  std::string error_{};
};

TEST_F(TarTest, what_is_written_is_read_whatever_its_size) {
  std::map<std::string, std::string> members{{std::string(kTarNameMax, 'n'), "name"}};
  for (const std::size_t size : {0U, 1U, 511U, 512U, 513U, 1024U, (1U << 20) + 3}) {
    members[std::to_string(size)] = std::string(size, 'x');
  }
  write(members);
  EXPECT_EQ(read(), members);
  EXPECT_EQ(error_, "");
  EXPECT_EQ(sizes_["513"], 513U);
  EXPECT_EQ(bytes_of(at("a.tar")).size() % 512, 0U);
  EXPECT_TRUE(may_be_tar(at("a.tar")));
}

TEST_F(TarTest, the_bytes_are_those_of_ustar) {
  write({{"a", "b"}});
  const std::string bytes = bytes_of(at("a.tar"));
  ASSERT_EQ(bytes.size(), 512U + 512 + 1024);
  EXPECT_EQ(bytes.substr(0, 2), std::string("a\0", 2));
  EXPECT_EQ(bytes.substr(100, 8), std::string("0000644\0", 8));
  EXPECT_EQ(bytes.substr(124, 12), std::string("00000000001\0", 12));
  EXPECT_EQ(bytes[156], '0');
  EXPECT_EQ(bytes.substr(257, 8), std::string("ustar\00000", 8));
  unsigned sum = 0;
  for (std::size_t i = 0; i < 512; ++i) {
    sum += static_cast<unsigned char>(i >= 148 && i < 156 ? ' ' : bytes[i]);
  }
  EXPECT_EQ(std::stoul(bytes.substr(148, 6), nullptr, 8), sum);
  EXPECT_EQ(bytes.substr(154, 2), std::string("\0 ", 2));
  // No owner, no time, and nothing else.
  EXPECT_EQ(bytes.substr(108, 8), std::string("0000000\0", 8));
  EXPECT_EQ(bytes.substr(116, 8), std::string("0000000\0", 8));
  EXPECT_EQ(bytes.substr(136, 12), std::string("00000000000\0", 12));
  EXPECT_EQ(bytes.substr(1, 99), std::string(99, '\0'));
  EXPECT_EQ(bytes.substr(157, 100), std::string(100, '\0'));
  EXPECT_EQ(bytes.substr(265, 247), std::string(247, '\0'));
}

TEST_F(TarTest, a_file_is_copied_and_must_not_change_meanwhile) {
  put_file(at("f"), std::string(3'000'000, 'y'));
  for (const std::uint64_t told : {3'000'000U, 2'999'999U, 3'000'001U}) {
    auto writer = TarWriter::create(at("a.tar"));
    ASSERT_TRUE(writer);
    const auto added = writer->add_file("f", at("f"), told);
    EXPECT_EQ(added.has_value(), told == 3'000'000U);
    if (!added) {
      EXPECT_THAT(added.error().message, HasSubstr("changed while it was being bundled"));
      continue;
    }
    ASSERT_TRUE(writer->finish());
    EXPECT_EQ(read()["f"].size(), told);
  }
  auto writer = TarWriter::create(at("b.tar"));
  EXPECT_FALSE(writer->add_file("f", at("none"), 1));
}

TEST_F(TarTest, names_and_sizes_have_limits) {
  auto writer = TarWriter::create(at("a.tar"));
  ASSERT_TRUE(writer);
  EXPECT_FALSE(writer->add_text("", "x"));
  EXPECT_FALSE(writer->add_text(std::string(kTarNameMax + 1, 'n'), "x"));
  put_file(at("f"), "x");
  const auto large = writer->add_file("f", at("f"), std::uint64_t{1} << 33U);
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().message, HasSubstr("larger than 8 GiB"));
  const auto largest = writer->add_file("f", at("f"), (std::uint64_t{1} << 33U) - 1);
  ASSERT_FALSE(largest);
  EXPECT_THAT(largest.error().message, HasSubstr("changed while"))
      << "the length is none to refuse";
}

TEST_F(TarTest, damage_is_told_with_its_place) {
  write({{"a", "b"}, {"c", std::string(600, 'd')}});
  const std::string good = bytes_of(at("a.tar"));
  const auto refusal = [&](const std::string& bytes) {
    put_file(at("a.tar"), bytes);
    read();
    return error_;
  };
  const auto changed = [&](std::size_t at, char c) {
    std::string bytes = good;
    bytes[at] = c;
    return refusal(bytes);
  };
  EXPECT_THAT(changed(124, '9'), HasSubstr("offset 0: a member's size is not an octal number"));
  EXPECT_THAT(changed(134, '8'), HasSubstr("not an octal number"));
  EXPECT_THAT(changed(124, '/'), HasSubstr("not an octal number"));
  EXPECT_THAT(changed(100, '1'), HasSubstr("offset 0: the header of 'a' was changed"));
  EXPECT_THAT(changed(1024 + 100, '1'), HasSubstr("offset 1024: the header of 'c'"));
  EXPECT_THAT(changed(513, 'x'), HasSubstr("offset 513: the padding behind 'a' is not zero"));
  EXPECT_THAT(changed(good.size() - 1, 'x'), HasSubstr("end mark was changed"));
  EXPECT_THAT(refusal(good + "x"), HasSubstr("something stands behind it"));
  EXPECT_THAT(refusal(good.substr(0, good.size() - 1)), HasSubstr("end mark"));
  EXPECT_THAT(refusal(good.substr(0, good.size() - 1024)), HasSubstr("without its end mark"));
  EXPECT_THAT(refusal(good.substr(0, 1536 + 100)), HasSubstr("ends inside 'c'"));
  EXPECT_THAT(refusal(good.substr(0, 513 + 100)), HasSubstr("offset 513: the padding behind 'a'"));
  EXPECT_THAT(refusal(""), HasSubstr("offset 0"));
  EXPECT_EQ(refusal(good), "");
}

TEST_F(TarTest, either_side_may_end_the_reading) {
  write({{"a", "b"}});
  const Error stop{Code::io, "enough"};
  EXPECT_FALSE(read_tar(
      at("a.tar"), [&](const TarMember&) -> Result<void> { return stop; },
      [](std::string_view) -> Result<void> { return {}; }));
  EXPECT_FALSE(read_tar(
      at("a.tar"), [](const TarMember&) -> Result<void> { return {}; },
      [&](std::string_view) -> Result<void> { return stop; }));
  EXPECT_FALSE(read_tar(
      at("none.tar"), [](const TarMember&) -> Result<void> { return {}; },
      [](std::string_view) -> Result<void> { return {}; }));
}

TEST_F(TarTest, only_a_plain_file_can_be_seen_to_be_none) {
  put_file(at("text"), "hello");
  EXPECT_FALSE(may_be_tar(at("text")));
  put_file(at("long"), std::string(1000, 'x'));
  EXPECT_FALSE(may_be_tar(at("long")));
  EXPECT_TRUE(may_be_tar(folder_.path()));
  EXPECT_TRUE(may_be_tar(at("none")));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool unreadable = may_be_tar(at("text"));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(unreadable) << "without a descriptor nothing is read";
}

TEST_F(TarTest, a_list_has_every_plain_file_and_its_digest_by_name) {
  std::filesystem::create_directories(at("d/e"));
  put_file(at("z"), "abc");
  put_file(at("d/e/y"), "");
  put_file(at("d/x"), std::string((1 << 20) + 1, 'a'));
  const auto files = files_below(folder_.path());
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 3U);
  EXPECT_EQ((*files)[0].name, "d/e/y");
  EXPECT_EQ((*files)[0].bytes, 0U);
  EXPECT_EQ((*files)[1].name, "d/x");
  EXPECT_EQ((*files)[1].bytes, (1U << 20) + 1);
  EXPECT_EQ((*files)[2].sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_json({(*files)[0]}).dump(),
            R"([{"path":"d/e/y","bytes":0,"sha256":)"
            R"("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}])");
  std::filesystem::create_symlink("z", at("link"));
  EXPECT_THAT(files_below(folder_.path()).error().message, HasSubstr("link' is not a plain file"));
  std::filesystem::remove(at("link"));
  std::filesystem::create_directory_symlink("d", at("link"));
  EXPECT_FALSE(files_below(folder_.path())) << "nor a link to a folder";
  EXPECT_EQ(files_below(at("none")).error().code, Code::not_found);
}

}  // namespace
}  // namespace assay::record
