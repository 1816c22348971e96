// Journal: an append-only file of JSON objects, one a line, that survives every end of its writer.
// Each entry is one write followed by fdatasync: after a SIGKILL or a power cut every entry for
// which append() returned is there, and at most one more line, cut off. A line carries its own
// checksum ("sum", xxh3 of the text before it), which separates a torn line from a damaged file:
// open() removes a torn last line; any other is an error that names the line.
//
// The file is locked while it is open, so that two programs never write the same journal. One
// thread.
#pragma once

#include <filesystem>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::record {

class Journal {
 public:
  // Opens the journal or begins one. Code::refused while another program has it open.
  static Result<Journal> open(const std::filesystem::path& path);
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&& other) noexcept;
  ~Journal();

  const std::vector<Json>& entries() const { return entries_; }
  // `entry`: an object without "sum".
  Result<void> append(const Json& entry);

 private:
  Journal(std::filesystem::path path, int descriptor) : path_(std::move(path)), fd_(descriptor) {}
  Result<void> read();

  std::filesystem::path path_;
  int fd_ = -1;
  std::vector<Json> entries_{};
};

// Reads the entries of a journal that another process may be writing.
Result<std::vector<Json>> read_journal(const std::filesystem::path& path);

}  // namespace assay::record
