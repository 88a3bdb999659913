/** Fetches exports into the tables where rows wait to be exchanged. */

import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { from as copyFrom } from 'pg-copy-streams';
import type { Database } from './database.ts';
import { SequenceEnded } from './faults.ts';
import { incomingOf, type KindName, lineOf, pathOf } from './kinds.ts';
import { inParallel } from './parallel.ts';
import type { RegistryClient } from './registry.ts';

/** What is to be fetched: a kind, or the rows of some cooperatives alone. */
export interface Load {
  readonly kind: KindName;
  readonly cooperativeIds?: readonly string[];
}

export interface Loaded {
  readonly epoch: string;
  /** By kind, the last event that is in its export, of those that are complete. */
  readonly sequences: { readonly [kind: string]: number };
}

/** As many as the registry allows: it writes one while another is sent and stored. */
const EXPORTS_AT_ONCE = 2;
/** It has a place for the next one a moment after the last byte of one before. */
const PLACE_MS = 250;

/** Adds lines to the rows that wait. Of what breaks off, nothing is added. */
export const copy = (
  { client }: Database,
  kind: KindName,
  lines: Iterable<string> | AsyncIterable<string>,
): Promise<void> => pipeline(lines, client.query(copyFrom(`COPY ${incomingOf(kind)} FROM STDIN`)));

async function* linesOf(kind: KindName, texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const text of texts) {
    const objects = (rest + text).split('\n');
    rest = objects.pop() as string;
    // What COPY wants escaped is so in JSON, too: millions of rows are not searched for it.
    yield objects.map((json) => lineOf(kind, JSON.parse(json), !json.includes('\\'))).join('');
  }
}

/**
 * Fetches exports, where they wait to be exchanged.
 * @param epoch that is expected
 * @throws SequenceEnded for exports of two sequences: a backup was restored between them
 */
export async function fetchExports(
  database: Database,
  registry: RegistryClient,
  loads: readonly Load[],
  epoch?: string,
): Promise<Loaded> {
  const epochs = new Set(epoch === undefined ? [] : [epoch]);
  const sequences: { [kind: string]: number } = {};
  for (const { kind } of loads) await database.query(`TRUNCATE ${incomingOf(kind)}`);
  await inParallel(loads, EXPORTS_AT_ONCE, async ({ kind, cooperativeIds }) => {
    for (const filter of cooperativeIds?.map((id) => `?cooperative=${id}`) ?? ['']) {
      const found = await registry.export(`/${pathOf(kind)}/export${filter}`, (texts) =>
        // It waits while another export is copied.
        copy(database, kind, linesOf(kind, texts)),
      );
      await sleep(PLACE_MS);
      epochs.add(found.epoch);
      if (cooperativeIds === undefined) sequences[kind] = found.sequence;
    }
  });
  for (const { kind, cooperativeIds } of loads) {
    const table = incomingOf(kind);
    // A row that moves from one cooperative to another may be in the exports of both.
    if (cooperativeIds !== undefined)
      await database.query(`DELETE FROM ${table} AS first USING ${table} AS last
        WHERE first.id = last.id AND first.ctid < last.ctid`);
    await database.query(`ANALYZE ${table}`);
  }
  if (epochs.size > 1) throw new SequenceEnded('The exports are of two sequences.');
  return { epoch: [...epochs][0] ?? '', sequences };
}
