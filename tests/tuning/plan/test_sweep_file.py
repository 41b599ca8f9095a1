from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.amounts import Money, parse_money, parse_time
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.documents import LoadOptions, options_given
from chunkwise.tuning.plan.grid import default_chunkers, default_retrieval
from chunkwise.tuning.plan.sweep_file import read_sweep, sweep_text
from chunkwise.tuning.sweep import Grid, Sweep
from tables import cases
from tuning.plan.example_sweeps import ISSUE

HEAD = '[sweep]\nsource = "handbook"\n'


@pytest.fixture
def read(tmp_path):
    def read(text):
        file = tmp_path / "sweep.toml"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_sweep(file)

    return read


def test_plan_of_the_documentation(read, tmp_path):
    assert read(ISSUE) == Sweep(
        (str(tmp_path / "handbook"),),
        str(tmp_path / "queries.json"),
        (
            Grid(
                (
                    "sentences",
                    "recursive",
                    "sections",
                    "structure",
                    "semantic",
                    "cluster",
                    "parent_child",
                ),
                (
                    ("max_tokens", (100, 200, 300, 500, 1000)),
                    ("overlap", (0, "10%", "25%")),
                    ("context", ("none", "headings")),
                ),
            ),
        ),
        (Grid(("bm25", "dense", "hybrid", "multiscale"), (("neighbors", (0, 1)),)),),
        objective="recall@1000t",
        k=5,
        time=600.0,
    )


def test_what_is_not_said_is_the_usual(read, tmp_path):
    found = read(HEAD)
    assert found.chunkers == default_chunkers(has_headings=True)
    assert found.retrieval == default_retrieval("minilm")
    assert (found.test_queries, found.time, found.objective, found.test_share) == (
        None,
        300.0,
        "recall@1000t",
        0.0,
    )
    assert read(HEAD + 'embedder = "none"').retrieval == default_retrieval("")


def test_an_unknown_key_is_answered_with_those_there_are(read):
    with pytest.raises(InvalidParameter, match="color"):
        read(HEAD + 'color = "red"\nembedder = "none"')


def test_paths_are_meant_from_the_file(read, tmp_path):
    found = read(
        '[sweep]\nsource = ["a", "../b", "/c"]\nqueries = "q/questions.json"\nembedder = "own/model.onnx"\n'
        '[[sweep.chunkers]]\nstrategy = "tokens"\ntokenizer = ["words", "own/tokenizer.json"]\n'
    )
    assert found.documents == (str(tmp_path / "a"), str(tmp_path / "../b"), "/c")
    assert found.test_queries == str(tmp_path / "q/questions.json")
    assert found.embedder == str(tmp_path / "own/model.onnx")
    assert dict(found.chunkers[0].values)["tokenizer"] == (
        "words",
        str(tmp_path / "own/tokenizer.json"),
    )


def test_several_tables_and_a_strategy_of_ones_own(read, tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    def split(self, document):\n        return []\n"
    )
    found = read(
        HEAD + 'k = 9\n[[sweep.chunkers]]\nstrategy = "./mine.py:Mine"\nwhatever = 3\n'
        '[[sweep.chunkers]]\nstrategy = "recursive"\nchunk_size = 300\n'
        '[[sweep.retrieval]]\nretriever = "hybrid"\ndense = [0.25, 1]\n'
        '[[sweep.retrieval]]\nretriever = "bm25"\n'
    )
    assert found.chunkers == (
        Grid((str(tmp_path / "mine.py:Mine"),), (("whatever", (3,)),)),
        Grid(("recursive",), (("chunk_size", (300,)),)),
    )
    assert found.retrieval == (Grid(("hybrid",), (("dense", (0.25, 1)),)), Grid(("bm25",)))
    assert found.k == 9


def test_byte_order_mark_and_windows_lines(read):
    assert read(b"\xef\xbb\xbf" + ISSUE.replace("\n", "\r\n").encode()) == read(ISSUE)


CHUNKERS = HEAD + '[[sweep.chunkers]]\nstrategy = ["sentences", "recursive"]\n'
RETRIEVAL = HEAD + '[sweep.retrieval]\nretriever = ["bm25", "hybrid"]\n'


WRONG = {
    "": [
        "", "sweep = 3", "[[sweep]]\n", "[sweap]\n", 'source = "x"', "[sweep]\n", "[sweep", b"\x00\x01\x02",
        b"[sweep]\nsource = '\xff'", "a = " + "[" * 100_000, "a = " + "9" * 10_000, "[sweep]\nsource = []",
        "[sweep]\nsource = [3]", '[sweep]\nsource = " "',
    ],
    HEAD: [
        "queries = 3", 'objectiv = "recall@5"', 'objective = "recal@5"', "objective = 5", "max_tokens = 5", "k = 0",
        'time = "10 parsecs"', 'time = "0 s"', 'time = "5 EUR"', 'max_cost = "5 EUR"', 'price = "dear"', "price = 3",
        'max_cost = "5 EUR"\nprice = "0.02 USD"', "seed = -1", "seed = 1.0", "seed = true", 'exact = "yes"',
        "exact = 1", "test_share = 1.0", "test_share = nan", 'test_share = "half"', "test_share = true",
        "embedder = 3", "chunkers = 3", "chunkers = []", "[[sweep.chunkers]]\nmax_tokens = 3",
        '[[sweep.chunkers]]\nstrategy = "sentence"', '[[sweep.chunkers]]\nstrategy = "./nobody.py:Mine"',
        '[[sweep.chunkers]]\nstrategy = "sentences(max_tokens"', '[sweep.retrieval]\nretriever = "bm52"',
        'embedder = "none"\nembedders = ["minilm"]', "maxsim = 3", "rerankers = 3", 'pipeline = "./mine.py:build"',
    ],
    CHUNKERS: [
        "max_token = [1]", "neighbors = 1", "max_tokens = []", 'max_tokens = ["100"]', "max_tokens = [100.5]",
        "max_tokens = [100, 0]", "max_tokens = [true]", "max_tokens = [[1]]", "max_tokens = 2026-01-01",
        "context = 'heading'", "context = 1", "regex = 'yes'",
    ],
    RETRIEVAL: ["context = 'none'", "dense = 'much'", "fusion = 'rff'"],
}  # fmt: skip


def test_what_is_wrong_is_refused_with_the_name_of_the_file(read):
    for head, texts in WRONG.items():
        for text in texts:
            with pytest.raises(ChunkwiseError) as raised:
                read(text if isinstance(text, bytes) else head + text)
            assert "sweep.toml" in str(raised.value)
            assert len(str(raised.value)) < 600


def test_a_long_hostile_value_is_not_repeated_in_full(read):
    with pytest.raises(InvalidParameter) as raised:
        read(HEAD + 'embedder = "x"\ntime = "' + "\\u001b[2J" * 5000 + '"')
    assert "\x1b" not in str(raised.value)
    assert len(str(raised.value)) < 900


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ChunkwiseError, match=r"cannot read .*none\.toml: No such file"):
        read_sweep(tmp_path / "none.toml")
    with pytest.raises(ChunkwiseError, match="cannot read"):
        read_sweep(tmp_path)


def test_times_and_money_are_read_as_people_write_them():
    times = {
        "90 s": 90,
        "90s": 90,
        "1.5 min": 90,
        "10 Minutes": 600,
        "1 h": 3600,
        "1 h 30 min": 5400,
        "1w": 604_800,
    }
    assert {text: parse_time(text) for text in times} == times
    for text, money in {"5 USD": (5.0, "USD"), "€ 2.50": (2.5, "€"), "3$": (3.0, "$")}.items():
        assert parse_money(text) == money == parse_money(str(Money(*money)))
    for text in (
        "",
        "10",
        "min",
        "-5 s",
        "5 s 3 s",
        "1 s 2 h",
        "5 dollars",
        "$5$",
        "1e3 s",
        "10 min!",
        "١ s",
        "5 usd",
    ):
        for parse in (parse_time, parse_money):
            with pytest.raises(ValueError, match="expected"):
                parse(text)


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
paths = words.filter(
    lambda name: name.strip() and "/" not in name and "\0" not in name and name not in (".", "..")
)
plain_words = words.filter(lambda name: "json" not in name and ".py:" not in name)
weights = st.lists(st.integers(1, 10) | st.floats(0.001, 10), min_size=1)
written = st.builds(
    Sweep,
    st.lists(paths, min_size=1, max_size=3).map(tuple),
    st.none() | paths,
    st.lists(
        st.builds(
            Grid,
            st.lists(st.sampled_from(["sentences", "recursive(max_tokens=7)"]), min_size=1).map(tuple),
            st.fixed_dictionaries(
                {},
                optional={
                    "max_tokens": st.lists(st.integers(1, 9999), min_size=1).map(tuple),
                    "overlap": st.lists(st.integers(0, 50) | st.just("12.5%"), min_size=1).map(tuple),
                    "context": st.just(("headings", "none")),
                    "tokenizer": st.lists(plain_words, min_size=1).map(tuple),
                },
            ).map(lambda values: tuple(values.items())),
        ),
        min_size=1,
        max_size=3,
    ).map(tuple),
    st.lists(
        st.builds(
            Grid,
            st.just(("hybrid", "multiscale")),
            st.just(()) | weights.map(lambda some: (("dense", tuple(some)),)),
        ),
        min_size=1,
        max_size=2,
    ).map(tuple),
    objective=st.sampled_from(["recall@1000t", "ndcg@7"]),
    k=st.integers(1, 100),
    embedder=st.sampled_from(["", "minilm", "openai:\x7f\"'\\é\U0001f600"]),
    time=st.integers(1, 10**6).map(lambda value: value / 4),
    seed=st.integers(0, 2**31),
    exact=st.booleans(),
    test_share=st.just(0.0) | st.floats(0.01, 0.99),
    prior=st.booleans(),
    rerankers=st.sampled_from([(), ("local",), ("local", "maxsim")]),
    maxsim=st.sampled_from(["", "colbert-small"]),
    at_least=st.sampled_from([(), ("precision@5=0.3", "hit@5=1")]),
)  # fmt: skip


@given(sweep=written)
def test_what_is_written_is_read_again(tmp_path_factory, sweep):
    folder = tmp_path_factory.mktemp("sweep")
    moved = replace(
        sweep,
        documents=tuple(str(folder / each) for each in sweep.documents),
        test_queries=sweep.test_queries and str(folder / sweep.test_queries),
    )
    (folder / "sweep.toml").write_text(sweep_text(moved, folder), encoding="utf-8", newline="")
    assert read_sweep(folder / "sweep.toml") == moved


def test_other_models_are_named_once(read, tmp_path):
    found = read(HEAD + 'embedders = ["bge-small", "bge-small"]\nrerankers = ["local"]')
    assert (found.embedder, found.embedders, found.rerankers) == ("minilm", ("bge-small",), ("local",))  # fmt: skip
    assert read(sweep_text(found, tmp_path)) == found


def test_money_is_read_again(read, tmp_path):
    found = read(HEAD + 'max_cost = "$5"\nprice = "0.02 $"')
    assert (found.max_cost, found.price, found.time) == ((5.0, "$"), (0.02, "$"), 300.0)
    assert read(sweep_text(found, tmp_path)) == found


def test_a_place_elsewhere_is_written_from_the_root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sweep = Sweep(("handbook",), "a/queries.json", (Grid(("sentences",)),), (Grid(("bm25",)),))
    assert 'source = ["handbook"]\n' in sweep_text(sweep)
    told = sweep_text(sweep, "a")
    assert f'source = ["{tmp_path}/handbook"]\n' in told
    assert 'queries = "queries.json"\n' in told


def test_an_address_of_this_machine_is_a_path(read, tmp_path):
    assert read(f'[sweep]\nsource = "file://{tmp_path}/a%20b"\n').documents == (f"{tmp_path}/a b",)


def test_a_name_that_is_no_unicode_cannot_be_written():
    sweep = Sweep(("bad\udcff",), None, (), ())
    with pytest.raises(InvalidParameter, match="TOML"):
        sweep_text(sweep)


def test_which_documents_are_read_is_kept(tmp_path, read):
    reading = LoadOptions(
        encoding="latin-1",
        text_field="body",
        loader=str(tmp_path / "own.py:Own"),
        include=["ffi/*", "*.md"],
        exclude=("drafts",),
        keep_boilerplate=True,
    )
    sweep = Sweep((str(tmp_path / "d"),), None, (Grid(("sentences",)),), (Grid(("bm25",)),))
    text = sweep_text(replace(sweep, reading=options_given(reading)), tmp_path)
    assert 'exclude = ["drafts"]' in text
    assert 'loader = "own.py:Own"' in text
    assert read(text) == replace(sweep, reading=options_given(reading))
    assert "[sweep.reading]" not in sweep_text(sweep, tmp_path)


def test_no_plan_names_a_command_that_reads_pictures(read):
    sweep = Sweep(("d",), None, (), (), reading={"ocr": "tesseract {} -"})
    assert "ocr" not in sweep_text(sweep)
    with pytest.raises(InvalidParameter, match="ocr"):
        read(HEAD + '[sweep.reading]\nocr = "rm {}"')


@cases(
    "text, said",
    [
        ('include = ["*.md"]', "include"),
        ("reading = 3", "reading"),
        ("[[sweep.reading]]\n[[sweep.reading]]", "reading"),
        ("[sweep.reading]\ninclude = [3]", "reading"),
        ('[sweep.reading]\nkeep_boilerplate = "yes"', "keep_boilerplate"),
        ("[sweep.reading]\nencoding = 8", "reading"),
        ('[sweep.reading]\nencoding = "klingon"', "klingon"),
        ('[sweep.reading]\ninclud = "*"', "include"),
    ],
)
def test_what_is_wrong_with_reading_is_said(read, text, said):
    with pytest.raises(InvalidParameter, match=said):
        read(HEAD + text)
