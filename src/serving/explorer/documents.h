// Documents: the replies of docs/formats/api.yaml as JSON text, made from a Store. `assay serve`
// sends them and `assay export` writes them, so that both keep one contract. The Store keeps
// documents as text, and this code joins texts without parsing: ten thousand points take
// milliseconds.
//
// One thread, the Store's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "store/store.h"

namespace assay::explorer {

Result<std::string> models_document(store::Store& store);
Result<std::string> datasets_document(store::Store& store, std::string_view model);

struct SystemQuery {
  std::string model{};
  std::string words{};
  std::size_t limit = 500;
  std::string after{};  // how many to skip
};
Result<std::string> systems_document(store::Store& store, const SystemQuery& query);
Result<std::string> curves_document(store::Store& store, const store::CurveQuery& query);

// nullopt if there is none.
Result<std::optional<std::string>> curve_document(store::Store& store, std::string_view id);
Result<std::optional<std::string>> run_document(store::Store& store, std::string_view id);
// nullopt if either curve is missing.
Result<std::optional<std::string>> compare_document(store::Store& store, std::string_view a,
                                                    std::string_view b);

// More runs that used a dataset are counted, and not listed.
inline constexpr std::size_t kDatasheetRunsMax = 500;
Result<std::string> datasheets_document(store::Store& store);
Result<std::optional<std::string>> datasheet_document(store::Store& store, std::string_view id);

// Where a curve was imported from; "" if there is no such curve, or no folder of it.
Result<std::string> curve_folder(store::Store& store, std::string_view id);

// One curve as schema Curve; with its points if they were found.
std::string curve_text(const store::FoundCurve& curve, bool points);

}  // namespace assay::explorer
