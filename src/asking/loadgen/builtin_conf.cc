#include "loadgen/builtin_conf.h"

#include <array>
#include <cstdint>

#include "base/format.h"

namespace assay::loadgen {
namespace {

enum class Release { v5_0, v5_0_1, v5_1, v5_1_1, v6_0, v6_1 };

struct Seeds {
  std::string_view edition{};
  std::uint64_t qsl = 0;
  std::uint64_t sample_index = 0;
  std::uint64_t schedule = 0;
};

// In the order of Release.
constexpr std::array<Seeds, 6> kEditions{{
    {"v5.0", 6023615788873153749, 15036839855038426416U, 9933818062894767841U},
    {"v5.0.1", 6023615788873153749, 15036839855038426416U, 9933818062894767841U},
    {"v5.1", 1780908523862526354, 14771362308971278857U, 18209322760996052031U},
    {"v5.1.1", 1780908523862526354, 14771362308971278857U, 18209322760996052031U},
    {"v6.0", 2465351861681999779, 14276810075590677512U, 3936089224930324775},
    {"v6.1", 2085463073848966840, 2747215439041700203, 16159082839903944936U},
}};

constexpr int kNone = -1;  // the file has no such line

// A model's lines. Latencies in milliseconds.
struct Model {
  std::string_view name{};
  Release since = Release::v5_0;
  int performance_samples = kNone;  // 0: the whole set
  int accuracy_samples = kNone;
  int concatenate = kNone;
  int token_latencies = kNone;
  int server_latency = kNone;
  int ttft = kNone;
  int tpot = kNone;
  int offline_queries = kNone;
  // The last edition with these lines.
  Release until = Release::v6_1;
};

constexpr auto kV50 = Release::v5_0;
constexpr auto kV501 = Release::v5_0_1;
constexpr auto kV51 = Release::v5_1;
constexpr auto kV511 = Release::v5_1_1;
constexpr auto kV60 = Release::v6_0;

constexpr std::array<Model, 30> kModels{{
    {"resnet50", kV50, 1024, kNone, kNone, kNone, 15, kNone, kNone, 24576},
    {"ssd-mobilenet", kV50, 256},
    {"retinanet", kV50, 64, kNone, kNone, kNone, 100, kNone, kNone, 24576},
    {"bert", kV50, 10833, kNone, kNone, kNone, 130, kNone, kNone, 10833},
    {"dlrm", kV50, 204800, kNone, kNone, kNone, 60},
    {"dlrm-v2", kV50, 204800, kNone, kNone, kNone, 60, kNone, kNone, 24576},
    {"dlrm-v3", kV60, kNone, kNone, kNone, kNone, 80},
    {"rnnt", kV50, 2513, kNone, kNone, kNone, 1000, kNone, kNone, 2513},
    {"gptj", kV50, 13368, kNone, 1, kNone, 20000, kNone, kNone, 13368},
    {"mixtral-8x7b", kV50, 15000, kNone, 1, 1, 0, 2000, 200, 15000},
    {"llama2-70b", kV50, 24576, kNone, 1, 1, 0, 2000, 200, 24576},
    {"llama2-70b-interactive", kV501, 24576, kNone, 1, 1, 0, 450, 40},
    {"llama3_1-405b", kV50, 8313, kNone, 1, 1, 0, 6000, 175, 8313},
    {"llama3_1-405b-interactive", kV511, 8313, kNone, 1, 1, 0, 4500, 80},
    {"llama3_1-8b", kV51, 13368, kNone, 1, 1, 0, 2000, 100, 13368},
    {"llama3_1-8b-edge", kV511, 5000, kNone, 1, 1, kNone, kNone, kNone, 5000},
    {"llama3_1-8b-interactive", kV511, 13368, kNone, 1, 1, 0, 500, 30},
    {"stable-diffusion-xl", kV50, 5000, kNone, kNone, kNone, 20000, kNone, kNone, 5000},
    {"wan-2.2-t2v-a14b", kV60, 248, kNone, kNone, kNone, kNone, kNone, kNone, 248},
    {"rgat", kV50, 788379, kNone, 1, kNone, kNone, kNone, kNone, 788379},
    {"pointpainting", kV51, 1024},
    {"deepseek-r1", kV51, 4388, kNone, 1, 1, 0, 2000, 80, 4388},
    {"deepseek-r1-interactive", kV60, 4388, kNone, 1, 1, 0, 1500, 15},
    {"whisper", kV51, 1633, kNone, kNone, 1, kNone, kNone, kNone, 1633, kV51},
    {"whisper", kV511, 1633, kNone, 1, 1, kNone, kNone, kNone, 1633},
    {"qwen3-vl-235b-a22b", kV60, 48289, kNone, 1, 0, 12000, kNone, kNone, 48289},
    {"yolo", kV60, 64},
    {"3d-unet", kV50, 0, kNone, 1, kNone, kNone, kNone, kNone, 43},
    {"gpt-oss-120b", kV60, 6396, 4395, 1, 1, 0, 3000, 80},
    {"gpt-oss-120b-interactive", kV60, 6396, 4395, 1, 1, 0, 2000, 15},
}};

// The lines for all models, and the few that one model alone has.
constexpr std::string_view kCommon =
    R"(*.*.test05_qsl_rng_seed = 7975553102935885558
*.*.test05_sample_index_rng_seed = 11403566307062068064
*.*.test05_schedule_rng_seed = 15816800565822761601
*.SingleStream.target_latency = 10
*.SingleStream.target_latency_percentile = 90
*.SingleStream.min_duration = 600000
*.MultiStream.target_latency = 80
*.MultiStream.target_latency_percentile = 99
*.MultiStream.samples_per_query = 8
*.MultiStream.min_duration = 600000
*.MultiStream.min_query_count = 662
*.Server.target_qps = 1.0
*.Server.target_latency = 10
*.Server.target_latency_percentile = 99
*.Server.target_duration = 0
*.Server.min_duration = 600000
*.Offline.target_qps = 1.0
*.Offline.target_latency_percentile = 90
*.Offline.min_duration = 600000
retinanet.MultiStream.target_latency = 528
gptj.*.infer_token_latencies = 1
gptj.*.token_latency_scaling_factor = 69
)";

Result<Release> release_named(std::string_view edition) {
  for (std::size_t i = 0; i < kEditions.size(); ++i) {
    if (kEditions[i].edition == edition) return static_cast<Release>(i);
  }
  std::string known;
  for (const Seeds& seeds : kEditions) known += format(" {}", seeds.edition);
  return invalid(format("\"{}\": no such edition; there are{}", edition, known));
}

bool has(Release release, const Model& model) {
  return model.since <= release && release <= model.until;
}

void add_model(const Model& model, std::string& out) {
  const auto line = [&](std::string_view scenario, std::string_view key, int value) {
    if (value != kNone) out += format("{}.{}.{} = {}\n", model.name, scenario, key, value);
  };
  line("*", "performance_sample_count_override", model.performance_samples);
  line("*", "accuracy_sample_count_override", model.accuracy_samples);
  line("*", "sample_concatenate_permutation", model.concatenate);
  line("*", "use_token_latencies", model.token_latencies);
  line("Server", "target_latency", model.server_latency);
  line("Server", "ttft_latency", model.ttft);
  line("Server", "tpot_latency", model.tpot);
  line("Offline", "min_query_count", model.offline_queries);
}

}  // namespace

std::vector<std::string_view> conf_editions() {
  std::vector<std::string_view> out;
  for (const Seeds& seeds : kEditions) out.push_back(seeds.edition);
  return out;
}

Result<std::string> builtin_conf_text(std::string_view edition) {
  ASSIGN_OR_RETURN(const Release release, release_named(edition));
  const Seeds& seeds = kEditions.at(static_cast<std::size_t>(release));
  std::string out =
      format("*.*.qsl_rng_seed = {}\n*.*.sample_index_rng_seed = {}\n*.*.schedule_rng_seed = {}\n",
             seeds.qsl, seeds.sample_index, seeds.schedule);
  out += kCommon;
  for (const Model& model : kModels) {
    if (has(release, model)) add_model(model, out);
  }
  if (release >= Release::v5_1) {
    out += "pointpainting.SingleStream.target_latency_percentile = 99.9\n";
  }
  return out;
}

Result<ConfFile> builtin_conf(std::string_view edition) {
  ASSIGN_OR_RETURN(const std::string text, builtin_conf_text(edition));
  return ConfFile::parse(text);
}

Result<std::vector<std::string_view>> conf_models(std::string_view edition) {
  ASSIGN_OR_RETURN(const Release release, release_named(edition));
  std::vector<std::string_view> out;
  for (const Model& model : kModels) {
    if (has(release, model)) out.push_back(model.name);
  }
  return out;
}

}  // namespace assay::loadgen
