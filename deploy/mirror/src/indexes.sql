-- For what analysts ask: by cooperative, district, month, product, member. Made after the first load.
CREATE INDEX IF NOT EXISTS cooperatives_district ON registry.cooperatives (district);
CREATE INDEX IF NOT EXISTS members_cooperative ON registry.members (cooperative_id, status);
CREATE INDEX IF NOT EXISTS members_registration ON registry.members (registration_date);
CREATE INDEX IF NOT EXISTS national_ids_identity_card ON registry_private.national_ids (identity_card);
CREATE INDEX IF NOT EXISTS loans_member ON registry.loans (member_id);
CREATE INDEX IF NOT EXISTS loans_cooperative ON registry.loans (cooperative_id, status);
CREATE INDEX IF NOT EXISTS loans_end ON registry.loans (loan_end_date)
  WHERE status IN ('approved', 'defaulted');
CREATE INDEX IF NOT EXISTS payments_loan ON registry.payments (loan_id);
CREATE INDEX IF NOT EXISTS payments_cooperative ON registry.payments (cooperative_id, paid_at);
CREATE INDEX IF NOT EXISTS deliveries_member ON registry.deliveries (member_id, delivered_at);
CREATE INDEX IF NOT EXISTS deliveries_cooperative ON registry.deliveries (cooperative_id, delivered_at);
CREATE INDEX IF NOT EXISTS deliveries_product ON registry.deliveries (product, delivered_at);
CREATE INDEX IF NOT EXISTS savings_transactions_member ON registry.savings_transactions (member_id);
CREATE INDEX IF NOT EXISTS savings_transactions_cooperative
  ON registry.savings_transactions (cooperative_id, transacted_at);
