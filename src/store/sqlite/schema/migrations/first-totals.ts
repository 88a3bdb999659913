/** First schema: what is counted and added up. Triggers keep it, SQL by hand included. */
import { COUNTS } from '../counts.ts';
import { TOTALS, totalsTable } from '../declared-totals.ts';

export const STORED_TOTALS = `
-- By which rules, and in which time zone, the totals are kept; empty: nothing was added up yet, and whoever
-- opens the registry does it (statistics/stored-totals.ts).
CREATE TABLE totals_zone (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  version TEXT NOT NULL,
  offset_seconds INTEGER NOT NULL
) STRICT;
INSERT INTO totals_zone (id, version, offset_seconds) VALUES (1, '', 0);
${[...COUNTS, ...TOTALS].map(totalsTable).join('')}`;
