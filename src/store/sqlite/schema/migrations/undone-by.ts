/** An undo is often made by somebody else than what it undoes. */
export const UNDONE_BY = `
-- Who has undone the operation; null while it was not, and where an earlier version of this program did.
ALTER TABLE operations ADD COLUMN undone_by TEXT;
`;
