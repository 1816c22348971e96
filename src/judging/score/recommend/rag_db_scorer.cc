// rag_db: the documents that the pipeline of RAG took into its database, × 100. A reply is a byte:
// 1 taken, 0 not; the one after which the database was saved is its MD5, 32 hex digits, and counts
// as taken. The last of several replies to one document counts. extras.database names the saved
// file: with another MD5 than the log's nothing is right. Any other reply is a failure.
#include <fstream>
#include <map>
#include <string>

#include "base/format.h"
#include "base/hash.h"
#include "score/scorer.h"

namespace assay::score {
namespace {

constexpr std::size_t kDigits = 32;

bool is_md5(std::string_view text) {
  return text.size() == kDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<std::string> md5_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{Code::not_found, format("database: '{}' cannot be read", path)};
  Digest digest(DigestKind::md5);
  std::string block(std::size_t{1} << 20, '\0');
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    digest.add(std::string_view(block).substr(0, static_cast<std::size_t>(in.gcount())));
  }
  return digest.finish();
}

class RagDatabase final : public Scorer {
 public:
  explicit RagDatabase(const ScorerOptions& options) : options_(options) {}

  Result<void> add(const Row& row) override {
    const bool taken = row.reply == std::string_view("\1", 1);
    const bool saved = is_md5(row.reply);
    if (saved) md5_[row.sample] = std::string(row.reply);
    if (!saved) md5_.erase(row.sample);
    right_[row.sample] = taken || saved;
    judged_ = Json()
                  .set("rule", saved ? "the database's MD5" : "a byte")
                  .set("score", taken || saved ? 100 : 0);
    if (saved) judged_.set("extracted", row.reply);
    return {};
  }

  Json last_judged() const override { return judged_; }

  Result<Verdict> finish() override {
    Verdict verdict;
    if (right_.empty()) return verdict;
    if (md5_.empty()) {
      verdict.note = "no reply has the database's MD5, so nothing is proven to be saved";
      return verdict;
    }
    const std::string& said = md5_.rbegin()->second;
    verdict.breakdown.set("md5", said);
    bool proven = true;
    if (const Json& file = options_.extra["database"]; file.is_string()) {
      ASSIGN_OR_RETURN(const std::string real, md5_of(std::string(file.as_string())));
      proven = real == said;
      verdict.breakdown.set("md5_of_file", real);
      if (!proven) verdict.note = "the database's MD5 is not that of the log: nothing counts";
    } else {
      verdict.note = "the database's MD5 was not compared: extras.database names the file";
    }
    Tally tally{.scale = 100};
    for (const auto& [sample, right] : right_) tally.add(sample, right && proven ? 1 : 0);
    verdict.score.set("rag_accuracy", tally.value());
    verdict.figures.push_back(figure_of("rag_accuracy", std::move(tally)));
    return verdict;
  }

 private:
  ScorerOptions options_;
  std::map<std::uint32_t, bool> right_{};
  std::map<std::uint32_t, std::string> md5_{};
  Json judged_{};
};

}  // namespace

Made make_rag_db(std::string_view, const ScorerOptions& options) {
  return std::make_unique<RagDatabase>(options);
}

}  // namespace assay::score
