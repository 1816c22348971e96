#!/usr/bin/env python3
"""The last line of the suite is only as good as its counting."""

import pathlib
import sys
import tempfile
import threading
import unittest
import unittest.mock

import changed
import suite
import tidy

GOOGLETEST_GOOD = """[----------] Global test environment tear-down
[==========] 10 tests from 4 test suites ran. (0 ms total)
[  PASSED  ] 10 tests.
"""
GOOGLETEST_BAD = """[==========] 3 tests from 1 test suite ran. (0 ms total)
[  PASSED  ] 1 test.
[  FAILED  ] 2 tests, listed below:
[  FAILED  ] Flags.a
[  FAILED  ] Flags.b

 2 FAILED TESTS
"""


class Tally(unittest.TestCase):

    def test_counts_what_each_kind_of_program_prints(self):
        for output, expected in [
            (GOOGLETEST_GOOD, (10, 0)),
            (GOOGLETEST_BAD, (1, 2)),
            ("7 passed in 0.04s\n", (7, 0)),
            ("FAILED x_test.py::test_a\n1 failed, 2 passed, 1 error in 0.10s\n", (2, 2)),
            ("4 passed, 0 failed\n", (4, 0)),
            ("tidy: 120 files, 16 rules, 0 faults\n", (0, 0)),
        ]:
            with self.subTest(output=output):
                self.assertEqual(suite.tally(output), expected)

    def test_a_program_that_fails_without_counting_is_one_failure(self):
        for output, good, expected in [
            (GOOGLETEST_GOOD, True, (10, 0)),
            (GOOGLETEST_GOOD, False, (10, 1)),  # a sanitizer spoke up at the end
            (GOOGLETEST_BAD, False, (1, 2)),
            ("Segmentation fault\n", False, (0, 1)),
            ("0 faults\n", True, (1, 0)),
        ]:
            with self.subTest(output=output, good=good):
                counted = suite.Count()
                counted.add(output, good)
                self.assertEqual((counted.passed, counted.failed), expected)


class Order(unittest.TestCase):

    def test_what_measures_is_alone_and_the_rest_runs_in_two_rows(self):
        ended = []
        beside = threading.Barrier(2, timeout=60)

        def section(function, jobs, prefix=()):
            if function in [row[0] for row in suite.ROWS]:
                beside.wait()  # the first of each row are at work at one time
            ended.append((function.__name__, bool(prefix)))
            return suite.Count()

        with unittest.mock.patch.object(suite, "run_section", section):
            done = suite.run_all(suite.SECTIONS + [suite.mutants], 2)
        names = [name for name, _ in ended]
        self.assertEqual(len(done), len(ended))
        self.assertEqual(names[:3] + names[-1:], ["tidy", "dev", "release", "mutants"])
        self.assertEqual([name for name, polite in ended if polite], ["analyse", "tsan"])
        for row in suite.ROWS:
            of_row = [function.__name__ for function in row]
            self.assertEqual([name for name in names if name in of_row], of_row)

    def test_alone_no_section_gives_way(self):
        polite = []

        def section(function, jobs, prefix=()):
            polite.append(bool(prefix))
            return suite.Count()

        with unittest.mock.patch.object(suite, "run_section", section):
            suite.run_all([suite.tidy, suite.tsan, suite.analyse], 2)
        self.assertEqual(polite, [False] * 3)


@unittest.mock.patch("builtins.print", new=unittest.mock.Mock())  # the suite counts what it reads
class FullDisk(unittest.TestCase):

    def test_a_log_that_cannot_be_written_fails_its_section_and_no_other(self):
        section = suite.Section("full", 1)
        section.log = pathlib.Path("/dev/full")
        self.assertEqual(section.run("echo", "word"), (0, "word\n"))
        self.assertEqual((section.count.passed, section.count.failed), (0, 2))

    def test_ci_keeps_no_build_folder_that_no_later_section_reads(self):
        with tempfile.TemporaryDirectory() as root, \
                unittest.mock.patch.object(suite, "ROOT", pathlib.Path(root)), \
                unittest.mock.patch.object(suite, "LOGS", pathlib.Path(root)), \
                unittest.mock.patch.object(suite, "LEAVES", {leaving: "dev"}):
            folder = pathlib.Path(root) / "build" / "dev"
            for environment, kept in [({}, True), ({"CI": "1"}, False)]:
                with self.subTest(environment=environment), \
                        unittest.mock.patch.dict(suite.os.environ, environment, clear=True):
                    folder.mkdir(parents=True, exist_ok=True)
                    suite.run_section(leaving, 1)
                    self.assertEqual(folder.exists(), kept)


def leaving(section):
    section.count.passed += 1


class Faults(unittest.TestCase):

    def test_the_reason_is_kept_and_the_rest_is_not(self):
        log = ["[ RUN      ] Jail.holds", "src/a_test.cc:7: Failure", "Expected equality of:",
               "  1", "  2", "", "noise", "noise", "E   AssertionError: 3", "tail"]
        self.assertEqual(suite.faults(log), log[1:6] + log[8:])
        self.assertEqual(suite.faults(["[       OK ] Jail.holds", "100% tests passed"]), [])

    def test_what_the_page_s_compiler_and_linter_say_is_kept(self):
        for line in ["src/a.test.ts(55,66): error TS2304: Cannot find name 'Curve'.",
                     "  12:7  error  'x' is never used  @typescript-eslint/no-unused-vars"]:
            self.assertEqual(suite.faults(["> tsc && eslint .", line]), [line])

    def test_a_flood_of_failures_is_cut(self):
        self.assertEqual(len(suite.faults(["FAILED a"] * 500, most=40)), 40)



TREE = tidy.Tree({
    "CMakeLists.txt": """assay_group(ground)
assay_room(base)
assay_room(net ROOMS base)
assay_group(instrument)
assay_room(run ROOMS base)
assay_room(record ROOMS base run)
""",
    "src/ground/base/text.h": "",
    "src/ground/base/text.cc": '#include "base/text.h"\n',
    "src/ground/net/url.cc": "",
    "src/instrument/run/run.h": '#include "base/text.h"\n',
    "src/instrument/run/run_test.cc": "",
    "src/instrument/record/log.cc": '#include "run/run.h"\n',
    "src/ground/base/testing_words.h": "",
    "src/instrument/record/words_test.cc": '#include "base/testing_words.h"\n"tests/data/words"',
    "src/ground/net/url_fuzz.cc": "",
    "tests/e2e/verify_test.py": "",
    "tests/e2e/words_test.py": 'open("tests/data/words/a.txt")\n',
})


class Changed(unittest.TestCase):

    def reached(self, *files):
        return changed.Reached(TREE, files)

    def test_a_header_reaches_whoever_includes_it_however_far_away(self):
        self.assertEqual(self.reached("src/ground/base/text.h").rooms, {"base", "run", "record"})

    def test_a_source_file_reaches_its_room_and_those_that_name_it(self):
        self.assertEqual(self.reached("src/ground/net/url.cc").rooms, {"net"})
        self.assertEqual(self.reached("src/ground/base/text.cc").rooms,
                         {"base", "net", "run", "record"})

    def test_a_test_reaches_its_own_room(self):
        self.assertEqual(self.reached("src/instrument/run/run_test.cc").rooms, {"run"})

    def test_a_header_of_tests_reaches_the_rooms_that_include_it(self):
        self.assertEqual(self.reached("src/ground/base/testing_words.h").rooms, {"base", "record"})

    def test_what_tests_read_reaches_those_that_name_it_or_a_folder_above(self):
        reached = self.reached("tests/data/words/a.txt")
        self.assertEqual((reached.rooms, reached.end_to_end),
                         (set(), ["tests/e2e/words_test.py"]))
        self.assertEqual(self.reached("tests/data/words/b.txt").rooms, {"record"})
        self.assertEqual(self.reached("tests/fuzz/url_fuzz/one").rooms, {"net"})
        self.assertEqual(self.reached("tests/golden/record/one.txt").rooms, {"record"})

    def test_a_change_of_the_program_runs_it_once_end_to_end(self):
        self.assertEqual(self.reached("src/instrument/run/run_test.cc").end_to_end,
                         ["tests/e2e/verify_test.py"])
        self.assertEqual(self.reached("src/ground/net/url.cc").end_to_end, [])

    def test_what_no_test_reads_is_named(self):
        files = ["assay.sh", "tests/data/other/x", "tests/fuzz/no_fuzz/x", "bench/truth.py"]
        self.assertEqual(self.reached(*files).uncovered, files)
        self.assertEqual(self.reached("README.md", "src/ground/net/url.cc").uncovered, [])

    def test_a_build_file_reaches_every_room(self):
        self.assertEqual(self.reached("cmake/room.cmake").rooms, {"base", "net", "run", "record"})

    def test_end_to_end_tests_and_the_page_are_run_by_name(self):
        reached = self.reached("tests/e2e/words_test.py", "web/src/app.ts", "README.md")
        self.assertEqual(reached.end_to_end, ["tests/e2e/words_test.py"])
        self.assertEqual(reached.sections, {"docs", "tidy", "web"})
        self.assertEqual(reached.rooms, set())


if __name__ == "__main__":
    sys.exit(unittest.main())
