// What commands that measure say before, while and after they do: where the run goes, notes, the
// live block, the gravest of what it came to.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "base/json.h"
#include "base/result.h"
#include "metrics/live.h"

namespace assay::cli {

// `wanted`, or a new folder below runs/ named after the moment; never one that has a run in it.
Result<std::filesystem::path> choose_folder(const std::string& wanted);

void say_notes(std::initializer_list<const std::vector<std::string>*> notes);

// The live block on standard error, until what it returns is gone.
std::shared_ptr<void> paint_live(const Json& facts,
                                 std::function<metrics::LiveSnapshot()> snapshot);

// Memory or disk, where one of them was used up: a command's last words.
void say_exhausted(const Ending& ending);

}  // namespace assay::cli
