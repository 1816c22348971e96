// `assay explain`, as it is typed.
#include <gtest/gtest.h>

#include "cli/command.h"
#include "rules/catalogue.h"

namespace assay::cli {
namespace {

std::string explained(const std::vector<std::string>& args, int code) {
  std::vector<std::string> all{"explain"};
  all.insert(all.end(), args.begin(), args.end());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(dispatch(all), code);
  return testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
}

TEST(Explain, a_rule_has_its_clause_and_its_fix) {
  const std::string text = explained({"src-dir"}, 0);
  EXPECT_NE(text.find("§8.1"), std::string::npos) << text;
  EXPECT_NE(text.find("put the code and scripts"), std::string::npos) << text;
  const std::string list = explained({"--list"}, 0);
  for (const rules::Rule& rule : rules::catalogue()) {
    EXPECT_NE(list.find(rule.id), std::string::npos) << rule.id;
  }
  EXPECT_NE(list.find("over_memory"), std::string::npos);
}

TEST(Explain, what_is_not_known_has_a_door) {
  const std::string text = explained({"src-dri"}, 2);
  EXPECT_NE(text.find("did you mean \"src-dir\"?"), std::string::npos) << text;
  EXPECT_NE(text.find("assay explain --list"), std::string::npos) << text;
}

}  // namespace
}  // namespace assay::cli
