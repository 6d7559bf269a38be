"""OpenTelemetry spans of what models decide: names, numbers and who decided, never a word of what was read or written."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Noted", "span"]

Noted = dict[str, str | int | float | bool]
"""What is known of a span at its end; whoever opened it fills it in."""


@contextmanager
def span(name: str, **known: str | int | float | bool) -> Iterator[Noted]:
    """A span round what is done in the block. Where the program has not imported OpenTelemetry, nobody listens and nothing is kept."""
    noted: Noted = {}
    if "opentelemetry.trace" not in sys.modules:
        yield noted
        return
    from opentelemetry import trace

    tracer = trace.get_tracer("ctxfold")
    with tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False) as opened:
        opened.set_attributes(known)
        try:
            yield noted
        except BaseException as error:
            noted["error.type"] = type(error).__name__
            raise
        finally:
            opened.set_attributes(noted)
