#include "explorer/export.h"

#include <algorithm>
#include <set>

#include "base/clock.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/staged.h"
#include "base/text.h"
#include "base/version.h"
#include "explorer/board.h"
#include "explorer/head.h"
#include "explorer/page.h"
#include "explorer/run_events.h"

namespace assay::explorer {
namespace {

namespace fs = std::filesystem;

// JSON text made safe for a script: U+2028 and U+2029 would end a line there, and "</script" would
// end the element if the text is pasted into a page.
std::string as_script(const std::string& name, const std::string& document) {
  std::string out = "assayData(" + json_quote(name) + ",";
  for (std::size_t i = 0; i < document.size(); ++i) {
    if (document.compare(i, 3, "\xe2\x80\xa8") == 0 ||
        document.compare(i, 3, "\xe2\x80\xa9") == 0) {
      out += document[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else if (document[i] == '<') {
      out += "\\u003c";
    } else {
      out += document[i];
    }
  }
  return out + ");\n";
}

class Writer {
 public:
  explicit Writer(fs::path folder) : folder_(std::move(folder)) {}

  Result<void> file(const fs::path& name, std::string_view bytes) {
    TRY(write_file_atomic(folder_ / name, bytes));
    ++counts.files;
    counts.bytes += bytes.size();
    return {};
  }
  Result<void> document(const std::string& name, const std::string& text) {
    TRY(file("data/" + name + ".json", text));
    TRY(file("data/" + name + ".js", as_script(name, text)));
    ++counts.documents;
    names.push_back(name);
    return {};
  }

  ExportCounts counts{};
  Json names = Json::array();

 private:
  fs::path folder_;
};

Result<void> write_page(Writer& writer) {
  for (const EmbeddedFile& file : embedded_page()) {
    std::string bytes(file.bytes);
    constexpr std::string_view kLive = R"(name="assay-data" content="api")";
    const std::size_t at = bytes.find(kLive);
    if (file.name == "index.html" && at != std::string::npos) {
      bytes.replace(at, kLive.size(), R"(name="assay-data" content="static")");
    }
    TRY(writer.file(fs::path(file.name), bytes));
  }
  return {};
}

// Every matching curve, page by page.
Result<std::vector<store::FoundCurve>> all_curves(store::Store& store, store::CurveQuery query) {
  std::vector<store::FoundCurve> out;
  query.points = true;
  query.limit = 500;
  for (;;) {
    ASSIGN_OR_RETURN(store::CurvePage page, store.find_curves(query));
    std::ranges::move(page.curves, std::back_inserter(out));
    if (!page.more) return out;
    query.after = out.back().id;
  }
}

Result<void> write_events(store::Store& store, const std::string& id, Writer& writer) {
  ASSIGN_OR_RETURN(const auto found, store.run(id));
  if (!found || found->source.empty()) return {};
  const auto run = read_run_events(found->source);
  if (!run) return {};  // the run's document says has_events: false
  constexpr std::size_t kStreamsMax = 50'000;
  TRY(writer.document(format("runs/{}/events", id), events_document(*run, {.limit = kStreamsMax})));
  if (run->fragments.size() <= kFragmentsMax && run->streams.size() <= kStreamsMax) {
    TRY(writer.document(format("runs/{}/tokens", id),
                        events_document(*run, {.tokens = true, .limit = kStreamsMax})));
  }
  return {};
}

std::string joined(const std::vector<std::string>& items) {
  std::string out = "{\"items\":[";
  for (const std::string& item : items) out += (out.back() == '[' ? "" : ",") + item;
  return out + format("],\"total\":{},\"next\":null}}", items.size());
}

// Writes the public submissions: a submission is confidential until it is final.
Result<void> write_submissions(store::Store& store, const rules::Holidays& holidays,
                               Writer& writer) {
  constexpr std::size_t kAll = 100'000;
  ASSIGN_OR_RETURN(const std::string text,
                   submissions_document(store, {.limit = kAll}, {}, holidays));
  ASSIGN_OR_RETURN(const Json all, Json::parse(text));
  std::vector<std::string> items;
  for (const Json& one : all["items"].items()) {
    const std::string_view state = one["state"].as_string();
    if (state != "finalized" && state != "published" && state != "invalidated") continue;
    const std::string id(one["id"].as_string());
    // Stores from before ids were restricted may hold others: list them, but don't use them as file
    // names.
    if (is_plain_id(id)) {
      ASSIGN_OR_RETURN(const auto document, submission_document(store, id, {}, holidays));
      if (document) TRY(writer.document("submissions/" + id, *document));
    }
    items.push_back(one.dump());
  }
  return writer.document("submissions", joined(items));
}

Result<void> write_runs(store::Store& store, const Json& curve, const ExportOptions& options,
                        Writer& writer) {
  for (const Json& point : curve["points"].items()) {
    const std::string id(point["id"].as_string());
    ASSIGN_OR_RETURN(const auto run, run_document(store, id));
    if (!run) continue;
    TRY(writer.document("runs/" + id, *run));
    if (options.events) TRY(write_events(store, id, writer));
  }
  return {};
}

Result<void> write_datasheets(store::Store& store, Writer& writer) {
  ASSIGN_OR_RETURN(const std::string list, datasheets_document(store));
  TRY(writer.document("datasheets", list));
  ASSIGN_OR_RETURN(const auto sheets, store.datasheets(""));
  for (const store::FoundDatasheet& sheet : sheets) {
    ASSIGN_OR_RETURN(const auto document, datasheet_document(store, sheet.id));
    if (document) TRY(writer.document("datasheets/" + sheet.id, *document));
  }
  return {};
}

// Keeps other files beside an earlier export's documents and page (a CNAME, a .git).
Result<void> keep_others(const fs::path& earlier, const fs::path& fresh) {
  std::error_code error;
  for (fs::directory_iterator it(earlier, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    const fs::path name = it->path().filename();
    if (name == "data" || (fs::exists(fresh / name, error) && !it->is_directory(error))) continue;
    fs::copy(it->path(), fresh / name,
             fs::copy_options::recursive | fs::copy_options::skip_existing |
                 fs::copy_options::copy_symlinks,
             error);
  }
  if (error)
    return Error{code_of_errno(error.value()),
                 format("'{}': {}", earlier.string(), error.message())};
  return {};
}

}  // namespace

Result<ExportCounts> export_page(store::Store& store, const fs::path& folder,
                                 const ExportOptions& options) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_empty(folder, error) &&
      !fs::exists(folder / "data/index.json", error)) {
    return invalid(
        format("'{}' is not empty and holds no export\n  name a new folder", folder.string()));
  }
  ASSIGN_OR_RETURN(StagedFolder staged, StagedFolder::create(folder, true));
  Writer writer(staged.path());
  TRY(write_page(writer));
  ASSIGN_OR_RETURN(const auto curves, all_curves(store, options.curves));
  std::vector<std::string> texts;
  std::vector<std::string> systems;
  std::set<std::string> seen;
  for (const store::FoundCurve& curve : curves) {
    texts.push_back(curve_text(curve, true));
    ASSIGN_OR_RETURN(const Json json, Json::parse(texts.back()));
    TRY(write_runs(store, json, options, writer));
    const std::string id(json["system"].as_string());
    if (!seen.insert(id).second) continue;
    ASSIGN_OR_RETURN(const auto system, store.system(id));
    if (system) systems.push_back(*system);
  }
  TRY(writer.document("curves", joined(texts)));
  TRY(writer.document("systems", joined(systems)));
  ASSIGN_OR_RETURN(const std::string models, models_document(store));
  TRY(writer.document("models", models));
  ASSIGN_OR_RETURN(const std::string datasets, datasets_document(store, ""));
  TRY(writer.document("datasets", datasets));
  TRY(write_datasheets(store, writer));
  ASSIGN_OR_RETURN(const std::string head, head_document(store));
  TRY(writer.document("review_head", head));
  TRY(write_submissions(store, options.holidays, writer));
  const Json index = Json()
                         .set("generated", rfc3339(wall_now()))
                         .set("version", version())
                         .set("documents", writer.names);
  TRY(writer.document("index", index.dump()));
  if (fs::exists(folder, error)) TRY(keep_others(folder, staged.path()));
  TRY(staged.commit());
  return writer.counts;
}

}  // namespace assay::explorer
