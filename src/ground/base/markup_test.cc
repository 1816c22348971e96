#include "base/markup.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Markup, NothingThatMeansSomethingInMarkupIsLeft) {
  EXPECT_EQ(escape_markup("<a href='x' title=\"y\">&"),
            "&lt;a href=&#39;x&#39; title=&#34;y&#34;&gt;&amp;");
  EXPECT_EQ(markup_text("<a href='x' title=\"y\">&"),
            "&lt;a href=&#39;x&#39; title=&#34;y&#34;&gt;&amp;");
}

TEST(Markup, TextOfADocumentHasNoCharacterThatXmlForbids) {
  EXPECT_EQ(markup_text("a\x1b\x01\x7f\xff\n\t"),
            "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\n\t");
  EXPECT_EQ(markup_text("\xc3"), "\xEF\xBF\xBD");
  EXPECT_EQ(markup_text("µ 通义"), "µ 通义");
  EXPECT_EQ(escape_markup("a\x1b\xff"), "a\x1b\xff");
}

}  // namespace
}  // namespace assay
