/** Loans and payments are listed by when they were changed. */
export const UPDATED_LENDING = `
CREATE INDEX loans_updated ON loans (cooperative_id, updated_at);
CREATE INDEX payments_updated ON payments (cooperative_id, updated_at);
`;
