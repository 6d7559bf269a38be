"""What the house knows about plain text: its words, its sentences, what is alike, what stands out, what changed. No model, no network.

Everything here is a function of its arguments alone, uses the standard library, and gives spans that slice the text exactly. It
decides nothing: folding, the browser and the forest ask it and decide themselves.
"""

from ctxfold.text.bm25 import BM25
from ctxfold.text.diff import Change, changes, summarise, word_changes
from ctxfold.text.entities import entities, windows
from ctxfold.text.select import best_line, head, select
from ctxfold.text.sentences import MAX_SENTENCE, Span, lines, sentences
from ctxfold.text.similarity import Vector, Vocabulary, centroid, cosine, features
from ctxfold.text.words import STOP_WORDS, query_words, stem, words

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
    "head",
    "lines",
    "query_words",
    "select",
    "sentences",
    "stem",
    "summarise",
    "windows",
    "word_changes",
    "words",
]
