/** Loads kinds of rows again from exports, beside the tables, and exchanges the rows in one transaction. */
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import type { Database } from './database.ts';
import { SequenceEnded } from './faults.ts';
import {
  fillStatements,
  incomingOf,
  KINDS,
  type KindName,
  mergeStatements,
  pruneStatements,
} from './kinds.ts';
import type { RegistryClient } from './registry.ts';

export interface Loaded {
  readonly kind: KindName;
  readonly epoch: string;
  readonly sequence: number;
}

const BACKSLASH = 0x5c;

/** JSON lines as COPY takes texts: with each backslash doubled. No byte of another character is one. */
const escaped = (): Transform =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const isPlain = !chunk.includes(BACKSLASH);
      done(null, isPlain ? chunk : Buffer.from(chunk.toString('latin1').replaceAll('\\', '\\\\'), 'latin1'));
    },
  });

/** What a mirror that was killed has left, with the national IDs of who may have been erased since. */
export async function dropIncoming(database: Database): Promise<void> {
  for (const kind of Object.keys(KINDS) as KindName[])
    await database.query(`DROP TABLE IF EXISTS ${incomingOf(kind)}`);
}

/**
 * Copies an export into a table of its own.
 * @param cooperativeIds of which alone, one export each, if they are given
 */
export async function fetchExport(
  { client, query }: Database,
  registry: RegistryClient,
  kind: KindName,
  cooperativeIds?: readonly string[],
): Promise<Loaded[]> {
  const table = incomingOf(kind);
  await query(`DROP TABLE IF EXISTS ${table}`);
  await query(`CREATE UNLOGGED TABLE ${table} (row jsonb)`);
  const loaded: Loaded[] = [];
  for (const filter of cooperativeIds?.map((id) => `?cooperative=${id}`) ?? [''])
    loaded.push({
      kind,
      // A COPY that breaks off leaves nothing behind.
      ...(await registry.export(KINDS[kind].path + filter, async (lines) => {
        const target = client.query(copyFrom(`COPY ${table} FROM STDIN`));
        await pipeline(Readable.fromWeb(lines as never), escaped(), target);
      })),
    });
  await query(`ANALYZE ${table}`);
  return loaded;
}

/**
 * Gives the tables the rows that were fetched: part of the transaction under way. Rows that are equal stay as
 * they are, so readers wait for nothing, and views and rights that others have added stay too.
 * @returns how many members were deleted
 */
export async function exchange(
  { query }: Database,
  kind: KindName,
  cooperativeIds?: readonly string[],
): Promise<number> {
  const table = incomingOf(kind);
  let deleted = 0;
  for (const statement of pruneStatements(kind, cooperativeIds !== undefined)) {
    const values = cooperativeIds === undefined ? [] : [cooperativeIds];
    const { rowCount } = await query(statement, values);
    if (kind === 'members') deleted += rowCount ?? 0;
  }
  for (const statement of mergeStatements(kind)) await query(statement);
  await query(`DROP TABLE ${table}`);
  return deleted;
}

/** The same for tables that are still empty. */
export async function fill({ query }: Database, kind: KindName): Promise<void> {
  for (const statement of fillStatements(kind)) await query(statement);
  await query(`DROP TABLE ${incomingOf(kind)}`);
}

/** @throws SequenceEnded for exports of two sequences: a backup was restored between them */
export function seeOneEpoch(loaded: readonly Loaded[], epoch: string | undefined): string {
  const epochs = new Set(loaded.map((each) => each.epoch));
  if (epoch !== undefined) epochs.add(epoch);
  if (epochs.size !== 1) throw new SequenceEnded('The exports are of two sequences.');
  return [...epochs][0] as string;
}
