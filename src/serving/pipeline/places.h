// Places: where a pipeline's names are on this machine, and what is there: paths of mounts, the
// partitions, files that match a pattern, digests of their content, conditions. Reads files, writes
// none. One thread.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/engine.h"
#include "pipeline/pipeline.h"

namespace assay::pipeline {

// Files and folders that match, in order. `*` and `?` stand for characters of one name; a name that
// begins with a dot has to be asked for with one.
std::vector<std::filesystem::path> match_files(const std::filesystem::path& pattern);

class Places {
 public:
  // `folder`: the pipeline file's; relative paths of its steps begin there. `work`: what the run
  // keeps. The pipeline must outlive it.
  Places(const Pipeline& pipeline, std::filesystem::path folder, std::filesystem::path work);

  const std::filesystem::path& folder() const { return folder_; }
  const std::filesystem::path& work() const { return work_; }
  // Code::invalid for an input mount of which nothing says where it is.
  Result<void> check() const;
  // A mount's path on this machine.
  std::filesystem::path host_path(const Mount& mount) const;
  // What stands for names in braces.
  std::map<std::string, std::string> values(const Step& step, const std::string& partition) const;
  // Not for type function. Sorted, each once, none empty or leading out of a folder.
  Result<std::vector<std::string>> partitions() const;

  // How many files match. For a step's own file and for conditions.
  bool holds(const FilePattern& pattern, const Step& step, const std::string& partition) const;
  // Not for type function. A file that is not there, or no JSON, does not hold.
  bool holds(const Condition& condition, const Step& step, const std::string& partition) const;

  // Content that decides whether an instance runs again.
  Result<std::string> inputs_digest(const Step& step, const std::string& partition);
  // "missing PATH" when one that is declared is not there.
  Result<std::string> outputs_digest(const Step& step, const std::string& partition);
  Eyes eyes();

 private:
  std::filesystem::path place(const std::string& text,
                              const std::map<std::string, std::string>& values) const;
  Result<std::string> digest(const std::filesystem::path& path);
  Result<std::string> file_digest(const std::filesystem::path& path);
  Result<std::string> programs_digest(const Step& step);
  Result<std::string> input_digest(const std::string& name, const std::string& partition);

  const Pipeline& pipeline_;
  std::filesystem::path folder_;
  std::filesystem::path work_;
  struct Known {
    std::string stamp{};  // size, time of change, inode
    std::string digest{};
  };
  std::map<std::string, Known> files_{};
  std::map<std::string, std::string> whole_inputs_{};  // looked at once in a run
};

// Sorted, each once. Code::invalid for a name that is empty or leads out of a folder, for none at
// all, and for more than kPartitionsMax.
Result<std::vector<std::string>> checked_partitions(std::vector<std::string> names);

}  // namespace assay::pipeline
