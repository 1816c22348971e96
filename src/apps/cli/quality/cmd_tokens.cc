#include <iostream>
#include <iterator>

#include "base/files.h"
#include "base/flags.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "text/show_tokens.h"

namespace assay::cli {
namespace {

Result<std::string> read_input(const std::string& file) {
  if (file != "-") return read_file(file, std::size_t{1} << 30);
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

}  // namespace

Result<int> cmd_tokens(Args args) {
  text::ShownTokens options;
  Flags flags("tokens", "count, encode or decode text with a tokenizer");
  flags.add("FILE", &options.file, "the text; - is standard input");
  flags.add("--tokenizer=PATH", &options.tokenizer,
            "tokenizer.json, tekken.json, a tiktoken or SentencePiece file, or a folder with one");
  flags.add("--template=FILE", &options.chat_template,
            "render this chat template instead: each line holds its variables");
  flags.add("--now=SECONDS", &options.now,
            "the time for a template's strftime_now, in seconds since 1970; default: now");
  flags.add("--pattern", &options.pattern, "how a tiktoken file's text is cut: a name or a regex");
  flags.add("--jsonl", &options.jsonl,
            "each line is a text: a JSON string, or an object with \"text\" or \"prompt\"");
  flags.add("--by=NAME", &options.by,
            "count for each value of this member of the lines, and say what a character costs: "
            "--by locale");
  flags.add("--ids", &options.ids, "print the ids, one text a line");
  flags.add("--special", &options.special, "with the special tokens that the tokenizer adds");
  flags.add("--decode", &options.decode, "lines of ids in, lines of JSON strings out");
  flags.add("--stream", &options.stream, "decode token by token, as a stream would");
  flags.add("--json", &options.json, "print the counts as JSON");
  flags.example("assay tokens prompt.txt --tokenizer models/llama-3.1-8b");
  PARSE_OR_RETURN(flags, args);
  ASSIGN_OR_RETURN(const std::string input, read_input(options.file));
  return text::show_tokens(options, input, console());
}

}  // namespace assay::cli
