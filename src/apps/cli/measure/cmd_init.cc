#include <filesystem>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "plan/examples.h"

namespace assay::cli {
namespace {

std::string stem(const std::string& name) { return name.substr(0, name.find('.')); }

// The first comment line states the file's purpose.
std::string purpose(const std::string& text) {
  const std::string_view first = std::string_view(text).substr(0, text.find('\n'));
  return std::string(trim(first.substr(1)));
}

std::string list(const std::vector<plan::EmbeddedFile>& examples, bool json) {
  Json rows = Json::array();
  std::string out;
  for (const plan::EmbeddedFile& example : examples) {
    rows.push_back(Json().set("kind", stem(example.name)).set("purpose", purpose(example.text)));
    out += format("  {:<10}{}\n", stem(example.name), purpose(example.text));
  }
  return json ? rows.dump(2) + "\n" : out;
}

Result<const plan::EmbeddedFile*> find(const std::vector<plan::EmbeddedFile>& examples,
                                       const std::string& kind) {
  std::vector<std::string> kinds;
  for (const plan::EmbeddedFile& example : examples) {
    kinds.push_back(stem(example.name));
    if (kinds.back() == kind) return &example;
  }
  const std::vector<std::string_view> views(kinds.begin(), kinds.end());
  const std::string_view near = nearest(kind, views);
  return invalid(format("KIND: no config is called \"{}\"{}\n  assay init lists them", kind,
                        near.empty() ? "" : format("\n  did you mean \"{}\"?", near)));
}

}  // namespace

Result<int> cmd_init(Args args) {
  std::string kind;
  std::string out;
  bool force = false;
  bool json = false;
  Flags flags("init", "a commented config to start from");
  flags.add("KIND", &kind, "which; without one, they are listed");
  flags.add("--out=FILE", &out, "write it here (standard output)");
  flags.add("--force", &force, "replace the file where it exists");
  flags.add("--json", &json, "print the list, or the file's name, as JSON");
  flags.example("assay init run --out run.yaml");
  PARSE_OR_RETURN(flags, args);
  const std::vector<plan::EmbeddedFile> examples = plan::embedded_examples();
  if (kind.empty()) {
    print(list(examples, json));
    return exit_code(ExitCode::done);
  }
  ASSIGN_OR_RETURN(const plan::EmbeddedFile* example, find(examples, kind));
  if (out.empty()) {
    print(json ? Json().set("kind", kind).set("text", example->text).dump(2) + "\n"
               : example->text);
    return exit_code(ExitCode::done);
  }
  std::error_code ignored;
  if (!force && std::filesystem::exists(out, ignored)) {
    return invalid(format("--out: '{}' exists; --force replaces it", out));
  }
  TRY(write_file_atomic(out, example->text));
  if (json)
    print(Json().set("kind", kind).set("file", out).dump(2) + "\n");
  else
    say(format("{}: {}", out, purpose(example->text)));
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
