"""The language of short texts, and of documents that are not what they seem."""

from __future__ import annotations

from pathlib import Path

import chunkwise
from chunkwise.core import Document
from chunkwise.text.language import LANGUAGES_OF, UNKNOWN, language_of, language_of_text
from tables import cases

SENTENCES = {
    "en": "The tide comes in twice a day, and nobody is surprised by it.",
    "de": "Das Wasser steigt zweimal am Tag, und niemand ist davon überrascht.",
    "fr": "La mer monte deux fois par jour et personne n'est surpris.",
    "es": "La marea sube dos veces al día y a nadie le sorprende.",
    "it": "La marea sale due volte al giorno e nessuno è più sorpreso di questo.",
    "pt": "A maré sobe duas vezes por dia e ninguém está surpreso com isso.",
    "nl": "Het water stijgt twee keer per dag en niemand is daar nog door verrast.",
    "sv": "Vattnet stiger två gånger om dagen och det är inte någon som blir förvånad.",
    "pl": "Woda podnosi się dwa razy dziennie i nikt się temu nie dziwi, że tak jest.",
    "tr": "Su günde iki kez yükselir ve bu kimse için sürpriz değil.",
    "ru": "Вода поднимается два раза в день, и никто этому не удивляется.",
    "uk": "Вода піднімається двічі на день, і ніхто цьому не дивується.",
    "el": "Το νερό ανεβαίνει δύο φορές την ημέρα.",
    "zh": "潮水每天涨落两次，没有人感到惊讶。",
    "ja": "潮は一日に二回満ちます。誰も驚きません。",
    "ko": "바닷물은 하루에 두 번 들어옵니다.",
    "hi": "पानी दिन में दो बार बढ़ता है और किसी को आश्चर्य नहीं होता।",
    "ar": "يرتفع الماء مرتين في اليوم ولا أحد يتعجب من ذلك.",
    "fa": "آب روزی دو بار بالا می‌آید و هیچ‌کس تعجب نمی‌کند که چرا.",
    "he": "המים עולים פעמיים ביום ואיש אינו מופתע.",
    "th": "น้ำขึ้นวันละสองครั้งและไม่มีใครแปลกใจ",
}


@cases("language, text", SENTENCES.items())
def test_one_sentence(language: str, text: str) -> None:
    assert language_of_text(text) == language


@cases("text", ["", "1 2 3", "…", "xqz vrt", "\ud800"])
def test_no_language(text: str) -> None:
    assert language_of_text(text) == UNKNOWN


@cases(
    "text",
    [
        "Para one. Para two sentence.", "a b c d e f o a", "Come home.", "Sin City", "Cold War era", "Men over 40",
        "Windows OS", "foo.com", "Health care", "Open door", "Item a. Item b.", "Item i, item o, item e, item a",
        "Para para para para.", "Gdańsk", "Señor Muñoz", "os os os com com",
    ],
)  # fmt: skip
def test_thin_evidence_is_none(text: str) -> None:
    """One word that several languages have, labels, and words English spells alike tell nothing."""
    assert language_of_text(text) == UNKNOWN


SHORT = {
    "en": ["the cat", "How do I return goods?", "It was over.", "They met at the door."],
    "de": ["Wir haben Ihren Brief vom 3. Mai erhalten.", "Was ist Photosynthese?",
           "Das Hotel liegt nahe am Bahnhof. Man isst gut.",
           "Der Vertrag tritt mit der Unterschrift in Kraft und gilt zwei Jahre."],
    "fr": ["Il a dit : « Viens ici ». Elle est venue, puis ils sont partis ensemble.", "Qu’est-ce que c’est ?",
           "« Je ne sais pas », dit-elle. « C'est à toi de voir. » Il partit sans un mot.",
           "Le contrat prend effet à la date de signature et dure deux ans."],
    "es": ["El contrato entra en vigor en la fecha de la firma y dura dos años.", "¿Qué hora es? No lo sé.",
           "La casa de mi abuela tenía un patio grande con un naranjo.", "Hemos recibido su carta del 3 de mayo."],
    "it": ["Il contratto entra in vigore alla data della firma e dura due anni.", "Che ora è? Non lo so.",
           "L’albergo si trova vicino alla stazione. Si mangia bene."],
    "pt": ["O contrato entra em vigor na data da assinatura e dura dois anos."],
    "tr": ["Sözleşme imza tarihinde yürürlüğe girer ve iki yıl sürer."],
}  # fmt: skip


@cases("language, text", [(name, text) for name, texts in SHORT.items() for text in texts])
def test_short_texts_that_are_plain(language: str, text: str) -> None:
    assert language_of_text(text) == language


def test_no_word_counts_twice_for_a_language() -> None:
    assert all(len(set(languages)) == len(languages) for languages in LANGUAGES_OF.values())


def test_listings_do_not_decide() -> None:
    listing = (
        "```python\n"
        + "if it is not in the list: raise the error  # and that was all\n" * 20
        + "```\n"
    )
    assert language_of_text(f"{listing}\n{SENTENCES['de']}") == "de"
    assert (
        language_of_text(f"{SENTENCES['zh']}\n\nUse `the_list_of_it` with FastAPI and Pydantic.")
        == "zh"
    )


def test_source_code_has_its_own() -> None:
    assert (
        language_of(Document("x.py", "x = 1", format="code", language="python")) == "code: python"
    )
    assert language_of(Document("x", "x = 1", format="code")) == "code"


def test_the_corpus_inside() -> None:
    folder = Path(chunkwise.__file__).parent / "corpus"
    found = {
        path.name: language_of_text(path.read_text("utf-8"))
        for path in folder.iterdir()
        if path.is_file()
    }
    assert len(found) > 5
    assert {name for name, language in found.items() if language != "en"} == {"schul-chronik.md"}
    assert found["schul-chronik.md"] == "de"
