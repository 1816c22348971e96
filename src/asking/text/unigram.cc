#include "text/unigram.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "text/unicode.h"

namespace assay::text {

void UnigramModel::finish() {
  for (unsigned b = 0; b < 256; ++b) byte_ids[b] = vocabulary.find(format("<0x{:02X}>", b));
}

bool UnigramModel::encode(std::string_view word, UnigramScratch& scratch,
                          std::vector<TokenId>& out) const {
  using Node = UnigramScratch::Node;
  auto& nodes = scratch.nodes;
  nodes.assign(word.size() + 1, Node{});
  std::size_t frontier = 0;
  const auto reach = [&](std::size_t end, std::size_t from, TokenId id, double score) {
    double total = score + nodes[from].score;
    if (single_precision) total = static_cast<double>(static_cast<float>(total));
    Node& node = nodes[end];
    if (node.from != UnigramScratch::kUnreached && total <= node.score) return;
    node = {id, static_cast<std::uint32_t>(from), total};
    frontier = std::max(frontier, end);
  };
  // SentencePiece restarts its sum before a float gets too coarse, in a long text.
  const auto start_anew = [&](std::size_t at) {
    const double offset = nodes[at].score;
    if (!single_precision || std::abs(offset) <= 100000) return;
    for (std::size_t i = at; i <= frontier; ++i) {
      if (i != at && nodes[i].from == UnigramScratch::kUnreached) continue;
      nodes[i].score = static_cast<double>(static_cast<float>(nodes[i].score - offset));
    }
  };
  for (std::size_t at = 0; at < word.size();) {
    start_anew(at);
    const std::size_t length = utf8_length(static_cast<unsigned char>(word[at]));
    bool single = false;
    std::uint32_t node = ByteTrie::kRoot;
    for (std::size_t end = at; end < word.size();) {
      node = pieces.child(node, static_cast<unsigned char>(word[end++]));
      if (node == ByteTrie::kNone) break;
      const TokenId id = pieces.value(node);
      if (id == kNoToken) continue;
      reach(end, at, id, scores[static_cast<std::size_t>(id)]);
      single = single || end - at == length;
    }
    if (!single) {
      if (unknown == kNoToken) return false;
      reach(at + length, at, unknown, unknown_score);
    }
    at += length;
  }
  trace_back(word, scratch);
  emit(word, scratch.path, out);
  return true;
}

void UnigramModel::trace_back(std::string_view word, UnigramScratch& scratch) const {
  using Node = UnigramScratch::Node;
  auto& path = scratch.path;
  path.clear();
  for (std::size_t at = word.size(); at > 0;) {
    const Node& step = scratch.nodes[at];
    if (!path.empty() && step.id == unknown && path.back().id == unknown) {
      path.back().from = step.from;  // neighbouring unknowns are one
    } else {
      path.push_back(step);
    }
    at = step.from;
  }
}

void UnigramModel::emit(std::string_view word, const std::vector<UnigramScratch::Node>& path,
                        std::vector<TokenId>& out) const {
  for (auto step = path.rbegin(); step != path.rend(); ++step) {
    if (step->id != unknown) {
      out.push_back(step->id);
      continue;
    }
    const auto after = std::next(step);
    const std::size_t end = after == path.rend() ? word.size() : after->from;
    const std::string_view bytes = word.substr(step->from, end - step->from);
    // Adjacent unknowns together may have an id of their own.
    const TokenId whole = single_precision ? kNoToken : vocabulary.find(bytes);
    const bool fall_back = byte_fallback && whole == kNoToken &&
                           std::all_of(bytes.begin(), bytes.end(), [this](char c) {
                             return byte_ids[static_cast<unsigned char>(c)] != kNoToken;
                           });
    if (fall_back) {
      for (const char c : bytes) out.push_back(byte_ids[static_cast<unsigned char>(c)]);
    } else {
      out.push_back(whole == kNoToken ? unknown : whole);
    }
  }
}

bool WordPieceModel::encode(std::string_view word, std::string& scratch,
                            std::vector<TokenId>& out) const {
  std::size_t chars = 0;
  for (std::size_t at = 0; at < word.size(); ++chars) {
    at += utf8_length(static_cast<unsigned char>(word[at]));
  }
  const std::size_t before = out.size();
  bool known = chars <= chars_max;
  for (std::size_t begin = 0; known && begin < word.size();) {
    scratch.assign(begin > 0 ? prefix : std::string());
    const std::size_t head = scratch.size();
    scratch.append(word.substr(begin));
    std::size_t end = word.size();
    if (head + end - begin > vocabulary.longest()) {
      end = begin + std::max(vocabulary.longest(), head) - head;
      while (end > begin && (static_cast<unsigned char>(word[end]) & 0xC0) == 0x80) --end;
    }
    TokenId id = kNoToken;
    while (end > begin) {
      id = vocabulary.find(std::string_view(scratch).substr(0, head + end - begin));
      if (id != kNoToken) break;
      end = previous(word, end);
    }
    known = id != kNoToken;
    if (known) out.push_back(id);
    begin = end;
  }
  if (known) return true;
  out.resize(before);
  if (unknown == kNoToken) return false;
  out.push_back(unknown);
  return true;
}

bool WordLevelModel::encode(std::string_view word, std::vector<TokenId>& out) const {
  const TokenId id = vocabulary.find(word);
  if (id == kNoToken && unknown == kNoToken) return false;
  out.push_back(id == kNoToken ? unknown : id);
  return true;
}

}  // namespace assay::text
