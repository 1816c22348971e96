// Any bytes as a zip or tar file, as a shard of rows, as a Croissant file and as each compressed
// block: an error or the content, in bounded memory, and no member outside the folder.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/json.h"
#include "dataset/archive.h"
#include "dataset/croissant_check.h"
#include "dataset/croissant_meta.h"
#include "dataset/croissant_value.h"
#include "dataset/json_path.h"
#include "dataset/web_shard.h"

namespace assay::dataset {
namespace {

void as_archive(std::string_view bytes) {
  const auto archive = Archive::open(InputFile::of(std::string(bytes)), "fuzz");
  if (!archive) return;
  constexpr std::size_t kSmall = 1 << 20;
  for (const Archive::Member& member : archive->members()) {
    CHECK(is_safe_path(member.name));
    if (member.size > kSmall) continue;
    const auto read = archive->read(member);
    CHECK(!read || read->size() <= member.size);
  }
}

// Every row has a name, and its members are those of the archive, each once.
void as_shard(std::string_view bytes) {
  const auto shard = open_web_shard(InputFile::of(std::string(bytes)), "fuzz");
  if (!shard) return;
  for (;;) {
    const auto row = (*shard)->next();
    if (!row || !*row) return;
    CHECK((**row)["__key__"].as_string() == (*shard)->place() && (*row)->size() > 0);
  }
}

void as_blocks(std::string_view bytes) {
  constexpr std::size_t kSize = 1 << 16;
  for (const Compression how : {Compression::snappy, Compression::lz4_raw, Compression::gzip,
                                Compression::deflate, Compression::zstd}) {
    const auto plain = decompress(how, bytes, kSize);
    CHECK(!plain || plain->size() == kSize);
  }
}

void as_metadata(std::string_view bytes) {
  const auto json = Json::parse(bytes);
  if (!json) return;
  croissant::check_document(bytes);
  const auto metadata = croissant::parse_metadata(*json);
  if (!metadata) return;
  for (const croissant::RecordSet& set : metadata->record_sets) {
    for (const croissant::Field& field : set.fields) {
      const auto value = croissant::FieldValue::make(field);
      if (value) static_cast<void>(value->apply(Json("some text 123").as_string()));
    }
  }
}

}  // namespace
}  // namespace assay::dataset

using assay::Json;
using assay::dataset::as_archive;
using assay::dataset::as_blocks;
using assay::dataset::as_metadata;
using assay::dataset::as_shard;
using assay::dataset::JsonPath;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  as_archive(bytes);
  as_shard(bytes);
  as_blocks(bytes);
  as_metadata(bytes);
  if (const auto path = JsonPath::parse(bytes.substr(0, 100))) {
    static_cast<void>(path->find(Json::array()));
  }
  return 0;
}
