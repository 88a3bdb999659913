/** The demo files, with their dates moved so that they end today. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { formatCsvRow } from './csv/write-csv.ts';

/** The same place from `src/` and from `dist/`. */
const SEED_FOLDER = fileURLToPath(new URL('../../data/seed/', import.meta.url));

/** Columns whose dates move. A date of birth stays: its person does not age with the demo. */
const MOVED = [
  'registration_date',
  'delivered_at',
  'loan_start_date',
  'loan_end_date',
  'approved_at',
  'transacted_at',
];
const DAY_MS = 86_400_000;
const dayNumber = (date: string): number => Date.parse(`${date.slice(0, 10)}T00:00:00Z`) / DAY_MS;

/** The date, or date-time, moved by a number of days. */
function move(text: string, days: number): string {
  if (text === '') return '';
  return new Date((dayNumber(text) + days) * DAY_MS).toISOString().slice(0, 10) + text.slice(10);
}

/**
 * Writes the demo files into a folder.
 * @param today `YYYY-MM-DD`, the day that the files' last day becomes
 */
export function writeSeedFiles(folder: string, today: string): void {
  const anchor = readFileSync(join(SEED_FOLDER, 'anchor.txt'), 'utf8').trim();
  const days = dayNumber(today) - dayNumber(anchor);
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(SEED_FOLDER).filter((file) => file.endsWith('.csv'))) {
    const [header = [], ...rows] = parse(readFileSync(join(SEED_FOLDER, name))) as string[][];
    const isMoved = header.map((column) => MOVED.includes(column));
    const moved = rows.map((row) => row.map((cell, i) => (isMoved[i] === true ? move(cell, days) : cell)));
    writeFileSync(join(folder, name), [header, ...moved].map(formatCsvRow).join(''));
  }
}

/** A person of the demo data who belongs to several cooperatives: the first row of the members. */
export function showcaseIdentityCard(): string {
  const [header = [], first = []] = parse(readFileSync(join(SEED_FOLDER, 'members.csv')), {
    to: 2,
  }) as string[][];
  return first[header.indexOf('identity_card')] ?? '';
}
