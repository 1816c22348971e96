#include "score/task/language.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "score/answer/python_text.h"
#include "text/unicode.h"

namespace assay::score {
namespace {

struct Script {
  char32_t first = 0;
  char32_t last = 0;
  std::string_view language{};  // of a script of one language, else the script's commonest
};

constexpr std::array<Script, 19> kScripts{{
    {0x0041, 0x024F, "en"}, {0x1E00, 0x1EFF, "en"},    {0x0370, 0x03FF, "el"},
    {0x0400, 0x052F, "ru"}, {0x0590, 0x05FF, "he"},    {0x0600, 0x06FF, "ar"},
    {0x0900, 0x097F, "hi"}, {0x0980, 0x09FF, "bn"},    {0x0A00, 0x0A7F, "pa"},
    {0x0A80, 0x0AFF, "gu"}, {0x0B80, 0x0BFF, "ta"},    {0x0C00, 0x0C7F, "te"},
    {0x0C80, 0x0CFF, "kn"}, {0x0D00, 0x0D7F, "ml"},    {0x0E00, 0x0E7F, "th"},
    {0x3040, 0x30FF, "ja"}, {0x4E00, 0x9FFF, "zh-cn"}, {0xAC00, 0xD7AF, "ko"},
    {0x1100, 0x11FF, "ko"},
}};

struct CommonWords {
  std::string_view language{};
  std::string_view list{};  // between spaces
};

// The commonest words that most other languages of the list lack.
constexpr std::array<CommonWords, 17> kCommonWords{{
    {"en",
     " the of and to is that it was for on are with as his they be at this from have or by "
     "you not we can your will there an which their but what all were when how has i my he "
     "she our so if do would "},
    {"es",
     " el la los las que y en un una por con para es del se no lo su como más pero al son "
     "muy está este esta también fue ser hay "},
    {"pt",
     " o os as que e em um uma por com para é do da dos das não se mais como mas ao são "
     "muito está este esta também foi ser há pelo na no "},
    {"fr",
     " le la les des et est un une dans pour que qui sur pas avec ce il elle nous vous au du "
     "sont plus mais par cette ses aux être "},
    {"de",
     " der die das und ist ein eine nicht mit auf für von zu den im dem sich auch es ich wir "
     "sie an werden wird oder aber als "},
    {"it",
     " il lo la gli le che e di un una per con non è del della dei sono più ma come anche si "
     "nel alla questo questa essere "},
    {"fi",
     " ja on ei se että hän ovat oli mutta kun niin myös joka tämä voi kuin olla sen ole "
     "ovat minä sinä "},
    {"pl",
     " i w na z do się nie jest to że jak o są od po ale przez dla być może tak tym oraz "
     "który która "},
    {"vi",
     " là của và các có được trong cho một không những với người này để khi đã từ về như "
     "tôi bạn "},
    {"sw",
     " na ya wa kwa ni katika la za kama hii ambayo pia hiyo yake au watu kuwa wao sana huu "
     "cha "},
    {"nl", " de het een en van is dat op te voor met niet zijn aan er ook als maar om bij "},
    {"sv", " och att det som en på är av för med till den har inte om ett "},
    {"ru", " и в не на что он с как это по но они мы к из у за то же от для я его "},
    {"uk", " і в не на що він з як це по але вони ми до із у за та від для я його є "},
    {"bg", " и в не на че той с като това по но те ние към от за се са да е ще най "},
    {"mr", " आहे आणि हे ते या च्या मध्ये होते आहेत नाही करून एक तो ती "},
    {"ne", " छ र को मा लाई छन् हो यो हुन्छ गर्न पनि भएको हुन् "},
}};

bool is_latin(std::string_view language) {
  return std::none_of(kScripts.begin() + 2, kScripts.end(),
                      [&](const Script& one) { return one.language == language; }) &&
         language != "uk" && language != "bg" && language != "mr" && language != "ne";
}

std::string_view family_of(std::string_view language) {
  if (language == "ru" || language == "uk" || language == "bg") return "ru";
  if (language == "mr" || language == "ne") return "hi";
  return is_latin(language) ? "en" : language;
}

bool has(CharactersView text, CharactersView letters) {
  return text.find_first_of(letters) != CharactersView::npos;
}

std::string_view by_words(std::string_view family, const std::string& lowered) {
  std::vector<std::string> words;
  std::string word;
  for (const char32_t c : characters(lowered)) {
    const bool mark = text::category(c) == text::GeneralCategory::mn ||
                      text::category(c) == text::GeneralCategory::mc;
    if (python_word(c) || mark) {
      text::append_utf8(word, c);
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  std::string_view best = family;
  std::size_t most = 0;
  for (const CommonWords& known : kCommonWords) {
    if (family_of(known.language) != family) continue;
    const auto count = static_cast<std::size_t>(
        std::count_if(words.begin(), words.end(), [&](const std::string& one) {
          return known.list.find(" " + one + " ") != std::string_view::npos;
        }));
    if (count > most) {
      most = count;
      best = known.language;
    }
  }
  return best;
}

}  // namespace

std::string_view language_of(std::string_view text) {
  const Characters all = characters(text);
  std::array<std::size_t, kScripts.size()> counts{};
  for (const char32_t c : all) {
    if (text::category(c) > text::GeneralCategory::mc) continue;  // letters and their marks
    for (std::size_t i = 0; i < kScripts.size(); ++i) {
      if (c >= kScripts[i].first && c <= kScripts[i].last) ++counts[i];
    }
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  if (*most == 0) return "";
  const std::string_view script =
      kScripts[static_cast<std::size_t>(most - counts.begin())].language;
  const bool kana = counts[15] * 20 > *most;
  if (script == "zh-cn" && kana) return "ja";
  if (script == "ar") {
    if (has(all, U"\u0679\u0688\u0691\u06D2\u06BA")) return "ur";
    return has(all, U"\u067E\u0686\u0698\u06AF\u06A9\u06CC") ? "fa" : "ar";
  }
  if (script == "ru" && has(all, U"\u0456\u0457\u0454\u0491\u0406\u0407\u0404")) return "uk";
  if (script == "ru" && has(all, U"\u044B\u044D\u042B\u042D")) return "ru";
  if (script != "en" && script != "ru" && script != "hi") return script;
  return by_words(script, text::lower_case(utf8(all)));
}

}  // namespace assay::score
