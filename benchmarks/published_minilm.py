"""all-MiniLM-L6-v2 as published, in 32 bits, read by sentence-transformers: what ours is held against."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from chunkwise.models.weights.catalog import weights_of
from chunkwise.models.weights.installed import ensure

WINDOW = 256

_FILES: dict[str, object] = {
    "config.json": {
        "architectures": ["BertModel"], "model_type": "bert", "vocab_size": 30522, "hidden_size": 384,
        "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536,
        "hidden_act": "gelu", "layer_norm_eps": 1e-12, "max_position_embeddings": 512,
        "type_vocab_size": 2, "pad_token_id": 0,
    },
    "tokenizer_config.json": {
        "tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 512,
        "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]",
        "mask_token": "[MASK]",
    },
    "sentence_bert_config.json": {"max_seq_length": WINDOW, "do_lower_case": False},
    "modules.json": [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
    ],
    "1_Pooling/config.json": {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True},
}  # fmt: skip


def load(folder: Path) -> Any:
    """The model on the CPU, its folder laid out as the library wants it; ImportError without the library."""
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()
    for name, content in _FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
    (folder / "2_Normalize").mkdir(exist_ok=True)
    for name, path in ensure(weights_of("minilm-fp32")).items():
        shutil.copyfile(path, folder / name)
    return SentenceTransformer(str(folder), device="cpu", local_files_only=True)
