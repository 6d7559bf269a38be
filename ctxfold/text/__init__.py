"""Plain text: words, sentences, exact values, ranking, similarity and differences."""

from ctxfold.text.bm25 import BM25
from ctxfold.text.diff import Change, changes, summarise, word_changes
from ctxfold.text.entities import entities, windows
from ctxfold.text.select import best_line, select
from ctxfold.text.sentences import MAX_SENTENCE, Span, lines, sentences
from ctxfold.text.similarity import Vector, Vocabulary, centroid, cosine, features
from ctxfold.text.words import STOP_WORDS, is_common, query_weights, query_words, stem, words

__all__ = [
    "BM25",
    "MAX_SENTENCE",
    "STOP_WORDS",
    "Change",
    "Span",
    "Vector",
    "Vocabulary",
    "best_line",
    "centroid",
    "changes",
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
    "summarise",
    "windows",
    "word_changes",
    "words",
]
