-- The review board: an append-only history, and who may write to it.
CREATE TABLE history (
  submission TEXT NOT NULL,
  sequence BIGINT NOT NULL CHECK (sequence > 0),
  at TEXT NOT NULL,
  actor TEXT NOT NULL,
  role TEXT NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  previous TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  PRIMARY KEY (submission, sequence)
);

CREATE TABLE tokens (
  hash TEXT PRIMARY KEY,
  role TEXT NOT NULL,
  organisation TEXT NOT NULL,
  name TEXT NOT NULL,
  created TEXT NOT NULL,
  revoked BIGINT NOT NULL DEFAULT 0
);
