#include <cstdlib>
#include <memory>

#include "base/clock.h"
#include "base/exit_code.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "plan/described_api.h"
#include "protocol/probe.h"

namespace assay::cli {
namespace {

Result<std::string> key_from(const std::string& variable) {
  if (variable.empty()) return std::string();
  const char* const value = std::getenv(variable.c_str());
  if (value == nullptr || *value == '\0') {
    return invalid(format("--api-key-env: the environment variable {} is not set\n  export {}=…",
                          variable, variable));
  }
  return std::string(value);
}

Result<std::pair<std::string, std::string>> header_from(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0) {
    return invalid("--header: write it as 'Name: value'");
  }
  return std::pair{std::string(trim(text.substr(0, colon))),
                   std::string(trim(text.substr(colon + 1)))};
}

// The kinds of API that a probe can ask: all but jobs, whose result would be made for no reader.
std::vector<std::string> spoken() {
  std::vector<std::string> out;
  for (const ApiRow& row : kApis) {
    if (!is_job(row.api) && row.api != Api::described) out.emplace_back(row.name);
  }
  return out;
}

}  // namespace

Result<int> cmd_probe(Args args) {
  protocol::ProbeQuestion question;
  std::string api = "openai";
  std::string kind;
  std::string key_variable;
  std::vector<std::string> headers;
  bool json = false;
  Flags flags("probe", "is it up, what does it speak, is its stream sane?");
  flags.add("URL", &question.url, "the endpoint: http://host:port, with or without /v1").required();
  flags.add("--model,-m=NAME", &question.model, "the model to ask; the first it lists unless said");
  flags.add("--api", &api, "what it speaks").choices(spoken());
  flags.add("--kind=FILE", &kind, "a kind of API that this file describes, in place of --api");
  flags.add("--api-key-env=NAME", &key_variable, "environment variable that holds the key");
  flags.add("--header=TEXT", &headers, "an extra header, 'Name: value'; may be repeated");
  flags.add("--prompt=TEXT", &question.prompt, "what to ask");
  flags.add("--osl=N", &question.tokens_max, "output tokens to ask for");
  flags.add("--timeout=TIME", &question.timeout, "give up a query after").bare_unit(1_s);
  flags.add("--insecure", &question.insecure, "do not check the server's certificate");
  flags.add("--json", &json, "print the findings as JSON");
  flags.example("assay probe http://localhost:8000");
  flags.example("assay probe https://api.example.com/v1 --api-key-env API_KEY --model small");
  PARSE_OR_RETURN(flags, args);
  question.api = *api_from(api);
  if (!kind.empty()) {
    ASSIGN_OR_RETURN(DescribedKind described, plan::load_described_kind(kind));
    if (described.stream == KindStream::none) {
      return invalid(
          format("--kind: {} does not stream, and a probe looks at streams\n  assay run "
                 "--kind {} --samples 1 asks it once",
                 described.name, kind));
    }
    question.api = Api::described;
    question.described = std::make_shared<const DescribedKind>(std::move(described));
  }
  question.kinds = true;
  if (question.tokens_max < 1) return invalid("--osl: must be at least 1");
  if (question.timeout <= Duration{}) return invalid("--timeout: must be above 0");
  ASSIGN_OR_RETURN(question.api_key, key_from(key_variable));
  for (const std::string& text : headers) {
    ASSIGN_OR_RETURN(auto header, header_from(text));
    question.headers.push_back(std::move(header));
  }

  const OsClock clock;
  protocol::ProbeReport report;
  if (is_grpc(question.api)) {
    ASSIGN_OR_RETURN(report, protocol::probe_grpc(question, clock));
  } else {
    ASSIGN_OR_RETURN(const protocol::ProbeAnswers answers, protocol::ask_endpoint(question, clock));
    report = protocol::find(question, answers);
  }
  print(json ? protocol::to_json(report).dump(2) + "\n" : protocol::to_text(report));
  return exit_code(report.answers ? ExitCode::done : ExitCode::unreachable);
}

}  // namespace assay::cli
