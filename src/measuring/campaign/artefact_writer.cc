#include "campaign/artefact_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"
#include "protocol/artefacts.h"

namespace assay::campaign {
namespace {

constexpr std::string_view kFolder = "artefacts";
constexpr std::string_view kIndex = "index.jsonl";

Result<void> append(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error("artefacts/index.jsonl");
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<ArtefactWriter>> ArtefactWriter::open(
    const std::filesystem::path& run_folder, std::vector<bool> phases, MemoryBudget& budget) {
  const std::filesystem::path folder = run_folder / kFolder;
  TRY(make_folders(folder));
  std::unique_ptr<ArtefactWriter> out(new ArtefactWriter(folder, std::move(phases), budget));
  out->index_ = ::open((folder / kIndex).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (out->index_ < 0) return errno_error((folder / kIndex).string());
  out->thread_ = std::thread([writer = out.get()] { writer->work(); });
  return out;
}

ArtefactWriter::~ArtefactWriter() {
  if (thread_.joinable()) finish();
  if (index_ >= 0) ::close(index_);
}

ArtefactTally ArtefactWriter::finish() {
  queue_.close();
  thread_.join();
  const std::uint64_t crowded = queue_.lost();
  tally_.lost += crowded;
  if (tally_.trouble.empty() && crowded > 0) {
    tally_.trouble = "the memory budget of replies had no room for them (--memory-max)";
  }
  return tally_;
}

void ArtefactWriter::work() {
  protocol::ReplyBytes reply;
  while (queue_.take(reply)) {
    if (reply.query.phase >= phases_.size() || !phases_[reply.query.phase]) continue;
    Result<void> kept = tally_.trouble.empty() ? keep(reply) : Result<void>(invalid(""));
    if (kept) continue;
    ++tally_.lost;
    if (tally_.trouble.empty()) tally_.trouble = kept.error().message;
  }
}

Result<void> ArtefactWriter::keep(const protocol::ReplyBytes& reply) {
  ASSIGN_OR_RETURN(const auto artefacts, protocol::artefacts_of(reply.api, reply.bytes));
  std::string lines;
  for (const protocol::Artefact& one : artefacts) {
    const std::string sha256 = sha256_hex(one.bytes);
    const std::string name = format("{}.{}", sha256, one.ending);
    std::error_code ignored;
    if (!std::filesystem::exists(folder_ / name, ignored)) {
      TRY(write_file_atomic(folder_ / name, one.bytes));
      ++tally_.files;
    }
    lines += Json()
                 .set("phase", reply.query.phase)
                 .set("query", reply.query.index)
                 .set("sample", reply.query.sample)
                 .set("file", format("{}/{}", kFolder, name))
                 .set("sha256", sha256)
                 .set("bytes", one.bytes.size())
                 .set("type", one.type)
                 .dump();
    lines += '\n';
  }
  TRY(append(index_, lines));
  tally_.kept += artefacts.size();
  return {};
}

Result<ArtefactsOf> read_artefacts(const std::filesystem::path& run_folder) {
  const std::filesystem::path index = run_folder / kFolder / kIndex;
  ArtefactsOf out;
  std::error_code ignored;
  if (!std::filesystem::exists(index, ignored)) return out;
  ASSIGN_OR_RETURN(const std::string text, read_file(index));
  const std::filesystem::path base = std::filesystem::absolute(run_folder / kFolder, ignored);
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    const auto json = Json::parse(line);
    const bool sound = json && (*json)["phase"].is_integer() && (*json)["query"].is_integer() &&
                       (*json)["file"].is_string();
    if (!sound) {
      return Error{Code::corrupt, format("{}:{}: no line of artefacts", index.string(), number)};
    }
    Json& list = out[{static_cast<std::uint16_t>((*json)["phase"].as_uint()),
                      static_cast<std::uint32_t>((*json)["query"].as_uint())}];
    if (!list.is_array()) list = Json::array();
    // The name alone: an index of others' hands points to no other folder.
    const std::filesystem::path file(std::string((*json)["file"].as_string()));
    list.push_back(Json()
                       .set("path", (base / file.filename()).string())
                       .set("sha256", (*json)["sha256"])
                       .set("bytes", (*json)["bytes"])
                       .set("type", (*json)["type"]));
  }
  return out;
}

}  // namespace assay::campaign
