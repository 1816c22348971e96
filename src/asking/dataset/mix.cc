#include "dataset/mix.h"

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"
#include "dataset/synthetic.h"

namespace assay::dataset {
namespace {

constexpr double kShareMost = 1e9;
constexpr std::int64_t kUsersMost = 1'000'000;

Result<LengthSpec> length_of(std::string_view value) {
  std::string text(value);
  std::ranges::replace(text, '/', ',');
  return parse_length(text);
}

// A value of the request's body: JSON where it is some, else a text.
Json body_value(std::string_view value) {
  const auto json = Json::parse(value);
  return json ? *json : Json(value);
}

Result<void> take_option(std::string_view key, std::string_view value, SyntheticClass& out) {
  if (key == "share") {
    const auto share = parse_double(value);
    if (!share || !(*share > 0 && *share <= kShareMost)) {
      return invalid(format("share={}: a share is a number above 0", value));
    }
    out.share = *share;
  } else if (key == "rate") {
    const auto rate = parse_double(value);
    if (!rate || !(*rate >= 0 && *rate <= kShareMost)) {
      return invalid(format("rate={}: a rate is queries a second, 0 or more", value));
    }
    out.rate = *rate;
  } else if (key == "law") {
    out.law = value;
  } else if (key == "concurrency") {
    const auto users = parse_int(value);
    if (!users || *users < 0 || *users > kUsersMost) {
      return invalid(format("concurrency={}: a number of users, at most {}", value, kUsersMost));
    }
    out.concurrency = static_cast<std::uint32_t>(*users);
  } else if (key == "think") {
    const auto think = parse_duration(value, 1_s);
    if (!think) return invalid(format("think={}: a time as 2s", value));
    out.think = *think;
  } else if (key == "isl") {
    ASSIGN_OR_RETURN(out.isl, length_of(value));
  } else if (key == "osl") {
    ASSIGN_OR_RETURN(out.osl, length_of(value));
  } else if (key == "prefix") {
    ASSIGN_OR_RETURN(out.prefixes, parse_prefixes(value));
  } else if (key == "image" || key == "audio" || key == "video") {
    ASSIGN_OR_RETURN(out.media.emplace_back(), parse_medium(key, value));
  } else if (key == "slo") {
    TRY(parse_class_limits(value));
    out.slo = value;
  } else if (key == "model") {
    out.overrides.set("model", value);
  } else if (key == "priority") {
    ASSIGN_OR_RETURN(const std::int64_t priority, parse_int(value));
    out.overrides.set("priority", priority);
  } else if (key.starts_with("body.") && key.size() > 5) {
    out.overrides.set(key.substr(5), body_value(value));
  } else {
    return invalid(format(
        "\"{}\" is not part of a class; known are share, rate, law, concurrency, think, isl, "
        "osl, prefix, image, audio, video, slo, model, priority and body.FIELD",
        key));
  }
  return {};
}

}  // namespace

Result<SyntheticClass> parse_class(std::string_view text) {
  SyntheticClass out;
  const std::vector<std::string_view> parts = split(text, ',');
  out.name = trim(parts.front());
  if (!is_plain_id(out.name)) {
    return invalid(format("a class begins with its name, {}: \"{}\"", kPlainId, text));
  }
  bool shared = false;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string_view::npos) {
      return invalid(
          format("class {}: \"{}\" is not an option; write key=value", out.name, parts[i]));
    }
    const auto taken =
        take_option(trim(parts[i].substr(0, equals)), trim(parts[i].substr(equals + 1)), out);
    if (!taken) return taken.error().within(format("class {}", out.name));
    shared = shared || trim(parts[i].substr(0, equals)) == "share";
  }
  if (!out.law.empty() && !out.rate) {
    return invalid(format("class {}: a law of arrival needs a rate: rate=20", out.name));
  }
  if (out.rate && out.concurrency) {
    return invalid(format("class {}: a rate or a concurrency, not both", out.name));
  }
  if (out.think > Duration{} && !out.concurrency) {
    return invalid(
        format("class {}: to think is for users in a closed loop: concurrency=8", out.name));
  }
  const std::optional<double> load =
      out.concurrency ? std::optional<double>(*out.concurrency) : out.rate;
  if (load && !shared) {
    if (*load == 0) return invalid(format("class {}: a load of 0 needs a share", out.name));
    out.share = *load;
  }
  return out;
}

TrafficMix mix_of(const std::vector<SyntheticClass>& classes) {
  TrafficMix out;
  for (const SyntheticClass& one : classes) {
    auto limits = parse_class_limits(one.slo);
    CHECK(limits);
    out.push_back(
        {.name = one.name, .share = one.share, .slo = one.slo, .limits = *std::move(limits)});
  }
  return out;
}

Result<Dataset> make_mix(const SyntheticSpec& spec, std::string name) {
  CHECK(!spec.classes.empty());
  auto parts = std::make_shared<std::vector<Dataset>>();
  auto overrides = std::make_shared<std::vector<Json>>();
  Dataset out;
  out.name = name.empty() ? "synthetic" : std::move(name);
  for (const SyntheticClass& one : spec.classes) {
    SyntheticSpec own = spec;
    own.classes.clear();
    own.seed = spec.seed ^ xxh3(one.name);
    if (one.isl) own.isl = *one.isl;
    if (one.osl) own.osl = one.osl;
    if (!one.prefixes.empty()) own.prefixes = one.prefixes;
    auto made = make_synthetic(own, one.name);
    if (!made) return made.error().within(format("class {}", one.name));
    out.recipe +=
        format("{}class {} share {} {} {}", out.recipe.empty() ? "" : "; ", one.name, one.share,
               one.overrides.is_null() ? "{}" : one.overrides.dump(), made->recipe);
    for (const Medium& medium : one.media) out.recipe += ", " + to_string(medium);
    out.slow_rows = out.slow_rows || made->slow_rows || !one.media.empty();
    for (const std::string& note : made->notes) {
      out.notes.push_back(format("class {}: {}", one.name, note));
    }
    parts->push_back(*std::move(made));
    overrides->push_back(one.overrides);
  }
  out.made_rows = spec.count;
  out.mix = mix_of(spec.classes);
  out.make_row = [parts, overrides, mix = out.mix, spec](std::uint32_t row) {
    const std::size_t of = class_of(mix, row);
    Sample sample = (*parts)[of].make_row(row);
    sample.overrides = (*overrides)[of];
    Rng noise(spec.seed ^ xxh3(format("media {}", row)));
    add_media(spec.classes[of].media, spec.file_columns, noise, sample);
    return sample;
  };
  return out;
}

}  // namespace assay::dataset
