-- What stands beside the tables of rows, which kinds.ts declares. It is run when a load has another shape.

CREATE TABLE IF NOT EXISTS registry.empty_savings_accounts (member_id bigint PRIMARY KEY, accounts integer);
COMMENT ON TABLE registry.empty_savings_accounts IS
  'How many savings accounts of a member have no transaction any more; only of members who have such.';

-- A date-time as the registry writes it.
CREATE OR REPLACE FUNCTION registry.iso(at timestamptz) RETURNS text LANGUAGE sql STABLE STRICT AS $$
  SELECT to_char(at AT TIME ZONE 'UTC' + replace(utc_offset, 'Z', '+00:00')::interval,
    'YYYY-MM-DD"T"HH24:MI:SS') || utc_offset FROM registry.mirror_state
$$;

-- The first of each name, in their order.
CREATE OR REPLACE FUNCTION registry.distinct_in_order(names text[]) RETURNS text[]
LANGUAGE sql IMMUTABLE AS $$
  SELECT array_agg(name ORDER BY place)
  FROM (SELECT name, min(place) AS place FROM unnest(names) WITH ORDINALITY AS all_names (name, place)
    GROUP BY name) AS firsts
$$;

-- The active memberships, with what a lookup says of each.
CREATE OR REPLACE VIEW registry.memberships AS
SELECT m.id AS member_id, m.cooperative_id, m.registration_date, m.full_name, m.gender,
  m.date_of_birth, m.mobile,
  jsonb_build_object(
    'cooperative', jsonb_build_object('id', c.id::text, 'code', c.code, 'name', c.name),
    'member_code', m.member_code, 'full_name', m.full_name,
    'first_name', m.first_name, 'last_name', m.last_name, 'role', m.role, 'status', m.status,
    'registration_date', registry.iso(m.registration_date), 'mobile', m.mobile,
    'production_summary', (
      SELECT jsonb_build_object('window_days', 365, 'entries_count', count(*),
        'total_kg', coalesce(sum(d.kg), 0.000)::text, 'last_delivery_at', registry.iso(max(d.delivered_at)))
      FROM registry.deliveries d
      WHERE d.member_id = m.id AND d.delivered_at <= date_trunc('second', now())
        AND d.delivered_at > date_trunc('second', now()) - interval '8760 hours'),
    'loan_history', (
      SELECT coalesce(jsonb_agg(jsonb_build_object('id', l.id::text, 'amount', l.amount::text,
        'interest_rate', l.interest_rate::text, 'status', l.status, 'paid_amount', l.paid_amount::text,
        'loan_start_date', registry.iso(l.loan_start_date), 'loan_end_date', registry.iso(l.loan_end_date),
        'approved_at', registry.iso(l.approved_at)) ORDER BY l.place), '[]')
      FROM (SELECT h.*, row_number() OVER (ORDER BY
          CASE WHEN h.status IN ('approved', 'defaulted', 'paid') THEN 0 WHEN h.status = 'pending' THEN 1
            ELSE 2 END,
          h.loan_start_date DESC NULLS FIRST, h.id DESC) AS place
        FROM registry.loans h WHERE h.member_id = m.id) AS l
      WHERE l.place <= 10),
    'savings_summary', (
      SELECT jsonb_build_object(
        'accounts_count', count(DISTINCT t.account_number)
          + coalesce((SELECT accounts FROM registry.empty_savings_accounts e WHERE e.member_id = m.id), 0),
        'total_contributions_rwf', coalesce(sum(t.amount) FILTER (WHERE t.kind = 'contribution'), 0.00)::text,
        'total_withdrawals_rwf', coalesce(sum(t.amount) FILTER (WHERE t.kind = 'withdrawal'), 0.00)::text,
        'last_transaction_at', registry.iso(max(t.transacted_at)))
      FROM registry.savings_transactions t WHERE t.member_id = m.id)
  ) AS record
FROM registry.members m JOIN registry.cooperatives c ON c.id = m.cooperative_id
WHERE m.status = 'active';
COMMENT ON VIEW registry.memberships IS 'Active memberships, each with the record that a lookup shows of it.';

CREATE OR REPLACE VIEW registry_private.people AS
SELECT n.identity_card, min(m.member_id) AS person_id,
  (array_agg(m.full_name ORDER BY m.registration_date DESC, m.member_id DESC))[1] AS primary_full_name,
  registry.distinct_in_order(array_agg(m.full_name ORDER BY m.registration_date DESC, m.member_id DESC))
    AS name_variants,
  (array_agg(m.gender ORDER BY m.registration_date DESC, m.member_id DESC)
    FILTER (WHERE m.gender IS NOT NULL))[1] AS gender,
  (array_agg(m.date_of_birth ORDER BY m.registration_date DESC, m.member_id DESC)
    FILTER (WHERE m.date_of_birth IS NOT NULL))[1] AS date_of_birth,
  (array_agg(m.mobile ORDER BY m.registration_date DESC, m.member_id DESC)
    FILTER (WHERE m.mobile IS NOT NULL))[1] AS mobile,
  count(*) AS memberships_count,
  jsonb_agg(m.record ORDER BY m.registration_date DESC, m.member_id DESC) AS memberships
FROM registry.memberships m JOIN registry_private.national_ids n ON n.member_id = m.member_id
GROUP BY n.identity_card;
COMMENT ON VIEW registry_private.people IS
  'Persons with an active membership, as a lookup by national ID shows them.';

CREATE OR REPLACE VIEW registry.people AS
SELECT person_id, primary_full_name, name_variants, gender, date_of_birth, mobile,
  memberships_count, memberships
FROM registry_private.people;
COMMENT ON VIEW registry.people IS
  'The same without national IDs; person_id is the lowest number of their members.';
