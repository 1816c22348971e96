// Talk: where a course of work puts its words. Its result goes to `print`, a message to `say`, and
// what is drawn again and again, as a live block, to `paint`. A program gives its two streams, a
// test a string for each; what is not set goes nowhere. Called on the course's own thread.
#pragma once

#include <functional>
#include <string_view>

namespace assay {

struct Talk {
  using Write = std::function<void(std::string_view)>;
  // As it stands.
  Write print = [](std::string_view) {};
  // One line, without its end.
  Write say = [](std::string_view) {};
  // As it stands, beside the messages.
  Write paint = [](std::string_view) {};
};

}  // namespace assay
