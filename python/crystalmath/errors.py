"""The exception tree. Every error that may reach a client is one of these.

    CrystalMathError                     -32000
    ├── NotFound
    ├── Conflict
    ├── NotImplementedYet
    ├── IllegalTransition
    ├── ConfigError
    ├── InputRejected                    -32000, or -32602 when the bad field is a request parameter
    │   └── EngineNotInstalled
    ├── OutputUnreadable
    ├── AnalysisRefused
    │   └── TooFewPoints · NotBracketed · NotRelaxed · SymmetryBroken · Underdetermined
    ├── MaterialsError
    ├── IsolationError
    │   ├── EnvironmentUnbuildable · EnvironmentBroken · LicenceNotAccepted
    │   └── ExtensionDied · CallCycle · RemoteError
    ├── ForcesError
    │   ├── WorkerDied · WorkerTimeout · OutOfMemory · UnsupportedSpecies · BadResult
    │   └── EngineChanged
    ├── DatabaseError                    -32001
    ├── SshError                         -32002
    │   ├── Unreachable · HostKeyUnknown · HostKeyChanged · SetupFailed
    │   ├── AuthRefused
    │   │   └── PassphraseNeeded
    │   └── TransferFailed
    │       └── DiskFull
    ├── SlurmError                       -32003
    │   └── Rejected · LimitReached · UnknownOutcome · UnknownJob · Unparsable
    └── TransportError                   (raised by the server, not by services)
        ├── ShuttingDown                 -32010
        ├── Overloaded                   -32011
        ├── DeadlinePassed               -32012
        ├── TooLarge                     -32013
        ├── ProtocolMismatch             -32014
        └── Cancelled                    -32800

The message of these exceptions is written for the user and is sent as it is, so it must hold no
secret and no path that the user did not name. Any other exception is reported as -32603 with a
trace id, and its text stays in the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


class CrystalMathError(Exception):
    """Root of the tree.

    Parameters
    ----------
    message
        One sentence for the user: what is wrong.
    hint
        What the user can do about it.
    field
        Dotted path of the request field at fault, e.g. ``files.0.path``.
    """

    code: ClassVar[int] = -32000
    kind: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str | None = None, field: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.field = field


class NotFound(CrystalMathError):
    """The object named by the request does not exist."""

    kind = "not_found"


class Conflict(CrystalMathError):
    """The request contradicts what is there, e.g. a token reused for another submission."""

    kind = "conflict"


class NotImplementedYet(CrystalMathError):
    """The method is part of the contract, but this version does not carry it out."""

    kind = "not_implemented"


class IllegalTransition(CrystalMathError):
    """A job is not in a state that allows what was asked."""

    kind = "illegal_transition"


class ConfigError(CrystalMathError):
    """A configuration file or environment variable is wrong."""

    kind = "config"


class InputRejected(CrystalMathError):
    """The user's input is refused; ``field`` names where."""

    kind = "input_rejected"


class InvalidParams(InputRejected):
    """A request parameter that its model accepts, but that is wrong for this request."""

    code = INVALID_PARAMS
    kind = "invalid_params"


class EngineNotInstalled(InputRejected):
    """A force engine is known but not installed; ``field`` is where it was named."""

    kind = "engine_not_installed"


class OutputUnreadable(CrystalMathError):
    """A program's output cannot be understood."""

    kind = "output_unreadable"


class AnalysisRefused(CrystalMathError):
    """No honest result can be taken from these data."""

    kind = "analysis_refused"


class TooFewPoints(AnalysisRefused):
    """Fewer points than the result has unknowns."""

    kind = "too_few_points"


class NotBracketed(AnalysisRefused):
    """The minimum lies outside the scan."""

    kind = "not_bracketed"


class NotRelaxed(AnalysisRefused):
    """Forces or stress are left where the method needs a minimum."""

    kind = "not_relaxed"


class SymmetryBroken(AnalysisRefused):
    """A mesh or a supercell does not have the symmetry of the crystal."""

    kind = "symmetry_broken"


class Underdetermined(AnalysisRefused):
    """The data leave some of the unknowns open."""

    kind = "underdetermined"


class MaterialsError(CrystalMathError):
    """A provider of structures failed.

    Parameters
    ----------
    provider
        Its name.
    status
        How: a word of ``contract.material_search.ProviderStatus``.
    http_status
        What the provider's server said; 0 where it said nothing.
    """

    kind = "materials"

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        field: str | None = None,
        provider: str = "",
        status: str = "failed",
        http_status: int = 0,
    ) -> None:
        super().__init__(message, hint=hint, field=field)
        self.provider = provider
        self.status = status
        self.http_status = http_status


class IsolationError(CrystalMathError):
    """An isolated environment or extension failed."""

    kind = "isolation"


class EnvironmentUnbuildable(IsolationError):
    kind = "environment_unbuildable"


class EnvironmentBroken(IsolationError):
    kind = "environment_broken"


class LicenceNotAccepted(IsolationError):
    kind = "licence_not_accepted"


class ExtensionDied(IsolationError):
    kind = "extension_died"


class CallCycle(IsolationError):
    kind = "call_cycle"


class RemoteError(IsolationError):
    kind = "remote_error"


class ForcesError(CrystalMathError):
    """A force engine failed."""

    kind = "forces"


class WorkerDied(ForcesError):
    kind = "worker_died"
    retryable = True


class WorkerTimeout(ForcesError):
    kind = "worker_timeout"
    retryable = True


class OutOfMemory(ForcesError):
    kind = "out_of_memory"


class UnsupportedSpecies(ForcesError):
    kind = "unsupported_species"


class BadResult(ForcesError):
    kind = "bad_result"


class EngineChanged(ForcesError):
    """An engine gives other numbers than when it was examined."""

    kind = "engine_changed"


class DatabaseError(CrystalMathError):
    """The database cannot be read, written or migrated."""

    code = -32001
    kind = "database"


class SshError(CrystalMathError):
    """A connection to a host failed.

    Parameters
    ----------
    host
        The host that said no, or that did not answer: the cluster's own or one on the way to it.
    stage
        How far it came: ``config``, ``resolve``, ``connect``, ``host_key``, ``auth``, ``session``
        or ``transfer``.
    facts
        What a program may want of it, e.g. ``key_type`` and ``sha256`` of an unknown host key.
    """

    code = -32002
    kind = "ssh"

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        field: str | None = None,
        host: str | None = None,
        stage: str | None = None,
        facts: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message, hint=hint, field=field)
        self.host = host
        self.stage = stage
        self.facts = dict(facts or {})


class Unreachable(SshError):
    kind = "unreachable"
    retryable = True


class AuthRefused(SshError):
    kind = "auth_refused"


class PassphraseNeeded(AuthRefused):
    kind = "passphrase_needed"


class HostKeyUnknown(SshError):
    kind = "host_key_unknown"


class HostKeyChanged(SshError):
    kind = "host_key_changed"


class SetupFailed(SshError):
    """A line of the cluster's ``setup_commands`` ends the shell: no command can follow it."""

    kind = "setup_failed"


class TransferFailed(SshError):
    kind = "transfer_failed"
    retryable = True


class DiskFull(TransferFailed):
    kind = "disk_full"
    retryable = False


class SlurmError(CrystalMathError):
    """The scheduler refused or could not be understood."""

    code = -32003
    kind = "slurm"


class Rejected(SlurmError):
    kind = "rejected"


class LimitReached(SlurmError):
    kind = "limit_reached"
    retryable = True


class UnknownOutcome(SlurmError):
    kind = "unknown_outcome"


class UnknownJob(SlurmError):
    kind = "unknown_job"


class Unparsable(SlurmError):
    kind = "unparsable"


class TransportError(CrystalMathError):
    """The conversation itself, not its subject, has a problem."""

    kind = "transport"


class ShuttingDown(TransportError):
    code = -32010
    kind = "shutting_down"
    retryable = True


class Overloaded(TransportError):
    code = -32011
    kind = "overloaded"
    retryable = True


class DeadlinePassed(TransportError):
    code = -32012
    kind = "deadline"
    retryable = True


class TooLarge(TransportError):
    code = -32013
    kind = "too_large"


class ProtocolMismatch(TransportError):
    code = -32014
    kind = "protocol_mismatch"


class Cancelled(TransportError):
    code = -32800
    kind = "cancelled"
