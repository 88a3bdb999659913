-- Queries on the mirror, for analysts (docs/mirror.md). Run one of them, or all: psql -f examples.sql

-- Deliveries by district and month
SELECT c.district, date_trunc('month', d.delivered_at AT TIME ZONE 'Africa/Kigali')::date AS month, d.product, sum(d.kg) AS kg
FROM registry.deliveries d JOIN registry.cooperatives c ON c.id = d.cooperative_id
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;

-- Loans that are late
SELECT c.code, l.reference, l.loan_end_date::date AS due, l.amount - l.paid_amount AS outstanding
FROM registry.loans l JOIN registry.cooperatives c ON c.id = l.cooperative_id
WHERE l.status IN ('approved', 'defaulted') AND l.loan_end_date < now() AND l.paid_amount < l.amount ORDER BY due;

-- Active members without a delivery in a year, by cooperative
SELECT c.code, count(*) AS members
FROM registry.members m JOIN registry.cooperatives c ON c.id = m.cooperative_id
WHERE m.status = 'active' AND NOT EXISTS (SELECT FROM registry.deliveries d
  WHERE d.member_id = m.id AND d.delivered_at > now() - interval '1 year')
GROUP BY c.code ORDER BY members DESC;

-- Growth of cooperatives, by year of joining
SELECT c.code, extract(year FROM m.registration_date AT TIME ZONE 'Africa/Kigali') AS year, count(*) AS joined
FROM registry.members m JOIN registry.cooperatives c ON c.id = m.cooperative_id GROUP BY 1, 2 ORDER BY 1, 2;

-- Outstanding loans, and the share in default, by district
SELECT c.district, sum(l.amount - l.paid_amount) AS outstanding,
  round(100.0 * count(*) FILTER (WHERE l.status = 'defaulted') / count(*), 1) AS percent_defaulted
FROM registry.loans l JOIN registry.cooperatives c ON c.id = l.cooperative_id
WHERE l.status IN ('approved', 'defaulted') GROUP BY c.district ORDER BY outstanding DESC;

-- Savings of each cooperative
SELECT c.code, sum(CASE t.kind WHEN 'contribution' THEN t.amount ELSE -t.amount END) AS balance
FROM registry.savings_transactions t JOIN registry.cooperatives c ON c.id = t.cooperative_id
GROUP BY c.code ORDER BY balance DESC;

-- Women and men who delivered each product
SELECT d.product, m.gender, count(DISTINCT d.member_id) AS members, sum(d.kg) AS kg
FROM registry.deliveries d LEFT JOIN registry.members m ON m.id = d.member_id GROUP BY 1, 2 ORDER BY 1, 2;

-- Persons in more than one cooperative
SELECT person_id, primary_full_name, memberships_count
FROM registry.people WHERE memberships_count > 1 ORDER BY memberships_count DESC;
