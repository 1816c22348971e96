#include "desk/client_course.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/display.h"
#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/json_list.h"
#include "base/talk.h"
#include "base/text.h"
#include "campaign/interrupt.h"
#include "campaign/recorded_run.h"
#include "campaign/run_folder.h"
#include "campaign/run_talk.h"
#include "desk/client_config.h"
#include "desk/client_run.h"
#include "desk/live_page.h"
#include "desk/local_server.h"
#include "desk/stand_in.h"
#include "desk/tool_run.h"
#include "metrics/failed_share.h"
#include "plan/config_reader.h"
#include "text/tokenizer.h"

namespace assay::desk {
namespace {

constexpr std::size_t kConfigBytesMax = std::size_t{4} << 20;
// Short beside an inference, which lasts a second or more on a desk.
constexpr const char* kMeterInterval = "200ms";
constexpr const char* kRowsFile = "client_prompts.jsonl";

Result<std::vector<std::uint16_t>> ports_of(const DeskOptions& options) {
  const auto usual = usual_ports();
  if (options.ports.empty()) return std::vector<std::uint16_t>(usual.begin(), usual.end());
  std::vector<std::uint16_t> out;
  for (const std::string& text : options.ports) {
    const auto port = parse_uint(text);
    if (!port || *port == 0 || *port > 65535) {
      return invalid(format("--port: '{}' is not a port from 1 to 65535", text));
    }
    out.push_back(static_cast<std::uint16_t>(*port));
  }
  return out;
}

int list_servers(const std::vector<LocalServer>& servers, bool json, const Talk& talk) {
  Json list = Json::array();
  std::string text;
  for (const LocalServer& one : servers) {
    list.push_back(Json()
                       .set("kind", one.kind)
                       .set("version", one.version)
                       .set("url", one.url)
                       .set("models", json_list(one.models)));
    text += format("{:<18} {}\n", one.kind + " " + one.version, one.url);
    for (const std::string& model : one.models) text += format("    {}\n", printable(model));
  }
  if (servers.empty()) text = "no server answers on this machine's usual ports\n";
  talk.print(json ? list.dump(2) + "\n" : text);
  return exit_code(servers.empty() ? ExitCode::unreachable : ExitCode::done);
}

// What shows the run while it goes on; both end with this, the page's snapshot first.
struct DeskViews {
  std::shared_ptr<void> painter{};
  LivePage* page = nullptr;
  DeskViews() = default;
  DeskViews(const DeskViews&) = delete;
  DeskViews& operator=(const DeskViews&) = delete;
  ~DeskViews() {
    if (page != nullptr) page->hide();
  }
};

campaign::LiveView desk_watch(bool painted, LivePage* page, const Talk& talk) {
  if (!painted && page == nullptr) return {};
  return
      [painted, page, &talk](const Json& facts, std::function<metrics::LiveSnapshot()> snapshot) {
        auto views = std::make_shared<DeskViews>();
        if (painted) views->painter = campaign::paint_live(facts, snapshot, talk);
        if (page != nullptr) {
          views->page = page;
          page->show(std::move(snapshot));
        }
        return std::shared_ptr<void>(views);
      };
}

// One run of `assay client`, from its flags to its result.
class DeskCourse {
 public:
  DeskCourse(const DeskOptions& options, const Talk& talk) : options_(options), talk_(talk) {}

  Result<void> prepare() {
    TRY(options_.client.check());
    TRY(choose_scenario());
    TRY(make_asked());
    TRY(choose_server());
    if (scenario_.agentic) TRY(add_recorded(options_.client.allow_code));
    ASSIGN_OR_RETURN(folder_, campaign::choose_folder(options_.folder));
    TRY(open_page());
    if (options_.quiet) return {};
    for (const std::string& note : notes_) talk_.say("note: " + printable(note));
    talk_.say(format("{} at {}: {} prompts and turns, {} inferences one after the other",
                     printable(server_.models.empty() ? "" : server_.models.front()), server_.url,
                     series_.items.size(), series_.inferences.size()));
    return {};
  }

  Result<int> run(std::span<const std::string> args) {
    const bool made = !std::filesystem::exists(folder_);
    TRY(write_file_atomic(folder_ / kRowsFile, dataset_text(series_)));
    const auto recorded = measure(args);
    if (recorded) return finish(*recorded);
    // A run that never began leaves nothing.
    std::error_code ignored;
    if (!std::filesystem::exists(campaign::log_folder(folder_), ignored)) {
      std::filesystem::remove(folder_ / kRowsFile, ignored);
      if (made) std::filesystem::remove(folder_, ignored);
    }
    return recorded.error();
  }

 private:
  Result<campaign::RecordedRun> measure(std::span<const std::string> args) {
    ASSIGN_OR_RETURN(plan::LoadedConfig loaded, config());
    ASSIGN_OR_RETURN(auto datasets, plan::load_datasets(loaded.config));
    ASSIGN_OR_RETURN(plan::PlanBundle bundle, plan::make_plan(loaded.config, std::move(datasets)));
    order_plan(series_, scenario_.delay, bundle);
    campaign::Preflight preflight;
    campaign::RunRequest request{.config = &loaded.config, .bundle = &bundle};
    request.preflight = &preflight;
    request.folder = folder_;
    request.facts = Json().set("client", facts());
    request.command = campaign::command_of("client", args);
    const campaign::InterruptGuard guard(control_);
    const campaign::LiveView watch = desk_watch(!options_.quiet, page_.get(), talk_);
    return campaign::record_run(request, options_.client, watch, control_);
  }

  // The config's scenario, or that of the stand-in prompts, with what the flags say instead.
  Result<void> choose_scenario() {
    if (options_.config.empty()) {
      if (!options_.scenario.empty() || !options_.prompts.empty() || !options_.tools.empty()) {
        return invalid("--scenario, --prompts, --tools: need a CONFIG");
      }
      scenario_ = {.name = options_.agentic ? "stand-in agents" : "stand-in prompts",
                   .iterations = 3,
                   .delay = {},
                   .agentic = options_.agentic,
                   .tools = false};
    } else {
      if (options_.agentic) return invalid("--agentic: a CONFIG says itself what its scenario is");
      TRY(read_config());
    }
    if (options_.iterations) {
      TRY(set_count("--iterations", *options_.iterations, 1, scenario_.iterations));
    }
    if (options_.warmups) TRY(set_count("--warmups", *options_.warmups, 0, scenario_.warmups));
    if (options_.delay) {
      if (*options_.delay < Duration{}) return invalid("--delay: must not be below 0");
      scenario_.delay = *options_.delay;
    }
    return {};
  }

  static Result<void> set_count(std::string_view flag, std::uint64_t value, std::uint64_t least,
                                std::uint32_t& out) {
    constexpr std::uint64_t kMost = 1000;
    if (value < least || value > kMost) {
      return invalid(format("{}: must be from {} to {}", flag, least, kMost));
    }
    out = static_cast<std::uint32_t>(value);
    return {};
  }

  Result<void> read_config() {
    ASSIGN_OR_RETURN(const std::string text, read_file(options_.config, kConfigBytesMax));
    config_sha256_ = sha256_hex(text);
    auto config = parse_client_config(text);
    if (!config) return config.error().within(options_.config);
    std::string names;
    for (const ClientScenario& one : config->scenarios) {
      names += (names.empty() ? "" : ", ") + one.name;
    }
    const auto found =
        std::ranges::find(config->scenarios, options_.scenario, &ClientScenario::name);
    if (options_.scenario.empty() && config->scenarios.size() == 1) {
      scenario_ = config->scenarios.front();
    } else if (found != config->scenarios.end()) {
      scenario_ = *found;
    } else {
      return invalid(format("--scenario: {} has {}; name one of them", options_.config, names));
    }
    std::string providers;
    for (const std::string& one : scenario_.providers) {
      providers += (providers.empty() ? "" : ", ") + one;
    }
    notes_.push_back(
        format("the config runs {} in its own process ({}); here the server has loaded what is "
               "measured, with its own settings",
               scenario_.model, providers.empty() ? "no provider" : providers));
    if (!options_.tools.empty() && !(scenario_.agentic && scenario_.tools)) {
      return invalid("--tools: this scenario runs no tools (IsAgentic, ToolsExecution)");
    }
    return {};
  }

  // What an agent's recorded answers have: the time of their tool calls, and their tokens.
  Result<void> add_recorded(bool allow_code) {
    if (!options_.tokenizer.empty()) {
      ASSIGN_OR_RETURN(const auto tokenizer, text::load_tokenizer(options_.tokenizer));
      const auto count = [&](std::string_view text) { return tokenizer->count(text); };
      TRY(count_recorded(files_, count, series_));
    } else {
      notes_.push_back(
          "no expected durations: they need the tokens of recorded answers (--tokenizer)");
    }
    std::size_t calls = 0;
    if (scenario_.tools) {
      ASSIGN_OR_RETURN(calls, count_tool_calls(files_));
    }
    if (calls == 0) {
      for (Item& item : series_.items) item.tools_s = 0;
    } else if (options_.tools.empty()) {
      notes_.push_back(
          format("{} recorded tool calls are not run (they never enter TTFT or tokens/s): --tools "
                 "names MLPerf Client's folder tools_sandbox",
                 calls));
    } else if (!allow_code) {
      return invalid(
          "--tools: recorded tool calls run code of the config's author, in a jail\n"
          "  add --allow-code");
    } else {
      TRY(run_tools(files_, options_.tools, scenario_.iterations, series_));
    }
    return {};
  }

  Result<void> make_asked() {
    std::vector<std::string> groups{options_.set};
    if (options_.set == "both") groups = {"base", "extended"};
    if (options_.config.empty()) {
      notes_.push_back(
          "stand-in prompts: of Client's lengths, without its words; these figures do not compare "
          "with those of the real prompts (a config of MLPerf Client and --prompts DIR)");
      for (PromptFile& file : stand_in_prompts(scenario_.agentic)) {
        if (std::ranges::find(groups, file.group) != groups.end()) {
          files_.push_back(std::move(file));
        }
      }
    } else {
      const auto config_folder = std::filesystem::path(options_.config).parent_path();
      ASSIGN_OR_RETURN(files_,
                       scenario_prompts(scenario_, config_folder, options_.prompts, groups));
    }
    SeriesSettings settings{.iterations = scenario_.iterations,
                            .warmups = scenario_.warmups,
                            .agentic = scenario_.agentic};
    if (!options_.no_salt) {
      settings.salt_seed = static_cast<std::uint64_t>(wall_now().ns) / 1'000'000;
    }
    ASSIGN_OR_RETURN(series_, make_series(files_, settings));
    return {};
  }

  Result<void> choose_server() {
    if (!options_.endpoint.empty()) {
      server_ = {.kind = "named", .url = options_.endpoint, .models = {options_.model}};
      if (options_.model.empty()) return invalid("--model: is required with --endpoint");
      return {};
    }
    ASSIGN_OR_RETURN(const auto ports, ports_of(options_));
    auto servers = find_local_servers(ports, OsClock());
    if (servers.empty()) {
      return Error{Code::refused,
                   "no server answers on this machine's usual ports (assay client --list)\n  start "
                   "llama-server, Ollama or LM Studio with a model, or name one with --endpoint"};
    }
    if (servers.size() > 1) {
      notes_.push_back(format("{} servers answer here; the first is asked (--endpoint chooses)",
                              servers.size()));
    }
    server_ = std::move(servers.front());
    if (!options_.model.empty()) {
      server_.models = {options_.model};
    } else if (server_.models.empty()) {
      return Error{Code::not_found,
                   format("{} at {} lists no model\n  load one, or name it with --model",
                          server_.kind, server_.url)};
    } else if (server_.models.size() > 1) {
      notes_.push_back(format("{} lists {} models; the first is asked (--model chooses)",
                              server_.kind, server_.models.size()));
    }
    return {};
  }

  Result<void> open_page() {
    if (!options_.page) return {};
    if (*options_.page > 65535) return invalid("--page: must be a port from 0 to 65535");
    Json facts;
    facts.set("model", server_.models.front())
        .set("server", format("{} at {}", server_.kind, server_.url))
        .set("folder", folder_.string());
    ASSIGN_OR_RETURN(page_, LivePage::open(static_cast<std::uint16_t>(*options_.page), series_,
                                           std::move(facts)));
    talk_.say("page at " + page_->url());
    return {};
  }

  // What the log keeps, for client_result() to read.
  Json facts() const {
    return Json()
        .set("config", options_.config)
        .set("config_sha256", config_sha256_)
        .set("scenario", scenario_.name)
        .set("config_model", scenario_.model)
        .set("stand_in", options_.config.empty())
        .set("set", options_.set)
        .set("agentic", scenario_.agentic)
        .set("iterations", scenario_.iterations)
        .set("warmups", scenario_.agentic ? 1U : scenario_.warmups)
        .set("delay_s", static_cast<double>(scenario_.delay.ns) / 1e9)
        .set("salted", !options_.no_salt)
        .set("server", server_.kind)
        .set("server_version", server_.version)
        .set("series", series_facts(series_));
  }

  Result<plan::LoadedConfig> config() const {
    plan::ConfigReader reader;
    reader.flag("--endpoint", server_.url);
    reader.flag("--model", server_.models.front());
    reader.flag("--dataset", (folder_ / kRowsFile).string());
    reader.flag("--report-dir", folder_.string());
    reader.flag("--concurrency", "1");
    reader.flag("--passes", "1");
    reader.flag("--streaming", "on");
    const Sampling& sampling = series_.sampling;
    reader.flag("--temperature", format("{}", sampling.temperature));
    if (sampling.top_k > 0) reader.flag("--top-k", format("{}", sampling.top_k));
    if (sampling.top_p > 0) reader.flag("--top-p", format("{}", sampling.top_p));
    if (!sampling.stop_on_eos) reader.flag("--ignore-eos", "");
    if (!options_.api_key_env.empty()) reader.flag("--api-key-env", options_.api_key_env);
    for (const std::string& header : options_.headers) reader.flag("--header", header);
    for (const std::string& meter : options_.meters) reader.flag("--meter", meter);
    if (!options_.meter_command.empty()) reader.flag("--meter-command", options_.meter_command);
    if (!options_.meters.empty() || !options_.meter_command.empty()) {
      reader.flag("--metrics-interval", kMeterInterval);
    }
    if (!options_.tokenizer.empty()) reader.flag("--tokenizer", options_.tokenizer);
    return reader.finish();
  }

  Result<int> finish(const campaign::RecordedRun& recorded) {
    const Ending ending = campaign::ending_of(recorded, options_.client);
    ASSIGN_OR_RETURN(ClientResult result, client_result(folder_));
    TRY(write_file_atomic(folder_ / kClientResult, result.json.dump(2) + "\n"));
    TRY(campaign::publish_again(folder_));
    const std::string text = result.text + format("files    {}\n", folder_.string());
    if (options_.json) {
      if (!options_.quiet) talk_.paint(text);
      talk_.print(result.json.set("exit", ending.json()).dump(2) + "\n");
    } else {
      talk_.print(text);
    }
    if (const std::string failed = metrics::failed_words(recorded.run.point); !failed.empty()) {
      talk_.say("warning: " + printable(failed));
    }
    for (const std::string& note : recorded.notes) talk_.say("note: " + printable(note));
    campaign::say_exhausted(ending, talk_);
    return ending.code();
  }

  const DeskOptions& options_;
  const Talk& talk_;
  ClientScenario scenario_{};
  std::vector<PromptFile> files_{};
  std::string config_sha256_{};
  Series series_{};
  LocalServer server_{};
  std::filesystem::path folder_{};
  std::vector<std::string> notes_{};
  std::unique_ptr<LivePage> page_{};
  run::Control control_{};
};

}  // namespace

Result<int> run_client(const DeskOptions& options, std::span<const std::string> args,
                       const Talk& talk) {
  if (options.list) {
    ASSIGN_OR_RETURN(const auto ports, ports_of(options));
    return list_servers(find_local_servers(ports, OsClock()), options.json, talk);
  }
  DeskCourse course(options, talk);
  TRY(course.prepare());
  return course.run(args);
}

}  // namespace assay::desk
