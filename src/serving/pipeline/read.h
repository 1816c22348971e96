// Reader: one file of pipelines on its way into a Pipeline, with its mistakes. Used by read*.cc
// only. One thread.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/yaml.h"
#include "pipeline/faults.h"
#include "pipeline/pipeline.h"

namespace assay::pipeline {

class Reader {
 public:
  explicit Reader(std::string_view name) : name_(name), faults_(name) {}

  Faults& faults() { return faults_; }
  std::vector<std::string>& notes() { return notes_; }
  void note(int line, std::string_view text) {
    notes_.push_back(format("{}:{}: {}", name_, line, text));
  }

  // Values: each adds a fault and returns an empty value when the node is of another kind.
  std::string text(const yaml::Node& node, std::string_view field);
  std::string id(const yaml::Node& node, std::string_view field);
  bool flag(const yaml::Node& node, std::string_view field);
  std::int64_t count(const yaml::Node& node, std::string_view field, std::int64_t least);
  Duration duration(const yaml::Node& node, std::string_view field);
  std::vector<std::string> texts(const yaml::Node& node, std::string_view field);  // one or a list
  std::vector<std::string> command(const yaml::Node& node, std::string_view field);
  bool is_map(const yaml::Node& node, std::string_view field);
  bool is_list(const yaml::Node& node, std::string_view field);
  // Adds a fault for each key of the map that is not one of `known`.
  void check_keys(const yaml::Node& map, std::string_view field,
                  std::initializer_list<std::string_view> known);
  // The index in `words`, or -1 and a fault.
  int choice(const yaml::Node& node, std::string_view field,
             std::initializer_list<std::string_view> words);
  // The member, or nullptr and a fault.
  const yaml::Node* needed(const yaml::Node& map, std::string_view field, std::string_view key);

  // read_site.cc. Reads the keys of a site that the file has.
  Site site(const yaml::Node& root);
  // read_step.cc
  Step step(const yaml::Node& node, const std::string& field);

 private:
  Next next(const yaml::Node& node, const std::string& field, const std::string& own);
  Branch branch(const yaml::Node& node, const std::string& field);
  void mounts(const yaml::Node& node, const std::string& field, Step& step);
  Mount mount(const std::pair<yaml::Key, yaml::Node>& member, const std::string& field,
              bool output);
  FilePattern pattern(const yaml::Node& map, const std::string& field, std::string_view key);
  Condition condition(const yaml::Node& node, const std::string& field);
  void json_condition(const yaml::Node& node, const std::string& field, Condition& out);
  PartitionDef partition_def(const yaml::Node& node);
  std::string function(const yaml::Node& map, const std::string& field);

  std::string name_;
  Faults faults_;
  std::vector<std::string> notes_{};
};

}  // namespace assay::pipeline
