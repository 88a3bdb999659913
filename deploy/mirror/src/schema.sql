-- What a mirror has before its first load. It is run when that is of another release.

CREATE SCHEMA IF NOT EXISTS registry;
CREATE SCHEMA IF NOT EXISTS registry_private;
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'analyst') THEN CREATE ROLE analyst NOLOGIN; END IF;
END $$;
REVOKE ALL ON SCHEMA registry_private FROM PUBLIC;
GRANT USAGE ON SCHEMA registry TO analyst;
ALTER DEFAULT PRIVILEGES IN SCHEMA registry GRANT SELECT ON TABLES TO analyst;

CREATE TABLE IF NOT EXISTS registry.mirror_state (id boolean PRIMARY KEY DEFAULT true CHECK (id));
ALTER TABLE registry.mirror_state
  ADD COLUMN IF NOT EXISTS epoch text,
  ADD COLUMN IF NOT EXISTS sequence bigint,
  ADD COLUMN IF NOT EXISTS loaded jsonb NOT NULL DEFAULT '{}',
  ADD COLUMN IF NOT EXISTS shape text,
  ADD COLUMN IF NOT EXISTS utc_offset text NOT NULL DEFAULT '+00:00',
  ADD COLUMN IF NOT EXISTS last_event_at timestamptz,
  ADD COLUMN IF NOT EXISTS current_at timestamptz,
  ADD COLUMN IF NOT EXISTS lag_seconds numeric(12,3),
  ADD COLUMN IF NOT EXISTS last_fault text,
  ADD COLUMN IF NOT EXISTS last_fault_at timestamptz,
  ADD COLUMN IF NOT EXISTS must_vacuum boolean NOT NULL DEFAULT false,
  ADD COLUMN IF NOT EXISTS must_count_accounts boolean NOT NULL DEFAULT false;
COMMENT ON TABLE registry.mirror_state IS
  'How far the mirror is. It changes with the rows, in one transaction.';
COMMENT ON COLUMN registry.mirror_state.epoch IS 'Names the sequence of events; null before the first load.';
COMMENT ON COLUMN registry.mirror_state.sequence IS 'The last event that is in the tables.';
COMMENT ON COLUMN registry.mirror_state.loaded IS 'By kind: the last event that is in its export.';
COMMENT ON COLUMN registry.mirror_state.shape IS
  'Names the tables of a release of the mirror: another release loads everything again.';
COMMENT ON COLUMN registry.mirror_state.utc_offset IS 'Offset in which the registry shows date-times.';
COMMENT ON COLUMN registry.mirror_state.last_event_at IS 'When the last event happened in the registry.';
COMMENT ON COLUMN registry.mirror_state.current_at IS 'When the tables last had all that the registry had.';
COMMENT ON COLUMN registry.mirror_state.lag_seconds IS
  'From the oldest event of the last batch, whose time is in whole seconds, until its rows were here.';
COMMENT ON COLUMN registry.mirror_state.last_fault IS 'What was last waited for, or ended the mirror.';
COMMENT ON COLUMN registry.mirror_state.last_fault_at IS 'When that was.';
COMMENT ON COLUMN registry.mirror_state.must_vacuum IS 'Rows of erased persons are to be vacuumed.';
COMMENT ON COLUMN registry.mirror_state.must_count_accounts IS
  'Savings accounts without a transaction are to be counted: no export has them.';
INSERT INTO registry.mirror_state DEFAULT VALUES ON CONFLICT DO NOTHING;
