/** What the traced processes have acknowledged, and whether a registry has it. */
import type { Connection } from '../../support/sqlite.ts';
import type { TraceEvent } from './trace.ts';

/** Rows of the files that are imported. */
export const IMPORTED = 600;
export const UNDONE = 200;

const SERIES = { M: 1, I: 2, U: 3 } as const;
/** A number that nobody holds. */
export const nidOf = (series: keyof typeof SERIES, number: number): string =>
  `119858${String(9_000_000 + SERIES[series] * 100_000 + number)}042`;

export interface Marks {
  /** Id of each payment and member that was acknowledged, by its reference or code. */
  readonly rows: Map<string, string>;
  /** What commands have ended with success. */
  readonly words: Set<string>;
  /** Receipts of the access ledger. */
  readonly receipts: Set<string>;
  /** What is wrong with responses that had none, a line each. */
  readonly unrecorded: string[];
}

export const noMarks = (): Marks => ({
  rows: new Map(),
  words: new Set(),
  receipts: new Set(),
  unrecorded: [],
});

/** Takes what a call sends: it counts as received when the call begins. */
export function mark(marks: Marks, { call, phase }: TraceEvent): void {
  if (phase === 'ends' || !/^writev?$/.test(call.name) || call.paths[0] !== undefined) return;
  const text = call.data.toString('latin1');
  const word = /^ACK (\S+)\n$/.exec(text)?.[1];
  if (word !== undefined) marks.words.add(word);
  if (!text.startsWith('HTTP/1.1 ')) return;
  for (const response of text.split(/(?=HTTP\/1\.1 )/)) {
    const receipt = /^X-Access-Receipt: (\S+)\r$/im.exec(response)?.[1];
    // It shows nothing but what its request contained (docs/ledger.md#recorded-data).
    const isNewMember =
      /^HTTP\/1\.1 201/.test(response) && /^Location: \S*\/members\/\d+\r$/im.test(response);
    if (receipt !== undefined) marks.receipts.add(receipt);
    else if (/^HTTP\/1\.1 20[01]/.test(response) && response.includes('"identity_card":') && !isNewMember)
      marks.unrecorded.push('A response with personal data had no receipt.');
    if (!response.startsWith('HTTP/1.1 201')) continue;
    const id = /"id":"(\d+)"/.exec(response)?.[1];
    const name = /"(?:reference|member_code)":"((?:P|M2)-\d+)"/.exec(response)?.[1];
    if (id === undefined || name === undefined) throw new Error(`An unknown response: ${response}`);
    marks.rows.set(name, id);
  }
}

const FACTS = `SELECT (SELECT count(*) FROM payments) AS payments,
  (SELECT count(*) FROM events WHERE type = 9) AS announced,
  (SELECT count(*) FROM members WHERE member_code LIKE 'I-%') AS imported,
  (SELECT count(*) FROM members WHERE member_code LIKE 'U-%') AS undone`;

export interface Losses {
  /** Rows that were acknowledged and are not there, or under another id. */
  lost: number;
  /** What is there by half, or damaged, in a sentence each. */
  readonly unsound: string[];
}

/** @param db the registry after a power cut */
export function findLosses(db: Connection, { rows, words }: Marks): Losses {
  const unsound: string[] = [];
  const damage = db.value<string>('PRAGMA quick_check(1)');
  if (damage !== 'ok') unsound.push(damage);
  const stored = new Map<string, number>();
  for (const sql of [
    'SELECT reference AS name, id FROM payments',
    'SELECT member_code AS name, id FROM members',
  ])
    for (const { name, id } of db.rows<{ name: string; id: number }>(sql)) stored.set(name, id);
  let lost = 0;
  for (const [name, id] of rows) if (String(stored.get(name)) !== id) lost++;
  const facts = db.row<{ payments: number; announced: number; imported: number; undone: number }>(FACTS);
  if (facts === undefined) throw new Error('No facts.');
  const { payments, announced, imported, undone } = facts;
  if (payments !== announced) unsound.push(`${payments} payments, ${announced} events of them`);
  if (imported !== 0 && imported !== IMPORTED) unsound.push(`${imported} of ${IMPORTED} imported rows`);
  if (undone !== 0 && undone !== UNDONE) unsound.push(`${undone} of ${UNDONE} rows that were undone`);
  if (words.has('imported') && imported === 0) lost++;
  if (words.has('imported-undone') && !words.has('undoing') && undone === 0) lost++;
  if (words.has('undone') && undone > 0) lost++;
  return { lost, unsound };
}
