#include "base/staged.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <set>

#include "base/check.h"
#include "base/format.h"
#include "base/testing_temp_folder.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> out;
  for (const auto& entry : fs::directory_iterator(folder)) out.insert(entry.path().filename());
  return out;
}

using Names = std::set<std::string>;

// Runs a process that kills itself at its `step`th call of the given function.
void killed_at(int step, const std::function<void(const std::function<void()>&)>& work) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int calls = 0;
    work([&calls, step] {
      if (calls++ == step) ::raise(SIGKILL);
    });
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "step " << step;
}

void write_tree(const fs::path& place, const std::function<void()>& point,
                std::string_view text = "text") {
  auto tree = StagedFolder::create(place, true);
  CHECK(tree);
  for (int i = 0; i < 3; ++i) {
    point();
    CHECK(write_file_atomic(tree->path() / format("d{}/file", i), text));
  }
  point();
  CHECK(tree->commit());
}

TEST(StagedFolder, a_kill_at_any_point_leaves_nothing_under_its_name_and_the_next_goes_on) {
  for (int step = 0; step < 4; ++step) {
    const TempFolder folder;
    const fs::path place = folder.path() / "tree";
    killed_at(step, [&](const auto& point) { write_tree(place, point); });
    EXPECT_EQ(names_in(folder.path()), Names{"tree.assay-part"}) << step;
    write_tree(place, [] {});
    EXPECT_EQ(names_in(folder.path()), Names{"tree"}) << step;
    EXPECT_EQ(names_in(place), (Names{"d0", "d1", "d2"}));
  }
}

TEST(StagedFolder, a_kill_leaves_what_it_was_to_replace) {
  for (int step = 0; step < 4; ++step) {
    const TempFolder folder;
    const fs::path place = folder.path() / "tree";
    write_tree(
        place, [] {}, "old");
    ASSERT_TRUE(write_file_atomic(place / "only_old", ""));
    killed_at(step, [&](const auto& point) { write_tree(place, point, "new"); });
    EXPECT_EQ(*read_file(place / "d0/file"), "old");
    write_tree(
        place, [] {}, "new");
    EXPECT_EQ(*read_file(place / "d0/file"), "new");
    EXPECT_FALSE(fs::exists(place / "only_old"));
    EXPECT_EQ(names_in(folder.path()), Names{"tree"});
  }
}

TEST(StagedFolder, without_commit_nothing_is_left) {
  const TempFolder folder;
  {
    const auto tree = StagedFolder::create(folder.path() / "a/tree");
    ASSERT_TRUE(tree);
    ASSERT_TRUE(write_file_atomic(tree->path() / "file", "x"));
  }
  EXPECT_EQ(names_in(folder.path() / "a"), Names{});
}

TEST(StagedFolder, of_two_at_once_the_second_is_refused_and_harms_nothing) {
  const TempFolder folder;
  auto first = StagedFolder::create(folder.path() / "tree");
  ASSERT_TRUE(first);
  const auto second = StagedFolder::create(folder.path() / "tree/");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::invalid);
  EXPECT_NE(second.error().message.find("another program"), std::string::npos);
  ASSERT_TRUE(write_file_atomic(first->path() / "file", "x"));
  ASSERT_TRUE(first->commit());
  EXPECT_EQ(*read_file(folder.path() / "tree/file"), "x");
}

TEST(StagedFolder, takes_the_place_of_an_empty_folder_only) {
  const TempFolder folder;
  fs::create_directory(folder.path() / "empty");
  fs::create_directory_symlink(folder.path() / "empty", folder.path() / "link");
  auto tree = StagedFolder::create(folder.path() / "link");
  ASSERT_TRUE(tree);
  ASSERT_TRUE(write_file_atomic(tree->path() / "file", "x"));
  ASSERT_TRUE(tree->commit());
  EXPECT_EQ(*read_file(folder.path() / "empty/file"), "x");
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
  EXPECT_EQ(StagedFolder::create(folder.path() / "empty").error().code, Code::invalid);
  EXPECT_EQ(StagedFolder::create(folder.path() / "empty/file", true).error().code, Code::invalid);
  EXPECT_EQ(StagedFolder::create("", true).error().code, Code::invalid);
  EXPECT_EQ(StagedFolder::create(".", true).error().code, Code::invalid);
  EXPECT_EQ(StagedFolder::create("/proc", true).error().code, Code::invalid);
}

TEST(StagedFolder, a_link_in_the_way_is_not_followed) {
  const TempFolder folder;
  fs::create_directory(folder.path() / "other");
  ASSERT_TRUE(write_file_atomic(folder.path() / "other/file", "x"));
  fs::create_directory_symlink(folder.path() / "other", folder.path() / "tree.assay-part");
  EXPECT_FALSE(StagedFolder::create(folder.path() / "tree"));
  EXPECT_EQ(*read_file(folder.path() / "other/file"), "x");
}

TEST(StagedFile, a_kill_leaves_the_old_file_and_the_next_writer_goes_on) {
  for (int step = 0; step < 2; ++step) {
    const TempFolder folder;
    const fs::path place = folder.path() / "file";
    ASSERT_TRUE(write_file_atomic(place, "old"));
    killed_at(step, [&](const auto& point) {
      auto file = StagedFile::create(place);
      CHECK(file);
      point();
      file->append("new");
      point();
    });
    EXPECT_EQ(names_in(folder.path()), (Names{"file", "file.assay-part"}));
    EXPECT_EQ(*read_file(place), "old");
    ASSERT_TRUE(write_file_atomic(place, "new"));
    EXPECT_EQ(*read_file(place), "new");
    EXPECT_EQ(names_in(folder.path()), Names{"file"});
  }
}

TEST(StagedFile, two_writers_do_not_meet_and_the_last_to_end_has_the_name) {
  const TempFolder folder;
  auto one = StagedFile::create(folder.path() / "file");
  auto two = StagedFile::create(folder.path() / "file");
  ASSERT_TRUE(one && two);
  one->append("one");
  two->append("two");
  ASSERT_TRUE(two->commit());
  EXPECT_EQ(*read_file(folder.path() / "file"), "two");
  ASSERT_TRUE(one->commit());
  EXPECT_EQ(*read_file(folder.path() / "file"), "one");
  EXPECT_EQ(names_in(folder.path()), Names{"file"});
}

// A limit on file sizes represents a full disk, at each byte of a file. It runs in a child process,
// because a lowered limit may stay.
TEST(StagedFile, a_disk_that_is_full_at_any_byte_leaves_the_old_file_and_is_told) {
  const TempFolder folder;
  const fs::path place = folder.path() / "file";
  ASSERT_TRUE(write_file_atomic(place, "old"));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    for (rlim_t bytes = 0; bytes < 30; ++bytes) {
      const rlimit limit{bytes, RLIM_INFINITY};
      if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(2);
      const auto written = write_file_atomic(place, "thirty bytes, no fewer no more");
      if (written || written.error().code != Code::exhausted) ::_exit(3);
      if (written.error().message.find("File too large") == std::string::npos) ::_exit(4);
      if (names_in(folder.path()) != Names{"file"} || *read_file(place) != "old") ::_exit(5);
    }
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

}  // namespace
}  // namespace assay
