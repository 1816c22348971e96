// Tables of results of MLPerf Inference: the submission checker's summary.csv, the JSON that the
// results sites make of it, and tables that are saved from a site's page (Benchmark, # of
// Accelerators), a record for each scenario. A curve is a model on a system in a round.
//
// A table has no latencies but the metric itself, so a point of Server or Offline has no place on
// the axis of concurrency (0); SingleStream's is 1 and MultiStream's 8.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "explorer/import_parts.h"

namespace assay::explorer {
namespace {

constexpr std::size_t kRowsMax = 1'000'000;
constexpr double kNumberMax = 1e15;

// The first of these that the row has: the table's name, and the site's.
const Json& first_of(const Json& row, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const Json* const found = row.find(name); found != nullptr && !found->is_null()) {
      return *found;
    }
  }
  static const Json kNull;
  return kNull;
}

std::string text_under(const Json& row, std::initializer_list<std::string_view> names) {
  return clean_name(first_of(row, names).as_string());
}

// Tables have numbers as text too, and a site's page writes commas between thousands.
double number_of(const Json& value) {
  if (value.is_number()) return std::clamp(value.as_double(), 0.0, kNumberMax);
  std::string text(trim(value.as_string()));
  std::erase(text, ',');
  return std::clamp(parse_double(text).value_or(0), 0.0, kNumberMax);
}

// "v6.0" of a row's version, or of an id like 6.0-0042.
std::string round_in(const Json& row) {
  const std::string_view version = row["version"].as_string();
  if (!version.empty()) return (version.starts_with('v') ? "" : "v") + clean_name(version);
  const std::string_view id = first_of(row, {"ID", "Public ID"}).as_string();
  const std::size_t dash = id.find('-');
  return dash == std::string_view::npos ? std::string() : "v" + clean_name(id.substr(0, dash));
}

void add_result(FoundPoint& found, std::string_view scenario, double result,
                const std::string& units) {
  if (!(std::isfinite(result) && result > 0)) return;
  Json& point = found.point.point;
  if (units.find("watts") != std::string::npos) {
    found.point.power_kw = result * 1e-3;
    found.point.power_basis = "measured";
  } else if (units.find("tokens/s") != std::string::npos) {
    point.set("system_tps", result);
  } else if (units.find("latency") != std::string::npos) {
    const double ms = units.find("(s)") != std::string::npos ? result * 1e3 : result;
    point.set(scenario == "MultiStream" ? "latency_ms_p99" : "latency_ms_p90", ms);
  } else if (units.ends_with("/s")) {
    point.set("qps", result);
  }
}

SystemFacts system_of(const Json& row) {
  SystemFacts out{.name = text_under(row, {"System", "SystemName", "System Name"}),
                  .organisation = text_under(row, {"Submitter", "Organization"}),
                  .division = lower(text_under(row, {"Division", "Category"})),
                  .availability = text_under(row, {"Availability"}),
                  .accelerator = text_under(row, {"Accelerator", "accelerator_model_name"}),
                  .software = text_under(row, {"Software", "framework"})};
  out.nodes = std::llround(number_of(first_of(row, {"Nodes", "number_of_nodes", "# of Nodes"})));
  out.accelerators = std::llround(
      number_of(first_of(row, {"Total Accelerators", "total_accelerators", "# of Accelerators"})));
  return out;
}

FoundPoint point_of_row(const Json& row, const std::string& path, const ImportOptions& options) {
  const std::string round = round_in(row);
  const std::string scenario = text_under(row, {"Scenario"});
  FoundPoint found;
  found.curve = {.system = system_of(row),
                 .model = text_under(row, {"Model", "MlperfModel", "Benchmark"}),
                 .dataset = round.empty() ? "MLPerf Inference" : "MLPerf Inference " + round,
                 .origin = "submission",
                 .layout = round.empty() ? "inference" : "inference-" + round,
                 .submission = round.empty() ? "inference" : "inference-" + round,
                 .path = path};
  // The checker's table has the folder's name beside the suite's.
  if (const std::string official = text_under(row, {"MlperfModel"}); !official.empty()) {
    found.curve.model = official;
  }
  found.point.point = Json::object();
  found.point.point.set("complete", true);
  found.point.key = text_under(row, {"ID", "Public ID", "Location", "Platform"}) + "/" +
                    text_under(row, {"UsedModel", "Model", "Benchmark"}) + "/" + scenario;
  found.point.concurrency = scenario == "SingleStream" ? 1 : scenario == "MultiStream" ? 8 : 0;
  if (scenario == "Offline") {
    found.point.region = "offline";
    found.point.offline = "dedicated";
  }
  found.point.run = Json::object();
  found.point.run.set("measured_by", "LoadGen, as a table of results has it");
  found.point.run.set("state", "complete").set("complete", true).set("warnings", Json::array());
  found.point.run.set("failures", Json::array()).set("distributions", Json::object());
  found.point.run.set("phases", Json::array()).set("steady_state", nullptr);
  found.point.run.set("files", Json::array());
  found.point.run.set("environment", Json().set("scenario", scenario).set("round", round));
  apply_options(found.curve, options);
  return found;
}

}  // namespace

bool is_result_table(const Json& rows) {
  if (!rows.is_array() || rows.size() == 0 || rows.size() > kRowsMax) return false;
  const Json& first = rows[0];
  return first["Scenario"].is_string() &&
         !first_of(first, {"Submitter", "Organization"}).is_null() &&
         !first_of(first, {"Result", "Performance_Result"}).is_null();
}

std::vector<FoundPoint> read_result_table(const Json& rows, const std::filesystem::path& path,
                                          const ImportOptions& options) {
  std::vector<FoundPoint> out;
  // A row of power stands behind its row of performance, with the same scenario.
  std::map<std::string, std::size_t> places;
  for (const Json& row : rows.items()) {
    if (!row["Scenario"].is_string()) continue;
    FoundPoint found = point_of_row(row, path.string(), options);
    const auto [place, fresh] =
        places.try_emplace(make_curve(found.curve, {}).id + found.point.key, out.size());
    if (fresh) out.push_back(std::move(found));
    FoundPoint& point = out[place->second];
    for (const auto& [result, units] :
         {std::pair{"Result", "Units"}, std::pair{"Performance_Result", "Performance_Units"},
          std::pair{"Power_Result", "Power_Units"}}) {
      add_result(point, row["Scenario"].as_string(), number_of(row[result]),
                 lower(row[units].as_string()));
    }
  }
  return out;
}

// RFC 4180, of a header and rows; a row with another number of fields than the header is left out.
// A header of tabs is one of a table that a spreadsheet saved.
Json rows_of_csv(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  const std::string_view first = text.substr(0, text.find('\n'));
  const bool tabs = first.find('\t') != std::string_view::npos;
  const char separator = tabs ? '\t' : ',';
  std::vector<std::string> header;
  std::vector<std::string> fields{""};
  Json out = Json::array();
  bool quoted = false;
  const auto end_row = [&] {
    if (fields.size() > 1 && header.empty()) {
      header = fields;
    } else if (fields.size() == header.size()) {
      Json row;
      for (std::size_t i = 0; i < header.size(); ++i) row.set(header[i], fields[i]);
      out.push_back(std::move(row));
    }
    fields.assign(1, "");
  };
  for (std::size_t i = 0; i < text.size() && out.size() < kRowsMax; ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        fields.back() += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        fields.back() += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == separator) {
      fields.emplace_back();
    } else if (c == '\n') {
      end_row();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  end_row();
  return out;
}

}  // namespace assay::explorer
