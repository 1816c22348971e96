#include "campaign/prefix_reuse.h"

#include <algorithm>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "campaign/run_folder.h"
#include "campaign/sent_body.h"
#include "domain/quiet_sink.h"
#include "observe/prefix_reuse.h"
#include "record/event_log.h"

namespace assay::campaign {
namespace {

constexpr std::uint32_t kBytesOfToken = 4;
constexpr std::size_t kBytesOfId = sizeof(std::int32_t);

// A prompt's symbols as bytes: ids of four bytes each, or text.
struct Symbols {
  std::string bytes{};
  bool ids = false;
  std::string scope{};
};

void put_id(std::string& out, std::int32_t id) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    out += static_cast<char>(static_cast<std::uint32_t>(id) >> shift & 0xff);
  }
}

std::optional<std::string> ids_of_text(const CountingTokenizer& counting, const Json& body,
                                       std::int64_t now_unix_s) {
  std::string text;
  bool special = false;
  if (body["messages"].is_array()) {
    if (!counting.chat || !body["chat_template"].is_null()) return std::nullopt;
    auto rendered = counting.chat->render({.messages = body["messages"],
                                           .tools = body["tools"],
                                           .kwargs = body["chat_template_kwargs"],
                                           .now_unix_s = now_unix_s});
    if (!rendered) return std::nullopt;
    text = *std::move(rendered);
  } else if (body["prompt"].is_string() || body["text"].is_string()) {
    text = body[body["prompt"].is_string() ? "prompt" : "text"].as_string();
    special = true;
  } else {
    return std::nullopt;
  }
  const auto ids = counting.tokenizer->encode(text, special);
  if (!ids) return std::nullopt;
  std::string out;
  for (const auto id : *ids) put_id(out, static_cast<std::int32_t>(id));
  return out;
}

Symbols symbols_of(const std::string& body, const Json& json, const CountingTokenizer* counting,
                   std::int64_t now_unix_s) {
  Symbols out{.scope = json["model"].dump()};
  for (const char* key : {"prompt", "input_ids"}) {
    if (!json[key].is_array() || !json[key][0].is_number()) continue;
    out.ids = true;
    for (const Json& id : json[key].items()) put_id(out.bytes, static_cast<int>(id.as_int()));
    return out;
  }
  if (counting != nullptr) {
    if (auto ids = ids_of_text(*counting, json, now_unix_s)) {
      out.ids = true;
      out.bytes = *std::move(ids);
      return out;
    }
  }
  out.scope += json["tools"].dump() + json["system"].dump() + json["instructions"].dump();
  std::size_t from = body.size();
  for (const std::string_view key : {"\"messages\"", "\"prompt\"", "\"input\"", "\"text\""}) {
    from = std::min(from, body.find(key));
  }
  out.bytes = body.substr(from);
  return out;
}

// Makes a ReuseQuery of every query that was sent.
class Collector final : public QuietSink {
 public:
  Collector(const plan::PlanBundle& bundle, const CountingTokenizer* counting, std::uint32_t block,
            std::int64_t now_unix_s)
      : bundle_(bundle), counting_(counting), block_(block), now_unix_s_(now_unix_s) {}

  void on_done(const Event& event, std::string_view) override {
    if (!trouble.empty() || !event.sent.known()) return;
    auto made = query_of(event);
    if (!made) {
      trouble = made.error().message;
      return;
    }
    names_ += made->blocks.size();
    if (names_ > observe::kReuseBlocksMax) {
      trouble = format("the prompts have more than {} blocks of {} tokens",
                       observe::kReuseBlocksMax, block_);
      return;
    }
    queries.push_back(*std::move(made));
  }

  std::vector<observe::ReuseQuery> queries{};
  std::string trouble{};
  bool by_ids = false;
  bool by_bytes = false;

 private:
  Result<observe::ReuseQuery> query_of(const Event& event) {
    ASSIGN_OR_RETURN(const std::string body, sent_body(bundle_, event.query));
    ASSIGN_OR_RETURN(const Json json, Json::parse(body));
    const Symbols symbols = symbols_of(body, json, counting_, now_unix_s_);
    (symbols.ids ? by_ids : by_bytes) = true;
    const std::size_t of_token = symbols.ids ? kBytesOfId : kBytesOfToken;
    const PhaseKind kind = bundle_.plan.phases[event.query.phase].kind;
    observe::ReuseQuery out{
        .sent = event.sent,
        .first_token = event.first_token,
        .endpoint = event.endpoint,
        .counted = event.outcome == Outcome::ok && kind == PhaseKind::performance,
        .prompt_tokens = static_cast<std::uint32_t>(symbols.bytes.size() / of_token),
        .cached_tokens = event.usage.cached_tokens};
    if (event.usage.prompt_tokens >= 0) {
      out.prompt_tokens = static_cast<std::uint32_t>(event.usage.prompt_tokens);
    }
    out.blocks = observe::block_names(symbols.scope, symbols.bytes, block_ * of_token);
    return out;
  }

  const plan::PlanBundle& bundle_;
  const CountingTokenizer* counting_;
  std::uint32_t block_;
  std::int64_t now_unix_s_;
  std::size_t names_ = 0;
};

}  // namespace

Result<void> account_prefix_reuse(const std::filesystem::path& folder,
                                  const plan::PlanBundle& bundle, const CountingTokenizer* counting,
                                  std::uint32_t block) {
  ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(log_folder(folder)));
  ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
  Collector collector(bundle, counting, block, info.started.ns / 1'000'000'000);
  ASSIGN_OR_RETURN(const auto replay, record::replay_run(log_folder(folder), collector));
  const auto endpoints = static_cast<std::uint32_t>(bundle.endpoints.urls.size());
  observe::PrefixReuse reuse{.block = block, .endpoints = endpoints};
  if (collector.trouble.empty()) {
    reuse = observe::account_reuse(std::move(collector.queries), block, endpoints);
  } else {
    reuse.trouble = collector.trouble;
  }
  reuse.symbols = collector.by_ids && collector.by_bytes ? "token ids and bytes, 4 a token"
                  : collector.by_ids                     ? "token ids"
                                                         : "bytes, 4 a token";
  return write_file_atomic(log_folder(folder) / observe::kPrefixReuseName,
                           observe::to_json(reuse).dump(2) + "\n");
}

}  // namespace assay::campaign
