"""The commands as functions. Each starts the program with --json, in a process of its own, so that
a measurement never shares its process with Python. Further flags are keyword arguments:
`max_tokens=9` is `--max-tokens=9`; the program itself names one that does not exist.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import json
import os
import pathlib
import signal
from typing import Any, AsyncIterator, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from assay._errors import error_of
from assay._figures import Figure, Json, Summary, json_html
from assay._program import Done, Value, call, flags_of, program, words_of
from assay._run import Run

Path = Union[str, "os.PathLike[str]"]

class Answer:
    """What a command printed: `json`, the exit code, and what was said on standard error."""

    def __init__(self, name: str, done: Done, document: Any) -> None:
        self.command = name
        self.exit_code = done.code
        self.said = done.err
        self.json = document

    @property
    def good(self) -> bool:
        """Whether the verdict is without reproach (exit code 0)."""
        return self.exit_code == 0

    def raise_for_verdict(self) -> "Answer":
        """Raises the exception of the exit code, if it is not 0; else returns the answer."""
        if not self.good:
            raise error_of(self.exit_code, self._words())
        return self

    def _words(self) -> str:
        causes = self.json.get("exit", {}).get("causes") if isinstance(self.json, dict) else None
        if causes:
            return "; ".join(str(cause["why"]) for cause in causes)
        return words_of(self.said) or f"assay {self.command}: exit code {self.exit_code}"

    def __getitem__(self, key: Any) -> Any:
        return self.json[key]

    def __repr__(self) -> str:
        return f"<assay {self.command}: exit code {self.exit_code}>"

    def _repr_html_(self) -> str:
        return json_html(self.json)


def _answer(name: str, done: Done) -> Answer:
    # Bad input, no endpoint, a full disk: what the command printed before is no result.
    failed = done.code in (2, 3, 8) and "error: " in done.err
    if failed or not done.out.strip():
        raise error_of(done.code or 1, words_of(done.err))
    try:
        document = json.loads(done.out)
    except ValueError:
        raise error_of(done.code or 1, words_of(done.err) or done.out) from None
    return Answer(name, done, document)


def command(name: str, *positional: Path, **flags: Value) -> Answer:
    """Any command that takes --json: assay.command("dataset", "x.jsonl")."""
    words = [name, *flags_of({**flags, "json": True})]
    if positional:
        words += ["--", *(os.fspath(one) for one in positional)]
    return _answer(name, call(words))


def probe(url: str, *, model: Optional[str] = None, **flags: Value) -> Answer:
    """Is the endpoint up, what does it speak, is its stream sane?"""
    return command("probe", url, model=model, **flags)


def simulate(*, model: Optional[str] = None, hardware: Optional[str] = None,
             scenario: Optional[Path] = None, **flags: Value) -> Answer:
    """What a serving system would do, from a model of it."""
    return command("simulate", model=model, hardware=hardware, scenario=scenario, **flags)


def compare(baseline: Union[Run, Path], other: Union[Run, Path], **flags: Value) -> Answer:
    """Is `other` worse than `baseline`? `good` where it is not."""
    return command("compare", _folder(baseline), _folder(other), **flags)


def check(tree: Path, *, edition: Optional[str] = None, strict: bool = False,
          **flags: Value) -> Answer:
    """Every rule of a submission: findings with clause, line and fix."""
    return command("check", tree, edition=edition, strict=strict, **flags)


def score(run_or_file: Union[Run, Path], *, scorer: Optional[str] = None,
          task: Optional[str] = None, **flags: Value) -> Answer:
    """How well replies answer their samples."""
    return command("score", _folder(run_or_file), scorer=scorer, task=task, **flags)


def verify(run_or_bundle: Union[Run, Path], **flags: Value) -> Answer:
    """Every figure of a run, computed again from its events."""
    return command("verify", _folder(run_or_bundle), **flags)


def _folder(run_or_path: Union[Run, Path]) -> Path:
    return run_or_path.path if isinstance(run_or_path, Run) else run_or_path


class MeasuredRun(Run, Answer):
    """A run that was just measured: a Run, and the answer of the command that measured it."""

    def __init__(self, folder: Path, done: Done, document: Json) -> None:
        Run.__init__(self, folder)
        Answer.__init__(self, "run", done, document)
        self._summary = Summary(document)

    def __repr__(self) -> str:
        return f"<run {self.path}: exit code {self.exit_code}>"

    def _repr_html_(self) -> str:
        return Run._repr_html_(self)


def _new_folder() -> str:
    """As the program names one where none is given."""
    stamp = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d_%H%M%S")
    base = pathlib.Path("runs") / stamp
    folder, turn = base, 2
    while folder.exists():
        folder, turn = pathlib.Path(f"{base}_{turn}"), turn + 1
    return str(folder)


def _run_words(endpoint: Union[str, Sequence[str], None], named: Mapping[str, Value],
               flags: Mapping[str, Value]) -> Tuple[List[str], str]:
    folder = str(flags.get("report_dir") or _new_folder())
    endpoints = [endpoint] if isinstance(endpoint, str) else list(endpoint or [])
    every: Dict[str, Value] = {"endpoint": endpoints, **named, **flags, "report_dir": folder,
                               "json": True, "quiet": True}
    return ["run", *flags_of(every)], folder


def run(endpoint: Union[str, Sequence[str], None] = None, *, model: Optional[str] = None,
        concurrency: Optional[int] = None, rate: Optional[float] = None,
        samples: Optional[int] = None, duration: Optional[str] = None,
        config: Optional[Path] = None, **flags: Value) -> MeasuredRun:
    """One measurement, recorded in `report_dir` (a new folder below runs/ where it is not given).

    A verdict is not an exception: look at `good`, or call raise_for_verdict().
    """
    words, folder = _run_words(endpoint, {"model": model, "concurrency": concurrency, "rate": rate,
                                          "samples": samples, "duration": duration,
                                          "config": config}, flags)
    answer = _answer("run", call(words))
    return MeasuredRun(folder, Done(answer.exit_code, "", answer.said), answer.json)


class Live:
    """What a run looks like at one moment; results never use it. `json` has all of it."""

    def __init__(self, document: Json) -> None:
        self.json = document
        self.phase: str = document["phase"]
        self.elapsed_s: float = document["elapsed_s"]
        self.sent: int = document["sent"]
        self.completed: int = document["completed"]
        self.failed: int = document["failed"]
        self.in_flight: int = document["in_flight"]
        self.output_tps: float = document["output_tps"]

    def __repr__(self) -> str:
        return (f"<{self.phase or 'before the load'}: {self.elapsed_s:.1f} s, {self.completed} "
                f"completed, {self.failed} failed, {self.in_flight} in flight>")


class LiveRun:
    """A run that goes on: `async for` gives a Live each second, `result` the run when it has ended.

        live = assay.run_live("http://localhost:8000", model="m", concurrency=16)
        async for now in live:
            if now.failed > 100:
                live.stop()          # as Ctrl-C: what is recorded is kept
        print(live.result.summary)
    """

    def __init__(self, words: List[str], folder: str) -> None:
        self._words = words
        self.path = pathlib.Path(folder)
        self._process: Optional[asyncio.subprocess.Process] = None
        self._result: Optional[MeasuredRun] = None

    def stop(self) -> None:
        """Ends the load; the iteration goes on until the program has ended."""
        if self._process is None or self._process.returncode is not None:
            return
        # Not send_signal(): it looks whether the program has ended, and then nobody learns its
        # exit code.
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGINT)

    @property
    def result(self) -> MeasuredRun:
        """After the iteration."""
        if self._result is None:
            raise RuntimeError("the run goes on: iterate to its end first")
        return self._result

    async def __aiter__(self) -> AsyncIterator[Live]:
        if self._process is not None:
            raise RuntimeError("a live run is iterated once")
        reads, writes = os.pipe()
        reader: Optional[asyncio.StreamReader] = None
        try:
            self._process = await asyncio.create_subprocess_exec(
                program(), *self._words, f"--live=/dev/fd/{writes}", pass_fds=(writes,),
                stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
            os.close(writes)
            writes = -1
            # Read at once, or a full pipe would hold the program up.
            output = asyncio.ensure_future(self._process.communicate())
            reader = asyncio.StreamReader()
            protocol = asyncio.StreamReaderProtocol(reader)
            pipe = os.fdopen(reads, "rb", buffering=0)
            reads = -1
            loop = asyncio.get_running_loop()
            transport, _ = await loop.connect_read_pipe(lambda: protocol, pipe)
            left = True
            try:
                async for line in reader:
                    yield Live(json.loads(line))
                left = False
            finally:
                transport.close()
                if left:  # its load ends with it
                    self.stop()
                out, err = await output
            done = Done(self._process.returncode or 0, out.decode(), err.decode())
            answer = _answer("run", done)
            self._result = MeasuredRun(self.path, done, answer.json)
        finally:
            for descriptor in (reads, writes):
                if descriptor >= 0:
                    os.close(descriptor)


def run_live(endpoint: Union[str, Sequence[str], None] = None, *, model: Optional[str] = None,
             concurrency: Optional[int] = None, rate: Optional[float] = None,
             samples: Optional[int] = None, duration: Optional[str] = None,
             config: Optional[Path] = None, **flags: Value) -> LiveRun:
    """As run(), to be iterated while it goes on. The load starts with the iteration."""
    words, folder = _run_words(endpoint, {"model": model, "concurrency": concurrency, "rate": rate,
                                          "samples": samples, "duration": duration,
                                          "config": config}, flags)
    return LiveRun(words, folder)


__all__ = ["Answer", "Figure", "Live", "LiveRun", "MeasuredRun", "check", "command", "compare",
           "probe", "run", "run_live", "score", "simulate", "verify"]
