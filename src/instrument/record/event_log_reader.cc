#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/enum_name.h"
#include "base/files.h"
#include "base/format.h"
#include "record/event_log.h"
#include "record/run_info_json.h"

namespace assay::record {
namespace {

Result<Texts> texts_from(std::string_view text) {
  if (const auto texts = enum_named<Texts>(text)) return *texts;
  return Error{Code::corrupt, format("no text rule '{}'", text)};
}

}  // namespace

struct EventLogReader::State {
  std::filesystem::path path{};
  File file{};
  RunInfo info{};
  RecordDecoder decoder{TextRule(Texts::none, {})};
  std::string stored{};  // the block as stored in the file
  std::string unpacked{};
  ByteReader in{std::string_view{}};
  Record record{};
  LogEnd end{};
  std::uint64_t block_at = 0;  // offset of the current block
  std::uint64_t next_at = 0;   // and of the bytes after it
  std::uint64_t sequence = 0;  // expected next
  bool stopped = false;

  // Reads the next block into `header` and `payload`; false at the end of the readable part.
  bool read_block(BlockHeader& header, std::string_view& payload);
  void load_events();
  Result<void> read_info();
  void read_end(std::string_view payload);
  bool stop(std::string_view why);
};

// Always false, so that the caller can return it.
bool EventLogReader::State::stop(std::string_view why) {
  stopped = true;
  if (!why.empty()) {
    end.trouble = format("{}: at byte {} of {}: {}", path.string(), block_at, end.bytes, why);
  }
  return false;
}

bool EventLogReader::State::read_block(BlockHeader& header, std::string_view& payload) {
  block_at = next_at;
  stored.resize(kBlockHeaderBytes);
  const std::size_t n = std::fread(stored.data(), 1, kBlockHeaderBytes, file.get());
  if (n == 0 && std::ferror(file.get()) == 0) return stop("");
  if (n < kBlockHeaderBytes) return stop("the file ends inside a block's header (a torn write)");
  const Result<SealedHeader> sealed = open_header(stored);
  if (!sealed) return stop(sealed.error().message);
  header = sealed->header;
  stored.resize(kBlockHeaderBytes + header.stored_bytes);
  const std::size_t m =
      std::fread(stored.data() + kBlockHeaderBytes, 1, header.stored_bytes, file.get());
  if (m < header.stored_bytes) return stop("the file ends inside a block (a torn write)");
  if (block_checksum(stored) != sealed->checksum) {
    return stop("the checksum does not match (a torn write, or changed bytes)");
  }
  if (header.sequence < sequence) return stop("a block that is not the next");
  payload = std::string_view(stored).substr(kBlockHeaderBytes);
  if (header.compressed) {
    const Result<void> done = unpack(payload, unpacked, header.payload_bytes);
    if (!done) return stop(done.error().message);
    payload = unpacked;
  }
  end.lost_records = std::max(end.lost_records, header.lost_records);
  ++end.blocks;
  next_at += stored.size();
  return true;
}

Result<void> EventLogReader::State::read_info() {
  BlockHeader header{};
  std::string_view payload;
  if (!read_block(header, payload) || header.type != BlockType::run_info) {
    return Error{Code::corrupt,
                 end.trouble.empty() ? format("{}: not an event log", path.string()) : end.trouble};
  }
  const auto within = [this](const Error& error) { return error.within(path.string()); };
  const Result<Json> json = Json::parse(payload);
  if (!json) return within(json.error());
  if ((*json)["grammar"].as_int() != kEventLogGrammar) {
    return within(Error{Code::unsupported, format("grammar {}; this version reads grammar {}",
                                                  (*json)["grammar"].as_int(), kEventLogGrammar)});
  }
  Result<RunInfo> parsed = run_info_from(*json);
  if (!parsed) return within(parsed.error());
  const Result<Texts> texts = texts_from((*json)["texts"].as_string());
  if (!texts) return within(texts.error());
  info = std::move(*parsed);
  decoder = RecordDecoder(TextRule(*texts, info.phases));
  sequence = header.sequence + 1;
  return {};
}

void EventLogReader::State::read_end(std::string_view payload) {
  const Result<Json> json = Json::parse(payload);
  Result<RunEnd> parsed = json ? run_end_from(*json) : json.error();
  if (!parsed) {
    stop(parsed.error().message);
    return;
  }
  end.end = std::move(*parsed);
  end.lost_records = std::max(end.lost_records, (*json)["lost_records"].as_uint());
  block_at = end.bytes_read = next_at;
  stop(next_at == end.bytes ? "" : "bytes after the end");
}

void EventLogReader::State::load_events() {
  BlockHeader header{};
  std::string_view payload;
  if (!read_block(header, payload)) return;
  if (header.type == BlockType::run_info) {
    stop("a second beginning");
    return;
  }
  const bool gap = header.sequence > sequence;
  sequence = header.sequence + 1;
  if (header.type == BlockType::end) return read_end(payload);
  decoder.start_block(header.base, gap);
  in = ByteReader(payload);
}

EventLogReader::EventLogReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
EventLogReader::EventLogReader(EventLogReader&&) noexcept = default;
EventLogReader& EventLogReader::operator=(EventLogReader&&) noexcept = default;
EventLogReader::~EventLogReader() = default;

Result<EventLogReader> EventLogReader::open(const std::filesystem::path& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->file.reset(std::fopen(path.c_str(), "rbe"));
  if (state->file == nullptr) return errno_error(format("event log {}", path.string()));
  std::error_code error;
  state->end.bytes = std::filesystem::file_size(path, error);
  if (error) return Error{Code::io, format("event log {}: {}", path.string(), error.message())};
  TRY(state->read_info());
  return EventLogReader(std::move(state));
}

const RunInfo& EventLogReader::info() const { return state_->info; }

const Record* EventLogReader::next() {
  State& s = *state_;
  while (!s.stopped) {
    switch (s.decoder.next(s.in, s.record)) {
      case RecordDecoder::Step::record:
        ++s.end.records;
        s.end.last = s.record.at;
        return &s.record;
      case RecordDecoder::Step::bad:
        s.stop(format("{} bytes into the block's records: {}", s.in.offset(), s.decoder.trouble()));
        break;
      case RecordDecoder::Step::end_of_block:
        s.end.bytes_read = s.next_at;
        s.load_events();
        break;
    }
  }
  s.end.unfinished = s.decoder.unfinished();
  return nullptr;
}

const LogEnd& EventLogReader::end() const { return state_->end; }

Result<RunInfo> read_run_info(const std::filesystem::path& log) {
  ASSIGN_OR_RETURN(const EventLogReader reader, EventLogReader::open(log));
  return reader.info();
}

Result<LogEnd> replay_event_log(const std::filesystem::path& path, EventSink& sink) {
  ASSIGN_OR_RETURN(EventLogReader reader, EventLogReader::open(path));
  while (const Record* const record = reader.next()) record->tell(sink);
  return reader.end();
}

}  // namespace assay::record
