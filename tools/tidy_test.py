#!/usr/bin/env python3
"""Plants one fault at a time in a small clean tree and demands that tidy finds it, and it alone."""

import sys
import unittest

import tidy

CMAKE = """project(assay VERSION 0.1.0 LANGUAGES CXX)
assay_group(ground)
assay_room(base LIBS fmt)
assay_room(net ROOMS base LIBS ssl)
assay_group(instrument)
assay_room(run ROOMS base)
assay_group(apps)
assay_app(cli)
"""
RUN = "src/instrument/run/run.cc"
TLS = "src/ground/net/tls.h"
TEXT = "src/ground/base/text.h"
HEADER = "// Says what it is.\n#pragma once\n"
DECISION = """# One
## Status
## Context
## Decision
## Consequences
## Rejected
"""
NOTICES = """# Notices

| Name | Licence |
|---|---|
| `fmt` | MIT |
| `ssl` | Apache-2.0 |
"""
CLEAN = {
    "THIRD_PARTY_NOTICES.md": NOTICES,
    "CMakeLists.txt": CMAKE,
    "CHANGELOG.md": "# Changes\n\n## 0.1.0\n",
    "cmake/room.cmake": "# one\n",
    "tools/run.sh": "include(room)\n",
    "README.md": "# Assay\n\nSee [one](docs/decisions/0001-one.md), `tools/run.sh`.\n",
    "docs/decisions/0001-one.md": DECISION,
    TEXT: HEADER + "#include <string>\n",
    "src/ground/base/text.cc":
        '#include "base/text.h"\n\n#include <fmt/core.h>\n#include <sys/stat.h>\n'
        "namespace {\n\nint half(int x) { return x / 2; }\n\n}  // namespace\n",
    TLS: HEADER + '#include "base/text.h"\n',
    "src/ground/net/tls.cc": '#include "net/tls.h"\n\n#include <openssl/ssl.h>\n',
    "src/ground/net/tls_test.cc": '#include "net/tls.h"\n\n#include <gtest/gtest.h>\n',
    RUN: '#include "base/text.h"\n',
    "src/apps/cli/main.cc": '#include "net/tls.h"\n',
}
# Written apart, so that this file has none of what it plants.
LATER = "TO" + "DO"
DOCUMENT = "docs/" + "x.md"
LONG_FUNCTION = "int f() {\n" + "  g();\n" * 69 + "}\n"

# (rule, path, its new text, part of the message)
PLANTED = [
    ("rooms_are_in_order", "CMakeLists.txt", CMAKE.replace("net ROOMS base", "net ROOMS base run"),
     "net uses run, which is not above it"),
    ("includes_follow_the_rooms", RUN, '#include "net/tls.h"\n', "may not include"),
    ("includes_follow_the_rooms", RUN, '#include "text.h"\n', "no file text.h"),
    ("includes_follow_the_rooms", "src/other/x.cc", "int x = 0;\n", "is in no room"),
    ("includes_follow_the_rooms", "src/ground/run/x.cc", "int x = 0;\n", "is in no room"),
    ("arrows_are_used", RUN, "int x = 0;\n", "run names base and includes nothing"),
    ("arrows_are_used", "src/ground/net/tls.cc", '#include "net/tls.h"\n', "net names ssl and"),
    ("libraries_stay_in_their_rooms", RUN, "#include <openssl/ssl.h>\n", "give it to"),
    ("libraries_stay_in_their_rooms", TLS,
     HEADER + '#include "base/text.h"\n#include <openssl/ssl.h>\n', "no foreign library"),
    ("libraries_stay_in_their_rooms", RUN, "#include <boost/asio.hpp>\n", "of no"),
    ("libraries_stay_in_their_rooms", RUN, "#include <gtest/gtest.h>\n", "in a test"),
    ("command_groups_keep_apart", "src/apps/cli/a/cmd_x.cc",
     '#include "cli/b/words.h"\n#include "cli/a/own.h"\n#include "cli/flags.h"\n',
     "a may not include the commands of b"),
    ("headers_do_not_go_in_circles", TEXT,
     HEADER + '#include "base/word.h"\n', f"{TEXT} -> src/ground/base/word.h -> {TEXT}"),
    ("folders_of_a_room_do_not_go_in_circles", "src/ground/base/deep/x.h",
     HEADER + '#include "base/word.h"\n', "by way of src/ground/base/word"),
    ("functions_are_short", RUN, LONG_FUNCTION, "function of 71 lines"),
    ("functions_are_short", RUN,
     "namespace a {\nclass B {\n  B(int x) : x_{x}, y_(2) {\n" + "    g();\n" * 70 + "  }\n};\n}\n",
     "function of 72 lines"),
    ("files_are_short", RUN, "int x = 0;\n" * 601, "601 lines"),
    ("lines_are_clean", RUN, "\tint x = 0;\n", "a tab"),
    ("lines_are_clean", RUN, "int x = 0;\r\n", "CRLF"),
    ("lines_are_clean", RUN, "int x = 0; \n", "space at the end"),
    ("lines_are_clean", RUN, "int x = 0;", "no line end"),
    ("lines_are_clean", RUN, "// " + "x" * 98 + "\n", "101 columns"),
    ("blobs_are_small", "tests/data/big.txt", "x" * (1 << 20) + "\n", "is the limit for a file"),
    ("banned_words_are_absent", RUN, f"// {LATER}: later\n", "do it now"),
    ("banned_words_are_absent", RUN, "// A placeholder.\n", "finish it"),
    ("banned_words_are_absent", RUN, "class RunHandler {};\n", "by what"),
    ("banned_words_are_absent", RUN, "// The manager of runs.\n", "one word"),
    ("banned_words_are_absent", RUN,
     "auto t = std::chrono::steady_clock::now();\n", "through Clock"),
    ("banned_words_are_absent", RUN, "std::random_device chance;\n", "through Rng"),
    ("banned_words_are_absent", RUN, "usleep(3);\n", "wait for an event"),
    ("banned_words_are_absent", "tests/e2e/x_test.py", "time.sleep(1)\n", "waits for an event"),
    ("banned_words_are_absent", "web/tests/x.ts", "await page.waitForTimeout(9);\n", "waits for"),
    ("banned_words_are_absent", "src/ground/net/tls_test.cc",
     '#include "net/tls.h"\nTEST(Tls, DISABLED_works) {}\n', "tests nothing"),
    ("banned_words_are_absent", RUN, "// Waits so long.\n", "as long as"),
    ("banned_words_are_absent", RUN, "// The sink is told.\n", "is reported"),
    ("banned_words_are_absent", RUN, "// Nobody reads it.\n", "the caller"),
    ("banned_words_are_absent", RUN, "// Of a run, the end.\n", "its subject"),
    ("banned_words_are_absent", RUN, "for (int x : f(1).value()) {\n", "dies before the loop"),
    ("banned_words_are_absent", RUN, "using namespace std;\n", "name what you use"),
    ("banned_words_are_absent", RUN, "std::mutex m;\n", "Mutex and Lock"),
    ("banned_words_are_absent", RUN, "std::cout << 1;\n", "console.h"),
    ("banned_words_are_absent", RUN, "// See /" + "home/me/x.\n", "of one machine"),
    ("banned_words_are_absent", "README.md", "# Assay\n\nFrom py" + "pi.org.\n", "registry"),
    ("anonymous_names_are_unique", "src/ground/base/clock.cc",
     "namespace {\nstruct half {};\n}  // namespace\n", "has this name"),
    ("names_of_files_are_words", "src/instrument/run/RunLoop.cc", "int x = 0;\n", "snake_case"),
    ("names_of_files_are_words", "src/instrument/run/run_utils.cc", "int x = 0;\n", "by what is"),
    ("headers_open_with_a_paragraph", TLS,
     "#include <string>\n#pragma once\n", "newcomer"),
    ("headers_open_with_a_paragraph", TLS, "// A paragraph.\n", "no #pragma once"),
    ("no_file_is_an_orphan", "src/ground/net/http.h", HEADER, "no file includes"),
    ("no_file_is_an_orphan", "examples/lonely.yaml", "a: 1\n", "no other file names"),
    ("markdown_has_one_title", DOCUMENT, "# One\n\n# Two\n", "2 titles"),
    ("references_lead_somewhere", DOCUMENT, "# X\n\nSee [y](y.md).\n", "links to y.md"),
    ("references_lead_somewhere", RUN, "// docs/decisions/" + "0099\n", "not there"),
    ("decisions_say_what_they_must", "docs/decisions/0001-one.md",
     DECISION.replace("## Rejected\n", ""), "no section '## Rejected'"),
    ("decisions_say_what_they_must", "docs/decisions/0001-two.md", DECISION, "has the number of"),
    ("changed_decisions_link_back", "docs/decisions/0002-two.md",
     DECISION.replace("Status", "Status\n\nIt replaces decision 1."), "is changed by 0002"),
    ("changed_decisions_link_back", "docs/decisions/0002-two.md",
     DECISION.replace("Status", "Status\n\nAmends [7](0007-x.md)."), "which is not there"),
    ("libraries_have_a_notice", "THIRD_PARTY_NOTICES.md", NOTICES.replace("`ssl`", "`tls`"),
     "no row for `ssl`"),
    ("libraries_have_a_notice", "THIRD_PARTY_NOTICES.md", NOTICES.replace("MIT", ""),
     "`fmt` has an empty cell"),
    ("changelog_knows_the_version", "CHANGELOG.md", "# Changes\n\n## 0.0.9\n", "nothing of 0.1.0"),
]
# What a planted fault needs beside it.
BESIDE = {
    "src/ground/base/word.h": HEADER + '#include "base/text.h"\n',
    "src/ground/base/word.cc": '#include "base/deep/x.h"\n',
    "src/apps/cli/a/own.h": HEADER,
    "src/apps/cli/b/words.h": HEADER,
    "src/apps/cli/flags.h": HEADER,
}


class Tidy(unittest.TestCase):

    def test_a_clean_tree_has_no_fault(self):
        self.assertEqual(tidy.faults_of(tidy.Tree(CLEAN)), [])

    def test_every_planted_fault_is_found_by_its_rule(self):
        for rule, path, text, message in PLANTED:
            with self.subTest(rule=rule, message=message):
                files = {**CLEAN, path: text}
                if "base/word.h" in text:
                    files.update(BESIDE)
                found = list(getattr(tidy, rule)(tidy.Tree(files)))
                self.assertEqual(len(found), 1, found)
                self.assertIn(message, found[0])

    def test_every_rule_and_every_banned_word_is_planted(self):
        self.assertEqual({rule for rule, *_ in PLANTED}, {rule.__name__ for rule in tidy.RULES})
        self.assertEqual(sum(rule == "banned_words_are_absent" for rule, *_ in PLANTED),
                         len(tidy.BANNED))

    def test_what_is_allowed_is_not_a_fault(self):
        allowed = {
            "src/ground/base/clock.cc": "int x = clock_gettime(0, nullptr);\n",
            "tests/data/a.sse": "data: x\r\n\tspace \n",
            RUN: '#include "base/text.h"\n' +
                              "int f() {\n  const auto g = [] { return '{'; };\n}\n" * 30 +
                              "constexpr int kOf[] = {\n" + "    1,\n" * 100 + "};\n",
        }
        self.assertEqual(tidy.faults_of(tidy.Tree({**CLEAN, **allowed})), [])


if __name__ == "__main__":
    sys.exit(unittest.main())
