#include "pipeline/course.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/json.h"
#include "base/scratch_folder.h"
#include "base/testing_talk.h"

namespace assay::pipeline {
namespace {

using testing::HasSubstr;

TEST(PipelineCourse, a_run_its_state_and_its_log_say_the_same_step) {
  const auto scratch = ScratchFolder::make("course");
  ASSERT_TRUE(scratch);
  const auto file = scratch->path() / "two.yaml";
  ASSERT_TRUE(write_file_atomic(file,
                                "steps:\n"
                                "- id: greet\n"
                                "  type: process\n"
                                "  command: [\"sh\", \"-c\", \"echo hello\"]\n"));
  PipelineOptions options{.file = file.string(), .engine = "none"};
  Heard early;
  options.act = "status";
  const auto before = act_on_pipeline(options, early.talk());
  ASSERT_FALSE(before);
  EXPECT_THAT(before.error().message, HasSubstr("this pipeline has not run"));

  Heard ran;
  options.act = "run";
  const auto code = act_on_pipeline(options, ran.talk());
  ASSERT_TRUE(code) << code.error().message;
  EXPECT_EQ(*code, exit_code(ExitCode::done)) << ran.printed << ran.said;
  EXPECT_THAT(ran.printed, HasSubstr("1 of 1 done"));

  Heard state;
  options.act = "status";
  options.json = true;
  ASSERT_TRUE(act_on_pipeline(options, state.talk()));
  EXPECT_THAT(state.printed, HasSubstr("greet"));

  Heard log;
  options.act = "logs";
  options.json = false;
  options.step = "greet";
  ASSERT_TRUE(act_on_pipeline(options, log.talk()));
  EXPECT_THAT(log.printed, HasSubstr("hello"));
  options.step = "greeet";
  EXPECT_THAT(act_on_pipeline(options, log.talk()).error().message,
              HasSubstr("did you mean 'greet'?"));
}

}  // namespace
}  // namespace assay::pipeline
