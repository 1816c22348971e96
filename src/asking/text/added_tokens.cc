#include "text/added_tokens.h"

#include <algorithm>

#include "text/unicode.h"

namespace assay::text {
namespace {

bool word_before(std::string_view text, std::size_t at) {
  return at > 0 && is_word(decode_at(text, previous(text, at)).value);
}

bool word_after(std::string_view text, std::size_t at) {
  return at < text.size() && is_word(decode_at(text, at).value);
}

}  // namespace

bool AddedTokens::add(AddedToken token, const Normalizer& normalizer) {
  if (token.content.empty()) return true;
  std::string content = token.content;
  if (token.normalized) {
    if (!normalizer.run(content, loading_)) return false;
    loading_.made(content.size());
  }
  ByteTrie& trie = token.in_templates_only ? in_templates_ : token.normalized ? after_ : before_;
  const auto [at, fresh] = by_content_.try_emplace(token.content, tokens_.size());
  const std::size_t index = at->second;
  by_id_[token.id] = index;
  if (fresh) tokens_.emplace_back();
  tokens_[index] = std::move(token);
  if (!content.empty()) trie.add(content, static_cast<int>(index));
  return true;
}

const AddedToken* AddedTokens::find(TokenId id) const {
  const auto at = by_id_.find(id);
  return at == by_id_.end() ? nullptr : &tokens_[at->second];
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const auto at = by_content_.find(std::string(content));
  return at == by_content_.end() ? nullptr : &tokens_[at->second];
}

bool AddedTokens::next(std::string_view text, Stage stage, const Found& last, Found& token) const {
  const ByteTrie& keys = trie(stage);
  const std::size_t taken = last.end;
  for (std::size_t at = last.search_from; at < text.size();) {
    if (!keys.begins(static_cast<unsigned char>(text[at]))) {
      ++at;
      continue;
    }
    std::size_t end = at;
    std::int32_t best = -1;
    std::uint32_t node = ByteTrie::kRoot;
    for (std::size_t k = at; k < text.size();) {
      node = keys.child(node, static_cast<unsigned char>(text[k++]));
      if (node == ByteTrie::kNone) break;
      if (keys.value(node) < 0) continue;
      best = keys.value(node);
      end = k;
    }
    if (best < 0) {
      ++at;
      continue;
    }
    const AddedToken& found = tokens_[static_cast<std::size_t>(best)];
    if (found.single_word && (word_before(text, at) || word_after(text, end))) {
      at = end;  // not a match, and nothing inside it is looked for
      continue;
    }
    token = {at, end, found.id, end};
    while (found.strip_left && token.begin > taken) {
      const std::size_t before = previous(text, token.begin);
      if (!is_space(decode_at(text, before).value)) break;
      token.begin = before;
    }
    while (found.strip_right && token.end < text.size()) {
      const CodePoint c = decode_at(text, token.end);
      if (!is_space(c.value)) break;
      token.end += c.bytes;
    }
    return true;
  }
  return false;
}

}  // namespace assay::text
