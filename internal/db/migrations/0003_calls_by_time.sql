-- What was used by day is worked out from the calls, by their time.
CREATE INDEX calls_started ON calls (started_at);
