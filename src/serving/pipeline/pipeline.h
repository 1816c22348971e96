// Pipeline: steps that prepare data, as a YAML file describes them: what runs, once or once for
// each partition (a subject, a language, a shard), what comes next, and who has to agree before.
// The grammar is that of MedPerf's pipelines, whose files are read as they are, and what they lack
// to run on one machine: processes, declared inputs and outputs, conditions without code, waiting
// for a file. docs/formats/pipeline.md has the grammar. Pure values; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace assay::pipeline {

enum class StepType : std::uint8_t { process, container, dummy, manual_approval, wait_for_file };
std::string_view to_string(StepType type);

// A path that a step sees under another name. `from_step` empty: the path is an input of the
// pipeline, or a place below the work folder that all outputs of this name share.
struct Mount {
  std::string name{};
  std::string path{};  // in the container
  bool file = false;   // false: a folder
  bool output = false;
  std::string from_step{};
  std::string from_mount{};
  int line = 0;
};

struct Branch {
  std::string condition{};
  std::vector<std::string> targets{};
  int line = 0;
};

// What follows a step. With branches the first whose condition holds is taken; if none holds, the
// steps of `otherwise`, or the conditions are asked again after `wait`.
struct Next {
  std::vector<std::string> always{};
  std::vector<Branch> branches{};
  std::vector<std::string> otherwise{};  // empty: ask again
  Duration wait{60'000'000'000};
  int line = 0;
  bool conditional() const { return !branches.empty(); }
};

// Files that must be there: `path` may have * and ? in its parts.
struct FilePattern {
  std::string path{};
  std::optional<std::int64_t> count{};  // exactly; without it at least one
};

struct Step {
  std::string id{};
  StepType type = StepType::process;
  std::string image{};
  std::vector<std::string> command{};
  std::vector<Mount> mounts{};
  Next next{};
  bool partition = false;
  bool start = false;
  std::int64_t limit = 0;  // instances at one time; 0: as many as the run allows
  std::int64_t retries = 0;
  Duration timeout{};                  // 0: none
  std::vector<std::string> inputs{};   // paths whose content decides whether the step runs again
  std::vector<std::string> outputs{};  // paths that must be there when it has ended
  FilePattern file{};                  // of wait_for_file
  int line = 0;
  const Mount* find_mount(std::string_view name) const;
};

enum class ConditionType : std::uint8_t { file, json, function };

// How a JSON value is compared.
enum class Compare : std::uint8_t { equals, at_least, at_most };

struct Condition {
  std::string id{};
  ConditionType type = ConditionType::file;
  FilePattern file{};
  std::string pointer{};  // of json: RFC 6901
  Compare compare = Compare::equals;
  Json value{};
  std::string function{};  // MODULE.NAME, in Python
  int line = 0;
};

enum class PartitionType : std::uint8_t { folders, files, lines, list, function };

struct PartitionDef {
  PartitionType type = PartitionType::list;
  std::string path{};  // of folders and files: a pattern; of lines: a file
  std::vector<std::string> items{};
  std::string function{};
  int line = 0;
};

// What differs from site to site. A site's file has only these keys; its values come first.
struct Site {
  std::map<std::string, std::string> inputs{};               // mount or input name: path
  std::map<std::string, std::string> parameters{};           // name: text
  std::map<std::string, std::vector<std::string>> images{};  // image: the process in its place
  std::vector<Condition> conditions{};
  std::optional<PartitionDef> partition_def{};
};

struct Pipeline {
  std::string name{};  // of the file, for messages
  std::vector<Step> steps{};
  Site site{};
  std::vector<std::string> notes{};  // what was read and has no effect, what was read as another
  const Step* find(std::string_view id) const;
  const Condition* find_condition(std::string_view id) const;
};

inline constexpr std::size_t kStepsMax = 1000;
inline constexpr std::size_t kPartitionsMax = 1'000'000;

// Every mistake at once, each "NAME:LINE: FIELD: what is wrong" and, indented, what to write.
// The steps' order is checked too (graph.h).
Result<Pipeline> read_pipeline(std::string_view text, std::string_view name);

// A site's file: `pipeline` with its values in front.
Result<Pipeline> with_site(Pipeline pipeline, std::string_view text, std::string_view name);

// "a 'b c' d" -> a, b c, d. Quotes as in a shell, nothing else of it. Fails on an open quote.
Result<std::vector<std::string>> split_command(std::string_view text);

// The names in braces in `text`; "{{" is a brace. Fails on a brace that is not closed.
Result<std::vector<std::string>> names_in(std::string_view text);
// `text` with each {NAME} replaced; a name that is not in `values` stays as it is.
std::string fill_in(std::string_view text, const std::map<std::string, std::string>& values);

}  // namespace assay::pipeline
