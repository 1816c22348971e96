#include "text/chat_template.h"

#include <gtest/gtest.h>

#include "text/jinja_eval.h"
#include "text/jinja_parse.h"

namespace assay::text {
namespace {

std::string rendered(std::string_view source, std::string_view variables = "{}") {
  auto chat = ChatTemplate::parse(source, "t");
  if (!chat) return "! " + chat.error().message;
  const auto text = chat->render(Json::parse(variables).value());
  return text ? *text : "! " + text.error().message;
}

// Smaller limits give the same errors sooner.
std::string limited(std::string_view source, const jinja::Limits& limits) {
  try {
    const jinja::Body body = jinja::parse(source);
    return jinja::render(body, {}, limits);
  } catch (const jinja::Fault& fault) {
    return fault.message;
  }
}

TEST(ChatTemplate, loops_over_messages) {
  EXPECT_EQ(rendered("{%- for m in messages %}<{{ m.role }}>{{ m['content'] | trim }}\n"
                     "{%- if loop.last %}.{% endif %}{% endfor %}",
                     R"({"messages":[{"role":"user","content":" hi "},
                                   {"role":"assistant","content":"ho"}]})"),
            "<user>hi<assistant>ho.");
}

TEST(ChatTemplate, white_space_goes_as_in_jinja) {
  EXPECT_EQ(rendered("a\n  {% if true %}\nb\n  {% endif %}\nc\n"), "a\nb\nc");
  EXPECT_EQ(rendered("a \n {%- if true -%} \n b {%- endif -%} \n c"), "abc");
  EXPECT_EQ(rendered("a\n  {%+ if true %}b{% endif %}"), "a\n  b");
  EXPECT_EQ(rendered("a {# gone #} b"), "a  b");
  EXPECT_EQ(rendered("{% raw %}{{ x }}{% endraw %}"), "{{ x }}");
}

TEST(ChatTemplate, namespaces_outlive_loops_and_plain_names_do_not) {
  EXPECT_EQ(rendered("{% set ns = namespace(n=0) %}{% set n = 0 %}{% for i in range(3) %}"
                     "{% set ns.n = ns.n + i %}{% set n = n + i %}{% endfor %}{{ ns.n }} {{ n }}"),
            "3 0");
}

TEST(ChatTemplate, macros_take_defaults) {
  EXPECT_EQ(
      rendered("{% macro f(a, b='y') %}{{ a }}{{ b }}{% endmacro %}{{ f('x') }}{{ f(1, b=2) }}"),
      "xy12");
}

TEST(ChatTemplate, keys_are_what_they_were_written_as) {
  EXPECT_EQ(
      rendered("{% set d = {512: 'b', 0: 'a'} %}{% for k, v in d | dictsort %}"
               "{% if 100 <= k %}{{ k }}{{ v }}{% endif %}{% endfor %}{{ d[0] }}{{ d['0'] }}"),
      "512ba");
  EXPECT_EQ(rendered("{{ {1: 'a', true: 'b', none: 'c'} }}"), "{1: 'b', None: 'c'}");
  EXPECT_EQ(rendered("{{ {1: 2, 1.5: 3} | tojson }}"), R"({"1": 2, "1.5": 3})");
  EXPECT_EQ(rendered("{{ {[1]: 2} }}"), "! t:1: list can't be a dict's key");
}

TEST(ChatTemplate, text_that_is_safe_escapes_what_joins_it) {
  EXPECT_EQ(rendered("{{ ('<a>' | safe) + x }}{{ x + ('<b>' | safe) }}{{ ('<c>' | safe) ~ x }}",
                     R"({"x":"<&>"})"),
            "<a>&lt;&amp;&gt;&lt;&amp;&gt;<b><c><&>");
  EXPECT_EQ(rendered("{{ ('<{}>' | safe).format('&') }}{{ '<' | e | e }}"), "<&amp;>&lt;");
}

TEST(ChatTemplate, a_generator_is_no_list) {
  EXPECT_NE(rendered("{{ [1] | map('string') | tojson }}").find("generator"), std::string::npos);
  EXPECT_NE(rendered("{{ [1] | select | length }}").find("generator"), std::string::npos);
  EXPECT_EQ(rendered("{{ 'yes' if [] | select else 'no' }}{{ [1] | select | list | length }}"),
            "yes1");
}

TEST(ChatTemplate, to_json_takes_the_libraries_arguments) {
  EXPECT_EQ(rendered("{{ x | tojson(ensure_ascii=true) }}{{ x | tojson(true, 1) }}"
                     "{{ {'a': [1, 2]} | tojson(separators=(',', ':')) }}",
                     R"({"x":["é😀"]})"),
            "[\"\\u00e9\\ud83d\\ude00\"][\n \"\\u00e9\\ud83d\\ude00\"\n]{\"a\":[1,2]}");
}

TEST(ChatTemplate, to_json_is_pythons) {
  EXPECT_EQ(rendered("{{ x | tojson }}", R"({"x":{"a":[1,2.0,"é",null,true]}})"),
            R"({"a": [1, 2.0, "é", null, true]})");
  EXPECT_EQ(rendered("{{ x | tojson }} {{ x[0] }} {{ x[0] is integer }} {{ x[1] is float }}",
                     R"({"x":[123456789012345678901234567890,-18446744073709551616,1.5]})"),
            "[123456789012345678901234567890, -18446744073709551616, 1.5] "
            "123456789012345678901234567890 True False");
  EXPECT_EQ(rendered("{{ x }}", R"({"x":18446744073709551615})"), "18446744073709551615");
  EXPECT_EQ(rendered("{{ x | tojson(indent=2) }}", R"({"x":{"a":[]}})"), "{\n  \"a\": []\n}");
}

TEST(ChatTemplate, no_filter_makes_more_than_the_steps_could) {
  const auto refused = [](std::string_view source) {
    return limited(source, {.work_bytes_max = std::uint64_t{1} << 24}).find("bytes of values") !=
           std::string::npos;
  };
  // A list of 2^60 leaves by sharing: printed, compared, searched, written as JSON.
  const std::string doubled =
      "{% set ns = namespace(x=[1], y=[1]) %}{% for i in range(60) %}"
      "{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}";
  EXPECT_TRUE(refused(doubled + "{{ ns.x }}"));
  EXPECT_TRUE(refused(doubled + "{{ ns.x | tojson | length }}"));
  EXPECT_TRUE(refused(doubled + "{{ ns.x == ns.y }}"));
  EXPECT_TRUE(refused(doubled + "{{ ns.x < ns.y }}"));
  EXPECT_TRUE(refused(doubled + "{{ ns.x in [ns.y] }}"));
  const std::string big = "{% set big = 'ab' * 50000 %}";
  EXPECT_TRUE(refused(big + "{{ ([''] * 100000) | join(big) | length }}"));
  EXPECT_TRUE(refused(big + "{{ big.join([''] * 100000) | length }}"));
  EXPECT_TRUE(refused(big + "{{ ('{0}' * 10000).format(big) | length }}"));
  EXPECT_TRUE(refused(big + "{{ ('\n' * 100000) | indent(big, blank=true) | length }}"));
  EXPECT_TRUE(refused(big + "{{ range(100000) | map('replace', big, big) | list | length }}"));
  EXPECT_FALSE(refused(big + "{{ big | length }}"));
  EXPECT_TRUE(refused(big + "{% for i in range(999) %}{% set x = big | list %}{% endfor %}"));
  EXPECT_TRUE(refused("{{ ('a' * 900000).rfind('b' + 'a' * 400000) }}"));
  EXPECT_EQ(rendered("{{ ('a' * 900000).find('a' * 400000 + 'b') }}"), "-1");
  EXPECT_EQ(rendered("{{ 'a,b,c'.rsplit(',', 1) }} {{ (-1) ** 3 }}"), "['a,b', 'c'] -1");
}

TEST(ChatTemplate, values_hold_no_cycles_and_no_chains_without_end) {
  EXPECT_NE(
      rendered("{% set ns = namespace(x=[]) %}{% for i in range(999) %}{% set ns.x = [ns.x] %}"
               "{% endfor %}{{ ns.x }}")
          .find("nested too deeply"),
      std::string::npos);
  EXPECT_NE(rendered("{% set ns = namespace() %}{% set ns.x = ns %}").find("can't be kept"),
            std::string::npos);
  EXPECT_EQ(rendered("{{ (1, 2) }} {{ (1,) }} {{ {'a': 1}.items() | list }} {{ (1,) == [1] }}"),
            "(1, 2) (1,) [('a', 1)] False");
}

TEST(ChatTemplate, errors_have_lines) {
  EXPECT_EQ(rendered("a\n{% if %}"), "! t:2: unexpected '%}'");
  EXPECT_EQ(rendered("\n\n{{ x.y }}"), "! t:3: 'x' is undefined");
  EXPECT_EQ(rendered("{{ raise_exception('no') }}"), "! t:1: the template refuses: no");
  EXPECT_NE(rendered("{% for x in y %}").find("without 'endfor'"), std::string::npos);
  EXPECT_NE(rendered("{{ 'a' | nonsense }}").find("no filter named 'nonsense'"), std::string::npos);
}

TEST(ChatTemplate, what_loops_or_grows_for_ever_is_an_error) {
  const char* const loops =
      "{% for i in range(999) %}{% for j in range(999) %}{% endfor %}{% endfor %}";
  EXPECT_NE(limited(loops, {.steps_max = 20'000}).find("does it loop?"), std::string::npos);
  EXPECT_NE(rendered("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}").find("nested too deeply"),
            std::string::npos);
  EXPECT_NE(rendered("{{ 'abcdefgh' * 999999999 }}").find("too large"), std::string::npos);
  EXPECT_NE(rendered("{{ range(9999999999) }}").find("more than"), std::string::npos);
  EXPECT_NE(rendered("{{ " + std::string(5000, '(') + " }}").find("not closed"), std::string::npos);
  EXPECT_NE(rendered("{{ " + std::string(5000, '(') + "1" + std::string(5000, ')') + " }}")
                .find("nested too deeply"),
            std::string::npos);
  EXPECT_NE(rendered("{{ 9223372036854775807 + 1 }}").find("too large"), std::string::npos);
}

TEST(ChatTemplate, the_time_is_what_it_is_told) {
  auto chat = ChatTemplate::parse("{{ strftime_now('%d %b %Y') }}").value();
  EXPECT_EQ(chat.render(Json::object(), 1'795'000'000).value(), "18 Nov 2026");
}

TEST(ReplyCounter, counts_what_an_empty_reply_would_not_have) {
  const auto tokenizer = parse_tokenizer_json(R"({"pre_tokenizer":{"type":"WhitespaceSplit"},
                               "model":{"type":"WordLevel","unk_token":"?","vocab":{"?":0}}})",
                                              "t")
                             .value();
  const auto format = ChatFormat::make(
      "{% for m in messages %}[ {{ m.role }} ] {% if m.reasoning_content %}think "
      "{{ m.reasoning_content }} {% endif %}{{ m.content }} {% for c in m.tool_calls or [] %}"
      "{{ c.function.name }} {% for k, v in c.function.arguments | items %}{{ k }} {{ v }} "
      "{% endfor %}{% endfor %}end {% endfor %}",
      Json::object());
  ASSERT_TRUE(format) << format.error().message;
  const auto counter = ReplyCounter::make(*tokenizer, *format);
  ASSERT_TRUE(counter) << counter.error().message;
  ReplyText reply;
  reply.content = "one two three";
  EXPECT_EQ(counter->count(reply).value(), 3u);
  reply.reasoning = "let me see";
  EXPECT_EQ(counter->count(reply).value(), 7u);
  reply.tool_calls = Json::parse(R"([{"id":"1","type":"function","function":
                                      {"name":"f","arguments":"{\"x\": 1}"}}])")
                         .value();
  EXPECT_EQ(counter->count(reply).value(), 10u);
  EXPECT_EQ(counter->count({}).value(), 0u);
}

}  // namespace
}  // namespace assay::text
