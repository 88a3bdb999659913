/** SELECT of the actors whose changes were reversed, and of who reversed them: neither counts any more. */
export const REVERSED_ACTORS = `SELECT 'import:' || id FROM main.imports WHERE undone_at IS NOT NULL
  UNION ALL SELECT 'correction:' || id FROM main.imports WHERE undone_at IS NOT NULL
  UNION ALL SELECT 'undo:' || id FROM main.imports WHERE undone_at IS NOT NULL`;
