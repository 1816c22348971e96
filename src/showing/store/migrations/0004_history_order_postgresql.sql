-- The order in which the entries of all submissions were appended: the head is made over it. Of
-- those that were there before, their dates are all that is known.
CREATE TABLE history_order (
  number BIGINT PRIMARY KEY,
  submission TEXT NOT NULL,
  sequence BIGINT NOT NULL,
  UNIQUE (submission, sequence)
);
INSERT INTO history_order (number, submission, sequence)
SELECT row_number() OVER (ORDER BY at, submission, sequence), submission, sequence FROM history;
CREATE TRIGGER history_order_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON history_order
FOR EACH STATEMENT EXECUTE FUNCTION assay_history_stays();
