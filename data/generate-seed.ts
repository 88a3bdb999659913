// Writes the invented seed files: the same text on every machine and in every run.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SEED_ANCHOR_DATE } from './seed-anchor.ts';
import { composeCooperatives, cooperativesCsv } from './seed-cooperatives.ts';
import { loansCsv } from './seed-loans.ts';
import { drawMembers, membersCsv } from './seed-members.ts';
import { drawPeople } from './seed-people.ts';
import { productionCsv } from './seed-production.ts';
import { savingsCsv } from './seed-savings.ts';

/** @returns the text of each file by its name, in the order in which the files have to be read */
export function generateSeed(): Map<string, string> {
  const cooperatives = composeCooperatives();
  const members = drawMembers(cooperatives, drawPeople(cooperatives));
  const groups = cooperatives.map((one) => members.filter((member) => member.cooperative === one));
  return new Map([
    ['anchor.txt', `${SEED_ANCHOR_DATE}\n`],
    ['cooperatives.csv', cooperativesCsv(cooperatives)],
    ['members.csv', membersCsv(cooperatives, members)],
    ['production.csv', productionCsv(groups)],
    ['loans.csv', loansCsv(groups)],
    ['savings.csv', savingsCsv(groups)],
  ]);
}

function writeSeed(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of generateSeed()) {
    writeFileSync(join(folder, name), text);
    if (name.endsWith('.csv')) console.log(`${name}: ${text.split('\n').length - 2} rows`);
  }
}

const thisFile = fileURLToPath(import.meta.url);
if (process.argv[1] !== undefined && resolve(process.argv[1]) === thisFile) {
  writeSeed(process.argv[2] ?? join(thisFile, '..', 'seed'));
}
