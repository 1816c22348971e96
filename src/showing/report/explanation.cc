#include "report/explanation.h"

#include <array>

namespace assay::report {
namespace {

constexpr std::string_view kExit = "exit code";
constexpr std::string_view kQuery = "failed query";
constexpr std::string_view kClient = "client_limited";
constexpr std::string_view kWindow = "steady state, status";
constexpr std::string_view kSteady = "steady state, verdict";
constexpr std::string_view kCompare = "compare";
constexpr std::string_view kAccuracy = "compare --accuracy";
constexpr std::string_view kDecide = "decide";

constexpr std::array kExplanations{
    Explanation{kExit, "0", "done: the command did what was asked, and found nothing wrong", ""},
    Explanation{kExit, "1",
                "findings: the command worked and found something wrong, or failed by "
                "its own fault",
                "the report or the last line names what; assay explain CODE explains a rule"},
    Explanation{kExit, "2", "bad input: a flag, a config, a data set, or a file that is not there",
                "the message names the line and what is allowed"},
    Explanation{kExit, "3", "an endpoint can't be reached, or a file can't be read or written",
                "assay probe URL says what answers there"},
    Explanation{kExit, "4", "measured, but the client was, or may have been, the bottleneck",
                "assay explain suspected; --allow-client-limited accepts it"},
    Explanation{kExit, "5", "measured, and worse than the baseline or than a requirement", ""},
    Explanation{kExit, "6", "two results that must not be compared",
                "the message names the difference"},
    Explanation{kExit, "7", "more than 10 % of the queries failed, or none succeeded",
                "the report names the cause; assay explain CAUSE"},
    Explanation{kExit, "8", "out of memory, or a disk took no more",
                "what was measured by then is kept and reported"},
    Explanation{kExit, "130", "interrupted: Ctrl-C, a time limit or a budget",
                "everything recorded is kept: assay report FOLDER"},

    Explanation{kQuery, "connect_failed", "no connection: refused, unreachable, or no such host",
                "is the port right, and does the server listen there? assay probe URL"},
    Explanation{
        kQuery, "tls_failed", "the TLS handshake or the server's certificate failed",
        "--ca-file FILE names the authority of a certificate that the system does not know"},
    Explanation{kQuery, "reset", "the server reset the connection",
                "often a proxy's idle limit or a server that restarted: read its log at that time"},
    Explanation{kQuery, "truncated",
                "the reply ended before it was complete: no finish reason "
                "and no [DONE], or a short body",
                "a proxy's time limit or a server that was stopped; its tokens count nowhere"},
    Explanation{kQuery, "http_error", "a status other than 200",
                "the report has the status and the server's own words: 401 is a key, 404 a path or "
                "model, 429 a limit of rate, 5xx the server"},
    Explanation{kQuery, "stream_error", "an error object inside a stream that began with 200",
                "the report has the server's own words"},
    Explanation{kQuery, "bad_reply",
                "bytes that are not a valid reply of this API: HTTP, SSE, JSON or "
                "the content type",
                "is --api the server's? assay probe URL says what it speaks"},
    Explanation{kQuery, "timed_out", "the query's own time limit passed",
                "--query-timeout is the limit; a queue at the server shows as TTFT that grows"},
    Explanation{kQuery, "cancelled", "the client ended it: an interrupt, or the drain's time limit",
                "a longer drain lets the last queries end"},
    Explanation{kQuery, "over_memory",
                "its reply would have exceeded the memory budget of all "
                "connections",
                "a smaller --concurrency or --max-output-tokens, or a machine with more memory"},

    Explanation{kClient, "no",
                "the figures are the endpoint's: the client's own delay moves no "
                "published percentile",
                ""},
    Explanation{kClient, "suspected",
                "the client may have moved a percentile: late sends, waiting "
                "for the core, stolen time or lost records were seen",
                "the report names each reason with what to change; assay doctor shows what this "
                "machine lacks, assay calibrate its ceiling"},
    Explanation{kClient, "yes", "the client was the bottleneck: the figures are not the endpoint's",
                "fewer connections for each thread (--threads), a quieter or larger machine, or "
                "more hosts (assay launch)"},

    Explanation{kWindow, "windowable", "the run is long enough to look for its steady state", ""},
    Explanation{kWindow, "insufficient_duration", "the run is shorter than a window must be",
                "a longer run (--duration)"},
    Explanation{kWindow, "insufficient_passes", "fewer than four whole passes over the data set",
                "a longer run, or fewer rows"},
    Explanation{kWindow, "partial_dataset", "not every row of the data set was asked",
                "a longer run: a window has every row equally often"},
    Explanation{kSteady, "STEADY STATE",
                "TPOT P50 and P90 are level over at least four passes: "
                "the window's figures are the official ones",
                ""},
    Explanation{kSteady, "drifting_up", "TPOT grows over the whole run: no number stands for it",
                "a longer warm-up or run; a server that fills its cache or throttles drifts"},
    Explanation{kSteady, "drifting_down", "TPOT falls over the whole run: no number stands for it",
                "a longer warm-up: caches and compilers still settle"},
    Explanation{kSteady, "anomaly",
                "the run has two levels; the first is the window, and the "
                "shift is reported",
                "what happened at that time? The timeline of the report shows it"},
    Explanation{kSteady, "not_found", "no level part was found, and no clear drift either",
                "a longer run, or a quieter machine"},

    Explanation{kCompare, "better", "B is better than A by more than the margin, beyond doubt", ""},
    Explanation{kCompare, "same", "the difference is certainly within the margin", ""},
    Explanation{kCompare, "unresolved",
                "the runs are too short or too noisy to tell a difference "
                "as small as the margin",
                "longer runs, or assay compare --interleave, which measures both in turns"},
    Explanation{kCompare, "worse", "B is worse than A by more than the margin, beyond doubt", ""},
    Explanation{kAccuracy, "better", "B's score is higher, sample by sample, beyond chance", ""},
    Explanation{kAccuracy, "as_good", "B's score is certainly not lower by more than the margin",
                ""},
    Explanation{kAccuracy, "unresolved", "too few samples to tell a difference of the margin",
                "more samples or repeats"},
    Explanation{kAccuracy, "worse", "B's score is lower, sample by sample, beyond chance", ""},

    Explanation{kDecide, "sole", "one system leads, and every other was measured to its end", ""},
    Explanation{kDecide, "tie", "several systems have the same best figure", ""},
    Explanation{kDecide, "open", "a sweep ended before its system did, so nobody leads for certain",
                "measure higher concurrency of the systems that are named"},
    Explanation{kDecide, "none", "no system has the figure",
                "say what a run cannot know: accelerators=, kw=, price="},
};

}  // namespace

std::span<const Explanation> explanations() { return kExplanations; }

}  // namespace assay::report
