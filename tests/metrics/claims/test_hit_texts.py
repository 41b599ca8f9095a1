from chunkwise.core import Document, Hit
from chunkwise.metrics.claims.claim_support import supports
from chunkwise.metrics.claims.hit_texts import ReadableHits
from chunkwise.metrics.claims.text_normalization import Readable


def test_a_word_that_a_hit_cuts_in_two_is_not_found_in_it() -> None:
    document = Document("d", "The lighthouse keeper lights lamps at dusk.")
    claim = Readable("The lighthouse keeper lights lamps", "en")
    whole = Hit(document, 0, len(document.text), 0.0, 1, 1)
    part = Hit(document, 9, len(document.text), 0.0, 2, 1)
    read = ReadableHits()
    assert supports(read(whole), claim, 1.0)
    assert not supports(read(part), claim, 1.0)
