#include "base/exit_code.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/json.h"
#include "base/json_list.h"
#include "base/text.h"
#include "campaign/pack_tree.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "host/system_capture.h"
#include "interchange/write/inference_tree.h"

namespace assay::cli {
namespace {

struct PackOptions {
  std::vector<std::string> folders{};
  std::string suite = "endpoints";
  campaign::PackRequest request{};
  std::uint64_t c_max = 0;
  bool capture = false;
  bool json = false;
};

void print_json(const std::string& root, const campaign::PackSource& source,
                const campaign::PackedTree& tree) {
  print(Json()
            .set("tree", root)
            .set("system", tree.system)
            .set("points", source.points.size())
            .set("notes", json_list(tree.notes))
            .dump(2) +
        "\n");
}

void print_text(const std::string& root, const campaign::PackSource& source,
                const campaign::PackedTree& tree) {
  for (const std::string& note : tree.notes) say("note: " + note);
  for (const std::string& note : source.notes) say("note: " + note);
  const std::size_t points = source.points.size();
  print(format("{}: {} of {}\n  next  assay check {}\n", root, counted(points, "point"),
               source.curve.model, root));
}

// A tree of MLPerf Inference, from a plan of LoadGen's logs.
Result<int> pack_inference(const PackOptions& options, const Flags& flags) {
  for (const char* const name :
       {"--answers", "--system", "--power", "--src", "--docs", "--max-concurrency", "--capture"}) {
    if (flags.given(name)) return invalid(format("{}: not with --suite inference", name));
  }
  if (options.folders.size() != 1)
    return invalid("CURVE: with --suite inference one plan, as YAML");
  const std::string& out = options.request.out;
  ASSIGN_OR_RETURN(const auto packed, interchange::pack_inference(options.folders[0], out));
  for (const std::string& note : packed.notes) say("note: " + note);
  if (options.json) {
    print(Json()
              .set("tree", out)
              .set("systems", packed.systems)
              .set("results", packed.results)
              .set("notes", packed.notes.size())
              .dump(2) +
          "\n");
  } else {
    print(format("{}: {}\n  next  assay check --suite inference {}\n", out,
                 counted(packed.results, "result"), out));
  }
  return exit_code(ExitCode::done);
}

}  // namespace

Result<int> cmd_pack(Args args) {
  PackOptions options;
  campaign::PackRequest& request = options.request;
  Flags flags("pack", "a submission tree of a curve or of runs, every authored file written");
  flags.add("CURVE", &options.folders,
            "a curve's folder, or the folders of runs; of Inference a plan of LoadGen's logs");
  flags.add("--suite=SUITE", &options.suite, "whose tree: MLPerf Endpoints or MLPerf Inference")
      .choices({"endpoints", "inference"});
  flags.add("--out=DIR", &request.out, "the tree; a new folder");
  flags.add("--answers=FILE", &request.answers,
            "what no program can know, as YAML: docs/guide/curve.md");
  flags.add("--system=FILE", &request.system, "what --capture printed on the system under test");
  flags.add("--power=FILE", &request.power, "system_power.json; its sums are filled in");
  flags.add("--src=DIR", &request.src, "how the endpoint is launched: a folder with a README");
  flags.add("--docs=DIR", &request.docs, "further documents");
  flags.add("--max-concurrency=N", &options.c_max, "C_max, where runs are packed")
      .without_default();
  flags.add("--capture", &options.capture, "print what this machine is and stop");
  flags.add("--json", &options.json, "print the result as JSON");
  flags.example("assay pack curves/m --out submission --answers answers.yaml");
  flags.example("assay pack --suite inference plan.yaml --out submission");
  flags.example("assay pack --capture > system.json");
  PARSE_OR_RETURN(flags, args);
  if (options.capture && options.suite != "inference") {
    print(host::capture_node().dump(2) + "\n");
    return exit_code(ExitCode::done);
  }
  if (request.out.empty()) return invalid("--out: needed, the folder to write");
  if (options.suite == "inference") return pack_inference(options, flags);
  ASSIGN_OR_RETURN(
      const campaign::PackSource source,
      campaign::pack_source(options.folders, static_cast<std::int64_t>(options.c_max)));
  ASSIGN_OR_RETURN(const campaign::PackedTree tree, campaign::pack_tree(request, source));
  options.json ? print_json(request.out, source, tree) : print_text(request.out, source, tree);
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
