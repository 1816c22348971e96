#include "score/code/program_judge.h"

#include <algorithm>
#include <array>

#include "base/files.h"
#include "base/format.h"
#include "base/scratch_folder.h"
#include "base/text.h"
#include "score/code/sandbox.h"

namespace assay::score {
namespace {

struct Language {
  std::string_view name{};
  std::string_view file{};
  std::vector<std::string> compile{};  // may be empty
  std::vector<std::string> run{};
  // V8 reserves more addresses than it ever uses, so its heap is limited instead.
  bool limits_its_heap = false;
};

const std::array<Language, 6>& all_languages() {
  static const std::array<Language, 6> all = {{
      {"python", "main.py", {}, {"python3", "-I", "-S", "main.py"}},
      {"cpp",
       "main.cc",
       // The compiler's own files go where it may write.
       {"env", "TMPDIR=.", "g++", "-std=c++17", "-w", "-o", "main", "main.cc"},
       {"{folder}/main"}},
      {"javascript", "main.js", {}, {"node", "main.js"}, true},
      {"typescript",
       "main.ts",
       {"tsc", "main.ts", "--target", "es5", "--lib", "es2016"},
       {"node", "main.js"},
       true},
      {"php", "main.php", {}, {"php", "main.php"}},
      {"ruby", "main.rb", {}, {"ruby", "main.rb"}},
  }};
  return all;
}

const Language* find_language(std::string_view name) {
  for (const Language& one : all_languages()) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace

std::string mbxp_program(std::string_view language, std::string_view function,
                         std::string_view reply, std::string_view tests) {
  const bool python = language == "python";
  std::string code(reply.substr(0, reply.find("```")));
  if (python) code.erase(0, static_cast<std::size_t>(code.find_first_not_of(" \t\r\n\v\f")));
  // The model of this suite likes to escape underscores.
  code = replaced(std::move(code), "\\_", "_");
  code += '\n';
  code += tests;
  if (python) code += format("\ncheck({})\n", function);
  return code;
}

Result<std::unique_ptr<ProgramJudge>> ProgramJudge::make(const Json& extras) {
  std::unique_ptr<ProgramJudge> out(new ProgramJudge);
  out->seconds_ = extras["timeout_s"].as_double(20);
  if (!(out->seconds_ > 0 && out->seconds_ <= 3600)) {
    return invalid("extras.timeout_s: must be above 0 and at most 3600");
  }
  const std::int64_t megabytes = extras["memory_mb"].as_int(4096);
  if (megabytes < 64) return invalid("extras.memory_mb: must be at least 64");
  out->memory_bytes_ = static_cast<std::uint64_t>(megabytes) << 20;
  for (const Json& one : extras["languages"].items()) {
    if (find_language(one.as_string()) == nullptr) {
      return invalid(
          format("extras.languages: '{}' is none of python, cpp, javascript, typescript, php, ruby",
                 one.as_string()));
    }
    out->languages_.emplace_back(one.as_string());
  }
  return out;
}

bool ProgramJudge::counts(std::string_view language) const {
  if (languages_.empty()) return find_language(language) != nullptr;
  return std::find(languages_.begin(), languages_.end(), language) != languages_.end();
}

std::string ProgramJudge::note() const {
  return format("{} programs were run: {}", ran_, layers_.empty() ? "none" : layers_);
}

Result<bool> ProgramJudge::passes(std::string_view language, std::string_view function,
                                  std::string_view reply, std::string_view tests) {
  const Language& how = *find_language(language);
  ASSIGN_OR_RETURN(const ScratchFolder folder, ScratchFolder::make("score"));
  TRY(write_file_atomic(folder.path() / how.file, mbxp_program(language, function, reply, tests)));
  ++ran_;
  for (const auto& command : {how.compile, how.run}) {
    if (command.empty()) continue;
    std::vector<std::string> words = command;
    words.front() = replaced(words.front(), "{folder}", folder.path().string());
    Program program{.command = std::move(words),
                    .folder = folder.path(),
                    .time_max = Duration::from_seconds(seconds_),
                    .confined = true,
                    .cpu_max = Duration::from_seconds(seconds_),
                    .memory_bytes_max = memory_bytes_};
    if (how.limits_its_heap && command.front() == "node") {
      program.memory_bytes_max = std::uint64_t{1} << 40;
      program.command.insert(program.command.begin() + 1,
                             format("--max-old-space-size={}", memory_bytes_ >> 20));
    }
    auto end = run_program(program);
    if (!end && end.error().code == Code::not_found) {
      return invalid(
          format("code in {}: {}\n  install it, or score the other languages: extras.languages",
                 language, end.error().message));
    }
    if (!end) return end.error();
    layers_ = end->layers;
    if (command.front() == "env" && end->exit_code == 127) {
      return invalid(
          format("code in {}: no program '{}' in PATH\n  install it, or score the other "
                 "languages: extras.languages",
                 language, command[2]));
    }
    if (end->exit_code != 0 || end->out_of_time) return false;
  }
  return true;
}

}  // namespace assay::score
