/** Which of two backups is the newer one must not be asked of a clock. */
export const GENERATIONS = `
-- How often the registry was restored: of two copies of it with different epochs, the higher one is newer.
ALTER TABLE feed ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
`;
