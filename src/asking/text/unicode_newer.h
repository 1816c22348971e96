// What Unicode 16.0 assigned after 15.0, as ranges of one general category each:
// utf8proc of Debian 12 has the tables of 15.0, and the tokenizer libraries cut by 16.0. Made by
// tools/unicode_newer.py.
#pragma once

#include <array>

#include "text/unicode.h"

namespace assay::text {

struct NewRange {
  char32_t first = 0;
  char32_t last = 0;
  GeneralCategory category = GeneralCategory::cn;
};

inline constexpr std::array<NewRange, 84> kNewRanges = {{
    {0x0897, 0x0897, GeneralCategory::mn},   {0x1B4E, 0x1B4F, GeneralCategory::po},
    {0x1B7F, 0x1B7F, GeneralCategory::po},   {0x1C89, 0x1C89, GeneralCategory::lu},
    {0x1C8A, 0x1C8A, GeneralCategory::ll},   {0x2427, 0x2429, GeneralCategory::so},
    {0x2FFC, 0x2FFF, GeneralCategory::so},   {0x31E4, 0x31E5, GeneralCategory::so},
    {0x31EF, 0x31EF, GeneralCategory::so},   {0xA7CB, 0xA7CC, GeneralCategory::lu},
    {0xA7CD, 0xA7CD, GeneralCategory::ll},   {0xA7DA, 0xA7DA, GeneralCategory::lu},
    {0xA7DB, 0xA7DB, GeneralCategory::ll},   {0xA7DC, 0xA7DC, GeneralCategory::lu},
    {0x105C0, 0x105F3, GeneralCategory::lo}, {0x10D40, 0x10D49, GeneralCategory::nd},
    {0x10D4A, 0x10D4D, GeneralCategory::lo}, {0x10D4E, 0x10D4E, GeneralCategory::lm},
    {0x10D4F, 0x10D4F, GeneralCategory::lo}, {0x10D50, 0x10D65, GeneralCategory::lu},
    {0x10D69, 0x10D6D, GeneralCategory::mn}, {0x10D6E, 0x10D6E, GeneralCategory::pd},
    {0x10D6F, 0x10D6F, GeneralCategory::lm}, {0x10D70, 0x10D85, GeneralCategory::ll},
    {0x10D8E, 0x10D8F, GeneralCategory::sm}, {0x10EC2, 0x10EC4, GeneralCategory::lo},
    {0x10EFC, 0x10EFC, GeneralCategory::mn}, {0x11380, 0x11389, GeneralCategory::lo},
    {0x1138B, 0x1138B, GeneralCategory::lo}, {0x1138E, 0x1138E, GeneralCategory::lo},
    {0x11390, 0x113B5, GeneralCategory::lo}, {0x113B7, 0x113B7, GeneralCategory::lo},
    {0x113B8, 0x113BA, GeneralCategory::mc}, {0x113BB, 0x113C0, GeneralCategory::mn},
    {0x113C2, 0x113C2, GeneralCategory::mc}, {0x113C5, 0x113C5, GeneralCategory::mc},
    {0x113C7, 0x113CA, GeneralCategory::mc}, {0x113CC, 0x113CD, GeneralCategory::mc},
    {0x113CE, 0x113CE, GeneralCategory::mn}, {0x113CF, 0x113CF, GeneralCategory::mc},
    {0x113D0, 0x113D0, GeneralCategory::mn}, {0x113D1, 0x113D1, GeneralCategory::lo},
    {0x113D2, 0x113D2, GeneralCategory::mn}, {0x113D3, 0x113D3, GeneralCategory::lo},
    {0x113D4, 0x113D5, GeneralCategory::po}, {0x113D7, 0x113D8, GeneralCategory::po},
    {0x113E1, 0x113E2, GeneralCategory::mn}, {0x116D0, 0x116E3, GeneralCategory::nd},
    {0x1171E, 0x1171E, GeneralCategory::mc}, {0x11BC0, 0x11BE0, GeneralCategory::lo},
    {0x11BE1, 0x11BE1, GeneralCategory::po}, {0x11BF0, 0x11BF9, GeneralCategory::nd},
    {0x11F5A, 0x11F5A, GeneralCategory::mn}, {0x13460, 0x143FA, GeneralCategory::lo},
    {0x16100, 0x1611D, GeneralCategory::lo}, {0x1611E, 0x16129, GeneralCategory::mn},
    {0x1612A, 0x1612C, GeneralCategory::mc}, {0x1612D, 0x1612F, GeneralCategory::mn},
    {0x16130, 0x16139, GeneralCategory::nd}, {0x16D40, 0x16D42, GeneralCategory::lm},
    {0x16D43, 0x16D6A, GeneralCategory::lo}, {0x16D6B, 0x16D6C, GeneralCategory::lm},
    {0x16D6D, 0x16D6F, GeneralCategory::po}, {0x16D70, 0x16D79, GeneralCategory::nd},
    {0x18CFF, 0x18CFF, GeneralCategory::lo}, {0x1CC00, 0x1CCEF, GeneralCategory::so},
    {0x1CCF0, 0x1CCF9, GeneralCategory::nd}, {0x1CD00, 0x1CEB3, GeneralCategory::so},
    {0x1E5D0, 0x1E5ED, GeneralCategory::lo}, {0x1E5EE, 0x1E5EF, GeneralCategory::mn},
    {0x1E5F0, 0x1E5F0, GeneralCategory::lo}, {0x1E5F1, 0x1E5FA, GeneralCategory::nd},
    {0x1E5FF, 0x1E5FF, GeneralCategory::po}, {0x1F8B2, 0x1F8BB, GeneralCategory::so},
    {0x1F8C0, 0x1F8C1, GeneralCategory::so}, {0x1FA89, 0x1FA89, GeneralCategory::so},
    {0x1FA8F, 0x1FA8F, GeneralCategory::so}, {0x1FABE, 0x1FABE, GeneralCategory::so},
    {0x1FAC6, 0x1FAC6, GeneralCategory::so}, {0x1FADC, 0x1FADC, GeneralCategory::so},
    {0x1FADF, 0x1FADF, GeneralCategory::so}, {0x1FAE9, 0x1FAE9, GeneralCategory::so},
    {0x1FBCB, 0x1FBEF, GeneralCategory::so}, {0x2EBF0, 0x2EE5D, GeneralCategory::lo},
}};

}  // namespace assay::text
