#include "cli/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/exit_code.h"
#include "cli/console.h"

namespace assay::cli {
namespace {

using testing::HasSubstr;

TEST(Console, a_port_that_is_taken_has_a_way_out) {
  const Error taken{Code::refused, "cannot listen on 127.0.0.1:80: Address already in use"};
  EXPECT_EQ(with_free_port(taken).message, taken.message + "\n  --port 0 takes a free one");
  const Error other{Code::refused, "cannot listen on 127.0.0.1:80: Permission denied"};
  EXPECT_EQ(with_free_port(other).message, other.message);
}

TEST(Console, each_error_of_a_message_gets_its_own_line) {
  EXPECT_EQ(error_text(invalid("a: wrong\n  did you mean b?\nc: wrong too\n")),
            "error: a: wrong\n       did you mean b?\nerror: c: wrong too");
}

TEST(Dispatch, an_unknown_command_is_bad_input) {
  const std::vector<std::string> args{"verson"};
  testing::internal::CaptureStderr();
  EXPECT_EQ(dispatch(args), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "error: unknown command \"verson\"\n       did you mean \"version\"?\n"
            "       assay --help lists them\n");
}

TEST(Dispatch, every_command_explains_itself_and_takes_json) {
  for (const Command& command : commands()) {
    const std::vector<std::string> args{std::string(command.name), "--help"};
    testing::internal::CaptureStdout();
    EXPECT_EQ(dispatch(args), 0) << command.name;
    const std::string help = testing::internal::GetCapturedStdout();
    EXPECT_THAT(help, HasSubstr("assay " + std::string(command.name)));
    EXPECT_THAT(help, HasSubstr("--json")) << command.name;
  }
}

}  // namespace
}  // namespace assay::cli
