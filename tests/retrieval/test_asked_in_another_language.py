"""A question in a language that no document is in, and that the model knows: its words have no vote."""

from chunkwise import Document, Index, index
from chunkwise.retrieval.local.index import LocalIndex
from chunkwise.retrieval.retrievers import MultiscaleRetriever
from chunkwise.retrieval.searchable import QueryBatch
from tables import cases

GERMAN = [
    "Was war das für ein Abend, und was hat der Wärter mit dem Schlüssel gemacht? Das war in Paris.",
    "Das Theater im Sommer lag im Garten, und am Abend kamen die Leute aus der Stadt dorthin.",
    "Die Kündigungsfrist beträgt drei Monate, und der Vertrag wird danach nicht verlängert.",
]
ENGLISH = "What was the theatre in the garden like in summer, and who was there?"


def made(*more: Document) -> Index:
    documents = [Document(f"{number}.txt", text) for number, text in enumerate(GERMAN)]
    return index([*documents, *more])


def voted_by_words(searched: Index, question: str, retriever: MultiscaleRetriever) -> float:
    source = searched.source
    assert isinstance(source, LocalIndex)
    batch = QueryBatch([question], source.settings)
    places = [
        (number, 0, len(source.document(number).text)) for number in range(source.document_count)
    ]
    votes = retriever.votes_for(source, batch, places)
    return max((each.share for place in votes for each in place if each.signal == "words"), default=0)  # fmt: skip


def test_words_of_another_language_have_no_vote() -> None:
    searched = made()
    assert searched.source.languages == ("de",)  # type: ignore[attr-defined]
    assert voted_by_words(searched, ENGLISH, MultiscaleRetriever()) == 0
    assert searched.search(ENGLISH, budget=40)[0].doc_id == "1.txt"


@cases(
    "question",
    [
        "Was war mit dem Schlüssel in Paris?",
        "Paris",
        "¿Cuándo fue la noche en que el guardia llegó a Paris con la llave?",
    ],
)
def test_words_count_for_all_others(question: str) -> None:
    assert voted_by_words(made(), question, MultiscaleRetriever()) > 0


def test_words_count_where_there_are_no_vectors_to_ask() -> None:
    assert voted_by_words(made(), ENGLISH, MultiscaleRetriever(dense=0)) > 0


@cases(
    "other",
    [
        Document("code.py", "def was(theatre):\n    return theatre\n"),
        Document("en.txt", "The theatre was open in summer, and there was a garden behind it."),
        Document("none.txt", "12 · 34 · 56"),
    ],
)
def test_words_count_where_a_document_may_have_them(other: Document) -> None:
    assert voted_by_words(made(other), ENGLISH, MultiscaleRetriever()) > 0
