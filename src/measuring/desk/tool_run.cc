#include "desk/tool_run.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/display.h"
#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "desk/tool_call.h"
#include "desk/tool_harness.h"
#include "score/code/sandbox.h"

namespace assay::desk {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSandboxFilesMax = 10'000;
constexpr std::size_t kSandboxBytesMax = std::size_t{256} << 20;
constexpr Duration kToolsTimeMax{600'000'000'000};

// What a jailed run begins with: the names and sizes of the folder's files, and their bytes.
struct Sandbox {
  Json files = Json::array();
  std::string bytes{};
};

Result<Sandbox> read_sandbox(const fs::path& folder) {
  Sandbox out;
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    // A link could lead out of the folder.
    if (fs::is_regular_file(it->symlink_status(error))) paths.push_back(it->path());
    if (paths.size() > kSandboxFilesMax) {
      return invalid(
          format("--tools: '{}' has more than {} files", folder.string(), kSandboxFilesMax));
    }
  }
  if (error) {
    return Error{Code::not_found, format("--tools: '{}': {}\n  name the folder tools_sandbox of "
                                         "MLPerf Client's files, unpacked",
                                         folder.string(), error.message())};
  }
  std::ranges::sort(paths);
  for (const fs::path& path : paths) {
    ASSIGN_OR_RETURN(const std::string text, read_file(path, kSandboxBytesMax));
    if (out.bytes.size() + text.size() > kSandboxBytesMax) {
      return invalid(
          format("--tools: '{}' has more than {}", folder.string(), human_bytes(kSandboxBytesMax)));
    }
    out.files.push_back(
        Json().push_back(path.lexically_relative(folder).string()).push_back(text.size()));
    out.bytes += text;
  }
  return out;
}

// The recorded answers of a conversation: entries 2, 4, … of its file.
std::vector<std::string_view> recorded_answers(const PromptFile& file) {
  std::vector<std::string_view> out;
  for (std::size_t i = 2; i < file.prompts.size(); i += 2) {
    const auto& messages = file.prompts[i].messages.items();
    CHECK(!messages.empty());
    out.push_back(messages.back()["content"].as_string());
  }
  return out;
}

Result<std::vector<ToolCall>> calls_of(const PromptFile& file, std::size_t turn,
                                       std::string_view answer) {
  auto calls = tool_calls(answer);
  if (!calls) return calls.error().within(format("{}: recorded answer {}", file.name, turn + 1));
  return calls;
}

// One iteration of a conversation: for each turn, what its calls came to.
Result<Json> run_conversation(const Sandbox& sandbox, const Json& turns) {
  const score::Jail jail{.file_bytes_max = kSandboxBytesMax,
                         .disk_bytes_max = std::uint64_t{1} << 30};
  const Json job = Json().set("files", sandbox.files).set("turns", turns);
  ASSIGN_OR_RETURN(const score::ProgramEnd end,
                   score::run_program({.commands = {{"python3", "-I", "-S", "-c", kToolHarness}},
                                       .input = job.dump() + '\n' + sandbox.bytes,
                                       .time_max = kToolsTimeMax,
                                       .jail = jail}));
  auto out = Json::parse(end.out);
  if (out && out->size() == turns.size()) return out;
  std::string why = format("ended with {}", end.exit_code);
  if (end.out_of_time) why = format("took more than {}", human_duration(kToolsTimeMax));
  if (end.out_of_memory) why = "took too much memory";
  return Error{Code::unsupported, format("--tools: the recorded tool calls cannot be run: {}\n  {}",
                                         why, printable(end.err.substr(0, 300)))};
}

// The seconds of a turn's calls; fails with the reason where one of them failed.
Result<double> turn_seconds(const std::vector<ToolCall>& calls, const Json& ran) {
  double sum = 0;
  for (const Json& one : ran.items()) {
    if (!one["ok"].as_bool()) {
      return invalid(format("the recorded call of {} failed: {}", one["name"].as_string(),
                            printable(one["said"].as_string())));
    }
    sum += one["seconds"].as_double();
  }
  // Client stops at the first call that it refuses.
  if (ran.size() < calls.size()) {
    const ToolCall& refused = calls[ran.size()];
    return invalid(format("the recorded call of {} is refused: {}", refused.name, refused.problem));
  }
  return sum;
}

Result<void> run_file(const PromptFile& file, const Sandbox& sandbox, std::uint32_t iterations,
                      std::span<Item> items) {
  std::vector<std::vector<ToolCall>> calls;
  Json turns = Json::array();
  for (const std::string_view answer : recorded_answers(file)) {
    ASSIGN_OR_RETURN(auto of, calls_of(file, calls.size(), answer));
    Json list = Json::array();
    for (const ToolCall& call : of) {
      if (!call.problem.empty()) break;
      list.push_back(Json().set("name", call.name).set("input", call.input));
    }
    turns.push_back(std::move(list));
    calls.push_back(std::move(of));
  }
  CHECK(calls.size() == items.size());
  std::vector<double> sums(items.size());
  for (std::uint32_t k = 0; k < iterations; ++k) {
    ASSIGN_OR_RETURN(const Json ran, run_conversation(sandbox, turns));
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto seconds = turn_seconds(calls[i], ran[i]);
      if (!seconds) items[i].tools_why = seconds.error().message;
      sums[i] += seconds.value_or(0);
    }
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].tools_why.empty()) items[i].tools_s = sums[i] / iterations;
  }
  return {};
}

}  // namespace

Result<std::size_t> count_tool_calls(const std::vector<PromptFile>& files) {
  std::size_t out = 0;
  for (const PromptFile& file : files) {
    for (const std::string_view answer : recorded_answers(file)) {
      ASSIGN_OR_RETURN(const auto calls, calls_of(file, 0, answer));
      out += calls.size();
    }
  }
  return out;
}

Result<void> run_tools(const std::vector<PromptFile>& files, const fs::path& sandbox,
                       std::uint32_t iterations, Series& series) {
  ASSIGN_OR_RETURN(const Sandbox copied, read_sandbox(sandbox));
  std::span<Item> items(series.items);
  for (const PromptFile& file : files) {
    const std::size_t turns = recorded_answers(file).size();
    TRY(run_file(file, copied, iterations, items.first(turns)));
    items = items.subspan(turns);
  }
  return {};
}

Result<void> count_recorded(const std::vector<PromptFile>& files, const CountTokens& count,
                            Series& series) {
  std::size_t item = 0;
  for (const PromptFile& file : files) {
    for (const std::string_view answer : recorded_answers(file)) {
      ASSIGN_OR_RETURN(const std::size_t tokens, count(answer));
      series.items[item++].recorded_tokens = static_cast<std::int64_t>(tokens);
    }
  }
  return {};
}

}  // namespace assay::desk
