-- The order in which the entries of all submissions were appended: the head is made over it.
CREATE TABLE history_order (
  number INTEGER PRIMARY KEY,
  submission TEXT NOT NULL,
  sequence BIGINT NOT NULL,
  UNIQUE (submission, sequence)
);
INSERT INTO history_order (number, submission, sequence)
SELECT row_number() OVER (ORDER BY rowid), submission, sequence FROM history;
CREATE TRIGGER history_order_unchanged BEFORE UPDATE ON history_order
BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;
CREATE TRIGGER history_order_undeleted BEFORE DELETE ON history_order
BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;
