// Store keeps points, curves, systems and the review board's history, and finds them again. Two
// implementations share one schema: SQLite (a file, the default) and PostgreSQL (a team); see
// store/open_store.h. What the explorer shows of a record is kept beside its keys as `document`,
// JSON text in a schema of docs/formats/api.yaml, so that a list is answered by joining texts.
//
// put() is one transaction: after a crash the store has all of a curve or none of it. Several
// processes may put at once. Putting the same content twice changes nothing, and revision() stays.
// History entries can't be changed or removed.
//
// A Store belongs to one thread; open one for each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rulebook/history_entry.h"

namespace assay::store {

struct SystemRecord {
  std::string id{};
  std::string name{};
  std::string document{};  // schema System
};

// A dataset's description, by what its Croissant file says.
struct DatasheetRecord {
  std::string id{};
  std::string name{};
  std::string document{};  // schema Datasheet, without runs
};

struct PointRecord {
  std::string id{};
  double concurrency = 0;
  std::optional<double> system_tps{};
  std::string accuracy = "unknown";  // passed, failed, unknown
  std::int64_t findings = 0;
  std::string document{};                     // schema Point
  std::string run{};                          // schema Run, without point, curve and system
  std::string source{};                       // the folder with the run's event log; "" without one
  std::vector<DatasheetRecord> datasheets{};  // of the data that it asked
};

struct CurveRecord {
  std::string id{};
  SystemRecord system{};
  std::string model{};
  std::string dataset{};
  std::string organisation{};
  std::string accelerator{};
  std::string software{};
  std::string division{};
  std::string availability{};
  std::string kind = "measured";  // or simulated
  std::string submission{};
  std::string document{};  // schema Curve, without counts over the points
  std::vector<PointRecord> points{};
};

// The result of one put().
struct PutResult {
  std::size_t points_new = 0;
  std::size_t points_changed = 0;
  bool curve_new = false;
  bool changed = false;  // anything changed
};

// Empty fields do not filter.
struct CurveQuery {
  std::string id{};
  std::string model{};
  std::string dataset{};
  std::string system{};
  std::string accelerator{};
  std::string software{};
  std::string division{};
  std::string availability{};
  std::string organisation{};
  std::string kind{};
  std::string accuracy{};
  std::string submission{};
  std::string words{};  // each must occur in a name, in any case
  bool points = true;   // return their documents too
  std::size_t limit = 500;
  std::string after{};  // the id of the last curve of the page before
};

struct FoundCurve {
  std::string id{};
  std::string document{};
  std::string accuracy{};
  std::optional<double> peak_tps{};
  std::int64_t findings = 0;
  std::int64_t points_total = 0;
  std::string imported{};             // RFC 3339
  std::vector<std::string> points{};  // documents, by concurrency
};

struct CurvePage {
  std::vector<FoundCurve> curves{};  // by id
  std::int64_t total = 0;            // of all matching curves
  bool more = false;
};

struct FoundRun {
  std::string curve{};  // its id
  std::string system{};
  std::string point{};     // documents
  std::string document{};  // schema Run, as put
  std::string source{};
};

struct FoundDatasheet {
  std::string id{};
  std::string name{};
  std::string document{};
  std::int64_t runs = 0;  // that used it
};

// A run that used a dataset.
struct DatasheetRun {
  std::string point{};  // its id
  std::string point_document{};
  std::string curve_document{};
};

struct NamedCount {
  std::string name{};
  std::int64_t systems = 0;
  std::int64_t curves = 0;
  std::int64_t points = 0;
};

// A writer's token. The token itself is never stored.
struct TokenRecord {
  std::string hash{};  // sha256 of the token
  std::string role{};
  std::string organisation{};
  std::string name{};  // for people: the owner
  std::string created{};
  bool revoked = false;
};

class Store {
 public:
  virtual ~Store() = default;

  // A number that grows with every change. Cheap.
  virtual Result<std::int64_t> revision() = 0;

  // Leaves points that the store has and `curve` lacks as they are.
  virtual Result<PutResult> put(const CurveRecord& curve) = 0;

  virtual Result<CurvePage> find_curves(const CurveQuery& query) = 0;
  virtual Result<std::vector<NamedCount>> models() = 0;  // most points first
  // Datasets of one model; of all models when it is "".
  virtual Result<std::vector<NamedCount>> datasets(std::string_view model) = 0;
  // Documents, by name, of the systems that have curves of this model; of all systems when it is
  // "".
  virtual Result<std::vector<std::string>> systems(std::string_view model) = 0;
  virtual Result<std::optional<std::string>> system(std::string_view id) = 0;
  virtual Result<std::optional<FoundRun>> run(std::string_view id) = 0;

  // True if the store did not have it so.
  virtual Result<bool> put_datasheet(const DatasheetRecord& sheet) = 0;
  // By name; of one id, or of all when it is "".
  virtual Result<std::vector<FoundDatasheet>> datasheets(std::string_view id) = 0;
  // By curve and concurrency; at most `limit` of them.
  virtual Result<std::vector<DatasheetRun>> datasheet_runs(std::string_view id,
                                                           std::size_t limit) = 0;

  // Fails with Code::refused when another process took the entry's sequence: read again and retry.
  virtual Result<void> append(const rulebook::HistoryEntry& entry) = 0;
  // Entries in order; of one submission, or of all when it is "".
  virtual Result<std::vector<rulebook::HistoryEntry>> history(std::string_view submission) = 0;
  // The hash of every entry of every submission, in append order. A missing entry leaves "" in its
  // place; for each entry outside that order, one "" follows at the end.
  virtual Result<std::vector<std::string>> history_hashes() = 0;

  virtual Result<void> put_token(const TokenRecord& token) = 0;  // new, or revoked
  virtual Result<std::optional<TokenRecord>> token(std::string_view hash) = 0;
  virtual Result<std::vector<TokenRecord>> tokens() = 0;
};

}  // namespace assay::store
