"""The layer that an export of answerai-colbert-small-v1 lacks, learned anew: from 384 numbers a token to few.

    python -m benchmarks.late_projection prepare FOLDER --colbert DIR --teacher DIR   # needs onnx, chunkwise
    python -m benchmarks.late_projection learn FOLDER                                 # needs torch, transformers, a GPU
    python -m benchmarks.late_projection package FOLDER                               # FOLDER has matrices.npz

A question's score for a passage is the sum, over its tokens, of the best cosine to a token of the passage. The matrix
is taught to rank 32 passages a question as a cross-encoder does (ms-marco-MiniLM-L-12-v2), and, where the answer's
place is known, to put it first. Taught on Wikipedia articles (squad2 and its distractors) and headings of the Rust
book; judged on sets it never saw. Seeded.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tables import table

TAUGHT = ("squad2", "docs_rustbook")
JUDGED = ("chroma_eval", "anthropic_code", "musique", "cuad", "docs_fastapi_en")
HELD_BACK = 300
"""Questions of squad2 that nothing is learned from."""
MOST_QUESTIONS = 400
"""Of a judged set."""
CONTRACTS = 40
"""Of cuad."""
WINDOW, QUESTION = 300, 60
"""Tokens of a passage and of a question that are read at most."""
CLS, SEP, ASKED, READ = 101, 102, 1, 2
"""Marks of the model: what stands before a question, and before a passage."""
CANDIDATES, NEAREST = 32, 24
"""Passages a question is taught on, and how many of them are its nearest by the bare states."""
SEED = 1
PACKAGED = 64
"""Numbers a token."""

Mapped = Callable[[Any], Any]
"""Vectors to vectors."""


def prepare(folder: Path, colbert: Path, teacher: Path) -> None:
    """Tokens, places and weights as arrays: all that the other machine needs."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(colbert / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    folder.mkdir(parents=True, exist_ok=True)
    for name, path in (("colbert", colbert), ("teacher", teacher)):
        np.savez_compressed(folder / f"{name}.weights.npz", **_weights(path / "model.onnx"))
    for name in (*TAUGHT, *JUDGED):
        documents, questions = _read_set(name)
        np.savez_compressed(folder / f"{name}.npz", **_arrays(tokenizer, documents, questions))
        print(f"{name}: {len(documents)} documents, {len(questions)} questions", flush=True)


def _weights(path: Path) -> dict[str, Any]:
    """The numbers of an export, 8-bit or whole, under the names that transformers knows them by."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(path).graph
    known = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    readers: dict[str, list[Any]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)

    def bias_behind(node: Any) -> str | None:
        """Matrices have lost their names in some exports; what is added to their products has not."""
        while node is not None:
            for name in node.input:
                if name.endswith(".bias") and name in known:
                    return str(name)
            following = [each for out in node.output for each in readers.get(out, ())]
            behind = [
                each for each in following if each.op_type in ("Cast", "Mul", "Add", "BiasGelu")
            ]
            node = behind[0] if behind else None
        return None

    matrices = {}
    for node in graph.node:
        if node.op_type in ("MatMulInteger", "MatMul", "Gemm") and node.input[1] in known:
            bias = bias_behind(node)
            turned = any(each.name == "transB" and each.i for each in node.attribute)
            if bias:
                name = node.input[1].removesuffix("_quantized")
                matrices[name] = bias.removesuffix("bias") + "weight", turned
    found: dict[str, Any] = {}
    for name, array in known.items():
        base = name.removesuffix("_quantized")
        own, turned = matrices.get(base, (base, True))
        own = own.removeprefix("bert.")
        whole = array if turned else array.T
        if base != name:
            found[own] = whole
            found[f"{own}|scale"] = known[f"{base}_scale"]
            found[f"{own}|zero"] = known[f"{base}_zero_point"]
        elif array.dtype == np.float32 and own.endswith((".weight", ".bias")):
            found[own] = whole
    return found


def _read_set(name: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    from benchmarks.corpora import SHARED

    def rows(path: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (SHARED / path).open(encoding="utf-8")]

    documents = rows(f"{name}/corpus.jsonl")
    if name.startswith("docs_"):
        return documents, list(_headings(documents))
    questions = rows(f"{name}/queries.jsonl")
    if name == "squad2":
        documents += rows("squad_distractors/corpus.jsonl")
        questions += rows("squad2/queries_unanswerable.jsonl")  # the teacher ranks for them, too
    if name == "cuad":
        random.Random(5).shuffle(documents)
        documents = documents[:CONTRACTS]
        kept = {each["doc_id"] for each in documents}
        questions = [q for q in questions if all(r["doc_id"] in kept for r in q["references"])]
    return documents, questions


def _headings(documents: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """A heading behind the title of its page as a question, what stands below it as the answer."""
    from chunkwise import Document
    from chunkwise.text.analyzed import Analyzed

    for row in documents:
        text = row["text"]
        blocks = Analyzed(Document(row["doc_id"], text, format="markdown")).blocks
        spans = [*blocks.spans("heading").tolist(), [len(text)] * 2]
        for (start, end), (following, _) in pairwise(spans):
            heading = text[start:end].strip("#= \n-")
            if len(heading.split()) >= 2 and following - end > 80:
                place = {"doc_id": row["doc_id"], "start": end, "end": min(following, end + 800)}
                yield {"query": f"{row.get('title') or ''}: {heading}", "references": [place]}


def _arrays(tokenizer: Any, documents: Sequence[Any], questions: Sequence[Any]) -> dict[str, Any]:
    from chunkwise import Document
    from chunkwise.ext import get_strategy

    strategy = get_strategy("sentences(max_tokens=200, overlap=0)")
    number = {row["doc_id"]: at for at, row in enumerate(documents)}
    tokens: list[list[int]] = []
    places = []
    for row in documents:
        chunks = list(strategy.chunks(Document(row["doc_id"], row["text"])))
        texts = [chunk.text for chunk in chunks]
        for chunk, read in zip(
            chunks, tokenizer.encode_batch(texts, add_special_tokens=False), strict=True
        ):
            if read.ids:
                tokens.append(read.ids[:WINDOW])
                places.append((number[row["doc_id"]], chunk.start, chunk.end))
    asked = [
        tokenizer.encode(q["query"], add_special_tokens=False).ids[:QUESTION] or [ASKED]
        for q in questions
    ]
    answers = [
        (at, number[place["doc_id"]], place["start"], place["end"])
        for at, question in enumerate(questions)
        for place in question.get("references", ())
    ]
    return {
        "tokens": np.concatenate(tokens).astype(np.uint16), "lengths": np.array([len(t) for t in tokens]),
        "places": np.array(places), "asked": np.concatenate(asked).astype(np.uint16),
        "asked_lengths": np.array([len(t) for t in asked]), "answers": np.array(answers).reshape(-1, 4),
    }  # fmt: skip


def _parted(flat: Any, lengths: Any) -> list[list[int]]:
    return [part.tolist() for part in np.split(flat.astype(np.int64), np.cumsum(lengths)[:-1])]


def learn(folder: Path, output: Path) -> None:
    """Encode, let the teacher rank, learn matrices of several widths, judge them beside others."""
    import torch
    from torch.nn import functional
    from transformers import BertConfig, BertModel

    device, began = "cuda", time.monotonic()
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    output.mkdir(parents=True, exist_ok=True)

    def say(*words: object) -> None:
        print(f"[{time.monotonic() - began:6.1f}]", *words, flush=True)

    def body(name: str) -> tuple[Any, Any]:
        arrays = np.load(folder / f"{name}.weights.npz")
        weights = {}
        for each in arrays.files:
            if "|" not in each:
                whole = arrays[each].astype(np.float32)
                if f"{each}|scale" in arrays.files:
                    whole = (whole - arrays[f"{each}|zero"]) * arrays[f"{each}|scale"]
                weights[each] = torch.tensor(np.ascontiguousarray(whole, np.float32))
        head = {k: weights.pop(k).to(device) for k in list(weights) if k.startswith("classifier")}
        made = BertModel(
            BertConfig(hidden_size=384, num_hidden_layers=12, num_attention_heads=12, intermediate_size=1536)
        )  # fmt: skip
        made.load_state_dict(weights, strict=False)
        return made.to(device).half().eval(), head

    def padded(rows: Sequence[Sequence[int]]) -> tuple[Any, Any]:
        ids = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = torch.tensor(row)
        lengths = torch.tensor([len(row) for row in rows])
        mask = torch.arange(ids.shape[1])[None] < lengths[:, None]
        return ids.to(device), mask.to(device)

    class Encoded:
        """A set with the states of its passages and questions, padded."""

        @torch.inference_mode()
        def __init__(self, name: str, model: Any) -> None:
            arrays = np.load(folder / f"{name}.npz")
            self.name = name
            self.passages = _parted(arrays["tokens"], arrays["lengths"])
            self.questions = _parted(arrays["asked"], arrays["asked_lengths"])
            self.read, self.is_read = self._states(model, self.passages, READ)
            self.asked, self.is_asked = self._states(model, self.questions, ASKED)
            document, start, end = arrays["places"].T
            self.gold: dict[int, dict[int, int]] = {}
            for question, own, low, high in arrays["answers"].tolist():
                within = np.flatnonzero((document == own) & (start < high) & (end > low))
                held = np.minimum(end[within], high) - np.maximum(start[within], low)
                known = self.gold.setdefault(question, {})
                for passage, size in zip(within.tolist(), held.tolist(), strict=True):
                    known[passage] = known.get(passage, 0) + size

        @staticmethod
        def _states(model: Any, rows: Sequence[list[int]], mark: int) -> tuple[Any, Any]:
            width = max(map(len, rows))
            states = torch.zeros(len(rows), width, 384, dtype=torch.half, device=device)
            for low in range(0, len(rows), 256):
                some = rows[low : low + 256]
                ids, mask = padded([[CLS, mark, *row, SEP] for row in some])
                last = model(input_ids=ids, attention_mask=mask.long()).last_hidden_state
                states[low : low + 256, : last.shape[1] - 3] = last[:, 2:-1]
            lengths = torch.tensor([len(row) for row in rows], device=device)
            return states, torch.arange(width, device=device)[None] < lengths[:, None]

    def unit(states: Any) -> Any:
        return functional.normalize(states.float(), dim=-1).half()

    @torch.inference_mode()
    def scores(
        own: Encoded, mapped: Mapped, asked: Sequence[int], packed: Mapped = lambda x: x
    ) -> Any:
        read = packed(mapped(own.read))
        barred = (~own.is_read).half() * -8
        found = torch.empty(len(asked), len(read), device=device)
        step = max(1, int(2e8 / (read.shape[1] * own.asked.shape[1])))
        for row, question in enumerate(asked):
            words = mapped(own.asked[question][own.is_asked[question]])
            for low in range(0, len(read), step):
                near = torch.einsum("td,wld->wtl", words, read[low : low + step])
                near = near + barred[low : low + step, None]
                found[row, low : low + step] = near.amax(-1).float().sum(-1)
        return found

    def judged(
        own: Encoded, mapped: Mapped, asked: Sequence[int], packed: Mapped = lambda x: x
    ) -> float:
        """Share of the answer's characters in the best five passages, about 1,000 tokens."""
        best = scores(own, mapped, asked, packed).topk(5).indices.tolist()
        shares = [
            sum(own.gold[q].get(passage, 0) for passage in five) / sum(own.gold[q].values())
            for q, five in zip(asked, best, strict=True)
        ]
        return 100 * float(np.mean(shares))

    model, _ = body("colbert")
    sets = {name: Encoded(name, model) for name in (*TAUGHT, *JUDGED)}
    say("encoded", {name: tuple(own.read.shape) for name, own in sets.items()})
    first = sets[TAUGHT[0]]
    back = set(rng.permutation(sorted(first.gold))[:HELD_BACK].tolist())
    lessons = [
        (own, [q for q in range(len(own.questions)) if (own is not first or q not in back) and
               (own is first or q in own.gold)])
        for own in (sets[name] for name in TAUGHT)
    ]  # fmt: skip
    tests = [(first, sorted(back))] + [
        (sets[name], sorted(sets[name].gold)[:MOST_QUESTIONS]) for name in JUDGED
    ]
    rows: list[list[str]] = []

    def tell(what: str, bytes_a_token: str, mapped: Mapped, packed: Mapped = lambda x: x) -> None:
        figures = [judged(own, mapped, asked, packed) for own, asked in tests]
        mean = float(np.mean(figures[1:]))
        rows.append([what, bytes_a_token, *(f"{each:.1f}" for each in (*figures, mean))])
        say(" | ".join(rows[-1]))

    tell("the states as they are", "768", unit)
    sample = torch.cat([unit(own.read[own.is_read]) for own, _ in lessons]).float()
    sample = sample[torch.randperm(len(sample), device=device)[:200_000]]
    axes = torch.linalg.svd(sample - sample.mean(0), full_matrices=False)[2]

    teacher, head = body("teacher")

    @torch.inference_mode()
    def taught(pairs: Sequence[tuple[list[int], list[int]]]) -> Any:
        found = torch.empty(len(pairs))
        order = sorted(range(len(pairs)), key=lambda at: len(pairs[at][0]) + len(pairs[at][1]))
        for low in range(0, len(order), 1024):
            some = order[low : low + 1024]
            ids, mask = padded([[CLS, *pairs[at][0], SEP, *pairs[at][1], SEP][:512] for at in some])
            kinds = torch.zeros_like(ids)
            for row, at in enumerate(some):
                kinds[row, len(pairs[at][0]) + 2 :] = 1
            pooled = teacher(
                input_ids=ids, attention_mask=mask.long(), token_type_ids=kinds * mask
            ).pooler_output.float()
            weight = head["classifier.weight"].reshape(-1, 1)
            found[some] = (pooled @ weight + head["classifier.bias"])[:, 0].cpu()
        return found

    data = []
    for own, asked in lessons:
        near = scores(own, unit, asked).topk(NEAREST).indices.tolist()
        chosen = np.zeros((len(asked), CANDIDATES), np.int64)
        for row, question in enumerate(asked):
            gold = own.gold.get(question, {})
            best = list(
                dict.fromkeys([*sorted(gold, key=gold.__getitem__, reverse=True)[:2], *near[row]])
            )
            others = rng.integers(len(own.passages), size=CANDIDATES).tolist()
            chosen[row] = [*best, *others][:CANDIDATES]
        pairs = [
            (own.questions[q], own.passages[p])
            for q, ps in zip(asked, chosen, strict=True)
            for p in ps
        ]
        ranks = taught(pairs).reshape(len(asked), CANDIDATES)
        known = torch.tensor([bool(own.gold.get(q)) for q in asked])
        data.append((own, torch.tensor(asked), torch.tensor(chosen), known, ranks))
        agreed = float((ranks.argmax(1) == 0)[known].float().mean())
        say(f"{own.name}: {len(pairs):,} pairs; the teacher's first is the answer in {agreed:.0%}")

    def learned(
        width: int, epochs: int = 12, rate: float = 5e-4, heat: float = 2.0, gold: float = 0.3
    ) -> Any:
        torch.manual_seed(SEED)
        matrix = torch.nn.Parameter(axes[:width].T.clone().contiguous())
        scale = torch.nn.Parameter(torch.zeros((), device=device))
        steps = epochs * sum(len(asked) // 48 for _, asked, *_ in data)
        chooser = torch.optim.Adam(
            [{"params": [matrix], "lr": rate}, {"params": [scale], "lr": 1e-2}]
        )
        slower = torch.optim.lr_scheduler.OneCycleLR(chooser, [rate, 1e-2], total_steps=steps + 1)
        for _ in range(epochs):
            batches = [
                (lesson, some)
                for lesson in data
                for some in torch.randperm(len(lesson[1])).split(48)
                if len(some) == 48
            ]
            for at in torch.randperm(len(batches)).tolist():
                (own, asked, chosen, known, ranks), some = batches[at]
                passages, questions = chosen[some].to(device), asked[some].to(device)
                with torch.autocast("cuda", dtype=torch.bfloat16):
                    words = functional.normalize(
                        functional.normalize(own.asked[questions].float(), dim=-1) @ matrix, dim=-1
                    )
                    read = functional.normalize(
                        functional.normalize(own.read[passages].float(), dim=-1) @ matrix, dim=-1
                    )
                    near = torch.einsum("btd,bkld->bktl", words, read)
                near = near.float().masked_fill(~own.is_read[passages][:, :, None], -4)
                points = (near.amax(-1) * own.is_asked[questions][:, None]).sum(-1) * scale.exp()
                wanted = functional.softmax(ranks[some].to(device) / heat, 1)
                loss = functional.kl_div(
                    functional.log_softmax(points, 1), wanted, reduction="batchmean"
                )
                has = known[some].to(device)
                if has.any():
                    firsts = torch.zeros(int(has.sum()), dtype=torch.long, device=device)
                    loss = loss + gold * functional.cross_entropy(points[has], firsts)
                chooser.zero_grad()
                loss.backward()
                chooser.step()
                slower.step()
        return matrix.detach()

    def packed_in(bits: int) -> Mapped:
        """Numbers in steps after a rotation that spreads a vector evenly over them, a scale a token."""

        def packed(vectors: Any) -> Any:
            width, top = vectors.shape[-1], 2 ** (bits - 1) - 0.5
            turn = torch.linalg.qr(
                torch.randn(width, width, generator=torch.Generator().manual_seed(SEED))
            )[0].to(device).half()  # fmt: skip
            turned = vectors @ turn
            scale = turned.float().std(-1, keepdim=True).clamp_min(1e-6) * _REACH[bits]
            steps = (turned.float() / scale * top).sub(0.5).round().add(0.5).clamp(-top, top)
            return unit((steps / top * scale).half() @ turn.T)

        return packed

    matrices: dict[str, Any] = {}
    for width in (64, 96, 128):
        axis = axes[:width].T.half()
        tell(f"{width} main axes (PCA)", f"{2 * width}", lambda x, m=axis: unit(unit(x) @ m))
        matrix = learned(width)
        matrices[f"learned_{width}"] = matrix.cpu().numpy().astype(np.float32)
        own = matrix.half()
        mapped = lambda x, m=own: unit(unit(x) @ m)  # noqa: E731
        tell(f"learned, {width}", f"{2 * width}", mapped)
        for bits in (4, 3, 2):
            tell(
                f"learned, {width}, in {bits} bits",
                f"{math.ceil(width * bits / 8) + 1}",
                mapped,
                packed_in(bits),
            )
        np.savez(output / "matrices.npz", **matrices)
    names = [f"{first.name}, held back", *JUDGED, "mean of the unseen sets"]
    (output / "table.md").write_text(
        table(["vectors", "bytes a token", *names], rows), encoding="utf-8"
    )


def packaged(matrices: Path) -> Any:
    """The matrix of `--maxsim colbert-small`, with a rotation in it that spreads a vector evenly over its numbers."""
    from chunkwise.models.embed.quantized_vectors import rotated

    learned = np.load(matrices)[f"learned_{PACKAGED}"].astype(np.float32)
    return rotated(learned).astype(np.float16)


_REACH = {2: 1.5, 3: 2.2, 4: 2.8}
"""Standard deviations to the last step: about what loses least of normally spread numbers."""


def main() -> None:
    """One of the steps."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("step", choices=["prepare", "learn", "package"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--colbert", type=Path, help="folder of its model.onnx and tokenizer.json")
    parser.add_argument("--teacher", type=Path, help="folder of the cross-encoder's model.onnx")
    parser.add_argument(
        "--output", type=Path, help="where matrices and the table go; the folder itself"
    )
    given = parser.parse_args()
    if given.step == "prepare":
        prepare(given.folder, given.colbert, given.teacher)
    elif given.step == "package":
        from chunkwise.models.embed import colbert

        np.save(
            Path(colbert.__file__).with_name("colbert_small.npy"),
            packaged(given.folder / "matrices.npz"),
        )
    else:
        learn(given.folder, given.output or given.folder)


if __name__ == "__main__":
    main()
