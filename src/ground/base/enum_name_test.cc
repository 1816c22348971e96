#include "base/enum_name.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace assay {
namespace {

enum class Fruit : std::uint8_t { apple, pear_2, fig };
struct Basket {
  enum class Lid { open, shut };
};

TEST(EnumName, is_the_enumerator_as_it_is_spelled) {
  EXPECT_EQ(enum_name(Fruit::apple), "apple");
  EXPECT_EQ(enum_name(Fruit::pear_2), "pear_2");
  EXPECT_EQ(enum_name(Basket::Lid::shut), "shut");
}

TEST(EnumName, all_names_stand_in_the_order_of_the_enumerators) {
  const std::vector<std::string_view> names(kEnumNames<Fruit>.begin(), kEnumNames<Fruit>.end());
  EXPECT_EQ(names, (std::vector<std::string_view>{"apple", "pear_2", "fig"}));
  for (const std::string_view name : names) EXPECT_EQ(name.data()[name.size()], '\0');
}

TEST(EnumName, a_name_gives_its_enumerator_and_no_other_word_does) {
  EXPECT_EQ(enum_named<Fruit>("fig"), Fruit::fig);
  for (const std::string_view word : {"", "figs", "FIG", "Fruit::fig", "(Fruit)3", "0"}) {
    EXPECT_EQ(enum_named<Fruit>(word), std::nullopt) << word;
  }
}

TEST(EnumNameDeathTest, a_number_that_is_no_enumerator_is_our_own_fault) {
  EXPECT_DEATH(static_cast<void>(enum_name(static_cast<Fruit>(3))), "kEnumNames");
}

}  // namespace
}  // namespace assay
