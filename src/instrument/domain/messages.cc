#include "domain/messages.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace assay {

Messages::Messages(Json json) {
  if (!json.is_array() || json.size() == 0) {
    other_ = std::move(json);
    return;
  }
  said_.reserve(json.size());
  for (Json& message : json.make_array()) push_back(std::move(message));
}

const Json& Messages::operator[](std::size_t i) const {
  static const Json none;
  return i < said_.size() ? *said_[i] : none;
}

void Messages::push_back(Json message) {
  said_.push_back(std::make_shared<const Json>(std::move(message)));
}

void Messages::replace(std::size_t i, std::shared_ptr<const Json> message) {
  CHECK(i < said_.size() && message != nullptr);
  said_[i] = std::move(message);
}

Json Messages::json() const {
  if (said_.empty()) return other_;
  Json out = Json::array();
  for (const auto& message : said_) out.push_back(*message);
  return out;
}

bool Messages::operator==(const Messages& other) const {
  return other_ == other.other_ &&
         std::ranges::equal(said_, other.said_,
                            [](const auto& a, const auto& b) { return a == b || *a == *b; });
}

}  // namespace assay
