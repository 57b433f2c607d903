-- Sums of whole hours that are over, so that usage need not read every request. They stay when the requests go.
CREATE TABLE usage_hour (
  hour              INTEGER NOT NULL,  -- when it begins
  model             TEXT    NOT NULL,
  key_name          TEXT    NOT NULL,
  requests          INTEGER NOT NULL,
  failed            INTEGER NOT NULL,
  calls             INTEGER NOT NULL,
  prompt_tokens     INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  cached_tokens     INTEGER NOT NULL,
  reasoning_tokens  INTEGER NOT NULL,
  PRIMARY KEY (hour, model, key_name)
) STRICT, WITHOUT ROWID;

-- One row at most: hours before this time are summed.
CREATE TABLE usage_until (
  up_to INTEGER NOT NULL
) STRICT;
