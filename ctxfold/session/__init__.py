"""The public `Session`: recording, deciding, viewing, recalling, searching."""

from __future__ import annotations
