#include "domain/tool_call.h"

#include <algorithm>
#include <charconv>

namespace assay {
namespace {

// Splits a piece that begins with RS. Without its fields, all of it is arguments.
ToolCall piece_from(std::string_view text) {
  ToolCall piece;
  const std::size_t id = text.find(kToolCallField);
  const std::size_t name = id == text.npos ? id : text.find(kToolCallField, id + 1);
  const std::size_t arguments = name == text.npos ? name : text.find(kToolCallField, name + 1);
  if (arguments == text.npos) {
    piece.arguments = std::string(text);
    return piece;
  }
  std::from_chars(text.data(), text.data() + id, piece.index);
  piece.id = std::string(text.substr(id + 1, name - id - 1));
  piece.name = std::string(text.substr(name + 1, arguments - name - 1));
  piece.arguments = std::string(text.substr(arguments + 1));
  return piece;
}

void merge(std::vector<ToolCall>& calls, ToolCall piece) {
  const auto same = std::find_if(calls.rbegin(), calls.rend(),
                                 [&](const ToolCall& call) { return call.index == piece.index; });
  const bool another =
      same == calls.rend() || (!piece.id.empty() && !same->id.empty() && piece.id != same->id);
  if (another) {
    calls.push_back(std::move(piece));
    return;
  }
  if (same->id.empty()) same->id = std::move(piece.id);
  if (same->name.empty()) same->name = std::move(piece.name);
  same->arguments += piece.arguments;
}

template <typename OnPiece>
void for_each_piece(std::string_view text, OnPiece&& on_piece) {
  // Text before the first RS belongs to a call whose beginning was lost.
  std::size_t at = 0;
  while (at < text.size()) {
    const bool begins = text[at] == kToolCallBegins;
    const std::size_t next = std::min(text.find(kToolCallBegins, at + 1), text.size());
    const std::string_view piece = text.substr(at, next - at);
    if (begins) {
      on_piece(piece_from(piece.substr(1)));
    } else {
      ToolCall rest;
      rest.arguments = std::string(piece);
      on_piece(std::move(rest));
    }
    at = next;
  }
}

}  // namespace

std::vector<ToolCall> tool_calls_from(std::string_view text) {
  std::vector<ToolCall> calls;
  for_each_piece(text, [&](ToolCall piece) { merge(calls, std::move(piece)); });
  return calls;
}

std::string tool_call_words(std::string_view text) {
  std::string words;
  for_each_piece(text, [&](const ToolCall& piece) { words += piece.name + piece.arguments; });
  return words;
}

Json tool_call_list(std::string_view text) {
  if (text.empty()) return {};
  Json out = Json::array();
  for (const ToolCall& call : tool_calls_from(text)) {
    Json function = Json().set("name", call.name).set("arguments", call.arguments);
    out.push_back(
        Json().set("id", call.id).set("type", "function").set("function", std::move(function)));
  }
  return out;
}

}  // namespace assay
