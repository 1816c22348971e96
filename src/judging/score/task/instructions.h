// IFEval (Zhou et al. 2023, arXiv 2311.07911): does a reply follow its prompt's instructions? The
// 25 kinds, with the verdicts of the authors' program, strict and loose; loose also accepts the
// reply without its first line, without its last line, and without asterisks.
//
// Columns: `instruction_id_list` (names) and `kwargs` (for each name its arguments). Two things of
// the original are separate data or another program: sentences are cut by Punkt if extras.punkt is
// its folder, else by built-in rules (score/text/sentences.h); languages are recognised by
// score/task/language.h, not by langdetect. `note` reports both. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "score/task/patterns.h"
#include "score/text/sentences.h"

namespace assay::score {

struct Followed {
  std::vector<bool> strict{};  // by instruction
  std::vector<bool> loose{};

  bool strict_all() const { return number(strict) == strict.size(); }
  bool loose_all() const { return number(loose) == loose.size(); }
  static std::uint64_t number(const std::vector<bool>& which);
};

class InstructionJudge {
 public:
  // `extras` of the score, then those of the run: punkt.
  static Result<InstructionJudge> make(const Json& extras, const Json& of_run);

  // Fails on an unknown instruction, and on one without its arguments.
  Result<Followed> judge(const Json& columns, const std::string& reply);
  const std::string& note() const { return note_; }

 private:
  explicit InstructionJudge(Sentences sentences) : sentences_(std::move(sentences)) {}
  Sentences sentences_;
  Patterns patterns_{};
  std::string note_{};
};

}  // namespace assay::score
