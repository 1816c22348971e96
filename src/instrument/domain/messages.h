// Messages: what a chat request says, first to last, each message kept once however many requests
// say it. Turns of a conversation repeat all that was said before them; copies would cost the
// square of its length. Reads as the JSON array it stands for; a message that is there never
// changes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"

namespace assay {

class Messages {
 public:
  Messages() = default;  // null: none are said
  // An array, null, or what a file wrongly has in its place.
  Messages(Json json);  // NOLINT(google-explicit-constructor): it is the same thing

  bool is_null() const { return said_.empty() && other_.is_null(); }
  bool is_array() const { return !said_.empty() || other_.is_array(); }
  std::size_t size() const { return said_.size(); }
  const Json& operator[](std::size_t i) const;  // null beyond the end

  void push_back(Json message);
  // In place of message i. Others that share it keep theirs.
  void replace(std::size_t i, std::shared_ptr<const Json> message);
  // Whether message i is the same object, and not merely like it.
  const std::shared_ptr<const Json>& shared(std::size_t i) const { return said_[i]; }

  Json json() const;
  std::string dump() const { return json().dump(); }
  bool operator==(const Messages& other) const;

 private:
  // Shared by the turns that say it: the last that goes lets it go.
  std::vector<std::shared_ptr<const Json>> said_{};
  Json other_{};  // of no message: null, an empty array, or no array at all
};

}  // namespace assay
