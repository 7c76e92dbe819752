-- People who log in. A row stays when its person is removed, so that no other
-- is ever taken for them.
CREATE TABLE users (
  n          INTEGER PRIMARY KEY,
  id         TEXT    NOT NULL UNIQUE,
  name       TEXT    NOT NULL,
  name_key   TEXT    NOT NULL UNIQUE, -- the name without case and width
  role       TEXT    NOT NULL,
  password   TEXT,                    -- a PHC string; NULL where a proxy says who is there
  created_at INTEGER NOT NULL,
  removed_at INTEGER
) STRICT;

-- Of every secret only the SHA-256 is kept.
CREATE TABLE invites (
  n          INTEGER PRIMARY KEY,
  id         TEXT    NOT NULL UNIQUE,
  hash       TEXT    NOT NULL UNIQUE,
  role       TEXT    NOT NULL,
  invited_by INTEGER REFERENCES users (n), -- NULL for the first owner's
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at    INTEGER
) STRICT;

CREATE TABLE sessions (
  hash       TEXT    NOT NULL PRIMARY KEY,
  user       INTEGER NOT NULL REFERENCES users (n),
  created_at INTEGER NOT NULL,
  seen_at    INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_user ON sessions (user);

CREATE INDEX sessions_expire ON sessions (expires_at);

CREATE TABLE api_tokens (
  n          INTEGER PRIMARY KEY,
  id         TEXT    NOT NULL UNIQUE,
  hash       TEXT    NOT NULL UNIQUE,
  user       INTEGER NOT NULL REFERENCES users (n),
  label      TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  seen_at    INTEGER,
  revoked_at INTEGER
) STRICT;

CREATE INDEX api_tokens_user ON api_tokens (user);
