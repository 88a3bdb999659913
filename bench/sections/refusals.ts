/**
 * Refusals beside a bare server that sends the same: a flood of bad keys must not cost more than good ones.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Dataset } from '../dataset.ts';
import {
  type Figures,
  inTurn,
  measure,
  type Options,
  requestScript,
  type Subject,
  startPeer,
  startRegistry,
} from '../load.ts';
import { identityCard } from '../population.ts';
import { copyResponse } from './lookups.ts';

const CONNECTIONS = 32;

export async function refusals({ databaseFile, keys }: Dataset, options: Options): Promise<Figures> {
  const { folder, rounds, seconds } = options;
  const registry = await startRegistry(databaseFile, folder);
  const path = `/api/v1/members/${identityCard(0)}/`;
  const load = { seconds, connections: CONNECTIONS, refused: true };
  // The throttled key has one request.
  await copyResponse(registry, path, keys.throttled);
  const subjects: Subject[] = [];
  for (const [status, key] of [
    // Of the right form, and nobody's.
    [401, `${keys.full.slice(0, -1)}${keys.full.endsWith('0') ? '1' : '0'}`],
    [403, keys.withoutScope],
    [429, keys.throttled],
  ] as const) {
    const answer = await copyResponse(registry, path, key);
    if (answer.status !== status) throw new Error(`Expected ${status}, not ${answer.status}.`);
    const answers = join(folder, `${status}.json`);
    writeFileSync(answers, JSON.stringify([answer]));
    const bare = await startPeer('bare', [answers], {}, folder);
    const script = requestScript(folder, String(status), key, '', `  return wrk.format("GET", "${path}")`);
    subjects.push(
      { name: `${status}, registry`, measure: () => measure(registry.port, script, load) },
      { name: `${status}, bare node:http`, measure: () => measure(bare.port, script, load) },
    );
  }
  return inTurn(rounds, subjects);
}
