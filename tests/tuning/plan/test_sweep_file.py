from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.documents import LoadOptions, options_given
from chunkwise.tuning.plan.grid import default_chunkers, default_retrieval
from chunkwise.tuning.plan.sweep_budget import SweepBudget, budget_text, parse_budget
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
        (Grid(("bm25", "dense", "hybrid", "multiscale"), (("neighbours", (0, 1)),)),),
        objective="recall@1000t",
        k=5,
        seconds=600.0,
    )


def test_what_is_not_said_is_the_usual(read, tmp_path):
    found = read(HEAD)
    assert found.chunkers == default_chunkers(has_headings=True)
    assert found.retrieval == default_retrieval("minilm")
    assert (found.test_queries, found.seconds, found.objective, found.test_share) == (
        None,
        None,
        "recall@1000t",
        0.0,
    )
    assert read(HEAD + 'embedder = "none"').retrieval == default_retrieval("")


def test_an_unknown_key_is_answered_with_those_there_are(read):
    with pytest.raises(InvalidParameter, match="allowed: source"):
        read(HEAD + 'colour = "red"\nembedder = "none"')


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
        HEAD + '[[sweep.chunkers]]\nstrategy = "./mine.py:Mine"\nwhatever = 3\n'
        '[[sweep.chunkers]]\nstrategy = "recursive"\nchunk_size = 300\n'
        '[[sweep.retrieval]]\nretriever = "hybrid"\ndense = [0.25, 1]\nk = 9\n'
        '[[sweep.retrieval]]\nretriever = "bm25"\nk = 9\n'
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


@cases(
    "text, said",
    [
        ("", "has no table [sweep]"),
        ("sweep = 3", "has no table [sweep]"),
        ("[[sweep]]\n", "has no table [sweep]"),
        ("[sweap]\n", "the file has no key 'sweap' (here a table); did you mean sweep?"),
        ('source = "x"', "it stands in [sweep]"),
        ("[sweep]\n", "[sweep] has no source; a file or folder is needed"),
        ("[sweep]\nsource = []", "[sweep] source is []; a file or folder is needed"),
        ("[sweep]\nsource = [3]", "[sweep] source is [3]; a file or folder is needed"),
        ('[sweep]\nsource = " "', "[sweep] source is ' '"),
        (HEAD + "queries = 3", "[sweep] queries is 3; the path of a file is needed"),
        (HEAD + 'objectiv = "recall@5"', "[sweep] has no key 'objectiv' (here 'recall@5'); did you mean objective?"),
        (HEAD + 'objective = "recal@5"', "[sweep] objective: "),
        (HEAD + 'objective = "recall@0"', "[sweep] objective: "),
        (HEAD + "objective = 5", "[sweep] objective is 5; a metric is needed"),
        (HEAD + "k = 5", "[sweep] has no key 'k' (here 5); it stands in [sweep.retrieval]"),
        (HEAD + "max_tokens = 5", "it stands in [[sweep.chunkers]]"),
        (HEAD + "budget = 600", "[sweep] budget is 600; a time ('90 s'"),
        (HEAD + 'budget = "10 parsecs"', "[sweep] budget is '10 parsecs'; allowed: a time"),
        (HEAD + 'budget = "0 s"', "leaves nothing to spend"),
        (HEAD + 'budget = "5 EUR"', "what a million tokens cost is not said"),
        (HEAD + 'budget = "5 EUR"\nprice = "0.02 USD"', "the budget is in EUR"),
        (HEAD + 'budget = "5 EUR"\nprice = "dear"', "price is 'dear'; allowed: money"),
        (HEAD + "price = 3", "[sweep] price is 3; what a million tokens cost is needed"),
        (HEAD + "seed = -1", "[sweep] seed is -1; a whole number is needed, 0 or more"),
        (HEAD + "seed = 1.0", "[sweep] seed is 1.0"),
        (HEAD + "seed = true", "[sweep] seed is True"),
        (HEAD + 'exact = "yes"', "[sweep] exact is 'yes'; true or false is needed"),
        (HEAD + "exact = 1", "[sweep] exact is 1"),
        (HEAD + "test_share = 1.0", "[sweep] test_share is 1.0; the share of questions"),
        (HEAD + "test_share = nan", "[sweep] test_share is nan"),
        (HEAD + 'test_share = "half"', "[sweep] test_share is 'half'"),
        (HEAD + "test_share = true", "[sweep] test_share is True"),
        (HEAD + "embedder = 3", "[sweep] embedder is 3; the name of a model is needed"),
        (HEAD + 'embedder = ""', "[sweep] embedder is ''"),
        (HEAD + "chunkers = 3", "[sweep] chunkers is 3; tables are needed"),
        (HEAD + "chunkers = []", "[sweep] chunkers is []; tables are needed"),
        (HEAD + "[[sweep.chunkers]]\nmax_tokens = 3", "[sweep.chunkers] has no strategy; a name is needed"),
        (HEAD + '[[sweep.chunkers]]\nstrategy = "sentence"', "did you mean sentences"),
        (HEAD + '[[sweep.chunkers]]\nstrategy = "sentences(max_tokens"', "cannot read the strategy"),
        (HEAD + '[[sweep.chunkers]]\nstrategy = "./nobody.py:Mine"', "no file"),
        (CHUNKERS + "max_token = [1]", "[sweep.chunkers] has no key 'max_token' (here [1]); did you mean max_tokens?"),
        (CHUNKERS + "neighbours = 1", "it stands in [sweep.retrieval]"),
        (CHUNKERS + "max_tokens = []", "[sweep.chunkers] max_tokens is []; at least one value is needed"),
        (CHUNKERS + 'max_tokens = ["100"]', "[sweep.chunkers] max_tokens is '100'; a whole number is needed"),
        (CHUNKERS + "max_tokens = [100.5]", "[sweep.chunkers] max_tokens is 100.5; a whole number is needed"),
        (CHUNKERS + "max_tokens = [100, 0]", "[sweep.chunkers] max_tokens is 0; from 1 to"),
        (CHUNKERS + "max_tokens = [true]", "[sweep.chunkers] max_tokens is True"),
        (CHUNKERS + "max_tokens = [[1]]", "[sweep.chunkers] max_tokens is [1]; a text, a number"),
        (CHUNKERS + "max_tokens = 2026-01-01", "[sweep.chunkers] max_tokens is datetime.date"),
        (CHUNKERS + "overlap = '10 tokens'", "overlap is '10 tokens'; a whole number from 0 up or a share"),
        (CHUNKERS + "overlap = -1", "[sweep.chunkers] overlap is -1"),
        (CHUNKERS + "overlap = inf", "[sweep.chunkers] overlap is inf; a number is needed"),
        (CHUNKERS + "context = 'heading'", "[sweep.chunkers] context is 'heading'; did you mean headings?"),
        (CHUNKERS + "context = 1", "[sweep.chunkers] context is 1; allowed: 'none', 'headings'"),
        (CHUNKERS + "tokenizer = 3", "[sweep.chunkers] tokenizer is 3; a text is needed"),
        (CHUNKERS + "regex = 'yes'", "[sweep.chunkers] regex is 'yes'; true or false is needed"),
        (RETRIEVAL + "neighbours = -1", "[sweep.retrieval] neighbours is -1; a whole number of chunks is needed"),
        (RETRIEVAL + "neighbours = true", "[sweep.retrieval] neighbours is True"),
        (RETRIEVAL + "k = 0", "[sweep.retrieval] k is 0; a whole number is needed, 1 or more"),
        (RETRIEVAL + "k = [5, 10]", "[sweep.retrieval] k is [5, 10]"),
        (RETRIEVAL + "context = 'none'", "it stands in [sweep.chunkers]"),
        (RETRIEVAL + "dense = 'much'", "[sweep.retrieval] dense is 'much'; a number is needed"),
        (RETRIEVAL + "fusion = 'rff'", "[sweep.retrieval] fusion is 'rff'; did you mean rrf?"),
        (HEAD + '[sweep.retrieval]\nretriever = "bm52"', "did you mean bm25"),
        (RETRIEVAL.replace("[sweep.retrieval]", "[[sweep.retrieval]]")
         + '[[sweep.retrieval]]\nretriever="dense"\nk=2', "a sweep has one"),
        ("[sweep", "is no TOML: "),
        (b"[sweep]\nsource = '\xff'", "is no TOML: "),
        (b"\x00\x01\x02", "is no TOML: "),
        ("a = " + "[" * 100_000, "is no "),
        ("a = " + "9" * 10_000, "is no TOML"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_file_key_value_and_what_is_allowed(read, text, said):
    with pytest.raises(ChunkwiseError) as raised:
        read(text)
    assert said in str(raised.value)
    assert "sweep.toml" in str(raised.value)
    assert len(str(raised.value)) < 600


def test_a_long_hostile_value_is_not_repeated_in_full(read):
    with pytest.raises(InvalidParameter) as raised:
        read(HEAD + 'embedder = "x"\nbudget = "' + "\\u001b[2J" * 5000 + '"')
    assert "\x1b" not in str(raised.value)
    assert len(str(raised.value)) < 900


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ChunkwiseError, match=r"cannot read .*none\.toml: No such file"):
        read_sweep(tmp_path / "none.toml")
    with pytest.raises(ChunkwiseError, match="cannot read"):
        read_sweep(tmp_path)


@cases(
    "text, budget",
    [
        ("90 s", SweepBudget(90.0)),
        ("90s", SweepBudget(90.0)),
        ("1.5 min", SweepBudget(90.0)),
        ("10 Minutes", SweepBudget(600.0)),
        ("1 h", SweepBudget(3600.0)),
        ("1 h 30 min", SweepBudget(5400.0)),
        ("5 USD", SweepBudget(None, 5.0, "USD")),
        ("€ 2.50", SweepBudget(None, 2.5, "€")),
        ("3$", SweepBudget(None, 3.0, "$")),
    ],
)
def test_budgets(text, budget):
    assert parse_budget(text) == budget
    assert parse_budget(budget_text(budget)) == budget


@cases(
    "text",
    [
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
    ],
)
def test_no_budgets(text):
    with pytest.raises(InvalidParameter, match="allowed: a time"):
        parse_budget(text)


def test_no_budget_has_no_text():
    assert budget_text(SweepBudget()) == ""


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
    seconds=st.none() | st.integers(1, 10**6).map(lambda value: value / 4),
    seed=st.integers(0, 2**31),
    exact=st.booleans(),
    test_share=st.just(0.0) | st.floats(0.01, 0.99),
    prior=st.booleans(),
    rerankers=st.sampled_from([(), ("local",), ("local", "maxsim")]),
    maxsim=st.sampled_from(["", "colbert-small"]),
    at_least=st.sampled_from([{}, {"precision@5": 0.3, "hit@5": 1.0}]),
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


def test_of_several_embedders_the_first_is_that_of_the_sweep(read, tmp_path):
    found = read(HEAD + 'embedder = ["minilm", "bge-small", "minilm"]\nreranker = "local"')
    assert (found.embedder, found.embedders, found.rerankers) == ("minilm", ("bge-small",), ("local",))  # fmt: skip
    assert read(sweep_text(found, tmp_path)) == found
    with pytest.raises(InvalidParameter, match='"none" stands alone'):
        read(HEAD + 'embedder = ["none", "minilm"]')
    with pytest.raises(
        InvalidParameter, match="maxsim is 3; the name of a token encoder is needed"
    ):
        read(HEAD + "maxsim = 3")
    with pytest.raises(InvalidParameter, match="reranker is 3; the name of a reranker is needed"):
        read(HEAD + "reranker = 3")
    assert read(HEAD + 'at_least = "precision >= 0.3"').at_least == {"precision": 0.3}
    with pytest.raises(InvalidParameter, match="at_least"):
        read(HEAD + 'at_least = "precision"')


def test_money_is_read_again(read, tmp_path):
    found = read(HEAD + 'budget = "$5"\nprice = "0.02 $"')
    assert (found.money, found.currency, found.price, found.seconds) == (5.0, "$", 0.02, None)
    assert read(sweep_text(found, tmp_path)) == found


def test_a_place_elsewhere_is_written_from_the_root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sweep = Sweep(("handbook",), "a/queries.json", (Grid(("sentences",)),), (Grid(("bm25",)),))
    assert 'source = "handbook"\n' in sweep_text(sweep)
    told = sweep_text(sweep, "a")
    assert f'source = "{tmp_path}/handbook"\n' in told
    assert 'queries = "queries.json"\n' in told


def test_a_name_that_is_no_unicode_cannot_be_written():
    sweep = Sweep(("bad\udcff",), None, (), ())
    with pytest.raises(InvalidParameter, match="cannot be written"):
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
    assert 'exclude = "drafts"' in text
    assert 'loader = "own.py:Own"' in text
    assert read(text) == replace(sweep, reading=options_given(reading))
    assert "[sweep.reading]" not in sweep_text(sweep, tmp_path)


def test_no_plan_names_a_command_that_reads_pictures(read):
    sweep = Sweep(("d",), None, (), (), reading={"ocr": "tesseract {} -"})
    assert "ocr" not in sweep_text(sweep)
    with pytest.raises(InvalidParameter, match=r"\[sweep.reading\] has no key 'ocr'"):
        read(HEAD + '[sweep.reading]\nocr = "rm {}"')


@cases(
    "text, said",
    [
        ('include = "*.md"', r"it stands in \[sweep.reading\]"),
        ("reading = 3", r"reading is 3; one table is needed: \[sweep.reading\]"),
        ("[[sweep.reading]]\n[[sweep.reading]]", "one table is needed"),
        ("[sweep.reading]\ninclude = [3]", r"include"),
        ('[sweep.reading]\nkeep_boilerplate = "yes"', "keep_boilerplate"),
        ("[sweep.reading]\nencoding = 8", "encoding"),
        ('[sweep.reading]\nencoding = "klingon"', r"\[sweep.reading\] encoding 'klingon' is unk"),
        ('[sweep.reading]\ninclud = "*"', "include"),
    ],
)
def test_what_is_wrong_with_reading_is_said(read, text, said):
    with pytest.raises(InvalidParameter, match=said):
        read(HEAD + text)
