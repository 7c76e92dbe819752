-- Times are UTC milliseconds, statuses are words, money is billionths of a US
-- dollar and NULL where it is unknown.

-- A run as lists show it. It is worked out from the run's events and says
-- nothing that they do not say.
CREATE TABLE runs (
  n               INTEGER PRIMARY KEY,
  id              TEXT    NOT NULL UNIQUE,
  seq             INTEGER NOT NULL, -- of the last event
  question        TEXT    NOT NULL, -- its beginning; the whole of it is in event 1
  status          TEXT    NOT NULL,
  strategy        TEXT    NOT NULL,
  owner           TEXT    NOT NULL,
  models          TEXT    NOT NULL, -- a JSON array
  recorded        INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  started_at      INTEGER,
  finished_at     INTEGER,
  updated_at      INTEGER NOT NULL,
  version         INTEGER NOT NULL,
  corrections     INTEGER NOT NULL,
  steps           INTEGER NOT NULL,
  succeeded       INTEGER NOT NULL,
  requests        INTEGER NOT NULL,
  input_tokens    INTEGER NOT NULL,
  output_tokens   INTEGER NOT NULL,
  cached_tokens   INTEGER NOT NULL,
  thinking_tokens INTEGER NOT NULL,
  total_tokens    INTEGER NOT NULL,
  cost            INTEGER,
  answer          TEXT, -- its first line
  subject         TEXT,
  value           REAL,
  error_code      TEXT
) STRICT;

CREATE INDEX runs_newest ON runs (created_at, id);

-- A list of more than two words after IN would be built anew for each update.
CREATE INDEX runs_unfinished ON runs (created_at, id)
  WHERE status <> 'succeeded' AND status <> 'partial' AND status <> 'failed' AND status <> 'cancelled';

-- The log: the one truth. Everything else but the trace follows from it.
CREATE TABLE events (
  run  INTEGER NOT NULL REFERENCES runs (n) ON DELETE CASCADE,
  seq  INTEGER NOT NULL,
  type TEXT    NOT NULL,
  at   INTEGER NOT NULL,
  v    INTEGER NOT NULL, -- version of the form of data
  data TEXT    NOT NULL, -- JSON
  PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID; -- so that the events of a run lie beside each other

-- The steps of the newest plan. A result is not in here: result_seq is the
-- number of the event that has it.
CREATE TABLE steps (
  run             INTEGER NOT NULL REFERENCES runs (n) ON DELETE CASCADE,
  step            TEXT    NOT NULL,
  position        INTEGER NOT NULL,
  status          TEXT    NOT NULL,
  wave            INTEGER NOT NULL,
  attempts        INTEGER NOT NULL,
  cause           TEXT,
  error_code      TEXT,
  result_seq      INTEGER,
  started_at      INTEGER,
  finished_at     INTEGER,
  tool_calls      INTEGER NOT NULL,
  requests        INTEGER NOT NULL,
  input_tokens    INTEGER NOT NULL,
  output_tokens   INTEGER NOT NULL,
  cached_tokens   INTEGER NOT NULL,
  thinking_tokens INTEGER NOT NULL,
  total_tokens    INTEGER NOT NULL,
  cost            INTEGER,
  changed_seq     INTEGER NOT NULL,
  PRIMARY KEY (run, step)
) STRICT, WITHOUT ROWID;

-- Every saved plan. The plan itself is in the event seq.
CREATE TABLE versions (
  run    INTEGER NOT NULL REFERENCES runs (n) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  seq    INTEGER NOT NULL,
  hash   TEXT    NOT NULL,
  author TEXT    NOT NULL,
  PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX versions_hash ON versions (hash);

-- The trace: model requests, and uses of tools.
CREATE TABLE calls (
  n               INTEGER PRIMARY KEY,
  run             INTEGER NOT NULL REFERENCES runs (n) ON DELETE CASCADE,
  id              TEXT    NOT NULL,
  agent           TEXT    NOT NULL,
  step            TEXT    NOT NULL,
  attempt         INTEGER NOT NULL,
  model           TEXT    NOT NULL,
  requests        INTEGER NOT NULL,
  input_tokens    INTEGER NOT NULL,
  output_tokens   INTEGER NOT NULL,
  cached_tokens   INTEGER NOT NULL,
  thinking_tokens INTEGER NOT NULL,
  total_tokens    INTEGER NOT NULL,
  cost            INTEGER,
  error_code      TEXT,
  error_message   TEXT,
  started_at      INTEGER NOT NULL,
  finished_at     INTEGER,
  UNIQUE (run, id)
) STRICT;

CREATE TABLE tool_calls (
  n           INTEGER PRIMARY KEY,
  run         INTEGER NOT NULL REFERENCES runs (n) ON DELETE CASCADE,
  id          TEXT    NOT NULL,
  call        TEXT    NOT NULL, -- the model call that asked; '' for a tool step
  step        TEXT    NOT NULL,
  attempt     INTEGER NOT NULL,
  tool        TEXT    NOT NULL,
  error       TEXT    NOT NULL,
  started_at  INTEGER NOT NULL,
  finished_at INTEGER,
  UNIQUE (run, id)
) STRICT;

-- The big texts of the trace, each once.
CREATE TABLE texts (
  n     INTEGER PRIMARY KEY,
  run   INTEGER NOT NULL REFERENCES runs (n) ON DELETE CASCADE,
  owner TEXT    NOT NULL, -- id of a call or tool call
  kind  TEXT    NOT NULL, -- request, response; arguments, result
  body  TEXT    NOT NULL,
  UNIQUE (run, owner, kind)
) STRICT;

-- What can be searched for, as the log has it. The number of a text is its
-- run's number and its event's.
CREATE VIEW searchable AS
SELECT
  run << 24 | seq AS n,
  run,
  seq,
  CASE type
    WHEN 'run.created' THEN data ->> '$.question'
    WHEN 'step.succeeded' THEN data ->> '$.result'
    ELSE concat_ws(' ', data ->> '$.subject', data ->> '$.result')
  END AS text
FROM events
WHERE type = 'run.created' OR type = 'step.succeeded' OR type = 'answer.written';

-- Symbols such as emoji are searched for like letters.
CREATE VIRTUAL TABLE search USING fts5 (
  text,
  content = 'searchable',
  content_rowid = 'n',
  prefix = '2 3',
  tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co So'"
);

-- A deleted text leaves the index at once.
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);

-- Requests that carried an Idempotency-Key, and what they were answered.
CREATE TABLE keys (
  scope       TEXT    NOT NULL,
  key         TEXT    NOT NULL,
  fingerprint TEXT    NOT NULL,
  claimed_at  INTEGER NOT NULL,
  run         INTEGER REFERENCES runs (n) ON DELETE CASCADE,
  status      INTEGER, -- NULL until the request is answered
  header      TEXT,
  body        BLOB,
  PRIMARY KEY (scope, key)
) STRICT;

CREATE INDEX keys_claimed ON keys (claimed_at);

CREATE INDEX keys_run ON keys (run);

-- One row, written to find out whether the file can be written.
CREATE TABLE pulse (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  at  INTEGER NOT NULL
) STRICT;
