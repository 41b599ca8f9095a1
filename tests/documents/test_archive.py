"""Archives, friendly and hostile; nothing is ever written to disk."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile

import pytest

from chunkwise.documents import archive
from tables import cases


def tar_bytes(members: list[tarfile.TarInfo | tuple[str, bytes]], mode: str = "w") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as made:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                made.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                made.addfile(info, io.BytesIO(member[1]))
    return out.getvalue()


def ids(documents: list) -> list[str]:
    return [document.id for document in documents]


def test_zip_members_are_documents(reader, write, make_zip, make_pdf) -> None:
    data = make_zip({"in/b.md": "B\r\n", "a.pdf": make_pdf("A"), "__MACOSX/x": "x", ".h": "x"})
    path = write("docs.zip", data)
    first, second = reader(path)
    assert (first.id, first.text) == ("docs.zip/a.pdf", "A")
    assert (second.id, second.text) == ("docs.zip/in/b.md", "B\r\n")
    assert second.source == f"{path}/in/b.md"


@cases("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tars_by_content_whatever_the_name(reader, write, mode) -> None:
    path = write("docs.bin", tar_bytes([("a.md", b"A"), ("./d/b.txt", b"B")], mode))
    assert ids(reader(path)) == ["docs.bin/a.md", "docs.bin/d/b.txt"]
    assert reader.skipped == []


@cases("module", [gzip, bz2, lzma])
def test_one_compressed_file(reader, write, module) -> None:
    document = reader.one(write("c.jsonl.gz", module.compress(b'{"id":"x","text":"a"}\n')))
    assert (document.id, document.text) == ("x", "a")


def test_an_archive_in_a_folder_is_read_with_it(reader, write, make_zip, tmp_path) -> None:
    write("sub/z.zip", make_zip({"a.md": "A"}))
    assert ids(reader(tmp_path)) == ["sub/z.zip/a.md"]


@cases("name", ["../out.md", "/etc/abs.md", "a/../../x.md", "..\\w.md", "C:\\w.md"])
def test_paths_out_of_the_archive(reader, write, make_zip, name) -> None:
    for path in (
        write("a.zip", make_zip({name: "bad", "ok.md": "fine"})),
        write("a.tar", tar_bytes([(name, b"bad"), ("ok.md", b"fine")])),
    ):
        assert [document.text for document in reader(path)] == ["fine"]
        assert reader.reasons == ["its path is outside of the archive"]


def test_links_and_devices_in_a_tar(reader, write) -> None:
    link, device, hard = tarfile.TarInfo("l.md"), tarfile.TarInfo("d"), tarfile.TarInfo("h.md")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    hard.type, hard.linkname = tarfile.LNKTYPE, "../../etc/passwd"
    device.type = tarfile.CHRTYPE
    path = write("a.tar", tar_bytes([link, hard, device, ("ok.md", b"fine")]))
    assert ids(reader(path)) == ["a.tar/ok.md"]
    assert [reason.split(" inside")[0] for reason in reader.reasons] == [
        "a link",
        "a link",
        "a device, FIFO or sparse file",
    ]


def test_an_archive_inside_an_archive_is_refused_a_document_is_not(
    reader, write, make_zip, make_pdf
) -> None:
    book = make_zip({"mimetype": "application/epub+zip"})
    data = make_zip(
        {"in.zip": make_zip({"a.md": "x"}), "b.tgz": gzip.compress(b"x"), "e.epub": book}
    )
    assert reader(write("a.zip", data)) == []
    assert sorted(reader.reasons) == [
        "a nested archive; unpack it first",
        "a nested archive; unpack it first",
        "damaged EPUB: no 'META-INF/container.xml' in it",
    ]


def test_a_damaged_document_is_called_what_its_name_says(reader, write, make_zip) -> None:
    cut = make_zip({"[Content_Types].xml": "<Types/>", "word/document.xml": "<x/>"})[:-40]
    members = {"a.docx": cut, "b.epub": cut, "c.zip": cut}
    assert reader(write("all.zip", make_zip(members)), write("d.docx", cut)) == []
    assert reader.reasons == [
        "damaged or truncated DOCX",
        "damaged or truncated EPUB",
        "a nested archive; unpack it first",
        "damaged or truncated DOCX",
    ]


@pytest.mark.unwatched
@pytest.mark.parametrize("kind", ["zip", "tar.gz", "gz", "docx"])
def test_bombs(reader, write, make_zip, monkeypatch, kind) -> None:
    monkeypatch.setattr(archive, "HARMLESS", 100_000)
    zeros = b"a" * 20_000_000
    data = {
        "zip": lambda: make_zip({"a.md": "first", "b.txt": zeros}),
        "tar.gz": lambda: tar_bytes([("a.md", b"first"), ("b.txt", zeros)], "w:gz"),
        "gz": lambda: gzip.compress(zeros),
        "docx": lambda: make_zip({"[Content_Types].xml": "", "word/document.xml": zeros}),
    }[kind]()
    expected = ["first"] if kind in ("zip", "tar.gz") else []
    path = write(f"bomb.{kind}", data)
    assert [document.text for document in reader(path)] == expected
    assert "zip bomb?" in reader.reasons[0]
    assert len(reader.reasons) == 1


def test_a_member_over_the_limit_is_skipped_and_the_next_is_read(
    reader, write, make_zip, monkeypatch
) -> None:
    monkeypatch.setattr(archive, "MAX_MEMBER", 1000)
    path = write("a.zip", make_zip({"a.md": "first", "b.md": "b" * 1001, "c.md": "c" * 1000}))
    assert ids(reader(path)) == ["a.zip/a.md", "a.zip/c.md"]
    assert [str(problem) for problem in reader.skipped] == [f"{path}/b.md: larger than 1,000 bytes"]


def test_a_bomb_among_other_files_is_named_and_they_are_read(
    reader, write, make_zip, monkeypatch
) -> None:
    monkeypatch.setattr(archive, "HARMLESS", 100_000)
    members = {"a.txt": b"first", "big.txt": b"a" * 3_000_000, "c.txt": b"last"}
    path = write("a.zip", make_zip(members))
    assert [document.text for document in reader(path)] == ["first", "last"]
    assert [problem.source for problem in reader.skipped] == [f"{path}/big.txt"]
    assert "3,000,000" in reader.reasons[0]
    assert "644,195" in reader.reasons[0]  # 200 times the archive, less what a.txt took
    path = write("a.tgz", tar_bytes(list(members.items()), "w:gz"))
    assert [document.text for document in reader(path)] == ["first"]
    assert [problem.source for problem in reader.skipped] == [f"{path}/big.txt"]
    assert reader.reasons[0].endswith("the rest of the archive is not read")


def test_what_is_read_of_an_archive_is_bounded_in_all(reader, write, make_zip, monkeypatch) -> None:
    monkeypatch.setattr(archive, "MAX_TOTAL", 2500)
    files = {f"{name}.md": name * 1000 for name in "abcd"} | {"e.md": "e" * 500, "f.md": "f"}
    path = write("a.zip", make_zip(files))
    assert ids(reader(path)) == ["a.zip/a.md", "a.zip/b.md", "a.zip/e.md"]
    assert [problem.source for problem in reader.skipped] == [f"{path}/{n}.md" for n in "cdf"]


def test_files_too_large_are_named_up_to_twenty(reader, write, make_zip, monkeypatch) -> None:
    monkeypatch.setattr(archive, "MAX_MEMBER", 1000)
    path = write("a.zip", make_zip({f"{n:02}.md": "x" * 1001 for n in range(25)} | {"z.md": "z"}))
    assert ids(reader(path)) == ["a.zip/z.md"]
    assert reader.reasons[:20] == ["larger than 1,000 bytes"] * 20
    assert reader.reasons[20:] == ["... and 5 more files that are too large"]


@cases("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_member_is_skipped_and_the_next_is_read(reader, write, method) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as made:
        for name in ("a.md", "b.md"):
            made.writestr(name, "".join(map(str, range(2000))))
    data = bytearray(out.getvalue())
    data[40:140] = b"\xff" * 100
    assert ids(reader(write("a.zip", bytes(data)))) == ["a.zip/b.md"]
    assert [reason.split(":")[0] for reason in reader.reasons] == ["damaged in the archive"]


def test_a_member_that_lies_about_its_size(reader, write, make_zip) -> None:
    data = bytearray(make_zip({"a.md": "a" * 5000, "b.md": "fine"}))
    central = data.index(b"PK\x01\x02")
    data[central + 24 : central + 28] = (10).to_bytes(4, "little")
    assert [document.text for document in reader(write("a.zip", bytes(data)))] == ["fine"]
    assert "damaged" in reader.reasons[0]


@cases("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_truncated_tars_give_what_came_before(reader, write, mode) -> None:
    members = [("a.md", b"first"), ("b.md", bytes(range(256)) * 400)]
    data = tar_bytes(members, mode)
    documents = reader(write("a.tar", data[: len(data) // 3]))
    assert all(document.text == "first" for document in documents)
    assert reader.reasons == ["damaged or truncated archive"]


def test_truncated_and_encrypted_zips(reader, write, make_zip, tmp_path) -> None:
    data = make_zip({"a.md": "text", "b.md": "text"})
    assert reader(write("cut.zip", data[:-30])) == []
    assert reader.reasons == ["damaged or truncated archive"]
    locked = bytearray(data)
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    assert ids(reader(write("locked.zip", bytes(locked)))) == ["locked.zip/b.md"]
    assert reader.reasons == ["encrypted; unpack it first"]


def test_two_members_of_one_name(reader, write) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("a.md", "1")
        with pytest.warns(UserWarning, match="Duplicate"):
            made.writestr("a.md", "2")
    documents = reader(write("a.zip", out.getvalue()))
    assert ids(documents) == ["a.zip/a.md", "a.zip/a.md~2"]


def test_an_archive_without_documents_is_not_passed_over_in_silence(
    reader, write, make_zip
) -> None:
    assert reader(write("a.zip", make_zip({})), write("b.zip", make_zip({".hidden": "x"}))) == []
    assert reader.reasons == ["no documents in this archive"] * 2


def claiming(count: int, name: str = "a.txt", kind: bytes = tarfile.REGTYPE, **pax: str) -> bytes:
    """A member that says it has so many bytes, with five, and another behind it."""
    info = tarfile.TarInfo(name)
    info.size, info.type, info.pax_headers = (5 if pax else count), kind, pax
    data = b"hello".ljust(512, b"\0")
    form = tarfile.PAX_FORMAT if pax else tarfile.GNU_FORMAT
    return info.tobuf(form) + data + tar_bytes([("b.txt", b"B")])


@pytest.mark.parametrize(
    "data",
    [
        claiming(1 << 40),
        claiming(64 << 30),
        claiming(1 << 29),
        claiming(1 << 40, ".hidden"),
        claiming(1 << 40, "../out"),
        claiming(1 << 40, kind=b"Z"),
        claiming(1 << 40, kind=tarfile.CONTTYPE),
        claiming(1 << 40, kind=tarfile.GNUTYPE_SPARSE),
        claiming(0, size=str(1 << 62)),
        gzip.compress(claiming(1 << 40)),
    ],
)
def test_a_member_that_claims_more_than_there_can_be_ends_the_archive_at_once(
    reader, write, monkeypatch, data
) -> None:
    asked = []
    read = archive._Measured.read
    monkeypatch.setattr(
        archive._Measured, "read", lambda self, size=-1: asked.append(size) or read(self, size)
    )
    assert reader(write("a.tar", data)) == []
    assert str(reader.skipped[-1]).endswith("the rest of the archive is not read")
    assert len(asked) < 20  # or one for every ten thousand bytes that are not there


@cases("kind", [tarfile.DIRTYPE, tarfile.CHRTYPE, tarfile.SYMTYPE])
def test_what_has_no_content_may_claim_what_it_likes(reader, write, kind) -> None:
    info = tarfile.TarInfo("a")
    info.size, info.type = 1 << 40, kind
    found = reader(write("a.tar", info.tobuf(tarfile.GNU_FORMAT) + tar_bytes([("b.txt", b"B")])))
    assert ids(found) == ["a.tar/b.txt"]


@cases("size", [1 << 50, (1 << 64) - 1])
@cases("offset", [0, 1 << 62])
def test_a_zip_whose_directory_claims_more_than_there_can_be(
    reader, write, make_zip, size, offset
) -> None:
    made = make_zip({"a.txt": "A"})
    body = made[: made.index(b"PK\5\6")]
    large = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, size, offset)
    place = struct.pack("<4sLQL", b"PK\6\7", 0, len(body), 1)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 65535, 65535, (1 << 32) - 1, (1 << 32) - 1, 0)
    path = write("a.zip", body + large + place + end)
    assert reader(path) == []
    assert [problem.reason for problem in reader.skipped] == ["damaged or truncated archive"]
