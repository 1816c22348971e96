#include "record/bundle.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/files.h"
#include "base/signature.h"
#include "base/testing_temp_folder.h"

namespace assay::record {
namespace {

// Thousands of times: without the syncs of write_file_atomic.
void write(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::remove(path);  // cutting an old file short waits for the disk
  std::ofstream(path, std::ios::binary) << bytes;
}

class BundleTest : public testing::Test {
 protected:
  BundleTest() {
    EXPECT_TRUE(write_file_atomic(root_ / "run/report.txt", "a report\n"));
    EXPECT_TRUE(write_file_atomic(root_ / "run/events-0.alog", std::string(1000, '\x7f')));
    EXPECT_TRUE(write_file_atomic(root_ / "run/performance/result_summary.json", "{}"));
    EXPECT_TRUE(write_file_atomic(root_ / "run/empty", ""));
  }

  TempFolder folder_{};
  const std::filesystem::path& root_ = folder_.path();
};

TEST_F(BundleTest, what_was_packed_is_what_is_unpacked) {
  ASSERT_TRUE(make_bundle(root_ / "run", root_ / "b.tar", {.made_by = "test"}));
  const auto checked = check_bundle(root_ / "b.tar", "", root_ / "out");
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(checked->files.size(), 4U);
  EXPECT_EQ(*read_file(root_ / "out/performance/result_summary.json"), "{}");
  EXPECT_EQ(*read_file(root_ / "out/events-0.alog"), std::string(1000, '\x7f'));
}

TEST_F(BundleTest, the_same_folder_makes_the_same_bytes) {
  ASSERT_TRUE(make_bundle(root_ / "run", root_ / "a.tar", {}));
  ASSERT_TRUE(make_bundle(root_ / "run", root_ / "b.tar", {}));
  EXPECT_EQ(*read_file(root_ / "a.tar"), *read_file(root_ / "b.tar"));
}

// Every class of byte, in every kind of member, signed and not: each byte that says something
// (headers, names, manifest, digest, signature, key, contents), and one in eleven of the zeros
// between them (unused header fields, padding, the blocks at the end).
TEST_F(BundleTest, any_byte_that_is_changed_is_found) {
  const auto key = make_key_pair();
  for (const std::string& pem : {std::string(), key->private_pem}) {
    ASSERT_TRUE(make_bundle(root_ / "run", root_ / "b.tar", {.private_key_pem = pem}));
    const std::string whole = *read_file(root_ / "b.tar");
    const std::size_t step = pem.empty() ? 5 : 1;
    std::size_t tried = 0;
    for (std::size_t i = 0; i < whole.size(); i += step) {
      if (whole[i] == '\0' && i % 11 != 0) continue;
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
      write(root_ / "c.tar", changed);
      ASSERT_FALSE(check_bundle(root_ / "c.tar")) << "byte " << i << " of " << whole.size();
      ++tried;
    }
    EXPECT_GT(tried, whole.size() / step / 11);
  }
}

TEST_F(BundleTest, a_bundle_cut_short_or_added_to_is_found) {
  ASSERT_TRUE(make_bundle(root_ / "run", root_ / "b.tar", {}));
  const std::string whole = *read_file(root_ / "b.tar");
  for (std::size_t size = 0; size < whole.size(); size += 37) {
    write(root_ / "c.tar", whole.substr(0, size));
    ASSERT_FALSE(check_bundle(root_ / "c.tar")) << size;
  }
  write(root_ / "c.tar", whole + '\0');
  EXPECT_FALSE(check_bundle(root_ / "c.tar"));
}

TEST_F(BundleTest, a_stranger_s_signature_is_refused_when_a_key_is_asked_for) {
  const auto mine = make_key_pair();
  const auto other = make_key_pair();
  ASSERT_TRUE(make_bundle(root_ / "run", root_ / "b.tar", {.private_key_pem = mine->private_pem}));
  EXPECT_TRUE(check_bundle(root_ / "b.tar", mine->public_pem));
  EXPECT_FALSE(check_bundle(root_ / "b.tar", other->public_pem));
  ASSERT_TRUE(make_bundle(root_ / "run", root_ / "b.tar", {}));
  EXPECT_FALSE(check_bundle(root_ / "b.tar", mine->public_pem));
}

TEST_F(BundleTest, a_link_is_not_followed) {
  std::filesystem::create_symlink("/etc/passwd", root_ / "run/link");
  const auto made = make_bundle(root_ / "run", root_ / "b.tar", {});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("link"), std::string::npos);
}

}  // namespace
}  // namespace assay::record
