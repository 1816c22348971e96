// A reader's own terms against one curve: the whole sentence and the whole document.
#include "decide/terms.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "decide/served.h"

namespace assay::decide {
namespace {

metrics::CurvePoint level_of_curve(std::int64_t concurrency, double ttft_ms, double per_second,
                                   const std::string& unit = {}) {
  metrics::CurvePoint out{.name = format("r{}", concurrency), .concurrency = concurrency};
  out.measured = true;
  out.unit = unit;
  (unit.empty() ? out.run.system_tps : out.run.units_per_s) = per_second;
  out.run.ttft_p90_ms = ttft_ms;
  return out;
}

// Three levels: the answer, one that was not measured, and one that breaks the promise.
metrics::Curve three_levels(const std::string& unit = {}) {
  metrics::Curve out{.model = "m"};
  out.points = {level_of_curve(8, 10, 100, unit), level_of_curve(16, 10, 150, unit),
                level_of_curve(32, 2500, 200, unit)};
  out.points[1].measured = false;
  out.points[0].power_kw = 2;
  out.points[2].power_kw = 3;
  out.points[0].accuracy = {{.dataset = "d", .score = 0.5}};
  return out;
}

Terms priced() { return {.price_per_hour = 36, .limits = *parse_limits("ttft_p90<=2s")}; }

TEST(TermsWhole, the_sentence_has_users_cost_energy_accuracy_and_what_was_simulated) {
  metrics::Curve curve = three_levels();
  const std::string served =
      "8 users at once are served within ttft_p90<=2s (r8); at 32 users, TTFT P90 is 2.50 s, limit "
      "2.00 s";
  EXPECT_EQ(users_sentence(curve, priced()),
            served +
                "; $100 a million tokens with all of them sold; 20.0 J a token; accuracy scored at "
                "r8: d 0.500");
  curve.simulated = true;
  curve.points[0].power_kw.reset();
  curve.points[0].accuracy.clear();
  EXPECT_EQ(users_sentence(curve, {.limits = priced().limits}),
            served + "; accuracy not scored; simulated, not measured");
  curve.points[0].run.ttft_p90_ms = 2100;
  EXPECT_EQ(users_sentence(curve, priced()),
            "no measured point keeps ttft_p90<=2s: at concurrency 8, TTFT P90 is 2.10 s, limit "
            "2.00 s; simulated, not measured");
  EXPECT_EQ(users_sentence(three_levels("image"), priced()),
            served +
                "; $0.100 a thousand images with all of them sold; 20.0 J for each image; accuracy "
                "scored at r8: d 0.500");
}

TEST(TermsWhole, the_document_is_the_curves_own_with_what_the_terms_say) {
  for (const auto& [unit, key, each] : {std::tuple{"", "dollars_per_million_tokens", 1e6},
                                        {"image", "dollars_per_thousand_units", 1e3}}) {
    const metrics::Curve curve = three_levels(unit);
    const Json plain = metrics::curve_json(curve);
    EXPECT_EQ(curve_json(curve, {}).dump(), plain.dump());
    const Terms terms = priced();
    Json points = plain["points"];
    points.make_array()[0].set(key, 36.0 / 3600 / 100 * each).set("slo_kept", true);
    points.make_array()[2].set(key, 36.0 / 3600 / 200 * each).set("slo_kept", false);
    Json wanted = plain;
    wanted.set("points", points)
        .set("dollars_per_hour", 36.0)
        .set("slo",
             served_json(served(levels_of(curve, terms.limits), terms.limits), terms.limits));
    EXPECT_EQ(curve_json(curve, terms).dump(), wanted.dump());
  }
}

TEST(TermsWhole, a_lot_is_of_tokens_or_of_the_unit_in_the_plural) {
  const auto words = [](std::string_view unit) {
    const Lot lot = lot_of(unit);
    return format("{} = {} in {}", lot.words, lot.size, lot.key);
  };
  EXPECT_EQ(words(""), "a million tokens = 1000000 in dollars_per_million_tokens");
  EXPECT_EQ(words("image"), "a thousand images = 1000 in dollars_per_thousand_units");
}

TEST(TermsWhole, a_point_without_users_is_as_far_from_others_as_one_with_one_user) {
  metrics::Curve curve;
  curve.points = {level_of_curve(64, 10, 1), level_of_curve(2, 10, 1)};
  for (metrics::CurvePoint& point : curve.points) point.accuracy = {{.dataset = "d", .score = 1}};
  EXPECT_EQ(accuracy_words(curve, level_of_curve(0, 10, 1)), "scored at r2: d 1.00");
  curve.points[1] = level_of_curve(0, 10, 1);
  curve.points[1].accuracy = {{.dataset = "d", .score = 1}};
  EXPECT_EQ(accuracy_words(curve, level_of_curve(2, 10, 1)), "scored at r0: d 1.00");
}

}  // namespace
}  // namespace assay::decide
