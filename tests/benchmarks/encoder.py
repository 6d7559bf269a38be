"""The encoder's arithmetic against an independent one in plain Python, on a small random model it writes itself. Needs the extra `embed`.

    python -m tests.benchmarks.encoder [--folder FOLDER]

With a folder it prints what one text costs by that encoder, alone and among others, and how alike a few pairs are.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ctxfold.text.encoder import FolderEncoder

WIDTH, HEADS, LAYERS, INNER, WORDS = 8, 2, 2, 16, 30


def write_model(folder: Path, seed: int = 7) -> dict[str, Any]:
    """A BERT of two small layers with random weights, as sentence-transformers publishes one; its weights as lists."""
    import numpy
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, models, pre_tokenizers

    chance = random.Random(seed)
    shapes = {
        "embeddings.word_embeddings.weight": (WORDS, WIDTH),
        "embeddings.position_embeddings.weight": (64, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
    }
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        for name, rows, columns in (
            ("attention.self.query", WIDTH, WIDTH), ("attention.self.key", WIDTH, WIDTH), ("attention.self.value", WIDTH, WIDTH),
            ("attention.output.dense", WIDTH, WIDTH), ("intermediate.dense", INNER, WIDTH), ("output.dense", WIDTH, INNER),
        ):  # fmt: skip
            shapes |= {f"{at}{name}.weight": (rows, columns), f"{at}{name}.bias": (rows,)}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{at}{name}.weight": (WIDTH,), f"{at}{name}.bias": (WIDTH,)}
    weights = {
        name: numpy.array([chance.gauss(0, 0.7) for _ in range(math.prod(shape))], dtype=numpy.float32).reshape(shape)
        for name, shape in shapes.items()
    }
    save_file(weights, str(folder / "model.safetensors"))
    (folder / "config.json").write_text(
        json.dumps({"num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "layer_norm_eps": 1e-12}), "utf-8"
    )
    tokenizer = Tokenizer(
        models.WordLevel({f"w{n}": n for n in range(WORDS - 1)} | {"[UNK]": WORDS - 1}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return {name: value.tolist() for name, value in weights.items()}


def plain(weights: dict[str, Any], ids: list[int]) -> list[list[float]]:
    """The same forward pass, number by number: a vector for each token."""

    def linear(rows: list[list[float]], name: str) -> list[list[float]]:
        matrix, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
        return [
            [sum(a * b for a, b in zip(row, line, strict=True)) + c for line, c in zip(matrix, bias, strict=True)]
            for row in rows
        ]

    def normed(rows: list[list[float]], name: str) -> list[list[float]]:
        made = []
        for row in rows:
            mean = sum(row) / len(row)
            spread = math.sqrt(sum((value - mean) ** 2 for value in row) / len(row) + 1e-12)
            made.append(
                [
                    (value - mean) / spread * w + b
                    for value, w, b in zip(row, weights[f"{name}.weight"], weights[f"{name}.bias"], strict=True)
                ]
            )
        return made

    def added(one: list[list[float]], other: list[list[float]]) -> list[list[float]]:
        return [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(one, other, strict=True)]

    words, places, kinds = (
        weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
    )
    hidden = normed(
        [[words[n][k] + places[at][k] + kinds[0][k] for k in range(WIDTH)] for at, n in enumerate(ids)],
        "embeddings.LayerNorm",
    )
    size = WIDTH // HEADS
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        q, k, v = (linear(hidden, f"{at}attention.self.{name}") for name in ("query", "key", "value"))
        mixed = [[0.0] * WIDTH for _ in ids]
        for h in range(HEADS):
            part = range(h * size, (h + 1) * size)
            for i in range(len(ids)):
                scores = [sum(q[i][c] * k[j][c] for c in part) / math.sqrt(size) for j in range(len(ids))]
                total = sum(math.exp(score) for score in scores)
                for c in part:
                    mixed[i][c] = sum(math.exp(score) / total * v[j][c] for j, score in enumerate(scores))
        hidden = normed(added(hidden, linear(mixed, f"{at}attention.output.dense")), f"{at}attention.output.LayerNorm")
        inner = [
            [0.5 * x * (1 + math.erf(x / math.sqrt(2))) for x in row]
            for row in linear(hidden, f"{at}intermediate.dense")
        ]
        hidden = normed(added(hidden, linear(inner, f"{at}output.dense")), f"{at}output.LayerNorm")
    return hidden


def scaled(vector: list[float]) -> list[float]:
    """The same of length one."""
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector]


def middle(rows: list[list[float]]) -> list[float]:
    """The mean of vectors, of length one."""
    return scaled([sum(column) / len(rows) for column in zip(*rows, strict=True)])


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    """The sum of products."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def difference(texts: int = 60) -> float:
    """The largest difference between the two, over texts of one to forty words: their vectors, and how near they come to the first of them.

    They are more than go through the encoder at once, so that it also shows whether a text's neighbours change it.
    """
    chance = random.Random(3)
    read = [[chance.randrange(WORDS) for _ in range(chance.randint(1, 40))] for _ in range(texts)]
    said = [" ".join(f"w{n}" if n < WORDS - 1 else "other" for n in ids) for ids in read]
    with tempfile.TemporaryDirectory() as folder:
        weights = write_model(Path(folder))
        encoder = FolderEncoder(folder)
        vectors, near = encoder.encode(said), encoder.compare(said[0], said)
    tokens = [plain(weights, ids) for ids in read]
    asked = [scaled(token) for token in tokens[0]]
    worst = 0.0
    for vector, likeness, rows in zip(vectors, near, tokens, strict=True):
        whole = middle(rows)
        best = [max(dot(one, scaled(row)) for row in rows) for one in asked]
        worst = max(
            worst,
            *(abs(a - b) for a, b in zip(vector, whole, strict=True)),
            abs(likeness.whole - dot(middle(tokens[0]), whole)),
            abs(likeness.words - sum(best) / len(best)),
        )
    return worst


def main() -> int:
    """Compare, and look at a folder's encoder."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--folder")
    chosen = options.parse_args()
    worst = difference()
    print(f"largest difference from plain arithmetic: {worst:.1e}")
    if chosen.folder:
        encoder = FolderEncoder(chosen.folder)
        texts = [
            "Six days in Kyoto with two kids",
            "Which rail pass do we need in Japan?",
            "Our Node service leaks heap memory",
        ]
        started = time.perf_counter()
        vectors = encoder.encode(texts)
        print(f"{(time.perf_counter() - started) / len(texts) * 1000:.1f} ms a text")
        passages = [f"{' '.join(texts)} {at}. " * 3 for at in range(30)]
        started = time.perf_counter()
        encoder.compare(texts[1], passages)
        print(
            f"{(time.perf_counter() - started) / len(passages) * 1000:.1f} ms a passage of {len(passages[0])} letters among {len(passages)}"
        )
        for at, one in enumerate(vectors):
            for other in range(at):
                print(f"{dot(one, vectors[other]):.2f}  {texts[other]} | {texts[at]}")
    return int(worst > 1e-4)


if __name__ == "__main__":
    sys.exit(main())
