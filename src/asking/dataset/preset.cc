#include "dataset/preset.h"

#include <array>
#include <utility>

#include "base/format.h"
#include "dataset/binary_cell.h"
#include "dataset/predefined.h"
#include "dataset/python_text.h"
#include "dataset/rows.h"

namespace assay::dataset {
namespace {

constexpr std::string_view kAime =
    "{question}\nPlease reason step by step, and put your final answer within \\boxed{{}}.";
constexpr std::string_view kGpqa =
    "{question}\n\n(A) {choice1}\n(B) {choice2}\n(C) {choice3}\n(D) {choice4}\n\n"
    "Express your final answer as the corresponding option 'A', 'B', 'C', or 'D'.";
constexpr std::string_view kCnn =
    "Summarize the following news article in 128 tokens. Please output the summary only, without "
    "any other text.\n\nArticle:\n{article}\n\nSummary:";
constexpr std::string_view kLiveCode =
    "You are a python coding expert that solves problems step-by-step.\n"
    "You must provide the reasoning to arriving at your solution and the code to solve the "
    "problem.\nDo not try simulating the code execution. The code must be enclosed within ```python"
    " delimiters.\n\n\n{question}\n### Format: You will use the following starter code to write "
    "the solution to the problem and enclose your code within delimiters.\n```python\n"
    "{starter_code}\n```\n";

std::string_view cell_text(const Json& row, std::string_view column) {
  return row[column].as_string();
}

void rename(Json& row, std::string_view from, std::string_view to) {
  const Json* cell = row.find(from);
  if (cell == nullptr || row.find(to) != nullptr) return;
  Json value = *cell;
  row.erase(from);
  row.set(to, std::move(value));
}

// LoadGen's schema describes each field; the reference client's describes the whole. Both are
// written as Python's json.dumps(indent=2) does.
std::string shopify_schema(bool loadgen) {
  const auto field = [&](const char* title, const char* type, const char* description) {
    Json out = Json::object();
    if (loadgen) out.set("description", description);
    out.set("title", title).set("type", type);
    return out;
  };
  Json properties = Json::object();
  properties
      .set("category",
           field("Category", "string",
                 "The complete category of the product, e.g.,\n\"Clothing & Accessories > Clothing "
                 "> Shirts > Polo Shirts\".\nEach categorical level is separated by \" > \"."))
      .set("brand", field("Brand", "string", "The brand of the product, e.g., \"giorgio armani\"."))
      .set("is_secondhand", field("Is Secondhand", "boolean",
                                  "True if the product is second-hand, False otherwise."));
  Json required = Json::array();
  required.push_back("category").push_back("brand").push_back("is_secondhand");
  Json schema = Json::object();
  schema.set("additionalProperties", false)
      .set("description",
           loadgen ? "Json format for the expected responses from the VLM."
                   : "JSON format for expected VLM responses (matches MLCommons Q3VL schema).\n\n"
                     "Reference: https://github.com/mlcommons/inference/blob/master/multimodal/"
                     "qwen3-vl/src/mlperf_inf_mm_q3vl/schema.py")
      .set("properties", std::move(properties))
      .set("required", std::move(required))
      .set("title", "ProductMetadata")
      .set("type", "object");
  return schema.dump(2);
}

// Returns "data:image/JPEG;base64,…" for a picture column, with the kind in the reference client's
// spelling. Parquet's bytes come as a binary_cell; an exported file may hold bare base64 and a
// column with the format.
Result<std::string> picture_url(const Json& row) {
  const Json& picture = row["product_image"];
  std::string_view bytes = picture.is_object() ? picture["bytes"].as_string() : picture.as_string();
  std::string kind(cell_text(row, "product_image_format"));
  if (bytes.empty()) bytes = cell_text(row, "product_image_base64");
  if (bytes.empty()) return std::string();
  if (!picture.is_object() && bytes.starts_with("data:image/")) return std::string(bytes);
  bytes = base64_of_cell(bytes).value_or(bytes);
  if (kind.empty()) {
    kind = bytes.starts_with("/9j/")          ? "JPEG"
           : bytes.starts_with("iVBORw0KGgo") ? "PNG"
           : bytes.starts_with("R0lGOD")      ? "GIF"
           : bytes.starts_with("UklGR")       ? "WEBP"
                                              : "";
  }
  if (kind.empty()) return invalid("product_image: neither JPEG, PNG, GIF nor WebP");
  return format("data:image/{};base64,{}", kind, bytes);
}

Result<void> shopify(Json& row, bool loadgen) {
  for (const char* column : {"product_title", "product_description"}) {
    if (!row[column].is_string()) {
      return invalid(format("{}: expected text; the row has: {}", column, columns_of(row)));
    }
  }
  const Json& list = row["potential_product_categories"];
  const std::string categories = list.is_string() ? std::string(list.as_string())
                                 : loadgen        ? python_repr(list)
                                                  : python_json(list);
  std::string text = format(
      "The title of the product is the following:\n```text\n{}\n```\n\nThe description of the "
      "product is the following:\n```text\n{}\n```\n\nThe following are the possible product "
      "categories:\n```json\n{}\n```\n",
      cell_text(row, "product_title"), cell_text(row, "product_description"), categories);
  ASSIGN_OR_RETURN(const std::string url, picture_url(row));
  Json parts = Json::array();
  parts.push_back(Json::object().set("type", "text").set("text", std::move(text)));
  if (!url.empty()) {
    parts.push_back(
        Json::object().set("type", "image_url").set("image_url", Json::object().set("url", url)));
  }
  row.set("system", shopify_system(loadgen));
  row.set("prompt", std::move(parts));
  // Remove megabytes that no scorer reads.
  row.erase("product_image");
  row.erase("product_image_base64");
  return {};
}

void function_calling(Json& row) {
  if (Json* messages = row.find("messages"); messages != nullptr && messages->is_array()) {
    for (Json& message : messages->make_array()) {
      if (message.is_object() && message["content"].is_null()) message.set("content", "");
    }
  }
  if (row["tool_choice"].is_null()) row.set("tool_choice", "auto");
}

}  // namespace

std::string shopify_system(bool loadgen) {
  std::string text =
      "Please analyze the product from the user prompt\nand provide the following fields in a "
      "valid JSON object:\n- category\n- brand\n- is_secondhand\n\nYou must choose only one, which "
      "is the most appropriate, correct, and specific\ncategory out of the list of possible "
      "product categories.\n\nThe description of the product sometimes contains various types of "
      "source code\n(e.g., JavaScript, CSS, HTML, etc.), where useful product information is "
      "embedded\nsomewhere inside the source code. For this task, you should extract the useful\n"
      "product information from the source code and leverage it, and discard the\nprogrammatic "
      "parts of the source code.\n\nYour response should only contain a valid JSON object and "
      "nothing more, e.g.,\nyou should not fence the JSON object inside a ```json code block.\n"
      "The JSON object should match the following JSON schema:\n```json\n";
  if (loadgen) {
    for (const auto& [right, theirs] :
         {std::pair<std::string_view, std::string_view>{"and specific\n", "and specifc\n"},
          {"match the following JSON", "match the followng JSON"}}) {
      text.replace(text.find(right), right.size(), theirs);
    }
  }
  return text + shopify_schema(loadgen) + "\n```\n";
}

Result<std::string> fill_format(std::string_view text, const Json& row) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c == '{' || c == '}') && i + 1 < text.size() && text[i + 1] == c) {
      out += c;
      ++i;
      continue;
    }
    if (c == '}') return invalid("prompt_format: '}' without '{'; write }} for a brace");
    if (c != '{') {
      out += c;
      continue;
    }
    const std::size_t end = text.find('}', i);
    if (end == std::string_view::npos) {
      return invalid("prompt_format: '{' without '}'; write {{ for a brace");
    }
    const std::string_view column = text.substr(i + 1, end - i - 1);
    const Json* cell = row.find(column);
    if (cell == nullptr) {
      return invalid(format("there is no column '{}' for the prompt; the row has: {}", column,
                            columns_of(row)));
    }
    // Python writes values other than text as their repr.
    if (cell->is_string()) {
      out += cell->as_string();
    } else {
      out += python_repr(*cell);
    }
    i = end;
  }
  return out;
}

Preset Preset::of_format(std::string text) { return {Kind::format, std::move(text)}; }

Result<std::optional<Preset>> Preset::of(std::string_view name) {
  const std::size_t colons = name.find("::");
  if (colons == std::string_view::npos || !predefined(name)) return std::optional<Preset>();
  const auto make = [](Kind kind, std::string_view text = {}) {
    return std::optional<Preset>(Preset(kind, std::string(text)));
  };
  const std::string_view id = name.substr(0, colons);
  std::string_view preset = name.substr(colons + 2);
  // The reference client has newer names for the same preset.
  if (preset == "gptoss_sglang" || preset == "gptoss_vllm") preset = "gptoss";
  if (id == "aime25" && preset == "gptoss") return make(Kind::format, kAime);
  if (id == "gpqa" && preset == "gptoss") return make(Kind::gpqa, kGpqa);
  if (id == "livecodebench" && preset == "gptoss") return make(Kind::format, kLiveCode);
  if (id == "cnn_dailymail" && preset == "llama3_8b") return make(Kind::format, kCnn);
  if (id == "open_orca" && preset == "llama2_70b") return make(Kind::none);
  if (id == "bfcl_v4" && preset == "function_calling") return make(Kind::function_calling);
  if (id.starts_with("shopify_product_catalogue")) {
    if (preset == "q3vl") return make(Kind::shopify);
    if (preset == "q3vl_loadgen") return make(Kind::shopify_loadgen);
  }
  return invalid(format("'{}': the dataset {} has no preset '{}'; it has: {}", name, id, preset,
                        presets_of(id)));
}

void Preset::shuffle_choices(Json& row) {
  rename(row, "Question", "question");
  if (row.find("choice1") != nullptr) return;
  const std::array<std::string_view, 4> columns{"Correct Answer", "Incorrect Answer 1",
                                                "Incorrect Answer 2", "Incorrect Answer 3"};
  // random.sample(range(4), 4): the pool's last item fills the place of the item taken.
  std::array<std::size_t, 4> pool{0, 1, 2, 3};
  std::array<std::size_t, 4> order{};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto at = static_cast<std::size_t>(random_.below(4 - i));
    order[i] = pool[at];
    pool[at] = pool[3 - i];
  }
  std::string right;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string_view choice = cell_text(row, columns[order[i]]);
    const std::string name = format("choice{}", i + 1);
    if (right.empty() && choice == cell_text(row, columns[0])) right = name;
    row.set(name, Json(choice));
  }
  row.set("ground_truth", right);
}

Result<void> Preset::apply(Json& row) {
  // The generator must advance with every row, whatever its content.
  if (kind_ == Kind::gpqa) shuffle_choices(row);
  if (kind_ == Kind::function_calling) {
    function_calling(row);
    return {};
  }
  if (kind_ == Kind::none || row.find("prompt") != nullptr) return {};
  if (kind_ == Kind::shopify || kind_ == Kind::shopify_loadgen) {
    return shopify(row, kind_ == Kind::shopify_loadgen);
  }
  ASSIGN_OR_RETURN(std::string prompt, fill_format(format_, row));
  row.set("prompt", std::move(prompt));
  return {};
}

}  // namespace assay::dataset
