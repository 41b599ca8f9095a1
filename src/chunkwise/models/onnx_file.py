"""A model in an ONNX file: its session, its hash, and the tokenizer and settings that lie beside it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from glob import escape
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.wording import counted
from chunkwise.models.weights.catalog import Pooling, digest

_LONGEST_WINDOW = 32_768
"""Configurations say "without end" with numbers such as 10 ** 30."""
_POOLING_FILE = "1_Pooling/config.json"
_POOLINGS: dict[str, Pooling] = {
    "mean": "mean",
    "mean_tokens": "mean",
    "mean_sqrt_len_tokens": "mean",  # another length, the same direction
    "cls": "cls",
    "cls_token": "cls",
}


def beside(model: Path, name: str) -> Path | None:
    """In the model's folder, or in the one above as in exports that keep `onnx/model.onnx`."""
    for folder in (model.parent, model.parent.parent):
        if (folder / name).is_file():
            return folder / name
    return None


class ModelFiles(NamedTuple):
    """A model, and the tokenizer.json that belongs to it."""

    model: Path
    tokenizer: Path

    def digests(self) -> tuple[str, str]:
        return model_digest(self.model), digest(self.tokenizer)


def model_files(
    model: str | Path, tokenizer: str | Path | None = None, *, role: str = "model"
) -> ModelFiles:
    """Where no tokenizer is named, it lies beside the model; `role` is what an error calls the model."""
    path = Path(model)
    if not path.is_file():
        raise InvalidParameter(f"{role} is {str(model)!r}; no such file")
    result = Path(tokenizer) if tokenizer else beside(path, "tokenizer.json")
    if result is None:
        raise InvalidParameter(
            f"no tokenizer.json for {path}; copy the model's tokenizer.json into its folder"
        )
    if not result.is_file():
        raise InvalidParameter(f"tokenizer is {str(result)!r}; no such file")
    return ModelFiles(path, result)


def load_tokenizer(path: Path) -> Any:
    """As the file says, but never padded, and with text such as [SEP] taken for text."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception for a malformed file
        raise InvalidParameter(f"{path} is not a tokenizer.json: {error}") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def said_number(path: Path | None, *names: str) -> int | None:
    """A number of tokens that a JSON file gives under these names, one inside the other."""
    value = _json(path)
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 < value <= _LONGEST_WINDOW else None


def said_window(model: Path) -> int | None:
    """How many tokens the makers of a model read at once, where they say so."""
    return said_number(beside(model, "sentence_bert_config.json"), "max_seq_length")


def said_pooling(model: Path) -> Pooling | None:
    """How the makers of a model pool, where they say so."""
    path = beside(model, _POOLING_FILE)
    told = _json(path)
    if not isinstance(told, dict):
        return None
    start = "pooling_mode_"
    modes = [key.removeprefix(start) for key, on in told.items() if key.startswith(start) and on]
    if not modes and isinstance(told.get("pooling_mode"), str):
        modes = [told["pooling_mode"]]
    if not modes:
        return None
    pooling = {_POOLINGS.get(mode) for mode in modes}
    if len(pooling) > 1 or None in pooling:
        raise InvalidParameter(
            f"{path} needs pooling by {' and '.join(sorted(modes))}; supported: "
            'pooling="mean" or "cls"'
        )
    return pooling.pop()


def _json(path: Path | None) -> Any:
    """What a file says; nothing where it is not there or cannot be understood."""
    if path is None:
        return None
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError:
        return None


Item = TypeVar("Item")
Result = TypeVar("Result")

_INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")


def open_session(model: str | bytes) -> Any:
    """A session on one thread, of a file or of its bytes."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


class OnnxSession:
    """One text a call on one thread, so that what comes out depends on the text alone, to the bit."""

    def __init__(self, path: Path, window: int) -> None:
        self.path = path
        self._window = window
        try:
            self._session = open_session(str(path))
        except Exception as error:  # the library has its own tree of errors, without a public root
            raise InvalidParameter(
                f"{path} cannot be opened as an ONNX model: {_first_line(error)}"
            ) from None
        self._inputs: dict[str, str] = {each.name: each.type for each in self._session.get_inputs()}
        self.outputs: dict[str, Sequence[int | str]] = {
            output.name: output.shape for output in self._session.get_outputs()
        }
        for name, kind in self._inputs.items():
            if name not in _INPUTS or kind not in _INTEGERS:
                raise InvalidParameter(
                    f"{path} has the input {name!r} ({kind}); expected integer inputs named "
                    f"{', '.join(_INPUTS)}"
                )

    def run(self, output: str, ids: ArrayLike, types: ArrayLike | None = None) -> NDArray[Any]:
        """What the model gives for one row of tokens; it is fed the inputs it has, in its own types."""
        row = np.asarray(ids)
        known = {"input_ids": row, "attention_mask": np.ones_like(row)}
        known["token_type_ids"] = np.zeros_like(row) if types is None else np.asarray(types)
        known["position_ids"] = np.arange(row.size)
        feed = {
            name: known[name][None].astype(_INTEGERS[kind]) for name, kind in self._inputs.items()
        }
        try:
            result: NDArray[Any] = self._session.run([output], feed)[0]
        except Exception as error:  # as above
            raise ChunkwiseError(
                f"{self.path} failed on {counted(row.size, 'token')} ({_first_line(error)}); "
                f"window is {self._window}: try a smaller one"
            ) from None
        return result


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def over_threads(
    work: Callable[[Item], Result], items: Sequence[Item], threads: int
) -> Iterator[Result]:
    """Results in order, from so many threads; one session serves them all."""
    if len(items) < 2 or threads == 1:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(min(threads, len(items)))
    try:
        yield from pool.map(work, items)
    finally:
        pool.shutdown(cancel_futures=True)


def model_digest(path: Path) -> str:
    """SHA-256 of the file; where its weights are in `model.onnx.data` or the like beside it, of the hashes of all."""
    outside = sorted(path.parent.glob(f"{escape(path.name)}?*"))
    if not outside:
        return digest(path)
    hashed = sha256()
    for file in (path, *outside):
        hashed.update(bytes.fromhex(digest(file)))
    return hashed.hexdigest()
