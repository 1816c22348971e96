#include "dataset/show_dataset.h"

#include <algorithm>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/json_list.h"
#include "base/text.h"
#include "dataset/croissant.h"
#include "dataset/croissant_check.h"
#include "dataset/dataset.h"
#include "dataset/dlrm_data.h"
#include "dataset/use_policy.h"

namespace assay::dataset {
namespace {

// The sample as JSON, without empty fields.
Json sample_json(const Sample& sample) {
  Json out = Json::object();
  const auto text = [&](const char* name, const std::string& value) {
    if (!value.empty()) out.set(name, value);
  };
  const auto tree = [&](const char* name, const Json& value) {
    if (!value.is_null()) out.set(name, value);
  };
  text("system", sample.system);
  text("prompt", sample.prompt);
  tree("content_parts", sample.content_parts);
  tree("messages", sample.messages.json());
  if (!sample.input_tokens.empty()) {
    out.set("input_tokens", json_list(sample.input_tokens));
  }
  tree("tools", sample.tools);
  tree("tool_choice", sample.tool_choice);
  tree("body", sample.body);
  if (sample.output_tokens_max > 0) out.set("output_tokens_max", sample.output_tokens_max);
  if (sample.input_length >= 0) out.set("input_length", sample.input_length);
  text("session", sample.session);
  tree("columns", sample.columns);
  return out;
}

Result<void> print_rows(const Spec& spec, const ShownDataset& options, const Talk& talk) {
  ASSIGN_OR_RETURN(const auto source, open_rows(spec));
  for (std::uint64_t i = 0; options.all || i < options.first; ++i) {
    if (spec.rows_max > 0 && i == spec.rows_max) break;
    ASSIGN_OR_RETURN(const auto row, source->next());
    if (!row) break;
    talk.print(row->dump() + "\n");
  }
  return {};
}

// What the file says of the use that the flags state; nullopt if they state none.
Result<std::optional<croissant::UseVerdict>> judged_use(const ShownDataset& options,
                                                        const std::string& text,
                                                        const std::string& record_set) {
  if (!options.use.given()) return std::optional<croissant::UseVerdict>();
  ASSIGN_OR_RETURN(croissant::DataUse use, options.use.use());
  use.record_set = record_set;
  const auto json = Json::parse(text);
  return std::optional(croissant::judge_use(json ? *json : Json(), use));
}

void print_use(const croissant::UseVerdict& verdict, const Talk& talk) {
  talk.print(format("use: {}\n", to_string(verdict.allowed)));
  for (const auto& one : verdict.decided) talk.print(format("  {}: {}\n", one.where, one.what));
}

}  // namespace

Result<int> check_croissant(const ShownDataset& options, const Talk& talk) {
  const auto [file, record_set, filters] = croissant_spec(options.spec);
  ASSIGN_OR_RETURN(const std::string text, read_file(file));
  ASSIGN_OR_RETURN(const auto use, judged_use(options, text, record_set));
  std::vector<croissant::Finding> findings = croissant::check_document(text);
  const auto is_error = [](const croissant::Finding& one) { return one.error; };
  const bool readable = std::none_of(findings.begin(), findings.end(), is_error);
  if (readable) {
    for (auto& one : croissant::check_rows(file, options.first)) {
      findings.push_back(std::move(one));
    }
  }
  croissant::judge_for(*croissant::profile_from(options.profile), findings);
  const auto errors = std::count_if(findings.begin(), findings.end(), is_error);
  // A document can be valid though its data are not there, except for a reader of the rows.
  const bool valid = std::ranges::none_of(findings, [&](const croissant::Finding& one) {
    return one.error && (one.rule != "rows" || options.profile == "assay");
  });
  Json list = Json::array();
  for (const auto& one : findings) {
    const char* const severity = one.error ? "error" : "warning";
    list.push_back(Json()
                       .set("severity", severity)
                       .set("rule", one.rule)
                       .set("where", one.where)
                       .set("what", one.what));
    if (!options.json)
      talk.print(format("{}  {}: {}: {}\n", severity, one.rule, one.where, one.what));
  }
  if (options.json) {
    Json out =
        Json().set("profile", options.profile).set("valid", valid).set("findings", std::move(list));
    if (use) out.set("use", use->to_json());
    talk.print(out.dump(2) + "\n");
  } else {
    talk.print(format("{}: {} errors, {} warnings\n", file, errors,
                      static_cast<std::ptrdiff_t>(findings.size()) - errors));
  }
  if (use && !options.json) print_use(*use, talk);
  const bool allowed = !use || use->allowed == croissant::Allowed::allow;
  return exit_code(errors == 0 && allowed ? ExitCode::done : ExitCode::findings);
}

Result<int> write_made_data(const ShownDataset& options, const Talk& talk) {
  if (options.spec != "dlrm_v3") {
    return invalid(
        format("--write: '{}' is made by no generator here; there is dlrm_v3", options.spec));
  }
  TRY(write_dlrm_data(options.recipe, options.write));
  talk.say(
      format("{}: {} users, {} steps\n  ask them: assay run --scenario server --api-type kserve "
             "--dataset {},format=dlrm_v3 …",
             options.write, with_thousands(static_cast<std::int64_t>(options.recipe.users)),
             options.recipe.steps, options.write));
  return exit_code(ExitCode::done);
}

namespace {

Result<int> show_data(const Dataset& data, const ShownDataset& options, const Talk& talk) {
  const std::uint64_t count = data.rows() + data.not_kept;
  Json out = Json::object();
  out.set("name", data.name).set("sha256", data.sha256).set("samples", count);
  if (!data.arrivals.empty()) out.set("trace_seconds", data.arrivals.back().seconds());
  out.set("notes", json_list(data.notes));
  Json shown = Json::array();
  Sample room;
  for (std::size_t i = 0; i < data.rows() && (options.all || i < options.first); ++i) {
    shown.push_back(sample_json(data.row(i, room)));
  }
  if (options.json) {
    out.set("shown", std::move(shown));
    talk.print(out.dump(2) + "\n");
    return exit_code(ExitCode::done);
  }
  talk.print(format("{}: {} samples, sha256 {}\n", data.name,
                    with_thousands(static_cast<std::int64_t>(count)), data.sha256));
  for (const std::string& note : data.notes) talk.print(format("  {}\n", note));
  for (const Json& sample : shown.items()) talk.print(sample.dump() + "\n");
  return exit_code(ExitCode::done);
}

}  // namespace

Result<int> show_dataset(const Spec& spec, const ShownDataset& options, const Talk& talk) {
  if (options.rows) {
    TRY(print_rows(spec, options, talk));
    return exit_code(ExitCode::done);
  }
  ASSIGN_OR_RETURN(const Dataset data, load_dataset(spec));
  return show_data(data, options, talk);
}

}  // namespace assay::dataset
