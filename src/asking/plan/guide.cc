#include "plan/guide.h"

#include <algorithm>
#include <string_view>

#include "base/format.h"
#include "base/text.h"
#include "plan/config_reader.h"
#include "plan/settings.h"

namespace assay::plan {
namespace {

constexpr std::string_view kHead = R"(# Every setting of a run

A config is a YAML file: `assay run --config FILE`. Flags overrule it, and flags alone are enough
for most runs. The keys are those of the reference client of MLCommons, so its files are read as
they are; keys marked **Assay** are ours. That client refuses a file with one of them; it skips
lines that begin with `#assay|`, and Assay reads what stands behind that mark as if it stood in the
file. A run's own `config.yaml` is written so.

- A key that does not exist is an error, with a suggestion. All errors are reported at once, each
  with its file, line and key.
- `${NAME}` in a value is the environment variable, `${NAME:-text}` has a fallback, `$NAME` is short
  for the first, `$$` is a dollar sign. A variable that is not set is an error.
- An empty value is "not given", or "no limit" where this page says so.
- Durations are numbers in the key's unit, or texts with a unit: `500ms`, `10s`, `1.5m`, `2h`.
- How long a run lasts is decided by the first of these that is given: `n_samples_to_issue`,
  `passes`, `duration_ms`, a ramp's own steps, `min_duration_ms`; else the dataset is asked once.
- "Without effect" keys are read and checked for the reference client's sake, and a note names them.

This page is made from the tables that the reader uses; `plan_test` compares the two.
)";

// Wraps one paragraph of Markdown at 100 columns.
std::string wrapped(std::string_view text, std::string_view first, std::string_view rest) {
  constexpr std::size_t kWidth = 100;
  std::string out(first);
  std::size_t column = first.size();
  bool begin = true;
  for (const std::string_view piece : split(text, ' ')) {
    if (!begin && column + 1 + piece.size() > kWidth) {
      out += format("\n{}", rest);
      column = rest.size();
      begin = true;
    }
    if (!begin) {
      out += ' ';
      ++column;
    }
    out += piece;
    column += piece.size();
    begin = false;
  }
  return out + "\n";
}

std::string default_text(const Setting& setting) {
  if (!setting.fallback) return "none";
  const Json& value = *setting.fallback;
  if (value.is_null()) return "no limit";
  if (setting.zero_is_none && value == Json(0)) return "0 (no limit)";
  if (value.is_string()) return format("`{}`", value.as_string());
  return format("`{}`", value.dump());
}

std::string type_text(const Setting& setting) {
  std::string out = setting.type;
  if (out == "duration") out += setting.unit == Unit::ms ? " in ms" : " in s";
  if (const std::string bounds = bounds_text(setting); !bounds.empty()) out += ", " + bounds;
  return out;
}

// `where` is "" or "settings.client"; nested parts get their own headings after this one.
void write_guide_part(std::string& out, const Part& part, const std::string& where,
                      std::string_view help) {
  out += format("\n## {}\n\n", where.empty() ? "Top level" : format("`{}`", where));
  if (!help.empty()) out += wrapped(help, "", "") + "\n";
  for (const Setting& setting : part) {
    if (setting.part != nullptr) continue;
    std::string text = type_text(setting);
    text += format("; default {}. ", default_text(setting));
    if (setting.ours) text += "**Assay.** ";
    if (setting.nothing) text += "**Without effect.** ";
    text += setting.help;
    out += wrapped(text, format("- `{}`: ", setting.name), "  ");
  }
  for (const Setting& setting : part) {
    if (setting.part == nullptr) continue;
    const std::string here = where.empty() ? setting.name : format("{}.{}", where, setting.name);
    std::string text = setting.help;
    if (setting.ours) text = "**Assay.** " + text;
    if (setting.nothing) text = "**Without effect.** " + text;
    write_guide_part(out, *setting.part, setting.list ? here + "[]" : here, text);
  }
}

void write_flags(std::string& out) {
  out += "\n## Flags\n\n";
  out += wrapped(
      "Flags of `assay run` that set these. Every other setting below the top level has a flag "
      "too, spelled by its path without `settings.`: `--client.max-idle-time 2s`.",
      "", "");
  out += "\n| Flag | Value | What it does |\n|---|---|---|\n";
  for (const FlagInfo& flag : run_flags()) {
    if (flag.hidden) continue;
    std::string names = format("`{}`", flag.name);
    for (const std::string_view alias : flag.aliases) names += format(", `{}`", alias);
    std::string help(flag.help);
    for (std::size_t at = 0; (at = help.find('|', at)) != std::string::npos; at += 2) {
      help.insert(at, "\\");
    }
    out += format("| {} | {} | {} |\n", names, flag.value, help);
  }
}

}  // namespace

std::string config_guide() {
  std::string out(kHead);
  write_guide_part(out, config_part(), "", "");
  write_flags(out);
  return out;
}

}  // namespace assay::plan
