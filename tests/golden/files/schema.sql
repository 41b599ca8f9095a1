CREATE TABLE reader (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    joined DATE NOT NULL
);

CREATE TABLE loan (
    id INTEGER PRIMARY KEY,
    reader_id INTEGER NOT NULL REFERENCES reader (id),
    title TEXT NOT NULL,
    due DATE NOT NULL,
    returned DATE
);

-- Loans that are late, the latest first.
CREATE VIEW late AS
SELECT reader.name, loan.title, loan.due
FROM loan
JOIN reader ON reader.id = loan.reader_id
WHERE loan.returned IS NULL AND loan.due < CURRENT_DATE
ORDER BY loan.due;
