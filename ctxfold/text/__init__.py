"""Plain text: words, sentences, exact values, ranking, similarity and differences."""

from __future__ import annotations
