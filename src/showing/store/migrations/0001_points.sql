-- What the explorer shows. One text for both databases; docs/decisions says why documents are text.
CREATE TABLE assay_meta (
  key TEXT PRIMARY KEY,
  value BIGINT NOT NULL
);
INSERT INTO assay_meta (key, value) VALUES ('revision', 1);

CREATE TABLE systems (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  document TEXT NOT NULL
);

CREATE TABLE curves (
  id TEXT PRIMARY KEY,
  system TEXT NOT NULL REFERENCES systems (id),
  model TEXT NOT NULL,
  dataset TEXT NOT NULL,
  organisation TEXT NOT NULL,
  accelerator TEXT NOT NULL,
  software TEXT NOT NULL,
  division TEXT NOT NULL,
  availability TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('measured', 'simulated')),
  submission TEXT NOT NULL,
  words TEXT NOT NULL,
  document TEXT NOT NULL,
  imported TEXT NOT NULL,
  -- Counted from the points by whoever puts one.
  accuracy TEXT NOT NULL DEFAULT 'unknown',
  peak_tps DOUBLE PRECISION,
  findings BIGINT NOT NULL DEFAULT 0,
  points_total BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX curves_by_model ON curves (model, dataset);
CREATE INDEX curves_by_system ON curves (system);
CREATE INDEX curves_by_submission ON curves (submission);

CREATE TABLE points (
  id TEXT PRIMARY KEY,
  curve TEXT NOT NULL REFERENCES curves (id),
  concurrency DOUBLE PRECISION NOT NULL,
  system_tps DOUBLE PRECISION,
  accuracy TEXT NOT NULL CHECK (accuracy IN ('passed', 'failed', 'unknown')),
  findings BIGINT NOT NULL,
  document TEXT NOT NULL
);
CREATE INDEX points_by_curve ON points (curve, concurrency);

-- Apart from points: a report is fifty times as long, and lists never need it.
CREATE TABLE runs (
  id TEXT PRIMARY KEY REFERENCES points (id),
  source TEXT NOT NULL,
  document TEXT NOT NULL
);
