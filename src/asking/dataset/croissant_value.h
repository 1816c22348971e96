// What a Croissant field makes of what was extracted: its transforms, then its dataType, then the
// shape of an array. Pure.
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

// A regular expression with at most one group, as Python's re.match applies it: the group's text,
// or the whole match. The engine does not capture, so the pattern is cut at its group: what stands
// before it, looking ahead to the rest, ends where the group begins, and the group, looking ahead
// to what follows, ends where it ends; the order of alternatives is the same in all of them.
class GroupRegex {
 public:
  static Result<GroupRegex> compile(const std::string& pattern);
  // False: no match. Fails where the pattern needs too many steps.
  Result<bool> match(std::string_view text, std::string& group) const;

 private:
  struct Part {
    std::shared_ptr<const text::Regex> before{};
    std::shared_ptr<const text::Regex> group{};
  };
  std::vector<Part> parts_{};  // one a group; none: the whole
  std::shared_ptr<const text::Regex> whole_{};
};

class FieldValue {
 public:
  // Checks every pattern and path before the first row. `field` must outlive the value.
  static Result<FieldValue> make(const Field& field);

  // The error says what the value was.
  Result<Json> apply(const Json& raw) const;
  // The transforms alone, for the keys of a join.
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
  // Lists as the field's arrayShape nests them.
  Result<Json> shaped(Json value) const;
  // Audio of another rate than is asked for is refused: nothing is resampled here.
  Result<void> check_rate(const Json& value) const;

  const Field* field_;
  std::vector<Step> steps_{};
};

}  // namespace assay::dataset::croissant
