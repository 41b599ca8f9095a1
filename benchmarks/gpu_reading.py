"""Samples read by every model on a machine with a GPU, for `benchmarks.embedders`.

    python -m benchmarks.gpu_reading prepare FOLDER     # tokens, windows, weights as arrays; needs onnx, chunkwise
    python gpu_reading.py read FOLDER NAME…             # there: needs numpy, torch, transformers, and nothing of ours

A GPU reads in minutes what takes two cores hours: with the weights of the exports, in 16 bits, every window of every
size by itself (`own`), and every document once with the sums of its tokens' vectors (`late`). What comes back are the
best windows of every question and size, a reranker's logits for pairs, and some vectors to be held against those of a
processor. The reranker is the last: `benchmarks.embedders pairs` says what it reads.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

DEPTH = 400
"""Windows of a size that vote, as `multiscale` takes them."""
CLS, SEP = 101, 102
LATE = 250
"""Tokens that a document is read in at a time."""
PART = 15_000_000
"""Bytes of a file that is brought back, at most."""
CHECKED = 60
"""Windows and questions whose vectors are brought back, to be compared with those of a processor."""


class Model(NamedTuple):
    """How its makers say it is to be read; the same as in the catalog, which the other machine does not have."""

    layers: int
    pooling: str
    window: int
    query_prefix: str = ""
    passage_prefix: str = ""


_SEARCHING = "Represent this sentence for searching relevant passages: "
MODELS = {
    "minilm": Model(6, "mean", 256),
    "bge-small": Model(12, "cls", 512, _SEARCHING),
    "arctic-s": Model(12, "cls", 512, _SEARCHING),
    "e5-small": Model(12, "mean", 512, "query: ", "passage: "),
    "gte-small": Model(12, "mean", 512),
    "colbert-small": Model(12, "tokens", 256),
    "ms-marco-minilm": Model(12, "pair", 512),
}

Arrays = dict[str, NDArray[Any]]


# ------------------------------------------------------------------ what travels


def prepare(folder: Path) -> None:
    """Tokens, atoms and windows of the samples; the weights of every model."""
    from tokenizers import Tokenizer

    from benchmarks.late_projection import _weights
    from chunkwise.models.weights.catalog import weights_of
    from chunkwise.models.weights.installed import ensure

    folder.mkdir(parents=True, exist_ok=True)
    for name, model in MODELS.items():
        kind = {"tokens": "token encoder", "pair": "reranker"}.get(model.pooling, "embedder")
        files = ensure(weights_of(name, kind))  # type: ignore[arg-type]
        arrays = _weights(Path(files["model.onnx"]))
        if not any(each.endswith("|scale") for each in arrays):  # in 32 bits: half of that travels
            arrays = {each: own.astype(np.float16) for each, own in arrays.items()}
        np.savez_compressed(folder / f"{name}.weights.npz", **arrays)  # type: ignore[arg-type]
        print(name, f"{(folder / f'{name}.weights.npz').stat().st_size:,}", flush=True)
    # One vocabulary and one way to cut words for all of them.
    tokenizer = Tokenizer.from_file(str(ensure(weights_of("minilm", "embedder"))["tokenizer.json"]))
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def ids(text: str) -> list[int]:
        found: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return found

    marks = {each.query_prefix for each in MODELS.values()} | {
        each.passage_prefix for each in MODELS.values()
    }
    (folder / "prefixes.json").write_text(json.dumps({each: ids(each) for each in marks}))
    arrays = {}
    for sample in samples():
        arrays |= {
            f"{sample.corpora[0]}|{key}": own for key, own in _sample(sample, tokenizer).items()
        }
        print(sample.name, flush=True)
    np.savez_compressed(folder / "texts.npz", **arrays)  # type: ignore[arg-type]


def samples() -> list[Any]:
    """Those of `benchmarks.signals`, and two in other languages."""
    from benchmarks.signals import SAMPLES, Sample

    more = [Sample(name, (name,), 200, 10_000_000) for name in ("xquad_de", "xquad_zh")]
    return [each for each in (*SAMPLES, *more) if each.available]


def _sample(sample: Any, tokenizer: Any) -> Arrays:
    import chunkwise
    from chunkwise.models.embed.embedder import PreferredEnds, window_ends
    from chunkwise.retrieval.multiscale import Multiscale

    documents, questions = sample.read()
    source = chunkwise.index(documents, vectors="none").source
    atoms = source.atom_table()  # type: ignore[union-attr]
    sizes = Multiscale().prepare(atoms).sizes
    ids: list[NDArray[np.uint16]] = []
    first = np.zeros(len(atoms) + 1, np.int64)
    total = 0
    bounds = [0]
    for number in range(len(source.ids())):  # type: ignore[union-attr]
        read = tokenizer.encode(source.document(number).text, add_special_tokens=False)
        starts = np.maximum.accumulate(np.array([each[0] for each in read.offsets], np.int64))
        low, high = atoms.document.searchsorted([number, number + 1])
        own = starts.searchsorted(atoms.start[low:high])
        first[low:high] = total + own
        ends = window_ends(len(starts), LATE, PreferredEnds(own, 1))
        bounds += [total + each for each in ends]
        ids.append(np.array(read.ids, np.uint16))
        total += len(starts)
    first[-1] = total
    asked = [
        np.array(tokenizer.encode(q.text, add_special_tokens=False).ids, np.uint16)
        for q in questions
    ]
    found: Arrays = {
        "ids": np.concatenate(ids), "first": first.astype(np.uint32), "asked": np.concatenate(asked),
        "asked_ends": np.cumsum([len(each) for each in asked]).astype(np.uint32),
        "late": np.unique(bounds).astype(np.uint32),
    }  # fmt: skip
    for at, windows in enumerate(sizes):
        found[f"windows{at}"] = np.stack([windows.first, windows.stop], 1).astype(np.uint32)
    return found


# ------------------------------------------------------------------ on the machine with the GPU


def read(folder: Path, names: Sequence[str], output: Path) -> None:
    """The best windows of every question by each model, as shares of the best score."""
    texts = np.load(folder / "texts.npz")
    prefixes = json.loads((folder / "prefixes.json").read_text())
    kept: Arrays = {}
    output.mkdir(parents=True, exist_ok=True)
    for name in names:
        began = time.monotonic()
        reader = _Reader(folder, name, prefixes)
        sets = sorted({key.split("|")[0] for key in texts.files if key.endswith("|asked")})
        if reader.model.pooling == "pair":
            pairs = np.load(folder / "pairs.npz")
            for each in sets:
                kept[f"{each}|{name}"] = reader.pairs(_Texts.of(texts, each), pairs[each])
        elif reader.model.pooling == "tokens":
            projection = np.load(folder / "projection.npy")
            for each in sets:
                kept |= reader.by_tokens(_Texts.of(texts, each), projection)
        else:
            for each in sets:
                kept |= reader.by_windows(_Texts.of(texts, each))
        print(name, f"{time.monotonic() - began:.1f} s", flush=True)
    part, room = 0, PART
    some: Arrays = {}
    for key, array in kept.items():
        if array.nbytes > room and some:
            np.savez_compressed(output / f"{'-'.join(names)}.{part}.npz", **some)  # type: ignore[arg-type]
            part, room, some = part + 1, PART, {}
        some[key] = array
        room -= array.nbytes
    np.savez_compressed(output / f"{'-'.join(names)}.{part}.npz", **some)  # type: ignore[arg-type]


class _Texts(NamedTuple):
    name: str
    arrays: Mapping[str, NDArray[Any]]

    @classmethod
    def of(cls, texts: Any, name: str) -> _Texts:
        own = {key.split("|")[1]: texts[key] for key in texts.files if key.startswith(f"{name}|")}
        return cls(name, own)

    def questions(self) -> list[NDArray[Any]]:
        return np.split(self.arrays["asked"].astype(np.int64), self.arrays["asked_ends"][:-1])


class _Reader:
    """A model on the GPU, in 16 bits."""

    def __init__(self, folder: Path, name: str, prefixes: Mapping[str, list[int]]) -> None:
        import torch
        from transformers import BertConfig, BertModel

        self.torch, self.name, self.model = torch, name, MODELS[name]
        arrays = np.load(folder / f"{name}.weights.npz")
        weights = {}
        for each in arrays.files:
            if "|" in each:
                continue
            whole = arrays[each].astype(np.float32)
            if f"{each}|scale" in arrays.files:
                scale, zero = (
                    arrays[f"{each}|{part}"].astype(np.float32) for part in ("scale", "zero")
                )
                if scale.ndim:  # a scale a row
                    scale, zero = scale[:, None], zero[:, None]
                whole = (whole - zero) * scale
            weights[each] = torch.tensor(np.ascontiguousarray(whole, np.float32))
        self.head = {k: weights.pop(k).cuda() for k in list(weights) if k.startswith("classifier")}
        config = BertConfig(
            hidden_size=384, num_hidden_layers=self.model.layers, num_attention_heads=12,
            intermediate_size=1536,
        )  # fmt: skip
        made = BertModel(config)
        missing, odd = made.load_state_dict(weights, strict=False)
        wanted = [each for each in missing if "pooler" not in each or self.head]
        assert not wanted, wanted[:3]
        assert not odd, odd[:3]
        self.body = made.cuda().half().eval()
        self.query = [CLS, *prefixes[self.model.query_prefix]]
        self.passage = [CLS, *prefixes[self.model.passage_prefix]]

    def _batches(self, size: Any, others: int) -> Iterator[Any]:
        """Numbers of texts of about the same length, as many as fit."""
        order = np.argsort(-size, kind="stable")
        low = 0
        while low < len(order):
            most = max(1, 200_000 // (int(size[order[low]]) + others))
            yield order[low : low + most]
            low += most

    def _states(self, flat: Any, low: Any, high: Any, before: Sequence[int]) -> tuple[Any, Any]:
        """The last layer of texts between places of the tokens, and which of it is theirs."""
        torch = self.torch
        low, high = (torch.as_tensor(each, device="cuda") for each in (low, high))
        size = high - low
        at = torch.arange(int(size.max()), device="cuda")
        inner = flat[(low[:, None] + at).clamp(max=len(flat) - 1)]
        ids = torch.zeros(len(low), len(before) + len(at) + 1, dtype=torch.long, device="cuda")
        ids[:, : len(before)] = torch.tensor(before, device="cuda")
        ids[:, len(before) : -1] = inner
        ids.scatter_(1, (len(before) + size)[:, None], SEP)
        place = torch.arange(ids.shape[1], device="cuda")
        mask = place[None] < (len(before) + size + 1)[:, None]
        ids *= mask
        return self.body(input_ids=ids, attention_mask=mask.long()).last_hidden_state, mask

    def pooled(self, flat: Any, low: Any, high: Any, before: Sequence[int]) -> Any:
        """A vector of length 1 a span of tokens; long ones in pieces, each weighing as much as it has tokens."""
        torch = self.torch
        room = self.model.window - len(before) - 1
        count = np.maximum(-(-(high - low) // room), 1)
        owner = np.repeat(np.arange(len(low)), count)
        step = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
        begin = low[owner] + step * room
        end = np.minimum(begin + room, high[owner])
        sums = torch.zeros(len(low), 384, device="cuda")
        owner_there = torch.tensor(owner, device="cuda")
        with torch.inference_mode():
            for some in self._batches(end - begin, len(before) + 1):
                states, mask = self._states(flat, begin[some], end[some], before)
                if self.model.pooling == "cls":
                    own = (
                        states[:, 0].float()
                        * torch.tensor((end - begin)[some], device="cuda")[:, None]
                    )
                else:
                    own = (states.float() * mask[..., None]).sum(1)
                sums.index_add_(0, owner_there[some], own)
        return torch.nn.functional.normalize(sums, dim=-1)

    def tokens(self, flat: Any, bounds: Any, before: Sequence[int]) -> Any:
        """A vector a token, documents read in windows between these bounds."""
        torch = self.torch
        found = torch.zeros(len(flat), 384, dtype=torch.half, device="cuda")
        low, high = bounds[:-1].astype(np.int64), bounds[1:].astype(np.int64)
        with torch.inference_mode():
            for some in self._batches(high - low, len(before) + 1):
                states, mask = self._states(flat, low[some], high[some], before)
                inner = mask[:, len(before) :].clone()
                inner[:, :-1] &= mask[:, len(before) + 1 :]
                inner[:, -1] = False
                place = torch.as_tensor(low[some], device="cuda")[:, None] + torch.arange(
                    inner.shape[1], device="cuda"
                )
                found[place[inner]] = states[:, len(before) :][inner]
        return found

    def asked(self, texts: _Texts) -> Any:
        rows = texts.questions()
        flat = self.torch.tensor(np.concatenate(rows), device="cuda")
        ends = np.cumsum([len(each) for each in rows])
        return self.pooled(flat, ends - [len(each) for each in rows], ends, self.query)

    def by_windows(self, texts: _Texts) -> Arrays:
        """Every window of every size by itself, and documents read once."""
        torch = self.torch
        flat = torch.tensor(texts.arrays["ids"].astype(np.int64), device="cuda")
        first = texts.arrays["first"].astype(np.int64)
        asked = self.asked(texts)
        found: Arrays = {}
        spans = [texts.arrays[f"windows{at}"].astype(np.int64) for at in range(6)]
        for at, edges in enumerate(spans):
            vectors = self.pooled(flat, first[edges[:, 0]], first[edges[:, 1]], self.passage)
            found |= _best(f"{texts.name}|{self.name}|own|{at}", asked @ vectors.T)
            if at == 2:
                some = np.arange(0, len(vectors), max(1, len(vectors) // CHECKED))[:CHECKED]
                found[f"{texts.name}|{self.name}|checked"] = some
                found[f"{texts.name}|{self.name}|passages"] = vectors[some].half().cpu().numpy()
                found[f"{texts.name}|{self.name}|questions"] = asked[:CHECKED].half().cpu().numpy()
        states = self.tokens(flat, texts.arrays["late"], self.passage)
        before = torch.zeros(len(flat) + 1, 384, dtype=torch.double, device="cuda")
        torch.cumsum(states.double(), 0, out=before[1:])
        for at, edges in enumerate(spans):
            low, high = (torch.tensor(first[edges[:, side]], device="cuda") for side in (0, 1))
            vectors = torch.nn.functional.normalize((before[high] - before[low]).float(), dim=-1)
            found |= _best(f"{texts.name}|{self.name}|late|{at}", asked @ vectors.T)
        return found

    # ---- the other two kinds of model

    def by_tokens(self, texts: _Texts, projection: Any) -> Arrays:
        """Late interaction: windows by the sum, over a question's tokens, of the best cosine to one of theirs."""
        torch = self.torch
        matrix = torch.tensor(projection.astype(np.float32), device="cuda")
        unit = torch.nn.functional.normalize

        def projected(states: Any) -> Any:
            return unit(unit(states.float(), dim=-1) @ matrix, dim=-1)

        flat = torch.tensor(texts.arrays["ids"].astype(np.int64), device="cuda")
        states = self.tokens(flat, texts.arrays["late"], [CLS, 2])
        vectors = torch.cat([projected(each) for each in states.split(100_000)])
        steps = torch.floor(vectors * math.sqrt(vectors.shape[1])).clamp(-2, 1) + 0.5  # 2 bits
        vectors = unit(steps, dim=-1)
        first = torch.tensor(texts.arrays["first"].astype(np.int64), device="cuda")
        atom = torch.searchsorted(first, torch.arange(len(flat), device="cuda"), right=True) - 1
        found: Arrays = {}
        rows = texts.questions()
        ends = np.append(0, np.cumsum([len(each) for each in rows]))
        spoken = self.tokens(
            torch.tensor(np.concatenate(rows), device="cuda"), np.unique(ends), [CLS, 1]
        )
        edges = [
            torch.tensor(texts.arrays[f"windows{at}"].astype(np.int64), device="cuda")
            for at in range(6)
        ]
        scores: list[list[Any]] = [[] for _ in edges]
        for low, high in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            near = vectors @ projected(spoken[low:high]).T
            running = torch.full((len(first) - 1, high - low), -4.0, device="cuda")
            running.scatter_reduce_(0, atom[:, None].expand_as(near), near, "amax")
            levels, run = [running], 1
            while run < int(max((each[:, 1] - each[:, 0]).max() for each in edges)):
                last = levels[-1]
                levels.append(
                    torch.maximum(last[: len(last) - run], last[run:]) if len(last) > run else last
                )
                run *= 2
            for own, each in zip(scores, edges, strict=True):
                size = each[:, 1] - each[:, 0]
                level = torch.floor(torch.log2(size.double() + 0.5)).long()
                points = torch.empty(len(each), device="cuda")
                for power in level.unique().tolist():
                    here = level == power
                    begin, end = each[here].T
                    best = torch.maximum(levels[power][begin], levels[power][end - 2**power])
                    points[here] = best.sum(1)
                own.append(points)
        for at, own in enumerate(scores):
            found |= _best(f"{texts.name}|{self.name}|maxsim|{at}", torch.stack(own))
        return found

    def pairs(self, texts: _Texts, wanted: Any) -> NDArray[np.float32]:
        """The logit of each pair: the number of a question, that of a window of 200 tokens."""
        torch = self.torch
        flat = texts.arrays["ids"].astype(np.int64)
        first = texts.arrays["first"].astype(np.int64)
        edges = texts.arrays["windows2"].astype(np.int64)
        rows = texts.questions()
        found = torch.zeros(len(wanted), device="cuda")
        size = np.array([len(each) for each in rows])[wanted[:, 0]]
        size = size + (first[edges[:, 1]] - first[edges[:, 0]])[wanted[:, 1]]
        weight = self.head["classifier.weight"].reshape(-1, 1)
        with torch.inference_mode():
            for some in self._batches(np.minimum(size, 509), 3):
                ids = np.zeros((len(some), int(min(size[some].max(), 509)) + 3), np.int64)
                kinds, mask = np.zeros_like(ids), np.zeros_like(ids)
                for row, (question, window) in enumerate(wanted[some].tolist()):
                    asked = rows[question]
                    low, high = first[edges[window]].tolist()
                    text = flat[low:high][: 509 - len(asked)]
                    whole = [CLS, *asked, SEP, *text, SEP]
                    ids[row, : len(whole)] = whole
                    kinds[row, len(asked) + 2 : len(whole)] = 1
                    mask[row, : len(whole)] = 1
                there = [torch.tensor(each, device="cuda") for each in (ids, mask, kinds)]
                pooled = self.body(
                    input_ids=there[0], attention_mask=there[1], token_type_ids=there[2]
                ).pooler_output.float()
                found[torch.tensor(some, device="cuda")] = (
                    pooled @ weight + self.head["classifier.bias"]
                )[:, 0]
        return found.cpu().numpy()


def _best(key: str, scores: Any) -> Arrays:
    """Numbers of the best windows a question, the share of the best score each has, and the best and the last score."""
    best, numbers = scores.topk(min(DEPTH, scores.shape[1]), dim=1)
    top, floor = best[:, :1], best[:, -1:]
    share = (best - floor) / (top - floor).clamp(min=1e-9)
    kind = np.uint16 if scores.shape[1] < 65536 else np.uint32
    return {
        f"{key}|numbers": numbers.cpu().numpy().astype(kind),
        f"{key}|share": (share * 65535).round().cpu().numpy().astype(np.uint16),
        f"{key}|range": best[:, [0, -1]].cpu().numpy(),
    }


def main() -> None:
    """One of the steps."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("step", choices=["prepare", "read"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("models", nargs="*", help="of `read`: names")
    parser.add_argument("--output", type=Path, help="of `read`: where its files go; the folder")
    given = parser.parse_args()
    if given.step == "prepare":
        prepare(given.folder)
    else:
        read(given.folder, given.models, given.output or given.folder)


if __name__ == "__main__":
    main()
