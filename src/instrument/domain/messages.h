// Messages: the messages of a chat request, first to last; requests share each message. Turns of a
// conversation repeat all earlier messages, and copies would cost the square of its length.
// Messages behaves like the JSON array; a message never changes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"

namespace assay {

class Messages {
 public:
  Messages() = default;  // null: no messages
  // An array, null, or the wrong value that a file has in its place.
  Messages(Json json);  // NOLINT(google-explicit-constructor): it is the same thing

  bool is_null() const { return said_.empty() && other_.is_null(); }
  bool is_array() const { return !said_.empty() || other_.is_array(); }
  std::size_t size() const { return said_.size(); }
  const Json& operator[](std::size_t i) const;  // null beyond the end

  void push_back(Json message);
  // Replaces message i. Other Messages that share it keep theirs.
  void replace(std::size_t i, std::shared_ptr<const Json> message);
  // Message i as a shared object: for comparing identity, not content.
  const std::shared_ptr<const Json>& shared(std::size_t i) const { return said_[i]; }

  Json json() const;
  std::string dump() const { return json().dump(); }
  bool operator==(const Messages& other) const;

 private:
  // Shared by the turns that repeat it; freed with the last of them.
  std::vector<std::shared_ptr<const Json>> said_{};
  Json other_{};  // without messages: null, an empty array, or no array at all
};

}  // namespace assay
