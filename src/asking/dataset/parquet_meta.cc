#include "dataset/parquet_meta.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "dataset/thrift.h"

namespace assay::dataset::parquet {
namespace {

using WireType = ThriftReader::Type;

constexpr int kSchemaDepthMax = 32;
constexpr std::size_t kSchemaNodesMax = 20'000;
// Largest page, in bytes. A larger one would only fill the memory: datasets of questions need none.
constexpr std::int64_t kPageBytesMax = std::int64_t{256} << 20;
constexpr std::int64_t kPageValuesMax = std::int64_t{1} << 24;

Error corrupt_footer(std::string_view what) {
  return Error{Code::corrupt, format("not a sound Parquet file: {}", what)};
}

struct Element {
  std::int64_t type = -1;
  std::int64_t length = 0;
  std::int64_t repetition = 0;
  std::int64_t children = 0;
  std::int64_t converted = -1;
  std::int64_t scale = 0;
  std::string name{};
  Logical logical = Logical::none;
};

Logical time_logical(ThriftReader& in, bool stamp) {
  std::int16_t unit = 2;
  in.read_struct([&](std::int16_t id, WireType type) {
    if (id != 2 || type != WireType::structure) return;
    in.read_struct([&](std::int16_t which, WireType) { unit = which; });
  });
  if (stamp) {
    return unit == 1   ? Logical::timestamp_ms
           : unit == 2 ? Logical::timestamp_us
                       : Logical::timestamp_ns;
  }
  return unit == 1 ? Logical::time_ms : unit == 2 ? Logical::time_us : Logical::time_ns;
}

Logical read_logical(ThriftReader& in) {
  Logical out = Logical::none;
  in.read_struct([&](std::int16_t id, WireType) {
    switch (id) {
      case 1:
      case 4:
      case 12:
        out = Logical::text;
        break;
      case 2:
        out = Logical::map;
        break;
      case 3:
        out = Logical::list;
        break;
      case 5:
        out = Logical::decimal;
        break;
      case 6:
        out = Logical::date;
        break;
      case 7:
        out = time_logical(in, false);
        break;
      case 8:
        out = time_logical(in, true);
        break;
      case 10: {
        bool is_signed = true;
        in.read_struct([&](std::int16_t field, WireType) {
          if (field == 2) is_signed = in.read_bool();
        });
        out = is_signed ? Logical::none : Logical::unsigned_int;
        break;
      }
      case 15:
        out = Logical::float16;
        break;
      default:
        break;
    }
  });
  return out;
}

Logical converted_logical(std::int64_t converted) {
  switch (converted) {
    case 0:
    case 4:
    case 19:
      return Logical::text;
    case 1:
    case 2:
      return Logical::map;
    case 3:
      return Logical::list;
    case 5:
      return Logical::decimal;
    case 6:
      return Logical::date;
    case 7:
      return Logical::time_ms;
    case 8:
      return Logical::time_us;
    case 9:
      return Logical::timestamp_ms;
    case 10:
      return Logical::timestamp_us;
    case 11:
    case 12:
    case 13:
    case 14:
      return Logical::unsigned_int;
    default:
      return Logical::none;
  }
}

Element read_element(ThriftReader& in) {
  Element out;
  in.read_struct([&](std::int16_t id, WireType) {
    switch (id) {
      case 1:
        out.type = in.read_int();
        break;
      case 2:
        out.length = in.read_int();
        break;
      case 3:
        out.repetition = in.read_int();
        break;
      case 4:
        out.name = in.read_binary();
        break;
      case 5:
        out.children = in.read_int();
        break;
      case 6:
        out.converted = in.read_int();
        break;
      case 7:
        out.scale = in.read_int();
        break;
      case 10:
        out.logical = read_logical(in);
        break;
      default:
        break;
    }
  });
  if (out.logical == Logical::none) out.logical = converted_logical(out.converted);
  return out;
}

// The list of elements is the tree in depth-first order.
class TreeMaker {
 public:
  explicit TreeMaker(const std::vector<Element>& elements) : elements_(elements) {}

  Result<Node> make() {
    Node root;
    TRY(fill(root, 0, 0, 0));
    if (next_ != elements_.size()) return corrupt_footer("the schema has elements left over");
    return root;
  }

 private:
  Result<void> fill(Node& node, int depth, std::uint8_t definition, std::uint8_t repeat) {
    if (next_ == elements_.size() || depth > kSchemaDepthMax)
      return corrupt_footer("the schema is broken");
    const Element& from = elements_[next_++];
    if (!valid_utf8(from.name)) return corrupt_footer("a column's name is not UTF-8");
    if (from.repetition < 0 || from.repetition > 2) return corrupt_footer("the schema is broken");
    node.name = from.name;
    node.logical = from.logical;
    node.scale = static_cast<std::int32_t>(from.scale);
    node.repetition = depth == 0 ? Repetition::required : static_cast<Repetition>(from.repetition);
    node.definition =
        static_cast<std::uint8_t>(definition + (node.repetition != Repetition::required ? 1 : 0));
    node.repeat =
        static_cast<std::uint8_t>(repeat + (node.repetition == Repetition::repeated ? 1 : 0));
    node.leaf_begin = leaves_;
    if (from.children == 0 && depth > 0) {
      if (from.type < 0 || from.type > 7) return corrupt_footer("a column has no type");
      node.physical = static_cast<Physical>(from.type);
      if (node.physical == Physical::fixed_bytes &&
          (from.length < 1 || from.length > kPageBytesMax)) {
        return corrupt_footer(
            format("column '{}': fixed values of {} bytes", node.name, from.length));
      }
      node.size = static_cast<std::int32_t>(from.length);
      ++leaves_;
    } else {
      if (from.children < 0 || from.children > static_cast<std::int64_t>(elements_.size())) {
        return corrupt_footer("the schema is broken");
      }
      for (std::int64_t i = 0; i < from.children; ++i) {
        TRY(fill(node.children.emplace_back(), depth + 1, node.definition, node.repeat));
      }
    }
    node.leaf_end = leaves_;
    return {};
  }

  const std::vector<Element>& elements_;
  std::size_t next_ = 0;
  std::size_t leaves_ = 0;
};

Result<Compression> codec_of(std::int64_t codec) {
  switch (codec) {
    case 0:
      return Compression::none;
    case 1:
      return Compression::snappy;
    case 2:
      return Compression::gzip;
    case 4:
      return Compression::brotli;
    case 5:
      return Compression::lz4_hadoop;
    case 6:
      return Compression::zstd;
    case 7:
      return Compression::lz4_raw;
    default:
      return Error{Code::unsupported,
                   format("it is compressed with {}, which is not read; write it with snappy, gzip "
                          "or zstd",
                          codec == 3 ? "LZO" : "an unknown codec")};
  }
}

struct RawChunk {
  std::int64_t values = 0;
  std::int64_t size = 0;
  std::int64_t data = -1;
  std::int64_t dictionary = -1;
  std::int64_t codec = 0;
  bool elsewhere = false;
  bool encrypted = false;
};

RawChunk read_chunk(ThriftReader& in) {
  RawChunk out;
  in.read_struct([&](std::int16_t id, WireType type) {
    if (id == 1) out.elsewhere = true;
    if (id == 8 || id == 9) out.encrypted = true;
    if (id != 3 || type != WireType::structure) return;
    in.read_struct([&](std::int16_t field, WireType) {
      if (field == 4) out.codec = in.read_int();
      if (field == 5) out.values = in.read_int();
      if (field == 7) out.size = in.read_int();
      if (field == 9) out.data = in.read_int();
      if (field == 11) out.dictionary = in.read_int();
    });
  });
  return out;
}

struct RawGroup {
  std::int64_t rows = 0;
  std::vector<RawChunk> chunks{};
};

Result<Chunk> check_chunk(const RawChunk& from, std::uint64_t file_size) {
  if (from.elsewhere) return Error{Code::unsupported, "its columns stand in other files"};
  if (from.encrypted) return Error{Code::unsupported, "it is encrypted"};
  const bool dictionary = from.dictionary > 0 && from.dictionary < from.data;
  const std::int64_t first = dictionary ? from.dictionary : from.data;
  if (first < 4 || from.size < 0 || from.values < 0 ||
      static_cast<std::uint64_t>(first) > file_size ||
      static_cast<std::uint64_t>(from.size) > file_size - static_cast<std::uint64_t>(first)) {
    return corrupt_footer("a column's pages stand outside the file");
  }
  Chunk out{.offset = static_cast<std::uint64_t>(first),
            .size = static_cast<std::uint64_t>(from.size),
            .values = static_cast<std::uint64_t>(from.values)};
  ASSIGN_OR_RETURN(out.compression, codec_of(from.codec));
  return out;
}

}  // namespace

Result<Footer> parse_footer(std::string_view bytes, std::uint64_t file_size) {
  ThriftReader in(bytes);
  std::vector<Element> elements;
  std::vector<RawGroup> groups;
  std::int64_t rows = 0;
  in.read_struct([&](std::int16_t id, WireType type) {
    if (id == 2 && type == WireType::list) {
      in.read_list([&](WireType) {
        if (elements.size() < kSchemaNodesMax) elements.push_back(read_element(in));
      });
    } else if (id == 3) {
      rows = in.read_int();
    } else if (id == 4 && type == WireType::list) {
      in.read_list([&](WireType) {
        RawGroup& group = groups.emplace_back();
        in.read_struct([&](std::int16_t field, WireType kind) {
          if (field == 1 && kind == WireType::list) {
            in.read_list([&](WireType) { group.chunks.push_back(read_chunk(in)); });
          } else if (field == 3) {
            group.rows = in.read_int();
          }
        });
      });
    }
  });
  if (in.failed() || elements.empty() || rows < 0) return corrupt_footer("its footer is broken");
  Footer out;
  out.rows = static_cast<std::uint64_t>(rows);
  ASSIGN_OR_RETURN(out.root, TreeMaker(elements).make());
  if (out.root.leaf_end == 0) return corrupt_footer("it has no columns");
  for (const RawGroup& from : groups) {
    RowGroup& group = out.groups.emplace_back();
    if (from.rows < 0 || from.chunks.size() != out.root.leaf_end) {
      return corrupt_footer("a row group has not the schema's columns");
    }
    group.rows = static_cast<std::uint64_t>(from.rows);
    for (const RawChunk& chunk : from.chunks) {
      ASSIGN_OR_RETURN(const Chunk checked, check_chunk(chunk, file_size));
      group.chunks.push_back(checked);
    }
  }
  return out;
}

Result<PageHeader> parse_page_header(std::string_view bytes, std::size_t& used) {
  ThriftReader in(bytes);
  PageHeader out;
  std::int64_t kind = 0;
  std::int64_t size = -1;
  std::int64_t compressed = -1;
  std::int64_t values = 0;
  std::int64_t encoding = 0;
  std::int64_t definition_encoding = 3;
  std::int64_t repetition_encoding = 3;
  std::int64_t definition_bytes = 0;
  std::int64_t repetition_bytes = 0;
  in.read_struct([&](std::int16_t id, WireType type) {
    if (id == 1) kind = in.read_int();
    if (id == 2) size = in.read_int();
    if (id == 3) compressed = in.read_int();
    if ((id != 5 && id != 7 && id != 8) || type != WireType::structure) return;
    in.read_struct([&](std::int16_t field, WireType) {
      if (field == 1) values = in.read_int();
      if (id == 8) {
        if (field == 4) encoding = in.read_int();
        if (field == 5) definition_bytes = in.read_int();
        if (field == 6) repetition_bytes = in.read_int();
        if (field == 7) out.compressed = in.read_bool();
        return;
      }
      if (field == 2) encoding = in.read_int();
      if (id == 5 && field == 3) definition_encoding = in.read_int();
      if (id == 5 && field == 4) repetition_encoding = in.read_int();
    });
  });
  if (in.failed()) return corrupt_footer("a page's header is broken");
  const bool sizes = size >= 0 && size <= kPageBytesMax && compressed >= 0 &&
                     compressed <= kPageBytesMax && values >= 0 && values <= kPageValuesMax;
  const bool levels = definition_bytes >= 0 && repetition_bytes >= 0 &&
                      definition_bytes + repetition_bytes <= std::min(size, compressed);
  if (kind < 0 || kind > 3 || encoding < 0 || encoding > 9 || !sizes || !levels) {
    return Error{Code::unsupported,
                 format("not a sound Parquet file, or one with pages of more than {} MiB or {} "
                        "values: a page of {} bytes and {} values",
                        kPageBytesMax >> 20, kPageValuesMax, size, values)};
  }
  out.kind = static_cast<PageHeader::Kind>(kind);
  out.size = static_cast<std::uint32_t>(size);
  out.compressed_size = static_cast<std::uint32_t>(compressed);
  out.values = static_cast<std::uint32_t>(values);
  out.encoding = static_cast<Encoding>(encoding);
  out.definition_encoding = static_cast<Encoding>(definition_encoding);
  out.repetition_encoding = static_cast<Encoding>(repetition_encoding);
  out.definition_bytes = static_cast<std::uint32_t>(definition_bytes);
  out.repetition_bytes = static_cast<std::uint32_t>(repetition_bytes);
  used = in.position();
  return out;
}

}  // namespace assay::dataset::parquet
