"""An item of a list with the code, table or paragraph that belongs to it."""

from chunkwise import Document
from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.structure import item_parts
from chunkwise.text.analyzed import Analyzed
from tables import cases

FENCE = "   ```bash\n   widget --init\n   ```"
INSTALL = f"""## Install

1. Download the package from the site and unpack it to a folder of your own choice
2. Run

{FENCE}
3. Done
"""
TABLE = "   | part | count |\n   |------|------:|\n   | wick | 4 |"


def texts(text: str, limit: int) -> list[str]:
    strategy = get_strategy(f"structure(max_tokens={limit})")
    return [chunk.text for chunk in strategy.chunks(Document("d", text, format="markdown"))]


def parts(text: str) -> list[str]:
    document = Analyzed(Document("d", text, format="markdown"))
    starts = set(item_parts(document).parts.tolist())
    return [text[block.start : block.end] for block in document.blocks if block.start in starts]


@cases("limit", [18, 20, 25, 30, 35, 40])
def test_an_item_stays_with_its_code_while_both_fit(limit: int) -> None:
    assert any(f"2. Run\n\n{FENCE}" in text for text in texts(INSTALL, limit))


def test_an_item_too_large_with_its_code_is_cut_before_it() -> None:
    long = "2. " + "Run this in the folder you have just made. " * 3
    made = texts(INSTALL.replace("2. Run", long), 36)
    assert [long.strip()] == [text for text in made if "Run this" in text]
    assert any(text.startswith(FENCE.strip()) for text in made)


def test_a_list_goes_on_behind_the_parts_of_its_items() -> None:
    rest = "Some words about something else, long enough to fill what is left of a chunk. " * 2
    for part in (FENCE, TABLE, FENCE + "\n\n   Then wait."):
        whole = f"1. Fetch\n2. Run\n\n{part}\n\n3. Done"
        assert any(whole in text for text in texts(f"{rest}\n\n{whole}\n\n{rest}\n", 60))


@cases(
    "text, expected",
    [
        ("- a\n\nText.\n\n- b\n", []),
        ("- a\n\n# H\n\n- b\n", []),
        ("- a\n\n```\nx\n```\n\nText.\n", []),
        ("- a\n\n```\nx\n```\n\n- b\n", ["```\nx\n```"]),
        ("- a\n\n  ```\n  x\n  ```\n\nText.\n\n    code\n", ["```\n  x\n  ```"]),
        ("- a\n\n  ```\n  x\n  ```\n\n  More.\n", ["```\n  x\n  ```", "More."]),
        ("Text.\n\n  ```\n  x\n  ```\n", []),
        ("- a\n  - b\n\n    ```\n    x\n    ```\n  - c\n", ["```\n    x\n    ```"]),
        ("", []),
    ],
)
def test_what_belongs_to_an_item(text: str, expected: list[str]) -> None:
    assert parts(text) == expected
