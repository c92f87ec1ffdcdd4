"""Adapter of the code ``command``: any script or program.

It knows nothing of what the program computes: exit code 0 is completed, anything else is failed
with what the program said. Built by ``api``, called by the job services.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, ClassVar, Final

from pydantic import AfterValidator, Field, StringConstraints

from crystalmath.codes.ending import judge_end
from crystalmath.codes.files import check_files, check_path
from crystalmath.codes.options import Options, parse_options, refuse_engine
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.services.ports import (
    Continuation,
    EndReceipt,
    Finished,
    InputFile,
    JobRequest,
    Prepared,
    Progress,
    Reading,
    Verdict,
)

MAX_STRING: Final = 131_071
"""Bytes of one argument or variable that Linux passes on (MAX_ARG_STRLEN less the NUL)."""
MAX_TOTAL: Final = 1024 * 1024
"""Bytes of all arguments and variables; Linux allows 2 MiB with the usual stack limit."""


def _passable(text: str) -> str:
    if "\0" in text:
        raise ValueError("holds a NUL character")
    try:
        length = len(text.encode())
    except UnicodeEncodeError:
        raise ValueError("is not valid Unicode") from None
    if length > MAX_STRING:
        raise ValueError(f"is longer than {MAX_STRING} bytes")
    return text


_Argument = Annotated[str, StringConstraints(min_length=1), AfterValidator(_passable)]
_VARIABLE: Final = r"^[A-Za-z_][A-Za-z0-9_]{0,254}$"
_Name = Annotated[str, StringConstraints(pattern=_VARIABLE)]
_Value = Annotated[str, AfterValidator(_passable)]


class CommandOptions(Options):
    """``inputs`` of a job of the code ``command``."""

    FORMS: ClassVar[Mapping[str, str]] = {
        _VARIABLE: "the name must be that of a variable: letters, digits and _"
    }
    argv: list[_Argument] = Field(
        min_length=1,
        max_length=1000,
        description="Program and arguments, run in the job directory without a shell.",
    )
    env: dict[_Name, _Value] = Field(
        default_factory=dict,
        max_length=200,
        description="Environment variables for the program.",
    )
    output: str | None = Field(
        default=None,
        description="Name of the main output file in the job directory; standard output if absent.",
    )


class CommandAdapter:
    """Implements ``services.ports.CodeAdapter``."""

    name = "command"
    title = "any script or program"
    tasks: tuple[str, ...] = ("run",)

    def describe(self) -> Mapping[str, Any]:
        """Return the JSON schema of ``inputs``; there is no executable of its own."""
        schema = CommandOptions.model_json_schema()
        return {
            "parameters": schema,
            "parameters_by_task": dict.fromkeys(self.tasks, schema),
            "executable": None,
            "engines": [],
        }

    def prepare(self, request: JobRequest) -> Prepared:
        """Check argv, environment and files.

        Raises
        ------
        InvalidParams
            With the field at fault.
        """
        _refuse_foreign(request)
        options = parse_options(CommandOptions, request.inputs)
        files = _with_program(check_files(request.files), options.argv[0])
        output = None if options.output is None else check_path(options.output, "inputs.output")
        env = {**request.context, **options.env}
        for name in env:
            if name.startswith("CRYSTALMATH_"):
                raise InvalidParams(
                    f"the variable {name} is set by CrystalMath", field=f"inputs.env.{name}"
                )
        total = sum(len(text.encode()) + 1 for text in (*options.argv, *env, *env.values()))
        if total > MAX_TOTAL:
            raise InvalidParams(
                f"arguments and variables are {total} bytes, more than can be passed",
                hint="pass long data in a file",
                field="inputs.argv",
            )
        return Prepared(task="run", argv=tuple(options.argv), files=files, env=env, output=output)

    def progress(self, directory: Path) -> Progress | None:  # noqa: ARG002 - a script says nothing of it
        """Return None: what a script has done is known only to the script."""
        return None

    def judge(self, directory: Path, end: EndReceipt | None) -> Verdict:
        """Judge by the exit code and what the program said."""
        failed = judge_end(directory, end)
        if failed is not None or end is None:
            return failed or Verdict(completed=False, reason="crashed")
        warnings = (
            ("the disk was full at the end: the output may be cut off",) if end.disk_full else ()
        )
        results: dict[str, Any] = {"exit_code": 0, "elapsed_s": max(0.0, end.t_end - end.t_start)}
        if end.cpu_s is not None:
            results["cpu_s"] = end.cpu_s
        if end.max_rss_kib is not None:
            results["max_rss_kib"] = end.max_rss_kib
        return Verdict(completed=True, results=results, warnings=warnings)

    def series(self, directory: Path) -> Mapping[str, Any]:  # noqa: ARG002 - a script has none
        """Return nothing: there is nothing to plot."""
        return {}

    def recognise(self, path: Path) -> Finished | None:  # noqa: ARG002 - anything could be one
        """Return None: nothing tells the output of a script from any other file."""
        return None

    def read(self, path: Path) -> Reading | None:  # noqa: ARG002 - only the exit code counts
        """Return None: without its exit code a script cannot be judged."""
        return None

    def proceed(
        self,
        directory: Path,  # noqa: ARG002 - what lies there means something to the script alone
        request: JobRequest,  # noqa: ARG002
        reason: str | None,  # noqa: ARG002
    ) -> Continuation:
        """Refuse: only the script knows how it could go on.

        Raises
        ------
        InputRejected
        """
        raise InputRejected(
            "a job of the code command cannot be continued: only the program knows how",
            hint="`jobs.rerun` starts it again from its beginning",
            field="id",
        )


def _refuse_foreign(request: JobRequest) -> None:
    """Refuse what would be ignored."""
    if request.task not in {None, "run"}:
        raise InvalidParams(
            f"the code command has no task {request.task!r}", hint="leave it out", field="task"
        )
    refuse_engine(request, "command")
    if request.structure is not None:
        raise InvalidParams(
            "the code command takes no structure",
            hint="give the structure as a file",
            field="structure",
        )


def _with_program(files: tuple[InputFile, ...], program: str) -> tuple[InputFile, ...]:
    """Make the file that ``argv[0]`` names executable, or refuse a program that is nowhere."""
    names = {file.path for file in files}
    if "/" not in program:
        if program in names:
            raise InvalidParams(
                f"{program} is one of the files, but a bare name is looked up in PATH",
                hint=f"write ./{program}",
                field="inputs.argv.0",
            )
        return files
    if program.startswith("/"):
        return files
    clean = PurePosixPath(re.sub(r"^(\./+)+", "", program)).as_posix()
    if clean not in names:
        raise InvalidParams(
            f"{program!r} is not among the files of the job",
            hint="add the file, give its absolute path, or a bare name that is in PATH",
            field="inputs.argv.0",
        )
    return tuple(replace(file, executable=True) if file.path == clean else file for file in files)
