#include "explorer/documents.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "explorer/head.h"

namespace assay::explorer {
namespace {

std::string list_text(const std::vector<std::string>& items, std::int64_t total,
                      const std::string& next) {
  std::string out = "{\"items\":[";
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ',';
    out += items[i];
  }
  return out +
         format("],\"total\":{},\"next\":{}}}", total, next.empty() ? "null" : json_quote(next));
}

// An object's text with more members added at its end.
std::string with_members(std::string_view object, std::string_view members) {
  std::string out(object.substr(0, object.rfind('}')));
  if (out.size() > 1) out += ',';
  out += members;
  return out + "}";
}

Json count_json(const store::NamedCount& count) {
  return Json()
      .set("name", count.name)
      .set("systems", count.systems)
      .set("curves", count.curves)
      .set("points", count.points);
}

// Highest system_tps among the points that give a user at least this rate; null if none does.
Json best_at(const Json& points, double tps_per_user) {
  double best = -1;
  for (const Json& point : points.items()) {
    if (point["tps_per_user"].as_double() >= tps_per_user) {
      best = std::max(best, point["system_tps"].as_double(-1));
    }
  }
  return best < 0 ? Json() : Json(best);
}

// By concurrency; of two points at one concurrency the later one.
std::map<double, const Json*> by_concurrency(const Json& points) {
  std::map<double, const Json*> out;
  for (const Json& point : points.items()) out[point["concurrency"].as_double()] = &point;
  return out;
}

std::string said(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? std::string(value.as_string()) : value.dump();
}

Json differences(const Json& a, const Json& b) {
  Json out = Json::array();
  for (const char* field :
       {"system_name", "organisation", "kind", "division", "availability", "accelerator",
        "accelerators", "nodes", "software", "power_kw", "price_per_hour", "dataset", "model"}) {
    if (a[field] == b[field]) continue;
    out.push_back(Json().set("field", field).set("a", said(a[field])).set("b", said(b[field])));
  }
  return out;
}

Json compare(const Json& a, const Json& b) {
  Json equal_concurrency = Json::array();
  const auto of_a = by_concurrency(a["points"]);
  const auto of_b = by_concurrency(b["points"]);
  for (const auto& [concurrency, point] : of_a) {
    const auto other = of_b.find(concurrency);
    if (other == of_b.end()) continue;
    equal_concurrency.push_back(
        Json().set("concurrency", concurrency).set("a", *point).set("b", *other->second));
  }
  std::vector<double> levels;
  for (const Json* curve : {&a, &b}) {
    for (const Json& point : (*curve)["points"].items()) {
      if (point["tps_per_user"].is_number()) levels.push_back(point["tps_per_user"].as_double());
    }
  }
  std::ranges::sort(levels);
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  Json equal_interactivity = Json::array();
  for (const double level : levels) {
    const Json best_a = best_at(a["points"], level);
    const Json best_b = best_at(b["points"], level);
    const bool both = best_a.as_double() > 0 && !best_b.is_null();
    equal_interactivity.push_back(
        Json()
            .set("tps_per_user", level)
            .set("a_system_tps", best_a)
            .set("b_system_tps", best_b)
            .set("ratio", both ? Json(best_b.as_double() / best_a.as_double()) : Json()));
  }
  Json head_a = a;
  Json head_b = b;
  head_a.erase("points");
  head_b.erase("points");
  return Json()
      .set("a", head_a)
      .set("b", head_b)
      .set("equal_concurrency", std::move(equal_concurrency))
      .set("equal_interactivity", std::move(equal_interactivity))
      .set("differences", differences(head_a, head_b));
}

bool matches_words(const Json& system, std::string_view words) {
  std::string text;
  for (const char* key : {"name", "short_name", "organisation", "accelerator", "software"}) {
    text += lower(system[key].as_string()) + ' ';
  }
  return std::ranges::all_of(split(words, ' '), [&text](std::string_view word) {
    return text.find(lower(trim(word))) != std::string::npos;
  });
}

}  // namespace

std::string curve_text(const store::FoundCurve& curve, bool points) {
  std::string more = format("\"accuracy\":{},\"findings\":{},\"imported\":{},\"points_total\":{}",
                            json_quote(curve.accuracy), curve.findings, json_quote(curve.imported),
                            curve.points_total);
  if (curve.peak_tps) more += ",\"peak_tps\":" + json_number(*curve.peak_tps);
  if (points) {
    more += ",\"points\":[";
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      if (i > 0) more += ',';
      more += curve.points[i];
    }
    more += ']';
  }
  return with_members(curve.document, more);
}

Result<std::string> models_document(store::Store& store) {
  ASSIGN_OR_RETURN(const auto models, store.models());
  std::vector<std::string> items;
  for (const store::NamedCount& model : models) {
    ASSIGN_OR_RETURN(const auto datasets, store.datasets(model.name));
    Json names = Json::array();
    for (const store::NamedCount& dataset : datasets) names.push_back(dataset.name);
    items.push_back(count_json(model).set("datasets", std::move(names)).dump());
  }
  return list_text(items, static_cast<std::int64_t>(items.size()), "");
}

Result<std::string> datasets_document(store::Store& store, std::string_view model) {
  ASSIGN_OR_RETURN(const auto datasets, store.datasets(model));
  std::vector<std::string> items;
  for (const store::NamedCount& dataset : datasets) items.push_back(count_json(dataset).dump());
  return list_text(items, static_cast<std::int64_t>(items.size()), "");
}

Result<std::string> systems_document(store::Store& store, const SystemQuery& query) {
  ASSIGN_OR_RETURN(auto all, store.systems(query.model));
  if (!query.words.empty()) {
    std::erase_if(all, [&query](const std::string& text) {
      const auto json = Json::parse(text);
      return !json || !matches_words(*json, query.words);
    });
  }
  const std::size_t from = std::min(all.size(), parse_uint(query.after).value_or(0));
  const std::size_t to = std::min(all.size(), from + query.limit);
  const std::vector<std::string> items(all.begin() + static_cast<std::ptrdiff_t>(from),
                                       all.begin() + static_cast<std::ptrdiff_t>(to));
  return list_text(items, static_cast<std::int64_t>(all.size()),
                   to < all.size() ? format("{}", to) : "");
}

Result<std::string> curves_document(store::Store& store, const store::CurveQuery& query) {
  ASSIGN_OR_RETURN(const store::CurvePage page, store.find_curves(query));
  std::vector<std::string> items;
  for (const store::FoundCurve& curve : page.curves)
    items.push_back(curve_text(curve, query.points));
  return list_text(items, page.total, page.more ? page.curves.back().id : "");
}

Result<std::optional<std::string>> curve_document(store::Store& store, std::string_view id) {
  if (id.empty()) return std::optional<std::string>{};
  ASSIGN_OR_RETURN(const store::CurvePage page,
                   store.find_curves({.id = std::string(id), .limit = 1}));
  if (page.curves.empty()) return std::optional<std::string>{};
  return std::optional<std::string>(curve_text(page.curves.front(), true));
}

Result<std::string> curve_folder(store::Store& store, std::string_view id) {
  ASSIGN_OR_RETURN(const auto document, curve_document(store, id));
  if (!document) return std::string();
  ASSIGN_OR_RETURN(const Json curve, Json::parse(*document));
  return std::string(curve["path"].as_string());
}

Result<std::optional<std::string>> run_document(store::Store& store, std::string_view id) {
  ASSIGN_OR_RETURN(const auto found, store.run(id));
  if (!found) return std::optional<std::string>{};
  ASSIGN_OR_RETURN(const store::CurvePage page,
                   store.find_curves({.id = found->curve, .points = false, .limit = 1}));
  ASSIGN_OR_RETURN(const auto system, store.system(found->system));
  if (page.curves.empty() || !system) return std::optional<std::string>{};
  const auto head = Json::parse(page.curves.front().document);
  std::error_code error;
  const bool events = !found->source.empty() &&
                      std::filesystem::is_regular_file(
                          std::filesystem::path(found->source) / "assay/events-0.alog", error);
  // The review head goes along, so that a copied run also proves the review history.
  ASSIGN_OR_RETURN(const std::string review_head, head_document(store));
  return std::optional<std::string>(with_members(
      found->document,
      format("\"id\":{},\"review_head\":{},\"point\":{},\"curve\":{},\"system\":{},\"model\":{},"
             "\"dataset\":{},"
             "\"has_events\":{}",
             json_quote(id), review_head, found->point, curve_text(page.curves.front(), false),
             *system, json_quote((*head)["model"].as_string()),
             json_quote((*head)["dataset"].as_string()), events)));
}

Result<std::string> datasheets_document(store::Store& store) {
  ASSIGN_OR_RETURN(const auto sheets, store.datasheets(""));
  std::vector<std::string> items;
  for (const store::FoundDatasheet& sheet : sheets) {
    ASSIGN_OR_RETURN(const Json json, Json::parse(sheet.document));
    items.push_back(Json()
                        .set("id", sheet.id)
                        .set("name", sheet.name)
                        .set("licences", json["licences"])
                        .set("runs_total", sheet.runs)
                        .dump());
  }
  return list_text(items, static_cast<std::int64_t>(items.size()), "");
}

Result<std::optional<std::string>> datasheet_document(store::Store& store, std::string_view id) {
  if (id.empty()) return std::optional<std::string>{};
  ASSIGN_OR_RETURN(const auto found, store.datasheets(id));
  if (found.empty()) return std::optional<std::string>{};
  ASSIGN_OR_RETURN(const auto runs, store.datasheet_runs(id, kDatasheetRunsMax));
  Json list = Json::array();
  for (const store::DatasheetRun& one : runs) {
    ASSIGN_OR_RETURN(const Json point, Json::parse(one.point_document));
    ASSIGN_OR_RETURN(const Json curve, Json::parse(one.curve_document));
    Json row = Json().set("run", one.point);
    for (const char* const key : {"system_name", "model", "kind"}) row.set(key, curve[key]);
    for (const char* const key : {"concurrency", "system_tps"}) {
      if (!point[key].is_null()) row.set(key, point[key]);
    }
    list.push_back(std::move(row));
  }
  return std::optional(
      with_members(found.front().document,
                   format("\"runs\":{},\"runs_total\":{}", list.dump(), found.front().runs)));
}

Result<std::optional<std::string>> compare_document(store::Store& store, std::string_view a,
                                                    std::string_view b) {
  ASSIGN_OR_RETURN(const auto text_a, curve_document(store, a));
  ASSIGN_OR_RETURN(const auto text_b, curve_document(store, b));
  if (!text_a || !text_b) return std::optional<std::string>{};
  ASSIGN_OR_RETURN(const Json json_a, Json::parse(*text_a));
  ASSIGN_OR_RETURN(const Json json_b, Json::parse(*text_b));
  return std::optional<std::string>(compare(json_a, json_b).dump());
}

}  // namespace assay::explorer
