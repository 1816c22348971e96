-- What is known of datasets by their Croissant files, and which runs used each.
CREATE TABLE datasheets (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  document TEXT NOT NULL
);

CREATE TABLE datasheet_points (
  datasheet TEXT NOT NULL REFERENCES datasheets (id),
  point TEXT NOT NULL REFERENCES points (id),
  PRIMARY KEY (datasheet, point)
);
