#include "campaign/chaos/deed.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/files.h"
#include "base/format.h"
#include "base/testing_temp_folder.h"
#include "base/text.h"
#include "net/socket.h"

namespace assay::campaign {
namespace {

DeedResult run(const std::string& command, const DeedLimits& limits = {.timeout = 60_s}) {
  const OsClock clock;
  return do_deed({.kind = plan::ChaosKind::command, .command = command}, limits, clock);
}

TEST(Deed, a_commands_exit_code_and_both_outputs_are_kept) {
  const DeedResult good = run("echo one; echo two >&2");
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_EQ(good.output, "one\ntwo");
  EXPECT_EQ(good.error, "");
  const DeedResult bad = run("exit 7");
  EXPECT_EQ(bad.exit_code, 7);
  EXPECT_EQ(bad.error, "exit code 7");
  const DeedResult killed = run("kill -9 $$");
  EXPECT_FALSE(killed.exit_code);
  EXPECT_EQ(killed.error, "it was ended by signal 9");
}

TEST(Deed, of_a_long_output_the_end_is_kept) {
  const DeedResult done = run("i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done");
  EXPECT_LE(done.output.size(), 4096U);
  EXPECT_TRUE(done.output.ends_with("line 1999")) << done.output;
}

TEST(Deed, a_command_past_its_limit_is_ended) {
  const DeedResult done = run("sleep 600", {.timeout = 50_ms});
  EXPECT_FALSE(done.exit_code);
  EXPECT_EQ(done.error, "it had not ended after 50.0 ms");
}

TEST(Deed, a_command_under_way_when_the_run_is_over_is_ended) {
  const net::Fd over(::eventfd(1, EFD_CLOEXEC));
  const DeedResult done = run("sleep 600", {.timeout = 60_s, .stop = over.get()});
  EXPECT_EQ(done.error, "it had not ended when the run did");
}

TEST(Deed, what_a_command_leaves_in_the_background_goes_on) {
  const DeedResult done = run("sleep 600 & echo $!");
  const auto pid = parse_int(done.output);
  ASSERT_TRUE(pid) << done.output;
  EXPECT_EQ(::kill(static_cast<pid_t>(*pid), SIGKILL), 0);
}

TEST(Deed, a_signal_goes_to_one_other_process_alone) {
  const TempFolder folder;
  const auto file = folder.path() / "pid";
  const OsClock clock;
  for (const std::string& text :
       {std::string("0"), std::string("1"), std::string("-5"), std::string("4 5"),
        std::string("99999999999"), format("{}\n", ::getpid())}) {
    ASSERT_TRUE(write_file_atomic(file, text));
    const DeedResult done = do_deed(
        {.kind = plan::ChaosKind::signal, .signal = SIGCONT, .pid_file = file.string()}, {}, clock);
    EXPECT_NE(done.error, "") << text;
  }
  const DeedResult none = do_deed({.kind = plan::ChaosKind::pause,
                                   .signal = SIGSTOP,
                                   .pid_file = (folder.path() / "none").string()},
                                  {}, clock);
  EXPECT_NE(none.error.find("none"), std::string::npos);
}

}  // namespace
}  // namespace assay::campaign
