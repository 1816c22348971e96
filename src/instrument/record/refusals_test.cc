// What is refused, in whole words: of two faults in a row the first is named.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/hash.h"
#include "base/signature.h"
#include "base/testing_temp_folder.h"
#include "record/bundle.h"
#include "record/clock_map.h"
#include "record/event_log.h"
#include "record/file_list.h"
#include "record/manifest.h"
#include "record/run_info_json.h"
#include "record/tar.h"
#include "record/testing_said.h"

namespace assay::record {
namespace {

// A limit of this process, while the object lives.
class Limited {
 public:
  Limited(__rlimit_resource what, rlim_t most) : what_(what) {
    EXPECT_EQ(::getrlimit(what_, &before_), 0);
    const rlimit less{most, before_.rlim_max};
    EXPECT_EQ(::setrlimit(what_, &less), 0);
  }
  ~Limited() { ::setrlimit(what_, &before_); }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

 private:
  __rlimit_resource what_;
  rlimit before_{};
};

// What a manifest says of a file, and what the bundle has.
struct Member {
  std::string name{};
  std::string said{};
  std::string has{};
};

class BundleRefusals : public testing::Test {
 protected:
  std::string manifest(const std::vector<Member>& members) const {
    std::vector<ListedFile> files;
    for (const Member& one : members) {
      files.push_back({one.name, one.said.size(), sha256_hex(one.said)});
    }
    return Json()
        .set("format", "assay-bundle")
        .set("version", 1)
        .set("files", to_json(files))
        .dump();
  }
  // `signature`: "" for a bundle without one.
  void write(const std::vector<Member>& members, const std::string& signature = "") const {
    auto tar = TarWriter::create(path_);
    ASSERT_TRUE(tar) << tar.error().message;
    const std::string text = manifest(members);
    ASSERT_TRUE(tar->add_text("MANIFEST.json", text));
    ASSERT_TRUE(tar->add_text("MANIFEST.sha256", sha256_hex(text) + "\n"));
    if (!signature.empty()) {
      ASSERT_TRUE(tar->add_text("MANIFEST.sig", signature));
    }
    for (const Member& one : members) ASSERT_TRUE(tar->add_text(one.name, one.has));
    ASSERT_TRUE(tar->finish());
  }
  std::string why(const std::string& trusted = "") const {
    const auto checked = check_bundle(path_, trusted);
    return checked ? "" : checked.error().message;
  }
  std::string why_not_unpacked() const {
    const auto checked = check_bundle(path_, "", out_);
    return checked ? "" : checked.error().message;
  }

  TempFolder folder_{};
  const std::filesystem::path path_ = folder_.path() / "b.tar";
  const std::filesystem::path out_ = folder_.path() / "out";
};

TEST_F(BundleRefusals, a_file_is_held_against_its_own_line_of_the_manifest) {
  write({{"a", "x", "x"}, {"b", "yy", "yy"}});
  EXPECT_EQ(why(), "");
  write({{"a", "x", "x"}, {"b", "yy", "yyy"}, {"c", "zzzz", "zzzz"}});
  EXPECT_EQ(why(), "'b' has 3 bytes, the manifest says 2");
  write({{"a", "x", "x"}, {"b", "yy", "yz"}, {"c", "zzzz", "zzzz"}});
  EXPECT_EQ(why(), "'b' was changed: its sha256 is not the manifest's");
  write({{"a", "x", "x"}, {"b", "yy", "zz"}});
  EXPECT_EQ(why(), "'b' was changed: its sha256 is not the manifest's") << "the last of all";
}

TEST_F(BundleRefusals, a_manifest_that_is_no_json_or_not_the_one_that_was_digested_says_so) {
  const auto first_two = [&](const std::string& text, const std::string& digest) {
    auto tar = TarWriter::create(path_);
    EXPECT_TRUE(tar->add_text("MANIFEST.json", text) && tar->add_text("MANIFEST.sha256", digest) &&
                tar->finish());
    return why();
  };
  const auto broken = Json::parse("{");
  ASSERT_FALSE(broken);
  EXPECT_EQ(first_two("{", sha256_hex("{") + "\n"), "MANIFEST.json: " + broken.error().message);
  const std::string text = manifest({});
  EXPECT_EQ(first_two(text, sha256_hex(text) + "\n"), "");
  for (const std::string& digest : {sha256_hex(text), sha256_hex(text + " ") + "\n"}) {
    EXPECT_EQ(first_two(text, digest), "MANIFEST.json does not fit MANIFEST.sha256");
  }
}

TEST_F(BundleRefusals, a_signature_is_of_this_manifest_and_of_the_key_that_was_asked_for) {
  const auto mine = make_key_pair();
  const auto other = make_key_pair();
  ASSERT_TRUE(mine && other);
  const std::vector<Member> members{{"a", "x", "x"}};
  const std::string text = manifest(members);
  const std::string good = *sign_ed25519(text, mine->private_pem);
  write(members);
  EXPECT_EQ(why(mine->public_pem), "the bundle is not signed");
  write(members, good + "\n" + mine->public_pem);
  EXPECT_EQ(why(mine->public_pem), "");
  EXPECT_EQ(why(other->public_pem), "the bundle is signed by " +
                                        *key_fingerprint(mine->public_pem) + ", not by " +
                                        *key_fingerprint(other->public_pem));
  EXPECT_EQ(why("no key"), key_fingerprint("no key").error().message);
  write(members, good);
  EXPECT_EQ(why(), "MANIFEST.sig has no key");
  for (const std::string& key : {std::string("no key"), mine->public_pem + "\n", "\n" + good}) {
    write(members, good + "\n" + key);
    EXPECT_EQ(why(), "MANIFEST.sig: the key was changed");
  }
  write(members, good + "\n" + other->public_pem);
  EXPECT_EQ(why(), "the signature is not of this manifest");
  const auto unreadable = verify_ed25519(text, "?", mine->public_pem);
  if (!unreadable) {
    write(members, "?\n" + mine->public_pem);
    EXPECT_EQ(why(), "MANIFEST.sig: " + unreadable.error().message);
  }
}

TEST_F(BundleRefusals, what_can_not_be_unpacked_is_named_and_nothing_of_it_stays) {
  write({{"a", "x", "x"}, {"a", "y", "y"}});
  EXPECT_TRUE(why_not_unpacked().ends_with("/a': File exists")) << why_not_unpacked();
  EXPECT_TRUE(why_not_unpacked().starts_with("cannot create '")) << why_not_unpacked();
  EXPECT_FALSE(std::filesystem::exists(out_));
  write({{"a", "x", "x"}, {"a/b", "y", "y"}});
  EXPECT_NE(why_not_unpacked(), "");
  EXPECT_FALSE(std::filesystem::exists(out_));
}

// A limit on file sizes represents the full disk: the bytes of a short file are written when it is
// closed, those of a long one before.
TEST_F(BundleRefusals, a_full_disk_is_told_with_the_file_that_it_did_not_take) {
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  for (const std::size_t size : {std::size_t{2'000}, std::size_t{300'000}}) {
    const std::string bytes(size, 'y');
    write({{"a", "x", "x"}, {"large", bytes, bytes}, {"z", "x", "x"}});
    const Limited disk(RLIMIT_FSIZE, 1'000);
    EXPECT_EQ(why_not_unpacked(), "cannot write 'large': File too large") << size;
    EXPECT_FALSE(std::filesystem::exists(out_));
  }
  ::signal(SIGXFSZ, handler);
}

TEST_F(BundleRefusals, a_name_of_an_archive_is_neither_empty_nor_long) {
  auto tar = TarWriter::create(path_);
  ASSERT_TRUE(tar);
  for (const std::string& name : {std::string(), std::string(kTarNameMax + 1, 'n')}) {
    const auto added = tar->add_text(name, "x");
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().message,
              format("'{}': a bundle's file names have 1 to 100 bytes", name));
  }
  const auto missing = (folder_.path() / "none").string();
  EXPECT_EQ(tar->add_file("f", missing, 1).error().message,
            format("cannot open '{}': No such file or directory", missing));
  EXPECT_EQ(check_bundle(missing).error().message,
            format("cannot open '{}': No such file or directory", missing));
}

// A size in a header may be a lie: no more is read at once than a buffer holds.
TEST_F(BundleRefusals, a_large_file_comes_in_pieces) {
  const std::string bytes(3'000'000, 'y');
  write({{"large", bytes, bytes}});
  std::vector<std::size_t> pieces;
  std::string name;
  const auto done = read_tar(
      path_,
      [&](const TarMember& member) -> Result<void> {
        name = member.name;
        return {};
      },
      [&](std::string_view piece) -> Result<void> {
        if (name == "large") pieces.push_back(piece.size());
        return {};
      });
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(pieces, (std::vector<std::size_t>{1 << 20, 1 << 20, 3'000'000 - (2 << 20)}));
}

// The one descriptor that is left opens the folder.
TEST(ListRefusals, a_file_that_can_not_be_opened_is_named_and_so_is_a_folder_that_is_none) {
  const TempFolder folder;
  put_file(folder.path() / "f", "x");
  const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(next, 0);
  ::close(next);
  Result<std::vector<ListedFile>> files = files_below(folder.path());
  ASSERT_TRUE(files) << files.error().message;
  {
    const Limited descriptors(RLIMIT_NOFILE, static_cast<rlim_t>(next) + 1);
    files = files_below(folder.path());
  }
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().message,
            format("cannot open '{}': Too many open files", (folder.path() / "f").string()));
  for (const auto& [name, words] :
       {std::pair{"f", "Not a directory"}, {"none", "No such file or directory"}}) {
    const auto none = files_below(folder.path() / name);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Code::not_found);
    EXPECT_EQ(none.error().message, format("'{}': {}", (folder.path() / name).string(), words));
  }
}

// A list without its files would pass for a whole one.
TEST(ListRefusals, a_folder_below_that_can_not_be_opened_is_no_empty_one) {
  const TempFolder folder;
  std::filesystem::create_directories(folder.path() / "below");
  put_file(folder.path() / "below" / "f", "x");
  const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(next, 0);
  ::close(next);
  Result<std::vector<ListedFile>> files = files_below(folder.path());
  ASSERT_TRUE(files) << files.error().message;
  ASSERT_EQ(files->size(), 1U);
  {
    const Limited descriptors(RLIMIT_NOFILE, static_cast<rlim_t>(next) + 1);
    files = files_below(folder.path());
  }
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().code, Code::io);
  EXPECT_EQ(files.error().message, format("'{}': Too many open files", folder.path().string()));
}

TEST(ListRefusals, a_manifest_that_is_no_json_names_itself) {
  const TempFolder folder;
  std::filesystem::create_directories((folder.path() / kManifestName).parent_path());
  put_file(folder.path() / kManifestName, "{");
  const auto checked = check_manifest(folder.path());
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message,
            Json::parse("{").error().within((folder.path() / kManifestName).string()).message);
}

TEST(ClockRefusals, ranks_are_named_by_their_place) {
  const auto why = [](const char* ranks) {
    const auto read = rank_clocks_from_json(
        Json::parse(format(R"({{"format":"assay-clocks","version":1,"ranks":{}}})", ranks))
            .value());
    return read ? "" : read.error().message;
  };
  const std::string first = R"({"rank":0,"shard_first":0,"threads":2})";
  EXPECT_EQ(why(format("[{}]", first).c_str()), "");
  EXPECT_EQ(why("[]"), "ranks: none");
  EXPECT_EQ(why(format(R"([{},{{"rank":1,"shard_first":2,"threads":0}}])", first).c_str()),
            "ranks[1]: rank, shard_first, threads: not whole numbers in their range");
  for (const char* second :
       {R"({"rank":1,"shard_first":3,"threads":1})", R"({"rank":2,"shard_first":2,"threads":1})"}) {
    EXPECT_EQ(why(format("[{},{}]", first, second).c_str()),
              "ranks[1]: does not follow the rank before");
  }
  EXPECT_EQ(why(R"([{"rank":0,"shard_first":0,"threads":1,"probes":[[1,2,3,4],[1,2,3]]}])"),
            "ranks[0]: probes[1]: not four instants in ns [asked, received, answered, heard]");
}

TEST(ClockRefusals, each_of_a_probes_four_instants_is_a_number_within_reach) {
  const auto reads = [](const Json& probe) {
    Json rank = Json().set("rank", 0).set("shard_first", 0).set("threads", 1);
    return rank_clock_from_json(rank.set("probes", Json::array().push_back(probe)));
  };
  constexpr std::int64_t kFar = std::int64_t{1} << 60;
  for (std::int64_t bad = 0; bad < 4; ++bad) {
    for (const Json& value : {Json(kFar), Json(-kFar), Json("1"), Json(nullptr)}) {
      Json probe = Json::array();
      for (std::int64_t i = 0; i < 4; ++i) probe.push_back(i == bad ? value : Json(10 + i));
      EXPECT_FALSE(reads(probe)) << bad << value.dump();
    }
  }
  Json five = Json::array();
  for (std::int64_t i = 0; i < 5; ++i) five.push_back(10 + i);
  EXPECT_FALSE(reads(five));
  const auto good = reads(Json::array().push_back(1).push_back(2).push_back(3).push_back(4));
  ASSERT_TRUE(good) << good.error().message;
  ASSERT_EQ(good->probes.size(), 1U);
  const ClockProbe& probe = good->probes[0];
  EXPECT_EQ(probe.asked, Instant{1});
  EXPECT_EQ(probe.received, Instant{2});
  EXPECT_EQ(probe.answered, Instant{3});
  EXPECT_EQ(probe.heard, Instant{4});
}

TEST(ClockRefusals, clocks_contradict_one_another_by_what_is_between_their_limits) {
  // The first says that the offset is 0 to 400 ns, the second that it is 2,000 at least.
  const auto map =
      ClockMap::make({{Instant{0}, Instant{400}, Instant{400}, Instant{400}},
                      {Instant{1'000}, Instant{3'000}, Instant{3'000}, Instant{1'000}}},
                     1e-3);
  ASSERT_FALSE(map);
  EXPECT_EQ(map.error().message,
            "the probes of the clocks contradict one another by 1.60 µs: a clock was set during "
            "the run, or drifted more than 1000 ppm");
  EXPECT_EQ(ClockMap::make({}).error().message, "no probe of the clocks");
  for (const ClockProbe& probe : {ClockProbe{Instant{5}, Instant{5}, Instant{5}, Instant{4}},
                                  ClockProbe{Instant{5}, Instant{5}, Instant{4}, Instant{6}}}) {
    EXPECT_EQ(ClockMap::make({probe}).error().message,
              "a probe of the clocks ends before it begins");
  }
}

std::string info_json() {
  RunInfo info{};
  info.run_id = "r";
  info.phases = {{PhaseKind::performance, "performance", true}};
  Json json = to_json(info);
  json.set("grammar", kEventLogGrammar).set("texts", "all");
  return json.dump();
}

// `unpacked`: the size that a packed block says; 0 for one that is not packed.
std::string whole_block(BlockType type, std::uint64_t sequence, const std::string& payload,
                        std::uint32_t unpacked = 0) {
  std::string block = std::string(kBlockHeaderBytes, '\0') + payload;
  const auto bytes = static_cast<std::uint32_t>(payload.size());
  seal_block(block.data(), {.type = type,
                            .compressed = unpacked > 0,
                            .stored_bytes = bytes,
                            .payload_bytes = unpacked > 0 ? unpacked : bytes,
                            .sequence = sequence});
  return block;
}

// Whatever type the damaged block says it has: its type is not read.
TEST(LogRefusals, a_damaged_block_is_told_by_its_damage_whatever_it_would_say) {
  const TempFolder folder;
  const auto path = folder.path() / "events-0.alog";
  const std::string first = whole_block(BlockType::run_info, 0, info_json());
  const auto trouble = [&](const std::string& rest) {
    put_file(path, first + rest);
    Said said;
    const auto end = replay_event_log(path, said);
    EXPECT_TRUE(end) << end.error().message;
    EXPECT_EQ(end->end.state, RunState::crashed);
    EXPECT_EQ(end->bytes_read, first.size());
    EXPECT_EQ(end->blocks, 1U);
    const std::string place =
        format("{}: at byte {} of {}: ", path.string(), first.size(), first.size() + rest.size());
    EXPECT_TRUE(end->trouble.starts_with(place)) << end->trouble;
    return end->trouble.substr(std::min(place.size(), end->trouble.size()));
  };
  const std::string end_json = to_json(RunEnd{RunState::complete, ""}).dump();
  for (const BlockType type : {BlockType::run_info, BlockType::events, BlockType::end}) {
    std::string block = whole_block(type, 1, end_json);
    EXPECT_EQ(trouble(block.substr(0, block.size() - 1)),
              "the file ends inside a block (a torn write)");
    EXPECT_EQ(trouble(block.substr(0, kBlockHeaderBytes - 1)),
              "the file ends inside a block's header (a torn write)");
    block.back() = '!';
    EXPECT_EQ(trouble(block), "the checksum does not match (a torn write, or changed bytes)");
    block[0] = '!';
    EXPECT_EQ(trouble(block), "no block begins here");
    EXPECT_EQ(trouble(whole_block(type, 1, "no zstd", 90)), "a block that does not unpack");
    EXPECT_EQ(trouble(whole_block(type, 0, end_json)), "a block that is not the next");
  }
}

TEST(LogRefusals, a_second_beginning_ends_the_log_there) {
  const TempFolder folder;
  const auto path = folder.path() / "events-0.alog";
  const std::string first = whole_block(BlockType::run_info, 0, info_json());
  char room[kRecordMax];
  DeltaState state{};
  const char* const stop = put_phase_mark(room, state, {0, PhaseStep::started, Instant{5}});
  const std::string mark(room, static_cast<std::size_t>(stop - room));
  put_file(path, first + whole_block(BlockType::run_info, 1, mark) +
                     whole_block(BlockType::events, 2, mark));
  Said said;
  const auto end = replay_event_log(path, said);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_TRUE(end->trouble.ends_with(": a second beginning")) << end->trouble;
  EXPECT_EQ(end->records, 0U);
  EXPECT_TRUE(said.lines.empty());
}

TEST(LogRefusals, a_beginning_that_says_nothing_of_a_run_is_told_by_its_first_fault) {
  const TempFolder folder;
  const auto path = folder.path() / "events-0.alog";
  const auto why = [&](const std::string& json) {
    put_file(path, whole_block(BlockType::run_info, 0, json));
    const auto info = read_run_info(path);
    if (info) return std::string();
    const std::string place = path.string() + ": ";
    EXPECT_TRUE(info.error().message.starts_with(place)) << info.error().message;
    return info.error().message.substr(std::min(place.size(), info.error().message.size()));
  };
  const auto changed = [](const char* key, const Json& value) {
    return Json::parse(info_json()).value().set(key, value).dump();
  };
  EXPECT_EQ(why(info_json()), "");
  EXPECT_EQ(why("{"), Json::parse("{").error().message);
  EXPECT_EQ(why(changed("grammar", 2)), "grammar 2; this version reads grammar 1");
  EXPECT_EQ(why(changed("texts", "some")), "no text rule 'some'");
  EXPECT_EQ(why(changed("phases", Json::array().push_back(Json().set("kind", "x")))),
            "phases: no kind 'x'");
  EXPECT_EQ(why(R"({"grammar":1,"texts":"all"})"), "says nothing of its run (no run_id)");
}

TEST(LogRefusals, an_end_that_says_nothing_is_told_by_its_first_fault) {
  const TempFolder folder;
  const auto path = folder.path() / "events-0.alog";
  const std::string first = whole_block(BlockType::run_info, 0, info_json());
  for (const auto& [json, words] : {std::pair{"{", Json::parse("{").error().message},
                                    {R"({"state":"asleep"})", std::string("no state 'asleep'")}}) {
    const std::string last = whole_block(BlockType::end, 1, json);
    put_file(path, first + last);
    Said said;
    const auto end = replay_event_log(path, said);
    ASSERT_TRUE(end) << end.error().message;
    EXPECT_EQ(end->trouble, format("{}: at byte {} of {}: {}", path.string(), first.size(),
                                   first.size() + last.size(), words));
    EXPECT_EQ(end->end.state, RunState::crashed);
  }
}

TEST(LogRefusals, a_log_that_can_not_be_opened_is_named) {
  const TempFolder folder;
  const std::string missing = (folder.path() / "none.alog").string();
  const auto none = read_run_info(missing);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::not_found);
  EXPECT_EQ(none.error().message, format("event log {}: No such file or directory", missing));
  const auto place = read_run_info(folder.path());
  ASSERT_FALSE(place);
  EXPECT_EQ(place.error().code, Code::io);
  EXPECT_EQ(place.error().message, format("event log {}: Is a directory", folder.path().string()));
  RunInfo info{};
  info.run_id = "r";
  put_file(missing, "x");
  const auto again = EventLogWriter::create(missing, info);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, format("event log {}: File exists", missing));
}

// clocks.json of a run of several hosts.
TEST(LogRefusals, clocks_of_another_form_are_refused_beside_any_log) {
  const TempFolder folder;
  RunInfo info{};
  info.run_id = "r";
  {
    auto log = EventLogWriter::create(folder.path() / "events-0.alog", info);
    ASSERT_TRUE(log) << log.error().message;
    ASSERT_TRUE((*log)->close({RunState::complete, ""}));
  }
  Said said;
  ASSERT_TRUE(replay_run(folder.path(), said));
  const std::string place = (folder.path() / kClocksName).string();
  for (const auto& [text, words] : {std::pair{"{", Json::parse("{").error().message},
                                    {"{}", std::string("format: not assay-clocks, version 1")}}) {
    put_file(place, text);
    const auto replay = replay_run(folder.path(), said);
    ASSERT_FALSE(replay) << text;
    EXPECT_EQ(replay.error().message, place + ": " + words);
  }
}

}  // namespace
}  // namespace assay::record
