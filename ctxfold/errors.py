"""Every error that the project raises on purpose, as one tree.

A message names the problem and the next move; it never holds page text, secrets or a traceback.
"""

from __future__ import annotations

from typing import ClassVar


class CtxfoldError(Exception):
    """Base of every expected failure. `exit_code` is the exit code of the command line."""

    exit_code: ClassVar[int] = 3


class InputError(CtxfoldError):
    """The caller's arguments cannot be used."""

    exit_code = 2


class SessionNameError(InputError):
    """A session or branch name outside `[a-z0-9][a-z0-9-]{0,63}`."""


class UnknownSession(InputError):
    """No session of that name in this store."""


class RefError(InputError):
    """A malformed or unknown ref, step, call or block."""


class BudgetError(InputError):
    """A budget below the published least."""


class FoldError(InputError):
    """A fold that would break the tiling, grow the view or say nothing."""


class BranchError(InputError):
    """A move that cannot be made from here."""


class UndoError(InputError):
    """Nothing left to undo or redo."""


class UnknownPage(InputError):
    """No page is open in that session: none was opened, or it was ended since."""


class UnknownRun(InputError):
    """No run of that name is known to this process."""


class ImportFault(InputError):
    """A file that is not one of our exports, or one that was altered."""


class StaleDecision(CtxfoldError):
    """Decided on a revision that no longer fits the head of its branch."""

    exit_code = 2


class StoreError(CtxfoldError):
    """The database cannot do the operation."""


class NotOurStore(StoreError):
    """A file or database that is not a ctxfold store."""


class ReadOnlyStore(StoreError):
    """No right to write there."""


class CorruptStore(StoreError):
    """A row or page that does not read back."""


class FullDisk(StoreError):
    """No space left. Everything committed before is kept."""


class BusyStore(StoreError):
    """Another process held the write lock too long."""


class BrokenInstall(CtxfoldError):
    """A file of the package is missing or altered."""


class ModelError(CtxfoldError):
    """The model could not decide."""


class ModelKeyMissing(ModelError):
    """No key is set, or the key was refused."""


class ModelUnavailable(ModelError):
    """The model's server is unreachable, overloaded or limits the rate."""


class InvalidReply(ModelError):
    """A reply that does not fit the decision's schema."""


class Unfit(InputError):
    """A well-formed reply that may not be applied.

    Args:
        message: the problem, for the model that wrote it.
        fault: the problem without a word of the log, for the event.
    """

    def __init__(self, message: str, fault: str = "") -> None:
        super().__init__(message)
        self.fault = fault


class RefactorRefusal(InputError):
    """A refactoring that may not be applied, in words of ours alone, and the values that it is about."""

    def __init__(self, reason: str, *values: str) -> None:
        super().__init__(reason)
        self.values = values


class BrowserError(CtxfoldError):
    """The browser or the page."""


class BrowserMissing(BrowserError):
    """No browser was found and none could be provided."""


class BrowserGone(BrowserError):
    """The browser died or was closed under us."""


class PageUnreachable(BrowserError):
    """The address cannot be opened."""


class Refused(BrowserError):
    """A safety rule stops this."""

    exit_code = 2
