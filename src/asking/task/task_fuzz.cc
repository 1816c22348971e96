// No file may crash the reader, and what was read is read again from the run's record of it. A
// task's templates may fail on a row, and may not run away.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "task/task.h"

namespace task = assay::task;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const auto read = task::parse_task(text, "task.yaml");
  if (!read) {
    CHECK(!read.error().message.empty());
    return 0;
  }
  CHECK(!read->rules.empty());
  const auto again = task::task_of_json(read->data, "run.json");
  CHECK(again && again->name == read->name && again->rules.size() == read->rules.size());
  CHECK(again->prompt.source() == read->prompt.source());
  for (const assay::Json& row : read->sample) {
    (void)task::check_columns(*read, row);
    if (row.is_object()) (void)read->prompt.render(row);
  }
  return 0;
}
