// The fixed day that every date in the seed files leads up to.

/** The last day of a year, so that the year's crop seasons are within the 365 days before it. */
export const SEED_ANCHOR_DATE = '2025-12-31';
