#include "endpoint/words.h"

#include <array>
#include <deque>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text.h"

namespace assay::endpoint {
namespace {

constexpr std::string_view kCommon =
    "the of and to in a is that it was for on with as be at by this have from or had not are but "
    "what all were when we there can an your which their said if do will each about how up out "
    "them then she many some so these would other into has more her two like him see time could "
    "no make than first been its who now people my made over did down only way find use may water "
    "long little very after words called just where most know get through back much before go "
    "good new write our used me man too any day same right look think also around another came "
    "come work three word must because does part even place well such here take why things help "
    "put years different away again off went old number great tell men say small every found "
    "still between name should home big give air line set own under read last never us left end "
    "along while might next sound below saw something thought both few those always looked show "
    "large often together asked house world going want school important until form food keep "
    "children feet land side without boy once animals life enough took sometimes four head above "
    "kind began almost live page got earth need far hand high year mother light parts country "
    "father let night following picture being study second eyes soon times story boys since white "
    "days ever paper hard near sentence better best across during today however sure";

// Beyond plain words: line ends, quotes and backslashes, which JSON escapes, and multi-byte
// characters.
constexpr std::array<std::string_view, 12> kOdd = {"\n",         ", \"",        "\" ",    "\\",
                                                   " caf\u00e9", " na\u00efve", "\u6f22", "\u5b57",
                                                   "\U0001f642", " \u2192",     "\t",     ".\n\n"};
constexpr std::array<std::string_view, 8> kWide = {
    " caf\u00e9", " na\u00efve",   "\u6f22\u5b57",        "\u6771\u4eac",
    "\U0001f642", " \u2192\u2190", " \u0416\u0443\u043a", "\U0001f680!"};

class Table {
 public:
  explicit Table(std::vector<std::string> texts) {
    for (std::size_t i = 0; i < kWords; ++i) {
      const std::string& text = kept_.emplace_back(texts[i % texts.size()]);
      const std::string& quoted = kept_.emplace_back(json_quote(text));
      words_[i] = {std::string_view(quoted).substr(1, quoted.size() - 2), text};
    }
  }
  const Word& at(std::uint32_t index) const { return words_[index % kWords]; }

 private:
  std::deque<std::string> kept_{};
  std::array<Word, kWords> words_{};
};

Table make_common() {
  std::vector<std::string> texts(kOdd.begin(), kOdd.end());
  for (const std::string_view text : split(kCommon, ' ')) {
    if (texts.size() < kWords) texts.push_back(" " + std::string(text));
  }
  return Table(std::move(texts));
}

}  // namespace

const Word& word(Vocabulary vocabulary, std::uint32_t index) {
  static const Table kCommonTable = make_common();
  static const Table kWideTable(std::vector<std::string>(kWide.begin(), kWide.end()));
  static const Table kUnguardedTable(std::vector<std::string>{" canary"});
  switch (vocabulary) {
    case Vocabulary::common:
      break;
    case Vocabulary::wide:
      return kWideTable.at(index);
    case Vocabulary::unguarded:
      return kUnguardedTable.at(index);
  }
  return kCommonTable.at(index);
}

}  // namespace assay::endpoint
