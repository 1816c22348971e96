#include "desk/series.h"

#include <utility>

#include "base/format.h"

namespace assay::desk {
namespace {

constexpr std::size_t kInferencesMax = 1'000'000;

class SeriesMaker {
 public:
  explicit SeriesMaker(const SeriesSettings& settings) : settings_(settings) {
    out_.agentic = settings.agentic;
  }

  Result<void> add(const PromptFile& file) {
    if (out_.items.empty()) {
      out_.sampling = file.sampling;
    } else if (file.sampling != out_.sampling) {
      return invalid(
          format("{}: other sampling (model_config.search) than the files before it; one "
                 "run has one",
                 file.name));
    }
    const std::size_t before = out_.inferences.size();
    if (settings_.agentic) {
      TRY(add_conversation(file));
    } else {
      TRY(add_prompts(file));
    }
    if (out_.inferences.size() > kInferencesMax) {
      return invalid(
          format("{}: more than {} inferences ({} before it)", file.name, kInferencesMax, before));
    }
    return {};
  }

  Series take() { return std::move(out_); }

 private:
  std::uint32_t add_item(const PromptFile& file, std::size_t number) {
    out_.items.push_back({.file = file.name,
                          .category = file.category,
                          .group = file.group,
                          .number = static_cast<std::uint32_t>(number)});
    return static_cast<std::uint32_t>(out_.items.size() - 1);
  }

  std::string next_salt() {
    if (!settings_.salt_seed) return {};
    return format("[{:08x}.{}]\n", *settings_.salt_seed & 0xffffffff, ++salts_);
  }

  void ask(const Inference& inference, const PromptFile& file, const ClientPrompt& prompt,
           const Json& messages, const std::string& salt) {
    Json row;
    Json salted = messages;
    if (!salt.empty()) {
      Json& first = salted.make_array().front();
      first.set("content", salt + std::string(first["content"].as_string()));
    }
    row.set("messages", std::move(salted)).set("max_tokens", file.tokens_max);
    if (prompt.thinking) {
      row.set("chat_template_kwargs", Json().set("enable_thinking", *prompt.thinking));
    }
    out_.inferences.push_back(inference);
    out_.rows.push_back(std::move(row));
  }

  Result<void> add_prompts(const PromptFile& file) {
    for (std::size_t i = 0; i < file.prompts.size(); ++i) {
      const ClientPrompt& prompt = file.prompts[i];
      if (prompt.recorded) {
        return invalid(format("{}: prompts[{}] ends with a recorded answer, so nothing is asked",
                              file.name, i));
      }
      const std::uint32_t item = add_item(file, i + 1);
      for (std::uint32_t k = 0; k < settings_.warmups + settings_.iterations; ++k) {
        const bool warmup = k < settings_.warmups;
        ask({.item = item, .warmup = warmup, .first = k == 0}, file, prompt, prompt.messages,
            next_salt());
      }
    }
    return {};
  }

  Result<void> add_conversation(const PromptFile& file) {
    const std::size_t entries = file.prompts.size();
    bool sound = entries >= 3 && entries % 2 == 1;
    for (std::size_t i = 0; sound && i < entries; ++i) {
      sound = file.prompts[i].recorded == (i >= 2 && i % 2 == 0);
    }
    if (!sound) {
      return invalid(
          format("{}: an agent's conversation is a warm-up, then questions and recorded "
                 "answers in turn; it ends with an answer",
                 file.name));
    }
    const std::size_t turns = (entries - 1) / 2;
    const std::uint32_t begin = add_item(file, 1);
    for (std::size_t turn = 1; turn < turns; ++turn) add_item(file, turn + 1);
    for (std::uint32_t k = 0; k < settings_.iterations; ++k) {
      const ClientPrompt& opening = file.prompts[0];
      ask({.item = begin, .warmup = true, .first = true}, file, opening, opening.messages,
          next_salt());
      Json history = Json::array();
      for (std::size_t turn = 0; turn < turns; ++turn) {
        const ClientPrompt& question = file.prompts[1 + 2 * turn];
        for (const Json& message : question.messages.items()) history.push_back(message);
        ask({.item = begin + static_cast<std::uint32_t>(turn)}, file, question, history,
            next_salt());
        for (const Json& message : file.prompts[2 + 2 * turn].messages.items()) {
          history.push_back(message);
        }
      }
    }
    return {};
  }

  const SeriesSettings& settings_;
  std::uint64_t salts_ = 0;
  Series out_{};
};

}  // namespace

Result<Series> make_series(const std::vector<PromptFile>& files, const SeriesSettings& settings) {
  SeriesMaker maker(settings);
  for (const PromptFile& file : files) TRY(maker.add(file));
  Series out = maker.take();
  if (out.items.empty()) return invalid("no prompt is asked");
  return out;
}

Json series_facts(const Series& series) {
  Json items = Json::array();
  for (const Item& item : series.items) {
    Json one = Json()
                   .set("file", item.file)
                   .set("category", item.category)
                   .set("group", item.group)
                   .set("number", item.number);
    if (item.recorded_tokens >= 0) one.set("recorded_tokens", item.recorded_tokens);
    if (item.tools_s) one.set("tools_s", *item.tools_s);
    if (!item.tools_why.empty()) one.set("tools_why", item.tools_why);
    items.push_back(std::move(one));
  }
  Json asked = Json::array();
  for (const Inference& one : series.inferences) {
    asked.push_back(Json().push_back(one.item).push_back(one.warmup));
  }
  Json out = Json().set("items", std::move(items)).set("asked", std::move(asked));
  if (series.agentic) out.set("agentic", true);
  return out;
}

Result<Series> series_from(const Json& facts) {
  Series out;
  out.agentic = facts["agentic"].as_bool();
  for (const Json& item : facts["items"].items()) {
    out.items.push_back({.file = std::string(item["file"].as_string()),
                         .category = std::string(item["category"].as_string()),
                         .group = std::string(item["group"].as_string()),
                         .number = static_cast<std::uint32_t>(item["number"].as_uint()),
                         .recorded_tokens = item["recorded_tokens"].as_int(-1),
                         .tools_s = item["tools_s"].is_number()
                                        ? std::optional(item["tools_s"].as_double())
                                        : std::nullopt,
                         .tools_why = std::string(item["tools_why"].as_string())});
  }
  for (const Json& one : facts["asked"].items()) {
    const std::uint64_t item = one[0].as_uint(out.items.size());
    if (item >= out.items.size()) {
      return Error{Code::corrupt, "client: an inference of no item"};
    }
    out.inferences.push_back(
        {.item = static_cast<std::uint32_t>(item), .warmup = one[1].as_bool()});
  }
  if (out.inferences.empty()) return Error{Code::not_found, "this is not a run of `assay client`"};
  return out;
}

}  // namespace assay::desk
