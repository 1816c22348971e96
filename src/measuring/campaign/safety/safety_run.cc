#include "campaign/safety/safety_run.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"
#include "campaign/safety/asked_series.h"
#include "plan/config_reader.h"

namespace assay::campaign {
namespace {

using safety::Item;
using safety::ItemOutcome;
using safety::Judge;
using safety::Judged;
using safety::Prompt;
using safety::Vote;
using Replies = std::map<std::string, AskedReply>;

constexpr const char* kUsedFile = "used.json";
constexpr const char* kAttacksFile = "attacks.yaml";
constexpr const char* kPackFile = "pack.yaml";
constexpr double kUnansweredMax = 0.1;  // as for any run: more is exit code 7

std::filesystem::path judge_folder(const SafetyWish& wish, const Judge& judge) {
  return wish.folder / "judges" / judge.name;
}
std::filesystem::path votes_file(const SafetyWish& wish, const Judge& judge) {
  return judge_folder(wish, judge) / "votes.jsonl";
}

// What the prompts' file has: with attacks the seeds alone.
const std::vector<Prompt>& seeds_of(const SafetyWish& wish) {
  return wish.attacks ? wish.seeds : wish.prompts;
}

Json safety_facts(const SafetyWish& wish) {
  Json out =
      Json().set("format", 1).set("note", safety::kNotOfficial).set("prompts", wish.prompts.size());
  if (wish.seal) {
    // A digest of the prompts themselves would let a reader try guesses.
    out.set("sealed", wish.seal->rows.commitment).set("used_sha256", sha256_hex(wish.seal->used));
  } else {
    out.set("prompts_sha256", safety::prompts_sha256(seeds_of(wish)));
  }
  if (wish.attacks) out.set("attacks_sha256", wish.attacks->sha256);
  if (wish.pack) out.set("pack", wish.pack->name).set("pack_sha256", wish.pack->sha256);
  return out.set("standard", wish.standard.name)
      .set("standard_sha256", wish.standard.sha256)
      .set("judges_sha256", wish.judges.sha256)
      .set("retries", wish.retries);
}

SeriesWish series_wish(const SafetyWish& wish, std::filesystem::path folder) {
  SeriesWish out{.folder = std::move(folder), .retries = wish.retries};
  if (wish.seal) out.seal = wish.seal->key;
  return out;
}

SeriesWish answers_wish(const SafetyWish& wish) {
  return series_wish(wish, wish.folder / "answers");
}

// Names a reply. In a sealed run only the key's holder can compute it, so that no reader can try
// likely replies.
std::string reply_digest(const SafetyWish& wish, std::string_view reply) {
  return sha256_hex((wish.seal ? "assay reply " + wish.seal->key.bytes : "") + std::string(reply));
}

SeriesWish judge_wish(const SafetyWish& wish, const Judge& judge) {
  SeriesWish out = series_wish(wish, judge_folder(wish, judge));
  out.accepts = [&judge](const std::string&, const std::string& text) {
    return safety::vote_of_words(judge, text).valid;
  };
  return out;
}

// The replies that judges see: those with a text, in the order of the prompts.
std::vector<Judged> judged_of(const SafetyWish& wish, const Replies& replies) {
  std::vector<Judged> out;
  for (const Prompt& prompt : wish.prompts) {
    const auto found = replies.find(prompt.uid);
    if (found == replies.end() || !found->second.answered) continue;
    if (trim(found->second.text).empty()) continue;
    out.push_back({.prompt = &prompt, .reply = found->second.text});
  }
  return out;
}

Result<plan::Config> judge_config(const safety::EndpointJudge& judge,
                                  const std::filesystem::path& rows) {
  plan::ConfigReader reader;
  const auto flag = [&reader](std::string_view name, const std::string& value) {
    if (!value.empty()) reader.flag(name, value);
  };
  flag("--endpoint", judge.endpoint);
  flag("--model", judge.model);
  flag("--api-type", judge.api_type);
  flag("--api-key-env", judge.api_key_env);
  flag("--concurrency", format("{}", judge.concurrency));
  flag("--max-output-tokens", format("{}", judge.max_new_tokens));
  flag("--temperature", format("{}", judge.temperature));
  flag("--query-timeout", judge.time_max);
  flag("--dataset", rows.string());
  ASSIGN_OR_RETURN(plan::LoadedConfig loaded, reader.finish());
  return std::move(loaded.config);
}

std::vector<AskedRow> judge_rows(const safety::EndpointJudge& how,
                                 const std::vector<Judged>& judged) {
  std::vector<AskedRow> out;
  for (const Judged& one : judged) {
    Json row = Json().set("prompt", safety::judge_question(how, one));
    if (!how.system.empty()) row.set("system", how.system);
    out.push_back({.uid = one.prompt->uid, .row = std::move(row)});
  }
  return out;
}

std::vector<AskedRow> answer_rows(const SafetyWish& wish) {
  std::vector<AskedRow> out;
  for (const Prompt& prompt : wish.prompts) out.push_back({prompt.uid, prompt.to_json()});
  return out;
}

Result<SeriesEnd> ask_judge(const SafetyWish& wish, const Judge& judge,
                            const std::vector<Judged>& judged, const SafetyAsked& asked,
                            const ClientOptions& client, run::Control& control) {
  const auto& how = std::get<safety::EndpointJudge>(judge.kind);
  const std::vector<AskedRow> rows = judge_rows(how, judged);
  SeriesWish series = judge_wish(wish, judge);
  auto config = judge_config(how, safety_prompts_file(wish.folder));
  if (!config) return config.error().within(format("judge {}", judge.name));
  series.config = *std::move(config);
  series.command = asked.command;
  Preflight preflight;
  auto end = ask_series(series, rows, client, preflight, control);
  if (!end) return end.error().within(format("judge {}", judge.name));
  return end;
}

std::string votes_text(const std::vector<Judged>& judged, const std::vector<Vote>& votes) {
  std::string out;
  for (std::size_t i = 0; i < votes.size(); ++i) {
    out += votes[i]
               .to_json()
               .set("uid", judged[i].prompt->uid)
               .set("reply_sha256", sha256_hex(judged[i].reply))
               .dump() +
           '\n';
  }
  return out;
}

// Votes of a command by uid and reply: a reply that was recorded later is judged later.
Result<std::map<std::string, Vote>> kept_votes(const SafetyWish& wish, const Judge& judge) {
  std::map<std::string, Vote> out;
  if (!std::filesystem::exists(votes_file(wish, judge))) return out;
  ASSIGN_OR_RETURN(const std::string text, read_file(votes_file(wish, judge)));
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    ASSIGN_OR_RETURN(const Json json, Json::parse(line));
    ASSIGN_OR_RETURN(Vote vote, Vote::from_json(json));
    out[format("{} {}", json["uid"].as_string(), json["reply_sha256"].as_string())] =
        std::move(vote);
  }
  return out;
}

Result<void> call_command(const SafetyWish& wish, const Judge& judge,
                          const std::vector<Judged>& judged) {
  if (std::filesystem::exists(votes_file(wish, judge))) {
    ASSIGN_OR_RETURN(const auto kept, kept_votes(wish, judge));
    if (kept.size() == judged.size()) return {};
  }
  auto votes = safety::command_votes(judge, judged);
  if (!votes) return votes.error().within(format("judge {}", judge.name));
  return write_file_atomic(votes_file(wish, judge), votes_text(judged, *votes));
}

// Makes every call of every judge that is missing.
Result<SeriesEnd> call_judges(const SafetyWish& wish, const Replies& replies,
                              const SafetyAsked& asked, const ClientOptions& client,
                              run::Control& control) {
  const std::vector<Judged> judged = judged_of(wish, replies);
  for (const Judge& judge : wish.judges.judges) {
    if (judged.empty() || std::holds_alternative<safety::RuleJudge>(judge.kind)) continue;
    if (asked.say) asked.say(format("judge {}: {} replies", judge.name, judged.size()));
    if (std::holds_alternative<safety::CommandJudge>(judge.kind)) {
      TRY(call_command(wish, judge, judged));
      continue;
    }
    ASSIGN_OR_RETURN(const SeriesEnd end, ask_judge(wish, judge, judged, asked, client, control));
    if (!end.finished) return end;
  }
  return SeriesEnd();
}

// The recorded votes of one judge, by uid.
Result<std::map<std::string, Vote>> votes_of(const SafetyWish& wish, const Judge& judge,
                                             const std::vector<Judged>& judged) {
  std::map<std::string, Vote> out;
  Replies replies;
  std::map<std::string, Vote> kept;
  if (std::holds_alternative<safety::EndpointJudge>(judge.kind)) {
    ASSIGN_OR_RETURN(replies, load_series(judge_wish(wish, judge)));
  } else if (std::holds_alternative<safety::CommandJudge>(judge.kind)) {
    ASSIGN_OR_RETURN(kept, kept_votes(wish, judge));
  }
  for (const Judged& one : judged) {
    const std::string& uid = one.prompt->uid;
    Vote vote{
        .judge = judge.name, .fault = safety::Fault::not_asked, .why = "the judge was not asked"};
    if (std::holds_alternative<safety::RuleJudge>(judge.kind)) {
      vote = safety::rule_vote(judge, one);
    } else if (const auto reply = replies.find(uid); reply != replies.end()) {
      const bool late = reply->second.asked == reply->second.timed_out;
      vote.fault = late ? safety::Fault::timed_out : safety::Fault::failed;
      vote.why =
          late ? "every query to the judge took too long" : "every query to the judge failed";
      if (reply->second.answered) vote = safety::vote_of_words(judge, reply->second.text);
      vote.asked = reply->second.asked;
    } else if (const auto at = kept.find(format("{} {}", uid, sha256_hex(one.reply)));
               at != kept.end()) {
      vote = at->second;
    }
    out.emplace(uid, std::move(vote));
  }
  return out;
}

Item item_of(const SafetyWish& wish, const Prompt& prompt, const Replies& replies) {
  Item item{.uid = prompt.uid,
            .hazard = prompt.hazard,
            .persona = prompt.persona,
            .locale = prompt.locale,
            .modality = safety::modality_of(prompt),
            .cluster = prompt.cluster,
            .seed_uid = prompt.seed_uid,
            .attack = prompt.attack,
            .leaf = prompt.leaf,
            .outcome = ItemOutcome::unanswered,
            .asked = 0};
  const auto found = replies.find(prompt.uid);
  if (found == replies.end()) return item;
  const AskedReply& reply = found->second;
  item.asked = reply.asked;
  if (!reply.answered) return item;
  item.outcome = trim(reply.text).empty() ? ItemOutcome::empty : ItemOutcome::answered;
  item.refused = safety::begins_as_refusal(wish.judges, reply.text);
  item.reply_sha256 = reply_digest(wish, reply.text);
  return item;
}

// One line of a command's votes for each reply that it was to judge.
Result<void> check_votes_file(const SafetyWish& wish, const Judge& judge,
                              const std::vector<Judged>& judged, std::vector<std::string>& out) {
  if (judged.empty()) return {};
  ASSIGN_OR_RETURN(const std::string text, read_file(votes_file(wish, judge)));
  ASSIGN_OR_RETURN(const auto kept, kept_votes(wish, judge));
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  const auto missing = std::ranges::count_if(judged, [&kept](const Judged& one) {
    return !kept.contains(format("{} {}", one.prompt->uid, sha256_hex(one.reply)));
  });
  if (lines == judged.size() && missing == 0) return {};
  out.push_back(format("judge {}: {} votes for {} replies, {} of which have none", judge.name,
                       lines, judged.size(), missing));
  return {};
}

// Whether each prompt, and each question to a judge, was asked when it was due, once, and with the
// words that it should have.
Result<void> check_journal(const SafetyWish& wish, std::vector<std::string>& out) {
  const auto add = [&out](const std::vector<std::string>& found, const std::string& of) {
    for (const std::string& one : found) out.push_back(of + one);
  };
  ASSIGN_OR_RETURN(const auto asked, check_series(answers_wish(wish), answer_rows(wish)));
  add(asked, "");
  ASSIGN_OR_RETURN(const Replies replies, load_series(answers_wish(wish)));
  const std::vector<Judged> judged = judged_of(wish, replies);
  for (const Judge& judge : wish.judges.judges) {
    if (const auto* const how = std::get_if<safety::EndpointJudge>(&judge.kind)) {
      ASSIGN_OR_RETURN(const auto called,
                       check_series(judge_wish(wish, judge), judge_rows(*how, judged)));
      add(called, "judges/");
    } else if (std::holds_alternative<safety::CommandJudge>(judge.kind)) {
      TRY(check_votes_file(wish, judge, judged, out));
    }
  }
  return {};
}

struct Derived {
  std::vector<Item> items{};
  safety::GradeReport report{};
  std::optional<safety::PairReport> pairs{};
  std::string verdicts{};
  std::string grade{};
};

Result<Derived> derive(const SafetyWish& wish) {
  Derived out;
  ASSIGN_OR_RETURN(out.items, derive_items(wish));
  ASSIGN_OR_RETURN(out.report, safety::grade_items(wish.standard, out.items));
  if (wish.attacks) {
    ASSIGN_OR_RETURN(out.pairs, safety::fold_pairs(*wish.attacks, out.items, {}));
  }
  out.verdicts = safety::items_text(out.items);
  out.grade = out.report.to_json().dump(2) + "\n";
  return out;
}

Result<void> write_derived(const SafetyWish& wish, const Derived& derived) {
  TRY(write_file_atomic(wish.folder / "verdicts.jsonl", derived.verdicts));
  TRY(write_file_atomic(wish.folder / "grade.txt", derived.report.text()));
  if (derived.pairs) {
    TRY(write_file_atomic(wish.folder / "pairs.txt", derived.pairs->text()));
    TRY(write_file_atomic(wish.folder / "pairs.json", derived.pairs->to_json().dump(2) + "\n"));
  }
  return write_file_atomic(wish.folder / "grade.json", derived.grade);
}

void set_ending(const safety::GradeReport& report, Ending& ending) {
  const safety::Counts& counts = report.overall.counts;
  const std::uint64_t all = counts.graded + counts.invalid + counts.unanswered;
  if (static_cast<double>(counts.unanswered) > kUnansweredMax * static_cast<double>(all)) {
    ending.add(ExitCode::too_many_failed,
               format("{} of {} prompts have no answer", counts.unanswered, all));
  }
  for (const std::string& finding : report.findings) ending.add(ExitCode::findings, finding);
}

// A program that judges would read the prompts from a file.
Result<void> check_sealed_judges(const SafetyWish& wish) {
  if (!wish.seal) return {};
  for (const Judge& judge : wish.judges.judges) {
    if (!std::holds_alternative<safety::CommandJudge>(judge.kind)) continue;
    return invalid(
        format("judge {}: a command reads prompts from a file, and sealed prompts are in "
               "none\n  use a rule or an endpoint",
               judge.name));
  }
  return {};
}

}  // namespace

std::filesystem::path safety_prompts_file(const std::filesystem::path& folder) {
  return folder / "prompts.jsonl";
}

Result<void> begin_safety(const SafetyWish& wish) {
  const auto facts = wish.folder / "safety.json";
  if (std::filesystem::exists(facts)) {
    return invalid(
        format("'{}' holds a safety run already\n  --resume goes on with it, or name "
               "another folder",
               wish.folder.string()));
  }
  for (const Prompt& prompt : wish.prompts) {
    if (wish.standard.find(safety::main_hazard(prompt.hazard)) != nullptr) continue;
    return invalid(format("prompt '{}': the standard '{}' has no hazard '{}'", prompt.uid,
                          wish.standard.name, prompt.hazard));
  }
  TRY(check_sealed_judges(wish));
  TRY(write_file_atomic(
      safety_prompts_file(wish.folder),
      safety::prompts_text(wish.seal ? safety::public_prompts(wish.seal->rows) : seeds_of(wish))));
  if (wish.pack) TRY(write_file_atomic(wish.folder / kPackFile, wish.pack->text));
  if (wish.attacks) TRY(write_file_atomic(wish.folder / kAttacksFile, wish.attacks->text));
  if (wish.seal) TRY(write_file_atomic(wish.folder / kUsedFile, wish.seal->used));
  TRY(write_file_atomic(wish.folder / "judges.yaml", wish.judges.text));
  TRY(write_file_atomic(wish.folder / "standard.yaml", wish.standard.text));
  // The last: a folder without it holds no safety run.
  return write_file_atomic(facts, safety_facts(wish).dump(2) + "\n");
}

Result<safety::SealedRows> used_of(const std::filesystem::path& folder) {
  ASSIGN_OR_RETURN(const Json used, read_json_file(folder / kUsedFile));
  auto rows = safety::read_used(used);
  if (!rows) return rows.error().within((folder / kUsedFile).string());
  ASSIGN_OR_RETURN(const std::string text, read_file(safety_prompts_file(folder)));
  if (text != safety::prompts_text(safety::public_prompts(*rows))) {
    return Error{Code::corrupt,
                 format("'{}': prompts.jsonl does not name the used prompts", folder.string())};
  }
  return rows;
}

Result<void> use_sealed(const std::string& set_text, const SealKey& key, std::uint64_t draw,
                        std::string_view seed, SafetyWish& wish) {
  ASSIGN_OR_RETURN(const safety::SealedRows set, safety::read_sealed(set_text));
  const Json used = safety::used_rows(set, draw, seed);
  SafetySeal seal{.key = key, .used = used.dump() + "\n"};
  ASSIGN_OR_RETURN(seal.rows, safety::read_used(used));
  ASSIGN_OR_RETURN(wish.prompts, safety::open_rows(seal.rows, key));
  wish.seal = std::move(seal);
  return {};
}

Result<void> use_attacks(safety::Attacks attacks, SafetyWish& wish) {
  wish.seeds = std::move(wish.prompts);
  ASSIGN_OR_RETURN(wish.prompts, safety::with_twins(wish.seeds, attacks));
  wish.attacks = std::move(attacks);
  return {};
}

Result<SafetyWish> open_safety(const std::filesystem::path& folder,
                               const std::optional<SealKey>& key) {
  ASSIGN_OR_RETURN(const Json facts, read_json_file(folder / "safety.json"));
  SafetyWish out{.folder = folder, .retries = facts["retries"].as_uint(1)};
  if (facts["sealed"].is_string()) {
    if (!key) {
      return invalid(
          format("'{}' used sealed prompts\n  --seal-key FILE opens it; assay safety "
                 "prove {} checks its proofs without the key",
                 folder.string(), folder.string()));
    }
    SafetySeal seal{.key = *key};
    ASSIGN_OR_RETURN(seal.used, read_file(folder / kUsedFile));
    ASSIGN_OR_RETURN(seal.rows, used_of(folder));
    ASSIGN_OR_RETURN(out.prompts, safety::open_rows(seal.rows, *key));
    out.seal = std::move(seal);
  } else {
    ASSIGN_OR_RETURN(out.prompts, safety::load_prompts(safety_prompts_file(folder).string()));
  }
  if (facts["attacks_sha256"].is_string()) {
    ASSIGN_OR_RETURN(auto attacks, safety::find_attacks((folder / kAttacksFile).string()));
    TRY(use_attacks(std::move(attacks), out));
  }
  if (facts["pack_sha256"].is_string()) {
    ASSIGN_OR_RETURN(out.pack, safety::find_pack((folder / kPackFile).string()));
  }
  ASSIGN_OR_RETURN(out.standard, safety::find_standard((folder / "standard.yaml").string()));
  ASSIGN_OR_RETURN(out.judges, safety::find_judges((folder / "judges.yaml").string()));
  const Json now = safety_facts(out);
  for (const auto& [name, value] : facts.members()) {
    if (now[name].dump() == value.dump() || name == "note") continue;
    return Error{Code::corrupt, format("'{}': {} is {} in safety.json and {} in the files",
                                       folder.string(), name, value.dump(), now[name].dump())};
  }
  return out;
}

Result<std::vector<Item>> derive_items(const SafetyWish& wish) {
  ASSIGN_OR_RETURN(const Replies replies, load_series(answers_wish(wish)));
  const std::vector<Judged> judged = judged_of(wish, replies);
  std::vector<std::map<std::string, Vote>> votes;
  for (const Judge& judge : wish.judges.judges) {
    ASSIGN_OR_RETURN(auto one, votes_of(wish, judge, judged));
    votes.push_back(std::move(one));
  }
  std::vector<Item> out;
  for (const Prompt& prompt : wish.prompts) {
    Item item = item_of(wish, prompt, replies);
    if (item.outcome == ItemOutcome::empty) item.verdict = {.valid = true, .safe = true};
    if (item.outcome == ItemOutcome::answered) {
      for (auto& of_judge : votes) item.votes.push_back(std::move(of_judge.at(item.uid)));
      // A judge may repeat the prompt.
      for (Vote& vote : item.votes) vote.words = wish.seal ? std::string() : vote.words;
      item.verdict = safety::joint_verdict(wish.judges.rule, item.votes);
    }
    out.push_back(std::move(item));
  }
  return out;
}

Result<SafetyEnd> run_safety(const SafetyWish& wish, const SafetyAsked& asked,
                             const ClientOptions& client, run::Control& control) {
  SafetyEnd out;
  const std::vector<AskedRow> rows = answer_rows(wish);
  SeriesWish series = answers_wish(wish);
  series.config = asked.config;
  series.command = asked.command;
  if (asked.say) asked.say(format("asking {} prompts", rows.size()));
  Preflight preflight;
  ASSIGN_OR_RETURN(SeriesEnd end, ask_series(series, rows, client, preflight, control));
  if (end.finished) {
    ASSIGN_OR_RETURN(const Replies replies, load_series(series));
    ASSIGN_OR_RETURN(end, call_judges(wish, replies, asked, client, control));
  }
  out.finished = end.finished;
  out.ending = end.ending;
  ASSIGN_OR_RETURN(Derived derived, derive(wish));
  // A grade of a part would look like the grade.
  if (out.finished) TRY(write_derived(wish, derived));
  out.report = std::move(derived.report);
  out.pairs = std::move(derived.pairs);
  if (out.finished) set_ending(out.report, out.ending);
  return out;
}

Result<std::vector<std::string>> check_safety(const SafetyWish& wish) {
  ASSIGN_OR_RETURN(const Derived derived, derive(wish));
  std::vector<std::string> out;
  const auto compare = [&](const char* name, const std::string& wanted) {
    const auto text = read_file(wish.folder / name);
    if (!text) {
      out.push_back(text.error().message);
    } else if (*text != wanted) {
      out.push_back(format("{} is not what the recorded replies and votes give", name));
    }
  };
  TRY(check_journal(wish, out));
  compare("verdicts.jsonl", derived.verdicts);
  compare("grade.json", derived.grade);
  compare("grade.txt", derived.report.text());
  if (derived.pairs) {
    compare("pairs.json", derived.pairs->to_json().dump(2) + "\n");
    compare("pairs.txt", derived.pairs->text());
  }
  return out;
}

}  // namespace assay::campaign
