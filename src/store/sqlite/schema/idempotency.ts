/** Registry migration 7: responses that a repeated request gets again. */

export const REGISTRY_7 = `
-- The response to a POST with an Idempotency-Key, kept for a day. The body may hold personal data.
CREATE TABLE idempotent_responses (
  key_id INTEGER NOT NULL,
  idempotency_key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  status INTEGER NOT NULL,
  location TEXT,
  etag TEXT,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (key_id, idempotency_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotent_responses_age ON idempotent_responses (created_at);
`;
