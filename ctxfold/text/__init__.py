"""Plain text: words, sentences, exact values, ranking, similarity and differences."""

from ctxfold.text.bm25 import BM25
from ctxfold.text.entities import entities
from ctxfold.text.select import best_line, select
from ctxfold.text.sentences import MAX_SENTENCE, Span, lines, sentences
from ctxfold.text.similarity import Vector, Vocabulary, cosine, features
from ctxfold.text.words import is_common, query_weights, query_words, stem, words

__all__ = [
    "BM25",
    "MAX_SENTENCE",
    "Span",
    "Vector",
    "Vocabulary",
    "best_line",
    "cosine",
    "entities",
    "features",
    "is_common",
    "lines",
    "query_weights",
    "query_words",
    "select",
    "sentences",
    "stem",
    "words",
]
