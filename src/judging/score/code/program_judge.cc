#include "score/code/program_judge.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/secret.h"
#include "base/text.h"
#include "score/code/program_harness.h"
#include "score/code/sandbox.h"

namespace assay::score {
namespace {

struct Language {
  std::string_view name{};
  std::string_view file{};
  std::vector<std::vector<std::string>> commands{};
  // V8 reserves many more addresses than it uses; resident memory is limited all the same.
  bool limits_addresses = true;
  bool runs_own_files = false;
};

const std::array<Language, 6>& all_languages() {
  static const std::array<Language, 6> all = {{
      {"python", "", {{"python3", "-I", "-S", "-c", kProgramHarness}}},
      {"cpp",
       "main.cc",
       {{"g++", "-std=c++17", "-w", "-o", "main", "main.cc"}, {"./main"}},
       true,
       true},
      {"javascript", "main.js", {{"node", "main.js"}}, false},
      {"typescript",
       "main.ts",
       {{"tsc", "main.ts", "--target", "es5", "--lib", "es2016"},
        {"sh", "-c", "cat main.js end.js > all.js"},
        {"node", "all.js"}},
       false},
      {"php", "main.php", {{"php", "main.php"}}},
      {"ruby", "main.rb", {{"ruby", "main.rb"}}},
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

// Returns the place after the brace that opens main() in the tests, or npos.
std::size_t in_main(std::string_view tests) {
  for (std::size_t at = tests.rfind("main"); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : tests.rfind("main", at - 1)) {
    std::size_t after = tests.find_first_not_of(" \t\r\n", at + 4);
    if (after == std::string_view::npos || tests[after] != '(') continue;
    after = tests.find(')', after);
    if (after == std::string_view::npos) continue;
    after = tests.find_first_not_of(" \t\r\n", after + 1);
    if (after != std::string_view::npos && tests[after] == '{') return after + 1;
  }
  return std::string_view::npos;
}

// No C++ statement can follow the tests: an object in main() detects that main() returned. exit()
// and its like do not destroy the object; an exception is detected when it passes.
std::string cpp_program(std::string_view code, std::string_view tests, std::string_view proof) {
  const std::size_t at = in_main(tests);
  if (at == std::string_view::npos) return {};
  const std::string end = format(
      "#include <unistd.h>\n#include <exception>\n"
      "namespace {{ struct End_{0} {{ ~End_{0}() {{\n"
      "  if (std::uncaught_exceptions() != 0) return;\n"
      "  char half[256] = \"\\n{0}\";\n"
      "  long size = 1 + {1};\n"
      "  size += ::read(0, half + size, sizeof(half) - size);\n"
      "  [[maybe_unused]] long wrote = ::write(1, half, size); }} }}; }}\n",
      proof, proof.size());
  return format("{}{}\n{} End_{} end_{};{}", end, code, tests.substr(0, at), proof, proof,
                tests.substr(at));
}

bool ends_with_proof(std::string_view out, std::string_view proof) {
  while (out.ends_with('\n')) out.remove_suffix(1);
  return out.ends_with(format("\n{}", proof));
}

}  // namespace

std::string mbxp_reply(std::string_view language, std::string_view reply) {
  std::string code(reply.substr(0, reply.find("```")));
  const std::size_t blank = code.find_first_not_of(" \t\r\n\v\f");
  if (language == "python") code.erase(0, std::min(blank, code.size()));
  // This suite's model often escapes underscores.
  return replaced(std::move(code), "\\_", "_");
}

std::string mbxp_end(std::string_view language, std::string_view proof) {
  if (language == "javascript" || language == "typescript") {
    return format("\n;require('fs').writeSync(1, '\\n{}' + require('fs').readFileSync(0));\n",
                  proof);
  }
  if (language == "php") return format("\n;echo \"\\n{}\", stream_get_contents(STDIN);\n", proof);
  if (language == "ruby") return format("\nSTDOUT.write(\"\\n{}\", STDIN.read)\n", proof);
  return {};
}

std::string mbxp_program(std::string_view language, std::string_view reply, std::string_view tests,
                         std::string_view proof) {
  const std::string code = mbxp_reply(language, reply);
  if (language == "cpp") return cpp_program(code, tests, proof);
  std::string out = format("{}\n{}", code, tests);
  if (language == "php" && trim(tests).ends_with("?>")) out += "<?php";
  if (language != "typescript") out += mbxp_end(language, proof);
  return out;
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
  TRY(probe_jail(Jail{}));
  return out;
}

bool ProgramJudge::counts(std::string_view language) const {
  if (languages_.empty()) return find_language(language) != nullptr;
  return std::find(languages_.begin(), languages_.end(), language) != languages_.end();
}

std::string ProgramJudge::note() const {
  return format("{} programs were run: {}", ran_, layers_.empty() ? "none" : layers_);
}

Result<bool> ProgramJudge::passes_python(std::string_view function, std::string_view program,
                                         std::string_view tests) {
  const std::string proof = random_secret();
  const Language& how = *find_language("python");
  return run("python",
             {.commands = how.commands,
              .input = Json()
                           .set("reply", program)
                           .set("tests", tests)
                           .set("function", function)
                           .set("proof", proof)
                           .dump(),
              .time_max = Duration::from_seconds(seconds_),
              .jail = Jail{.runs_own_files = how.runs_own_files,
                           .limits_addresses = how.limits_addresses,
                           .memory_bytes_max = memory_bytes_}},
             proof);
}

Result<bool> ProgramJudge::passes(std::string_view language, std::string_view function,
                                  std::string_view reply, std::string_view tests) {
  if (language == "python") return passes_python(function, mbxp_reply(language, reply), tests);
  const Language& how = *find_language(language);
  // Half of it is in the program's text, half on its standard input.
  const std::string proof = random_secret();
  const std::string first = proof.substr(0, proof.size() / 2);
  const std::string second = proof.substr(first.size());
  std::string text = mbxp_program(language, reply, tests, first);
  if (text.empty()) return invalid("code in cpp: its tests have no main()");
  Program program{
      .commands = how.commands,
      .input = second,
      .time_max = Duration::from_seconds(seconds_ * static_cast<double>(how.commands.size())),
      .jail = Jail{.runs_own_files = how.runs_own_files,
                   .limits_addresses = how.limits_addresses,
                   .memory_bytes_max = memory_bytes_}};
  program.files.emplace_back(how.file, std::move(text));
  if (language == "typescript") program.files.emplace_back("end.js", mbxp_end(language, first));
  return run(language, program, proof);
}

Result<bool> ProgramJudge::run(std::string_view language, const Program& program,
                               std::string_view proof) {
  ++ran_;
  const auto end = run_program(program);
  if (!end && end.error().code == Code::not_found) {
    return invalid(
        format("code in {}: {}\n  install it, or score the other languages: extras.languages",
               language, end.error().message));
  }
  if (!end) return end.error();
  layers_ = end->layers;
  return end->commands_ran == program.commands.size() && end->exit_code == 0 && !end->out_of_time &&
         ends_with_proof(end->out, proof);
}

}  // namespace assay::score
