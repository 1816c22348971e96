// Journal: what a pipeline has done, as lines that are only ever appended. Each line has a checksum
// over itself and the line before it, so a lost, changed, doubled or moved line is found. A kill
// can leave a part of the last line: that part is cut off when the journal is opened again. Damage
// elsewhere is an error, never skipped.
//
//     CHECKSUM {"t":"done","step":"ingest",…}
//
// CHECKSUM: 16 hex digits, XXH3-64 of the checksum of the line before it and this line's JSON.
//
// An appended line survives the end of this process at once, and a loss of power after sync(). One
// writer at a time: the opened file is locked. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::pipeline {

struct JournalText {
  std::vector<Json> records{};
  std::size_t bytes = 0;  // of whole lines; what follows them is a part of a line
  std::string last{};     // checksum of the last line; empty without one
};

// Code::corrupt with the line's number for a line that is not what was written.
Result<JournalText> read_journal(std::string_view text);
// The line after the one with checksum `last`, with its line end.
std::string journal_line(std::string_view last, const Json& record);

class Journal {
 public:
  // Opens or makes the file, locks it and cuts off a part of a line. Code::refused while another
  // process has it.
  static Result<Journal> open(const std::filesystem::path& path);
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&&) = delete;
  ~Journal();

  // What was in the file when it was opened.
  const std::vector<Json>& records() const { return records_; }
  // Frees them.
  void drop_records() { records_ = {}; }
  // The lines in the file, those appended included.
  std::uint64_t count() const { return count_; }
  Result<void> append(const Json& record);
  Result<void> sync();

 private:
  Journal(int file, JournalText text);

  int file_ = -1;
  std::vector<Json> records_{};
  std::string last_{};
  std::uint64_t count_ = 0;
};

}  // namespace assay::pipeline
