/** Applies events: what they ask to be read again, and the position, change in one transaction. */
import { setTimeout as sleep } from 'node:timers/promises';
import { countAccounts, storeEmptyAccounts } from './accounts.ts';
import type { Database, State } from './database.ts';
import { incomingOf, KIND_NAMES, type KindName, lineOf, TABLES } from './kinds.ts';
import { copy, fetchExports, type Load } from './load.ts';
import { inParallel } from './parallel.ts';
import { type Found, isEntryKind, readEntries, readRows, type Work, workOf } from './read-again.ts';
import type { EventPage, RegistryClient, Row } from './registry.ts';
import { completeTables, exchange, SHAPE, shapeTables } from './tables.ts';

export interface Mirror {
  readonly database: Database;
  readonly registry: RegistryClient;
  readonly reloadRows: number;
  readonly log: (line: string) => void;
}

const PAGE = 10_000;
/** More events than that are not looked at together. */
const MOST_EVENTS = 500_000;
/** Of a kind, as those that were read one by one are in memory until they are stored. */
const MOST_ROWS = 100_000;
/** From one batch to the next, at least: many small ones take more of every processor. */
const BATCH_MS = 200;

/** Stores what was read: part of the transaction under way. @returns whether a person was erased */
async function store(database: Database, found: Found): Promise<boolean> {
  const { kind, owners } = found;
  await copy(
    database,
    kind,
    [...found.rows.values()].map((row) => lineOf(kind, row)),
  );
  const ids = [...found.rows.keys(), ...found.gone];
  const isGone = isEntryKind(kind)
    ? await exchange(
        database,
        kind,
        (key) => `old.${key} = ANY ($1::bigint[]) OR old.member_id = ANY ($2::bigint[])`,
        [ids, owners],
      )
    : await exchange(database, kind, (key) => `old.${key} = ANY ($1::bigint[])`, [ids]);
  if (kind === 'savings_transactions') await storeEmptyAccounts(database, owners, found.emptyAccounts);
  return found.hasErased && isGone;
}

/** Kinds of which so much has changed that an export is faster than its rows one by one. */
async function kindsToReload({ database, reloadRows }: Mirror, { rows, all }: Work): Promise<Set<KindName>> {
  const { rows: sizes } = await database.query(
    `SELECT relname, reltuples FROM pg_class WHERE relnamespace = 'registry'::regnamespace`,
  );
  const most = (kind: KindName): number =>
    Math.max(
      reloadRows,
      Math.min(MOST_ROWS, (sizes.find(({ relname }) => relname === kind)?.reltuples ?? 0) / 50),
    );
  return new Set(KIND_NAMES.filter((kind) => all.has(kind) || rows[kind].size >= most(kind)));
}

const offsetOf = (timestamp: string | undefined): string | undefined =>
  /(?:Z|[+-][0-9]{2}:[0-9]{2})$/.exec(timestamp ?? '')?.[0];

/** Reads again, row by row, what has changed of a kind. @returns undefined for too many rows */
async function readKind({ database, registry }: Mirror, kind: KindName, work: Work) {
  const numbers = work.rows[kind];
  if (!isEntryKind(kind)) return readRows(registry, kind, numbers.keys());
  const { rows } = await database.query('SELECT member_id FROM registry.empty_savings_accounts');
  const recounted = new Set([...work.recounted, ...rows.map(({ member_id }) => String(member_id))]);
  return readEntries(registry, kind, numbers, recounted, MOST_ROWS);
}

/** Reads again what the events of a page have changed, and stores it with the position after them. */
async function apply(mirror: Mirror, state: State, { epoch, results, last_sequence }: EventPage) {
  const { database, registry, log } = mirror;
  const work = workOf(results, state.loaded);
  const reloaded = await kindsToReload(mirror, work);
  const changed = KIND_NAMES.filter((kind) => !reloaded.has(kind) && work.rows[kind].size > 0);
  const found: Found[] = [];
  await inParallel(changed, changed.length, async (kind) => {
    const read = await readKind(mirror, kind, work);
    if (read === undefined) reloaded.add(kind);
    else found.push(read);
  });
  const parts = found
    .filter(({ cooperatives }) => cooperatives.size > 0)
    .map(({ kind, cooperatives }) => ({ kind, cooperativeIds: [...cooperatives] }));
  const loads: Load[] = [...[...reloaded].map((kind) => ({ kind })), ...parts];
  const { sequences } = await fetchExports(database, registry, loads, epoch);
  let mustVacuum = state.must_vacuum;
  const oldest = results[0]?.timestamp ?? '';
  const lagSeconds = () => Math.max(0, (Date.now() - Date.parse(oldest)) / 1000);
  await database.transaction(async () => {
    for (const kind of reloaded)
      if ((await exchange(database, kind)) && kind === 'members') mustVacuum = true;
    // What was read row by row is added where these rows waited.
    for (const { kind, cooperativeIds } of parts)
      await exchange(
        database,
        kind,
        (key) => `old.cooperative_id = ANY ($1::bigint[])
          OR old.${key} IN (SELECT ${key} FROM ${incomingOf(kind)})`,
        [cooperativeIds],
      );
    for (const each of found) if (await store(database, each)) mustVacuum = true;
    await database.setState({
      sequence: last_sequence,
      loaded: { ...state.loaded, ...sequences },
      must_vacuum: mustVacuum,
      must_count_accounts:
        state.must_count_accounts || [...reloaded].some((kind) => kind === 'members' || isEntryKind(kind)),
      utc_offset: offsetOf(results.at(-1)?.timestamp),
      last_event_at: results.at(-1)?.timestamp,
      lag_seconds: lagSeconds(),
      ...(results.length < PAGE ? { current_at: new Date() } : {}),
    });
  });
  const rows = found.reduce((sum, each) => sum + each.rows.size, 0);
  const again = reloaded.size === 0 ? '' : `, ${[...reloaded].join(' and ')} loaded again`;
  const lag = lagSeconds().toFixed(1);
  log(`events ${state.sequence + 1} to ${last_sequence}: ${rows} rows read${again}, lag ${lag} s`);
}

/** Loads everything again, and exchanges the rows, and tables of another release, with the new position. */
export async function rebuild({ database, registry, log }: Mirror): Promise<void> {
  const started = Date.now();
  const loads = KIND_NAMES.map((kind) => ({ kind }));
  const { epoch, sequences } = await fetchExports(database, registry, loads);
  const sequence = Math.min(...Object.values(sequences));
  const { shape } = await database.state();
  const first = await registry.read('/cooperatives?page_size=1', 'cooperatives');
  const [cooperative] = 'row' in first ? (first.row.results as Row[]) : [];
  await database.transaction(async () => {
    const created = shape === SHAPE ? [] : await shapeTables(database);
    let mustVacuum = false;
    for (const kind of KIND_NAMES)
      if ((await exchange(database, kind)) && kind === 'members') mustVacuum = true;
    if (shape !== SHAPE) await completeTables(database, created);
    await database.setState({
      ...{ epoch, sequence, loaded: sequences, shape: SHAPE, must_count_accounts: true, current_at: null },
      ...(mustVacuum ? { must_vacuum: true } : {}),
      utc_offset: offsetOf(cooperative?.created_at as string | undefined),
    });
  });
  for (const { name } of TABLES) await database.query(`ANALYZE ${name}`);
  log(`everything loaded in ${((Date.now() - started) / 1000).toFixed(1)} s: after event ${sequence}`);
}

/** Rewrites the tables that named erased persons: a plain VACUUM leaves their bytes in free space. */
async function vacuum({ database, log }: Mirror): Promise<void> {
  // A query that reads for longer keeps the rows: the next batch tries again.
  await database.query(`SET lock_timeout = '5s'`);
  try {
    for (const table of ['registry.members', 'registry_private.national_ids'])
      await database.query(`VACUUM (FULL, ANALYZE) ${table}`);
    await database.setState({ must_vacuum: false });
    log('rows of erased persons vacuumed');
  } catch (error) {
    if ((error as { code?: string }).code !== '55P03') throw error;
    log('rows of erased persons are not vacuumed yet: others read the tables');
  } finally {
    await database.query('SET lock_timeout = 0');
  }
}

/** The next events, all of an import that is longer than a page. */
async function nextEvents(
  registry: RegistryClient,
  epoch: string,
  { sequence, current_at }: State,
): Promise<EventPage> {
  // After a load, what it says of itself does not wait for an event.
  const page = await registry.events(sequence, epoch, PAGE, current_at === null ? 0 : undefined);
  const results = [...page.results];
  let last = page;
  while (last.results.length === PAGE && results.length < MOST_EVENTS) {
    last = await registry.events(last.last_sequence, epoch, PAGE, 0);
    results.push(...last.results);
  }
  return { ...last, results };
}

/** One step: what is left to do, or the next events. @throws SequenceEnded when all must be loaded again */
export async function step(mirror: Mirror): Promise<void> {
  const { database, registry } = mirror;
  const state = await database.state();
  if (state.epoch === null || state.shape !== SHAPE) return rebuild(mirror);
  if (state.must_vacuum) await vacuum(mirror);
  if (state.must_count_accounts) await countAccounts(database, registry);
  const page = await nextEvents(registry, state.epoch, state);
  if (page.results.length === 0) return database.setState({ current_at: new Date() });
  // A clock that is set back would make the pause as much longer.
  const started = performance.now();
  await apply(mirror, await database.state(), page);
  await sleep(Math.max(0, started + BATCH_MS - performance.now()));
}
