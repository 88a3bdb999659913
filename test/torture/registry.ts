/** The registry that is tortured: one cooperative, and each of its persons registered twice. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { command } from '../support/command.ts';

export const MEMBERS = 200;
const DELIVERIES = 20;
const SCOPES = 'payments:write,members:write,members:read,members:financials,cooperatives:write';

export interface KillsRegistry {
  /** An API key that may write payments and members, and look people up. */
  readonly key: string;
  /** How many loans there are: their ids are 1 to this number, and each takes payments. */
  readonly loans: number;
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

const FILES: { readonly [name: string]: readonly string[] } = {
  'cooperatives.csv': ['code,name', 'KILLS,Kills'],
  'members.csv': [
    'cooperative_code,identity_card,member_code,full_name',
    ...numbers(MEMBERS).map(
      (n) => `KILLS,11985${String(n).padStart(11, '0')},M-${n},Uwase ${Math.ceil(n / 2)}`,
    ),
  ],
  'production.csv': [
    'cooperative_code,member_code,reference,delivered_at,kg',
    ...numbers(MEMBERS * DELIVERIES).map(
      (n) => `KILLS,M-${1 + (n % MEMBERS)},D-${n},2026-01-${String(1 + (n % 28)).padStart(2, '0')},${n}.5`,
    ),
  ],
  'loans.csv': [
    'cooperative_code,member_code,reference,amount,interest_rate,status,approved_at',
    ...numbers(MEMBERS).map((n) => `KILLS,M-${n},L-${n},1000000,18,approved,2026-01-01`),
  ],
  'savings.csv': [
    'cooperative_code,member_code,account_number,reference,kind,amount,transacted_at',
    ...numbers(MEMBERS).map((n) => `KILLS,M-${n},A-${n},S-${n},contribution,${n},2026-01-01`),
  ],
};

/** Creates it with the import command. @param db path of the database */
export async function createRegistry(db: string): Promise<KillsRegistry> {
  const folder = dirname(db);
  mkdirSync(folder, { recursive: true });
  for (const [name, lines] of Object.entries(FILES)) {
    const file = join(folder, name);
    writeFileSync(file, `${lines.join('\n')}\n`);
    await succeed(['import', name.replace('.csv', ''), file, '--db', db, '--create']);
  }
  const limits = ['--per-hour', '10000000', '--per-day', '10000000'];
  const scopes = ['--scope', SCOPES];
  const { out } = await succeed([
    'keys',
    'create',
    '--name',
    'kills',
    ...scopes,
    ...limits,
    '--json',
    '--db',
    db,
  ]);
  return { key: (JSON.parse(out) as { key: string }).key, loans: MEMBERS };
}

async function succeed(args: readonly string[]) {
  const outcome = await command(args, {});
  if (outcome.status !== 0) throw new Error(`${args.join(' ')}: ${outcome.out}${outcome.err}`);
  return outcome;
}
