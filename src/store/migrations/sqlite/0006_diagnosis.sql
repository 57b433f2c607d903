-- What was repaired, by name, and the dialect of a call that the text looks like; NULL: nothing.
ALTER TABLE request ADD COLUMN repair_names TEXT;
ALTER TABLE request ADD COLUMN missed_call TEXT;
CREATE INDEX request_with_missed_call ON request (received_at) WHERE missed_call IS NOT NULL;
