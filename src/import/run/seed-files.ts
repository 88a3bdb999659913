/** The demo files, with their dates moved so that they end today. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createCsvRows } from '../formats/csv/csv-rows.ts';
import { formatCsvRow } from '../formats/csv/write-csv.ts';

/** The same place from `src/` and from `dist/`. */
const SEED_FOLDER = fileURLToPath(new URL('../../../data/seed/', import.meta.url));

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
 * Writes the demo files into a folder, unless it has a file of the same name with other content.
 * @param today `YYYY-MM-DD`, the day that the files' last day becomes
 * @returns the name of the first such file; nothing was written then
 * @throws the system's error
 */
export function writeSeedFiles(folder: string, today: string): string | undefined {
  mkdirSync(folder, { recursive: true });
  const files = composeSeedFiles(today);
  const missing = files.filter(({ name }) => !existsSync(join(folder, name)));
  const different = files
    .filter((file) => !missing.includes(file))
    .find(({ name, content }) => readFileSync(join(folder, name), 'utf8') !== content);
  if (different !== undefined) return different.name;
  for (const { name, content } of missing) writeFileSync(join(folder, name), content, { flag: 'wx' });
  return undefined;
}

function composeSeedFiles(today: string): { readonly name: string; readonly content: string }[] {
  const anchor = readFileSync(join(SEED_FOLDER, 'anchor.txt'), 'utf8').trim();
  const days = dayNumber(today) - dayNumber(anchor);
  const names = readdirSync(SEED_FOLDER).filter((file) => file.endsWith('.csv'));
  return names.sort().map((name) => {
    const [header = [], ...rows] = readSeedFile(name);
    const isMoved = header.map((column) => MOVED.includes(column));
    const moved = rows.map((row) => row.map((cell, i) => (isMoved[i] === true ? move(cell, days) : cell)));
    return { name, content: [header, ...moved].map(formatCsvRow).join('') };
  });
}

/** A person of the demo data who belongs to several cooperatives: the first row of the members. */
export function showcaseIdentityCard(): string {
  const [header = [], first = []] = readSeedFile('members.csv');
  return first[header.indexOf('identity_card')] ?? '';
}

const readSeedFile = (name: string): (readonly string[])[] =>
  createCsvRows(',', 0)
    .read(readFileSync(join(SEED_FOLDER, name), 'utf8'))
    .records.map(({ cells }) => cells);
