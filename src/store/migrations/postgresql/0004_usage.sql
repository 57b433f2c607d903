-- Sums of whole hours that are over, so that usage need not read every request. They stay when the requests go.
CREATE TABLE usage_hour (
  hour              bigint NOT NULL,  -- when it begins
  model             text    NOT NULL,
  key_name          text    NOT NULL,
  requests          bigint NOT NULL,
  failed            bigint NOT NULL,
  calls             bigint NOT NULL,
  prompt_tokens     bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  cached_tokens     bigint NOT NULL,
  reasoning_tokens  bigint NOT NULL,
  PRIMARY KEY (hour, model, key_name)
);

-- One row at most: hours before this time are summed.
CREATE TABLE usage_until (
  up_to bigint NOT NULL
);
