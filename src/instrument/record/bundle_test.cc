#include "record/bundle.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/signature.h"
#include "base/testing_temp_folder.h"
#include "record/tar.h"

namespace assay::record {
namespace {

// Used thousands of times: without the syncs of write_file_atomic.
void write(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::remove(path);  // truncating an old file waits for the disk
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

TEST_F(BundleTest, a_file_of_the_bundle_alone_takes_its_place_and_leaves_the_folder_as_it_is) {
  for (const char* name : {"about.json", "report.txt"}) {  // a new one, and one of the folder's
    ASSERT_TRUE(make_bundle(root_ / "run", root_ / "b.tar",
                            {.added_name = name, .added_text = "described\n"}));
    const auto out = root_ / (std::string("out-") + name);
    const auto checked = check_bundle(root_ / "b.tar", "", out);
    ASSERT_TRUE(checked) << checked.error().message;
    EXPECT_EQ(*read_file(out / name), "described\n");
  }
  EXPECT_EQ(*read_file(root_ / "run/report.txt"), "a report\n");
  EXPECT_FALSE(std::filesystem::exists(root_ / "run/about.json"));
}

TEST_F(BundleTest, a_folder_that_tar_unpacked_is_packed_without_the_other_bundles_words) {
  for (const char* name : {"MANIFEST.json", "MANIFEST.sha256", "MANIFEST.sig"}) {
    write(root_ / "run" / name, "of another bundle");
    write(root_ / "run/performance" / name, "of the run");
  }
  const auto made = make_bundle(root_ / "run", root_ / "b.tar", {});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->files.size(), 7U);
  const auto checked = check_bundle(root_ / "b.tar", "", root_ / "out");
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_FALSE(std::filesystem::exists(root_ / "out/MANIFEST.sig"));
  EXPECT_EQ(*read_file(root_ / "out/performance/MANIFEST.json"), "of the run");
}

TEST_F(BundleTest, its_manifest_says_when_and_by_what_it_was_made_and_what_it_holds) {
  const auto key = make_key_pair();
  const auto made = make_bundle(root_ / "run", root_ / "b.tar",
                                {.created = {1'700'000'000'000'000'000},
                                 .made_by = "test 1",
                                 .private_key_pem = key->private_pem});
  ASSERT_TRUE(made) << made.error().message;
  Json files = Json::array();
  for (const ListedFile& file : made->files) {
    files.push_back(
        Json().set("path", file.name).set("bytes", file.bytes).set("sha256", file.sha256));
  }
  EXPECT_EQ(files.size(), 4U);
  const std::string wanted = Json()
                                 .set("format", "assay-bundle")
                                 .set("version", 1)
                                 .set("created", "2023-11-14T22:13:20.000000000Z")
                                 .set("made_by", "test 1")
                                 .set("files", files)
                                 .dump(2) +
                             "\n";
  const std::string tar = *read_file(root_ / "b.tar");
  EXPECT_EQ(tar.substr(512, wanted.size()), wanted);
  const auto checked = check_bundle(root_ / "b.tar");
  ASSERT_TRUE(checked) << checked.error().message;
  for (const Bundle* one : {&*made, &*checked}) {
    EXPECT_EQ(one->created, "2023-11-14T22:13:20.000000000Z");
    EXPECT_EQ(one->public_key_pem, key->public_pem);
    EXPECT_EQ(one->fingerprint, *key_fingerprint(key->public_pem));
  }
}

TEST_F(BundleTest, an_empty_folder_makes_a_bundle_too) {
  std::filesystem::create_directory(root_ / "empty");
  ASSERT_TRUE(make_bundle(root_ / "empty", root_ / "b.tar", {}));
  const auto checked = check_bundle(root_ / "b.tar", "", root_ / "out");
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_TRUE(checked->files.empty());
  EXPECT_TRUE(std::filesystem::is_empty(root_ / "out"));
}

TEST_F(BundleTest, a_manifest_of_another_format_is_refused_though_its_digest_fits) {
  const auto why = [&](const std::string& manifest) {
    auto tar = TarWriter::create(root_ / "c.tar");
    EXPECT_TRUE(tar->add_text("MANIFEST.json", manifest));
    EXPECT_TRUE(tar->add_text("MANIFEST.sha256", sha256_hex(manifest) + "\n"));
    EXPECT_TRUE(tar->finish());
    const auto checked = check_bundle(root_ / "c.tar");
    return checked ? std::string() : checked.error().message;
  };
  const std::string other = "MANIFEST.json: this version cannot read its bundle format";
  EXPECT_EQ(why(R"({"format":"assay-bundle","version":1})"), "");
  EXPECT_EQ(why(R"({"format":"assay-run","version":1})"), other);
  EXPECT_EQ(why(R"({"format":"assay-bundle","version":2})"), other);
  EXPECT_NE(why("{").find("MANIFEST.json"), std::string::npos);
  EXPECT_EQ(why(R"({"format":"assay-bundle","version":1,"files":[{"path":""}]})"),
            "the manifest names '', which is not a place in a folder");
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

// Corrects the header's checksum, as a forger of a member would.
void set_header(std::string& tar, std::size_t at, std::size_t field, std::string_view text) {
  tar.replace(at + field, text.size(), text);
  tar.replace(at + 148, 8, "        ");
  unsigned sum = 0;
  for (std::size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(tar[at + i]);
  tar.replace(at + 148, 6, format("{:06o}", sum));
  tar[at + 154] = '\0';
}

TEST_F(BundleTest, a_member_that_is_no_plain_file_is_refused) {
  ASSERT_TRUE(make_bundle(root_ / "run", root_ / "b.tar", {}));
  const std::string whole = *read_file(root_ / "b.tar");
  const std::size_t header = whole.rfind("report.txt");
  ASSERT_EQ(header % 512, 0U);
  std::string same = whole;
  set_header(same, header, 156, "0");
  EXPECT_EQ(same, whole) << "the forger's hand is the writer's";
  // A hard link, a link, a character and a block device, a folder, a pipe, a long name, a header.
  for (const char* kind : {"1", "2", "3", "4", "5", "6", "L", "x"}) {
    std::string forged = whole;
    set_header(forged, header, 156, kind);
    set_header(forged, header, 157, "/etc/passwd");
    write(root_ / "c.tar", forged);
    const auto checked = check_bundle(root_ / "c.tar", "", root_ / "out");
    ASSERT_FALSE(checked) << kind;
    EXPECT_EQ(checked.error().code, Code::corrupt);
    EXPECT_FALSE(std::filesystem::exists(root_ / "out")) << kind;
  }
}

// The sizes of headers alone: no test writes as many bytes.
TEST_F(BundleTest, a_manifest_may_have_64_MiB_and_no_byte_more) {
  ASSERT_TRUE(make_bundle(root_ / "run", root_ / "b.tar", {}));
  const auto why = [&](std::uint64_t bytes) {
    std::string forged = *read_file(root_ / "b.tar");
    set_header(forged, 0, 124, format("{:011o}", bytes));
    write(root_ / "c.tar", forged);
    return check_bundle(root_ / "c.tar").error().message;
  };
  constexpr std::uint64_t kMost = std::uint64_t{64} << 20U;
  EXPECT_NE(why(kMost).find("ends inside 'MANIFEST.json'"), std::string::npos) << why(kMost);
  EXPECT_EQ(why(kMost + 1), "the manifest is too large");
}

TEST_F(BundleTest, a_name_that_leads_out_of_its_folder_is_refused) {
  for (const char* name : {"../x", "/x", "a/../../x", "a//x", "./x", "a/.", "..", "a\\x"}) {
    const std::string manifest =
        Json()
            .set("format", "assay-bundle")
            .set("version", 1)
            .set("files",
                 Json::array().push_back(
                     Json().set("path", name).set("bytes", 1).set("sha256", sha256_hex("x"))))
            .dump();
    auto tar = TarWriter::create(root_ / "c.tar");
    ASSERT_TRUE(tar->add_text("MANIFEST.json", manifest));
    ASSERT_TRUE(tar->add_text("MANIFEST.sha256", sha256_hex(manifest) + "\n"));
    ASSERT_TRUE(tar->add_text(name, "x"));
    ASSERT_TRUE(tar->finish());
    const auto checked = check_bundle(root_ / "c.tar", "", root_ / "in/out");
    ASSERT_FALSE(checked) << name;
    EXPECT_NE(checked.error().message.find("not a place in a folder"), std::string::npos) << name;
    EXPECT_FALSE(std::filesystem::exists(root_ / "x"));
    EXPECT_FALSE(std::filesystem::exists(root_ / "in/out"));
  }
}

// A reader that unpacks while it reads must know the manifest before the first file, and one alone.
TEST_F(BundleTest, the_manifest_its_digest_and_its_signature_have_one_place_each) {
  const auto key = make_key_pair();
  const std::string manifest =
      Json()
          .set("format", "assay-bundle")
          .set("version", 1)
          .set("files", Json::array().push_back(
                            Json().set("path", "a").set("bytes", 1).set("sha256", sha256_hex("x"))))
          .dump();
  const std::map<char, std::pair<const char*, std::string>> members{
      {'m', {"MANIFEST.json", manifest}},
      {'d', {"MANIFEST.sha256", sha256_hex(manifest) + "\n"}},
      {'s', {"MANIFEST.sig", *sign_ed25519(manifest, key->private_pem) + "\n" + key->public_pem}},
      {'f', {"a", "x"}}};
  const auto why = [&](std::string_view order) {
    auto tar = TarWriter::create(root_ / "c.tar");
    for (const char one : order) {
      EXPECT_TRUE(tar->add_text(members.at(one).first, members.at(one).second));
    }
    EXPECT_TRUE(tar->finish());
    const auto checked = check_bundle(root_ / "c.tar");
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(why("mdf"), "");
  EXPECT_EQ(why("mdsf"), "");
  for (const auto& [order, name] : {std::pair{"dmf", "MANIFEST.sha256"},
                                    {"mmdf", "MANIFEST.json"},
                                    {"mdmf", "MANIFEST.json"},
                                    {"mddf", "MANIFEST.sha256"},
                                    {"mdfd", "MANIFEST.sha256"},
                                    {"smdf", "MANIFEST.sig"},
                                    {"msdf", "MANIFEST.sig"},
                                    {"mdfs", "MANIFEST.sig"},
                                    {"mdssf", "MANIFEST.sig"}}) {
    EXPECT_EQ(why(order), format("'{}' is out of its place", name)) << order;
  }
  EXPECT_EQ(why("f"), "the bundle does not begin with its manifest");
  EXPECT_EQ(why("mf"), "the bundle does not begin with its manifest");
  EXPECT_EQ(why("md"), "'a' is missing");
  EXPECT_EQ(why("m"), "the bundle has no manifest");
  EXPECT_EQ(why("mdff"), "'a' is not the file that the manifest names here");
}

TEST_F(BundleTest, a_link_is_not_followed) {
  std::filesystem::create_symlink("/etc/passwd", root_ / "run/link");
  const auto made = make_bundle(root_ / "run", root_ / "b.tar", {});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("link"), std::string::npos);
}

}  // namespace
}  // namespace assay::record
