"""What breaks tokenizers: contractions, digits of several scripts, every kind of space, joined emoji …"""

from hypothesis import strategies as st

PIECES = [
    *"a b A Z ' \" 1 9 / \\ . , ; : ! ? ) ( ] [ _ - = # < > | @ ½ Ⅷ ß é ǅ ʰ ſ K İ 文 字 漢 か カ 한 ไ".split(),
    *"。、「」（）！",
    "'s", "'S", "'ll", "'LL", "'re", "don't", "'ſ", "’s", "12", "1234", "٣", "٣٤٥٦", "४५", "๑", "一二三",
    " ", "  ", "     ", "\t", "\t ", "\n", "\n\n", "\r\n", "\r", " \n", "\n ", "\x0b", "\x0c", "\x1c", "\x1f",
    "\x85", "\u00a0", "\u2028", "\u3000", "\u200b", "\ufeff", "\x00", "//", "///", "/\n", "\n/", ".\n/",
    "...", "!!", "--",
    "camelCase", "XMLHttpRequest", "snake_case", "word", "Word", " word", " internationalisation",
    "e\u0301", "\u0301", "है", "한국어", "ไทย", "👍", "👍🏽", "👨‍👩‍👧", "🇩🇪", "<|endoftext|>", "<|im_start|>",
    "http://a.b/c?d=e", "x@y.z", "3.14", "$5", "2.0.1",
]  # fmt: skip

NASTY = st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=60
)
