// Messages of commands that measure, before, during and after a run: the run's folder, notes, the
// live block, the most serious problems.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "base/json.h"
#include "base/result.h"
#include "base/talk.h"
#include "metrics/live.h"

namespace assay::campaign {

// `wanted`, or a new folder below runs/ named after the current time; never one that holds a run.
Result<std::filesystem::path> choose_folder(const std::string& wanted);

void say_notes(const Talk& talk, std::initializer_list<const std::vector<std::string>*> notes);

// Paints the live block until the returned object is destroyed.
std::shared_ptr<void> paint_live(const Json& facts, std::function<metrics::LiveSnapshot()> snapshot,
                                 const Talk& talk);
// The words of a command line, for the manifest: "assay", its name's words, its arguments.
std::vector<std::string> command_of(std::string_view name, std::span<const std::string> args);

// The file of --live. A reader that is too slow for a pipe loses lines; the run never waits for it.
class LiveFile {
 public:
  static Result<std::unique_ptr<LiveFile>> open(const std::string& path);
  ~LiveFile();
  LiveFile(const LiveFile&) = delete;
  LiveFile& operator=(const LiveFile&) = delete;
  // One whole line, or nothing of it where a pipe is full and the line is at most PIPE_BUF long.
  void write(std::string_view line) const;

 private:
  explicit LiveFile(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

// Reports, at a command's end, memory or a disk that ran out.
void say_exhausted(const Ending& ending, const Talk& talk);

}  // namespace assay::campaign
