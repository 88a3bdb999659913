/**
 * Reads the access ledger by its description (docs/decisions/0030-access-ledger.md), not with its code: which
 * receipts it has, and where it does not hold together.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const HEADER =
  /^(\{"first":(\d+),"count":(\d+),"bytes":(\d+)(?:,"dropped":\d+)?),"hash":"([0-9a-f]{64})"\}\n/;
const HEADER_BYTES = 256;
const SEGMENT = /(?:^|\/)(\d+)\/\d+\.ndjson$/;

export interface LedgerContent {
  readonly receipts: Set<string>;
  /** A line each. */
  readonly faults: string[];
}

/** @param files of the ledger's folder, by path */
export function readLedger(files: Iterable<readonly [string, Buffer | null]>): LedgerContent {
  const content: LedgerContent = { receipts: new Set(), faults: [] };
  const chains = new Map<string, { next: number; hash: string }>();
  for (const [path, bytes] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const chain = SEGMENT.exec(path)?.[1];
    if (chain === undefined || bytes === null) continue;
    const before = chains.get(chain) ?? { next: 1, hash: '0'.repeat(64) };
    chains.set(chain, readSegment(path, bytes, before, content));
  }
  return content;
}

function readSegment(
  path: string,
  bytes: Buffer,
  before: { next: number; hash: string },
  content: LedgerContent,
) {
  let { next, hash: previous } = before;
  for (let offset = 0; ; ) {
    const head = bytes.toString('latin1', offset, offset + HEADER_BYTES);
    const [line = '', hashed = '', first, count, length, hash = ''] = HEADER.exec(head) ?? [];
    const start = offset + line.length;
    const end = start + Number(length);
    const lines = bytes.subarray(start, end);
    const expected = createHash('sha256').update(`${previous}\n${hashed}\n`).update(lines).digest('hex');
    // What a power cut has torn was never acknowledged, and ends the segment.
    if (line === '' || hash !== expected) return { next, hash: previous };
    if (Number(first) !== next) content.faults.push(`${path}: sequence ${first} follows ${next - 1}.`);
    for (let i = 0; i < Number(count); i++) content.receipts.add(`${Number(first) + i}-${hash.slice(0, 32)}`);
    next = Number(first) + Number(count);
    previous = hash;
    offset = end;
  }
}

/** The files of the ledger beside a database. */
export function* ledgerFiles(db: string): Generator<readonly [string, Buffer]> {
  const folder = db.replace(/\.db$/, '.ledger');
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    if (statSync(path).isFile() && name.endsWith('.ndjson')) yield [path, readFileSync(path)];
  }
}

/** @returns what is wrong, a line each. @param receipts that clients have got */
export function findLedgerFaults(
  files: Iterable<readonly [string, Buffer | null]>,
  receipts: ReadonlySet<string>,
): string[] {
  const content = readLedger(files);
  const missing = [...receipts].filter((receipt) => !content.receipts.has(receipt));
  if (missing.length > 0) content.faults.push(`${missing.length} receipts are not in the ledger.`);
  return content.faults;
}
