#include "base/exit_code.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(ExitCode, tells_bad_input_from_what_cannot_be_reached) {
  EXPECT_EQ(exit_code(Code::invalid), 2);
  EXPECT_EQ(exit_code(Code::not_found), 2);
  EXPECT_EQ(exit_code(Code::refused), 3);
  EXPECT_EQ(exit_code(Code::io), 3);
  EXPECT_EQ(exit_code(Code::exhausted), 8);
}

TEST(Ending, the_shell_gets_the_gravest_cause_and_json_all) {
  Ending ending;
  EXPECT_EQ(ending.code(), 0);
  int last = 0;
  // The causes from the least to the gravest: the exit code is always the one added last.
  for (const ExitCode code :
       {ExitCode::findings, ExitCode::worse, ExitCode::client_limited, ExitCode::too_many_failed,
        ExitCode::interrupted, ExitCode::exhausted}) {
    ending.add(code, "why");
    EXPECT_NE(ending.code(), last);
    last = ending.code();
    EXPECT_EQ(last, exit_code(code));
  }
  std::string codes;
  const Json json = ending.json();
  for (const Json& cause : json["causes"].items()) codes += cause["code"].dump() + " ";
  EXPECT_EQ(codes, "8 130 7 4 5 1 ");
  EXPECT_EQ(json["code"].as_int(), 8);
}

TEST(Ending, every_code_has_its_place_and_a_cause_is_told_once) {
  EXPECT_EQ(kGravest.size(), 9u) << "all but done";
  Ending ending;
  ending.add(ExitCode::client_limited, "late");
  ending.add(ExitCode::client_limited, "late");
  ending.add(ExitCode::client_limited, "stopped");
  EXPECT_EQ(ending.causes().size(), 2u);
}

}  // namespace
}  // namespace assay
