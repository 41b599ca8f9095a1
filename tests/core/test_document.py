"""A document says at once what it cannot be made of."""

import pickle
import pickletools

import pytest

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import FORMATS, Block, Document
from chunkwise.retrieval.indexed_document import document_of
from chunkwise.text.analyzed import Analyzed


@pytest.mark.parametrize("format", ["md", "Markdown", "", None, 3, ["text"]])
def test_a_format_nobody_reads_is_refused_with_those_that_are(format: object) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Document("notes", "# A", format=format)  # type: ignore[arg-type]
    told = str(caught.value)
    assert "'notes'" in told
    assert repr(format) in told
    assert all(each in told for each in ("text, markdown, code", "html, pdf", "blocks"))


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_that_is_named_is_taken(format: str) -> None:
    document = Document("d", "A line.\n\nAnother.", format=format)
    assert Analyzed(document).sentences.tolist()[0] == 0


def test_a_loader_that_declares_its_blocks_names_its_format_as_it_likes() -> None:
    blocks = (Block("paragraph", 0, 7),)
    assert Document("d", "A line.", format="acme", blocks=blocks).format == "acme"


def test_an_index_that_has_such_a_document_is_still_read() -> None:
    record = '{"title": "", "source": "", "format": "md", "language": "", "metadata": {}}'
    assert document_of("d", record, "A line.", ()).format == "text"


def test_blocks_travel_in_columns() -> None:
    """However many there are, a few operations: each by itself takes longer than to find it."""
    blocks = tuple(Block("item", 2 * at, 2 * at + 1, at % 3, 7) for at in range(2000))
    document = Document("d", "a\n" * 2000, format="html", blocks=blocks)
    data = pickle.dumps(document)
    assert sum(1 for _ in pickletools.genops(data)) < 200
    again = pickle.loads(data)
    assert again == document
    assert {type(each) for each in again.blocks} == {Block}


@pytest.mark.parametrize(
    "blocks",
    [
        None,
        (),
        (Block("verse", 0, 1),),  # type: ignore[arg-type]
        (Block("item", 0, 1 << 70),),
        (Block("item", "0", 1),),  # type: ignore[arg-type]
        (("item", 0, 1),),
    ],
)
def test_blocks_of_any_kind_travel(blocks: tuple[Block, ...] | None) -> None:
    document = Document("d", "a", format="html", blocks=blocks)
    assert pickle.loads(pickle.dumps(document)) == document
