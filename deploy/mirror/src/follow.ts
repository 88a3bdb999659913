/** Applies events: what they ask to be read again, and the position, change in one transaction. */
import { countAccounts, storeEmptyAccounts } from './accounts.ts';
import { type Database, INDEXES, type State } from './database.ts';
import { deleteStatements, KIND_NAMES, type KindName, upsertStatements } from './kinds.ts';
import { exchange, fetchExport, fill, type Loaded, seeOneEpoch } from './load.ts';
import { type Found, isEntryKind, readEntries, readRows, type Work, workOf } from './read-again.ts';
import type { EventPage, RegistryClient } from './registry.ts';

export interface Mirror {
  readonly database: Database;
  readonly registry: RegistryClient;
  readonly reloadRows: number;
  readonly log: (line: string) => void;
}

const PAGE = 10_000;
/** More events than that are not looked at together. */
const MOST_EVENTS = 500_000;
/** Stores what was read: part of the transaction under way. @returns whether a person was erased */
async function store(database: Database, found: Found): Promise<boolean> {
  const { kind, gone, owners, hasErased } = found;
  const rows = [...found.rows.values()];
  let deleted = 0;
  for (const statement of gone.length === 0 ? [] : deleteStatements(kind))
    deleted += (await database.query(statement, [gone])).rowCount ?? 0;
  if (owners.length > 0)
    await database.query(
      `DELETE FROM registry.${kind} WHERE member_id = ANY ($1::bigint[]) AND NOT (id = ANY ($2::bigint[]))`,
      [owners, [...found.rows.keys()]],
    );
  for (const statement of rows.length === 0 ? [] : upsertStatements(kind))
    await database.query(statement, [JSON.stringify(rows)]);
  if (kind === 'savings_transactions') await storeEmptyAccounts(database, owners, found.emptyAccounts);
  return hasErased && deleted > 0;
}

/** Kinds of which so much has changed that an export is faster than its rows one by one. */
async function kindsToReload({ database, reloadRows }: Mirror, { rows, all }: Work): Promise<KindName[]> {
  const { rows: sizes } = await database.query(
    `SELECT relname, reltuples FROM pg_class WHERE relnamespace = 'registry'::regnamespace`,
  );
  const most = (kind: KindName): number =>
    Math.max(reloadRows, (sizes.find(({ relname }) => relname === kind)?.reltuples ?? 0) / 50);
  return KIND_NAMES.filter((kind) => all.has(kind) || rows[kind].size >= most(kind));
}

const offsetOf = (timestamp: string | undefined): string | undefined =>
  /(?:Z|[+-][0-9]{2}:[0-9]{2})$/.exec(timestamp ?? '')?.[0];
const sequencesOf = (loads: readonly Loaded[]) =>
  Object.fromEntries(loads.map(({ kind, sequence }) => [kind, sequence]));

/** Reads again what the events of a page have changed, and stores it with the position after them. */
async function apply(mirror: Mirror, state: State, { epoch, results, last_sequence }: EventPage) {
  const { database, registry, log } = mirror;
  const work = workOf(results, state.loaded);
  const reloaded = await kindsToReload(mirror, work);
  const found: Found[] = [];
  for (const kind of KIND_NAMES.filter((each) => !reloaded.includes(each))) {
    const numbers = work.rows[kind];
    if (numbers.size === 0) continue;
    const read = isEntryKind(kind)
      ? readEntries(registry, kind, numbers)
      : readRows(registry, kind, numbers.keys());
    found.push(await read);
  }
  const partial = found.filter(({ cooperatives }) => cooperatives.size > 0);
  const loads: Loaded[] = [];
  for (const kind of reloaded) loads.push(...(await fetchExport(database, registry, kind)));
  const parts: Loaded[] = [];
  for (const { kind, cooperatives } of partial)
    parts.push(...(await fetchExport(database, registry, kind, [...cooperatives])));
  seeOneEpoch([...loads, ...parts], epoch);
  let mustVacuum = state.must_vacuum;
  const oldest = results[0]?.timestamp ?? '';
  const lagSeconds = () => Math.max(0, (Date.now() - Date.parse(oldest)) / 1000);
  await database.transaction(async () => {
    for (const kind of reloaded) if ((await exchange(database, kind)) > 0) mustVacuum = true;
    for (const each of found) if (await store(database, each)) mustVacuum = true;
    for (const { kind, cooperatives } of partial) await exchange(database, kind, [...cooperatives]);
    await database.setState({
      sequence: last_sequence,
      loaded: { ...state.loaded, ...sequencesOf(loads) },
      must_vacuum: mustVacuum,
      must_count_accounts:
        state.must_count_accounts || reloaded.some((kind) => kind === 'members' || isEntryKind(kind)),
      utc_offset: offsetOf(results.at(-1)?.timestamp),
      last_event_at: results.at(-1)?.timestamp,
      lag_seconds: lagSeconds(),
      ...(results.length < PAGE ? { current_at: new Date() } : {}),
    });
  });
  const rows = found.reduce((sum, each) => sum + each.rows.size, 0);
  const again = reloaded.length === 0 ? '' : `, ${reloaded.join(' and ')} loaded again`;
  const lag = lagSeconds().toFixed(1);
  log(`events ${state.sequence + 1} to ${last_sequence}: ${rows} rows read${again}, lag ${lag} s`);
}

async function isEmpty({ query }: Database, kind: KindName): Promise<boolean> {
  return (await query(`SELECT FROM registry.${kind} LIMIT 1`)).rowCount === 0;
}

/** Loads everything again, beside the tables, and exchanges the rows with the new position. */
export async function rebuild({ database, registry, log }: Mirror): Promise<void> {
  const started = Date.now();
  const loads: Loaded[] = [];
  for (const kind of KIND_NAMES) loads.push(...(await fetchExport(database, registry, kind)));
  const epoch = seeOneEpoch(loads, undefined);
  const newest =
    await database.query(`SELECT row ->> 'created_at' AS at FROM registry_private.incoming_cooperatives
    LIMIT 1`);
  const sequence = Math.min(...loads.map((each) => each.sequence));
  await database.transaction(async () => {
    let deleted = 0;
    for (const kind of KIND_NAMES)
      if (await isEmpty(database, kind)) await fill(database, kind);
      else deleted += await exchange(database, kind);
    await database.query(INDEXES);
    await database.setState({
      ...{ epoch, sequence, loaded: sequencesOf(loads), must_count_accounts: true, current_at: null },
      ...(deleted > 0 ? { must_vacuum: true } : {}),
      utc_offset: offsetOf(newest.rows[0]?.at),
    });
  });
  for (const kind of KIND_NAMES) await database.query(`ANALYZE registry.${kind}`);
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
  if (state.epoch === null) return rebuild(mirror);
  if (state.must_vacuum) await vacuum(mirror);
  if (state.must_count_accounts) await countAccounts(database, registry);
  const page = await nextEvents(registry, state.epoch, state);
  if (page.results.length === 0) return database.setState({ current_at: new Date() });
  await apply(mirror, await database.state(), page);
}
