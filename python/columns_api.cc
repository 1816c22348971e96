// assay/_columns.so: a run's tables for the Python package, through ctypes, so that one file serves
// every Python: it includes no header of Python and links none of its libraries. A table leaves as
// Arrow's C data interface (interchange/write/columns.h), or as a PyCapsule of its stream.
//
// Each function may be called from any thread; a run must not be used while it is closed.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "base/exit_code.h"
#include "interchange/write/run_columns.h"

namespace {

using assay::interchange::Columns;

struct Run {
  assay::interchange::LoadedColumns tables{};
  std::string info{};
};

// Python's own functions, which are in the process and under no header of ours.
using PointerOf = void* (*)(void* capsule, const char* name);
using IsValid = int (*)(void* capsule, const char* name);
PointerOf pointer_of = nullptr;
IsValid is_valid = nullptr;

constexpr const char* kStream = "arrow_array_stream";

std::shared_ptr<const Columns> table_of(const Run* run, int table) {
  return table == 0 ? run->tables.events : run->tables.fragments;
}

// Keeps the end of a text that a caller's buffer cuts: always a C string.
void copy_out(std::string_view text, char* out, std::size_t size) {
  if (size == 0) return;
  const std::size_t kept = text.size() < size - 1 ? text.size() : size - 1;
  std::memcpy(out, text.data(), kept);
  out[kept] = '\0';
}

}  // namespace

extern "C" {

// 0, and *out is the caller's until assay_close(); else the exit code that `assay` would end with,
// and why, in `why`.
__attribute__((visibility("default"))) int assay_open(const char* path, void** out, char* why,
                                                      std::size_t why_size) {
  *out = nullptr;
  try {
    auto loaded = assay::interchange::load_columns(path);
    if (!loaded) {
      copy_out(loaded.error().message, why, why_size);
      return assay::exit_code(loaded.error().code);
    }
    auto* const run = new Run{.tables = *std::move(loaded)};
    run->info = run->tables.info.dump();
    *out = run;
    return 0;
  } catch (const std::bad_alloc&) {
    copy_out("out of memory", why, why_size);
    return assay::exit_code(assay::ExitCode::exhausted);
  } catch (const std::exception& error) {
    copy_out(error.what(), why, why_size);
    return assay::exit_code(assay::ExitCode::findings);
  }
}

__attribute__((visibility("default"))) void assay_close(void* run) {
  delete static_cast<Run*>(run);
}

// A JSON object, which lives as long as the run.
__attribute__((visibility("default"))) const char* assay_info(const void* run) {
  return static_cast<const Run*>(run)->info.c_str();
}

// `table`: 0 the events, 1 the fragments. The caller releases both structures.
__attribute__((visibility("default"))) void assay_export(const void* run, int table,
                                                         ArrowSchema* schema, ArrowArray* array) {
  const auto columns = table_of(static_cast<const Run*>(run), table);
  assay::interchange::export_schema(columns, *schema);
  assay::interchange::export_array(columns, *array);
}

// A stream on the heap, for a capsule whose destructor is assay_drop_capsule.
__attribute__((visibility("default"))) void* assay_new_stream(const void* run, int table) {
  auto* const stream = new ArrowArrayStream{};
  assay::interchange::export_stream(table_of(static_cast<const Run*>(run), table), *stream);
  return stream;
}

// PyCapsule_GetPointer and PyCapsule_IsValid, once, before the first capsule.
__attribute__((visibility("default"))) void assay_use_python(PointerOf pointer, IsValid valid) {
  pointer_of = pointer;
  is_valid = valid;
}

__attribute__((visibility("default"))) void assay_drop_capsule(void* capsule) {
  if (is_valid(capsule, kStream) == 0) return;
  auto* const stream = static_cast<ArrowArrayStream*>(pointer_of(capsule, kStream));
  if (stream->release != nullptr) stream->release(stream);
  delete stream;
}

}  // extern "C"
