// Converts an extracted value to a Croissant field's value: its transforms, then its dataType, then
// the shape of an array. Pure.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "dataset/croissant_meta.h"
#include "dataset/json_path.h"
#include "text/regex.h"

namespace assay::dataset::croissant {

// A regular expression with at most one group, as Python's re.match applies it: returns the group's
// text, or the whole match. The engine has no captures, so the pattern is split at its group: the
// part before matches up to the group, with the rest as look-ahead; then the group matches, with
// what follows as look-ahead. All parts try alternatives in the same order.
class GroupRegex {
 public:
  static Result<GroupRegex> compile(const std::string& pattern);
  // Returns false for no match, an error when the pattern needs too many steps.
  Result<bool> match(std::string_view text, std::string& group) const;

 private:
  struct Part {
    std::shared_ptr<const text::Regex> before{};
    std::shared_ptr<const text::Regex> group{};
  };
  std::vector<Part> parts_{};  // one for each group; empty: the whole pattern
  std::shared_ptr<const text::Regex> whole_{};
};

class FieldValue {
 public:
  // Checks every pattern and path before the first row. `field` must outlive the value.
  static Result<FieldValue> make(const Field& field);

  // An error contains the value.
  Result<Json> apply(const Json& raw) const;
  // Applies only the transforms, for the keys of a join.
  Result<Json> transform(const Json& raw) const;

 private:
  struct Step {
    Transform::Kind kind = Transform::Kind::regex;
    std::string text{};
    std::shared_ptr<const GroupRegex> regex{};
    std::shared_ptr<const JsonPath> path{};
  };
  explicit FieldValue(const Field& field) : field_(&field) {}
  static Result<Json> one(const Step& step, const Json& value);
  Result<Json> cast(const Json& value) const;
  // Nests lists to the field's arrayShape.
  Result<Json> shaped(Json value) const;
  // Refuses audio at another sampling rate than the field's: nothing is resampled here.
  Result<void> check_rate(const Json& value) const;

  const Field* field_;
  std::vector<Step> steps_{};
};

}  // namespace assay::dataset::croissant
