-- Links by which others see one run. The token of a link is known to those who
-- have it only: here is its SHA-256.
CREATE TABLE shares (
  n          INTEGER PRIMARY KEY,
  id         TEXT    NOT NULL UNIQUE,
  run        INTEGER NOT NULL REFERENCES runs (n) ON DELETE CASCADE,
  hash       BLOB    NOT NULL UNIQUE,
  by         TEXT    NOT NULL,
  trace      INTEGER NOT NULL, -- 1: with prompts, outputs and the tools' arguments
  created_at INTEGER NOT NULL,
  expires_at INTEGER,          -- NULL: never
  revoked_at INTEGER
) STRICT;

CREATE INDEX shares_run ON shares (run);
