/** Finds the issues of a registry, worst first, each with the command that resolves it. */
import { dirname } from 'node:path';
import { hasKeys, type KeyUse, openKeys } from '../access/api-key-store.ts';
import { type ApiKey, hasExpired } from '../access/api-keys.ts';
import { isServed } from '../backup/in-use.ts';
import { refusalsOf } from '../keys/key-text.ts';
import { findLostKeys, type LedgerStatus, lostKeys, readLedgerStatus } from '../ledger/open-ledger.ts';
import type { Config } from '../runtime/config.ts';
import { type Clock, nowSeconds } from '../runtime/scheduler.ts';
import { ledgerFolderOf } from '../sqlite/registry-files.ts';
import type { Storage } from '../sqlite/storage.ts';
import { formatBytes, quoted } from '../terminal/output.ts';
import { DAY_SECONDS, formatDate, formatDateTime, type TimeZone } from '../values/date-time.ts';
import { type Message, say, Written } from '../values/message.ts';
import {
  type Attention,
  type FactsForIssues,
  type ReadAdded,
  type RegistryStatus,
  readStatus,
  STALE_COUNTED,
} from './registry-status.ts';

/** Facts that `status` and the desk show. */
export interface StatusFacts extends FactsForIssues {
  readonly location: string;
  readonly condition: RegistryStatus;
  readonly ledgerFolder: string;
  readonly isLedgerOn: boolean;
  /** Undefined if there is no ledger yet. */
  readonly ledger: LedgerStatus | undefined;
  /** The keys' file if keys that were in use are missing. */
  readonly lostKeysFile: string | undefined;
  readonly uses: readonly KeyUse[];
  readonly zone: TimeZone;
}

/** A day, with some slack for a backup that takes longer or starts later than the day before. */
const OLDEST_BACKUP_SECONDS = 26 * 3_600;
const EXPIRES_SOON_SECONDS = 30 * DAY_SECONDS;
/** A record dated further ahead than this shows a wrong clock, now or when it was made. */
const AHEAD_SECONDS = 60;
/** Requests of one key in a day. */
const REFUSED_OFTEN = 100;
/** Maximum number of keys or files named in one issue. */
const NAMED = 3;

/** @returns the issues, worst first */
export const findAttention = (facts: StatusFacts): readonly Attention[] =>
  [ofClock, ofDisk, ofSequence, ofLostKeys, ofLedger, ofBackups, ofAdded, ofReadModel, ofKeys].flatMap(
    (rule) => rule(facts),
  );

function ofClock({
  condition: { lastImport, lastBackup },
  uses,
  now,
  zone,
}: StatusFacts): readonly Attention[] {
  const latest = Math.max(
    lastImport?.importedAt ?? 0,
    Math.floor((lastBackup?.instantMs ?? 0) / 1000),
    ...uses.map(({ lastAt }) => lastAt),
  );
  if (latest <= now + AHEAD_SECONDS) return [];
  const at = new Written('moment', formatDateTime(latest, zone));
  const text = say('Something was recorded at {at}, which is still to come: the clock is or was wrong.', {
    at,
  });
  return [{ about: 'clock', text, command: 'timedatectl' }];
}

function ofDisk({ location, condition }: StatusFacts): readonly Attention[] {
  const { freeBytes, reservedBytes, bytes } = condition;
  const free = formatBytes(freeBytes);
  const command = `df -h ${quoted(dirname(location))}`;
  const entry = (text: Message): readonly Attention[] => [{ about: 'disk', text, command }];
  if (freeBytes < reservedBytes)
    return entry(say('Only {free} of the disk is free: writes are refused.', { free }));
  if (freeBytes >= bytes + reservedBytes) return [];
  return entry(
    say('Only {free} of the disk is free, less than the registry takes: an import may not fit.', { free }),
  );
}

const ofSequence = ({ condition, command }: StatusFacts): readonly Attention[] =>
  condition.sequence === undefined
    ? [
        {
          about: 'events',
          text: say('The registry has lost its sequence of events.'),
          command: command('check'),
        },
      ]
    : [];

const ofLostKeys = ({ lostKeysFile: file, command }: StatusFacts): readonly Attention[] =>
  file === undefined
    ? []
    : [{ about: 'keys', text: lostKeys(file), command: command('restore DIR --replace') }];

const LEDGER_FAULTS: { readonly [fault in NonNullable<LedgerStatus['fault']>]: Message } = {
  'open to others': say('Others than its owner may open the files of the access ledger.'),
  'not writable': say('This user cannot write the access ledger: no personal data is shown then.'),
  'does not answer': say('The disk of the access ledger does not answer: no personal data is shown then.'),
};

function ofLedger({ isLedgerOn, ledger, ledgerFolder, command }: StatusFacts): readonly Attention[] {
  if (!isLedgerOn || ledger === undefined) return [];
  const { fault, unreadable, missing, tooOld } = ledger;
  const folder = quoted(ledgerFolder);
  const found: Attention[] = [];
  if (fault !== null)
    found.push({
      about: 'ledger',
      text: LEDGER_FAULTS[fault],
      command: fault === 'open to others' ? `chmod -R go-rwx ${folder}` : `ls -la ${folder}`,
    });
  if (unreadable.length > 0)
    found.push({
      about: 'ledger',
      text: say('Files of the access ledger cannot be read: {names}.', { names: shortList(unreadable) }),
      command: command('ledger verify'),
    });
  if (missing.length > 0)
    found.push({
      about: 'ledger',
      text: say('Files of the access ledger are missing: {names}.', { names: shortList(missing) }),
      command: command('ledger verify'),
    });
  if (tooOld.length > 0)
    found.push({
      about: 'ledger',
      text: say('Files of the access ledger are too old, while later months are missing: {names}.', {
        names: shortList(tooOld),
      }),
      command: command('ledger prune'),
    });
  return found;
}

const shortList = (names: readonly string[]): string =>
  names.length > NAMED ? `${names.slice(0, NAMED).join(', ')}, …` : names.join(', ');

function ofBackups({
  condition: { lastBackup: last },
  now,
  zone,
  command,
}: StatusFacts): readonly Attention[] {
  const found: Attention[] = [];
  const add = (text: Message, what: string) => found.push({ about: 'backup', text, command: command(what) });
  const at = (ms: number) => new Written('moment', formatDateTime(Math.floor(ms / 1000), zone));
  const [again, verify] = ['backup DIR --keep 14 --verify', `backup verify ${quoted(last?.folder ?? '')}`];
  if (last === null) add(say('No backup from this machine is known.'), again);
  else if (last.place === 'missing') {
    const { folder } = last;
    add(
      say('The last one, in {folder}, is gone: its disk is not mounted, or it was removed.', { folder }),
      again,
    );
  } else if (last.fault !== null) {
    const { folder, fault } = last;
    add(say('The last one, in {folder}, is not sound: {fault}', { folder, fault }), again);
  } else if (now - last.instantMs / 1000 > OLDEST_BACKUP_SECONDS)
    add(say('The last one is of {at}: older than a day.', { at: at(last.instantMs) }), again);
  else if (last.verifiedAtMs === null)
    add(say('The last one, of {at}, is not verified.', { at: at(last.instantMs) }), verify);
  return found;
}

const ofAdded = (facts: StatusFacts): readonly Attention[] =>
  facts.condition.added.flatMap(({ attention }) => attention(facts));

function ofReadModel({ condition: { readModel, imports }, command }: StatusFacts): readonly Attention[] {
  const { stale, hasOtherRules, unindexed } = readModel;
  const about = 'read model' as const;
  const entry = (text: Message): readonly Attention[] => [{ about, text, command: command('summarize') }];
  // A running import indexes the names itself.
  if (unindexed > 0 && imports.running === 0)
    return entry(say('Nobody finds {unindexed|# member|# members} by name yet.', { unindexed }));
  if (hasOtherRules) return entry(say('It was stored by another release: lookups are slower.'));
  if (stale === 0) return [];
  return entry(
    stale === STALE_COUNTED
      ? say('Lookups of {stale} members or more are slower: a change was not summarized.', { stale })
      : say('Lookups of {stale|# member|# members} are slower: a change was not summarized.', { stale }),
  );
}

/** Active keys that expire within 30 days. */
export const expiringSoon = ({ keys, now }: StatusFacts): readonly ApiKey[] =>
  keys.filter(
    (key) =>
      key.isActive &&
      key.expiresAt !== null &&
      !hasExpired(key, now) &&
      key.expiresAt < now + EXPIRES_SOON_SECONDS,
  );

/** Keys refused so often in the last day that an operator should look into it. */
export const refusedOften = ({ keys, uses }: StatusFacts): readonly ApiKey[] =>
  keys.filter((key) => refusalsOf(key, uses) >= REFUSED_OFTEN);

function ofKeys(facts: StatusFacts): readonly Attention[] {
  const { uses, zone, command } = facts;
  const entry = (
    found: readonly ApiKey[],
    sentence: (named: readonly Message[]) => Message,
    tell: (key: ApiKey) => Written | Message,
    what: (key: ApiKey) => string,
  ): readonly Attention[] => {
    const [first] = found;
    if (first === undefined) return [];
    const named = found
      .slice(0, NAMED)
      .map((key) => say('key {id} ({name}) {told}', { id: key.id, name: key.name, told: tell(key) }));
    const more = found.length > NAMED ? [say('{more} more', { more: found.length - NAMED })] : [];
    const text = sentence([...named, ...more]);
    return [{ about: 'keys', text, command: command(found.length === 1 ? what(first) : 'keys list') }];
  };
  return [
    ...entry(
      refusedOften(facts),
      (named) => say('Refused often in the last day: {named}.', { named }),
      (key) => say('{n|# time|# times}', { n: refusalsOf(key, uses) }),
      ({ id }) => `keys show ${id}`,
    ),
    ...entry(
      expiringSoon(facts),
      (named) => say('Expiring within 30 days: {named}.', { named }),
      ({ expiresAt }) => new Written('day', formatDate(expiresAt ?? 0, zone)),
      ({ id }) => `keys update ${id} --expires DATE`,
    ),
  ];
}

// Facts for `status` and the desk

/**
 * @param command formats a command for the same registry
 * @throws StorageError (as a rejection) when there is no registry of this release
 */
export async function readFacts(
  storage: Storage,
  {
    zone,
    accessLedger: isLedgerOn,
    accessLedgerDays: days,
    clock,
  }: Pick<Config, 'zone' | 'accessLedger' | 'accessLedgerDays'> & { readonly clock: Clock },
  command: StatusFacts['command'],
  added: readonly ReadAdded[],
): Promise<StatusFacts> {
  const now = nowSeconds(clock);
  // Checked before this process opens any file itself.
  const isOpen = isServed(storage.location);
  const condition = await readStatus(storage, added);
  const store = hasKeys(storage) ? openKeys(storage, 'manage') : undefined;
  try {
    const [keys, uses] = [store?.list(now) ?? [], store?.uses(now) ?? []];
    const { location } = storage;
    const found = readLedgerStatus(location, { nowMs: now * 1000, days });
    const ledger = { isLedgerOn, ledgerFolder: ledgerFolderOf(location), ledger: found };
    const lostKeysFile = findLostKeys(storage.complete());
    return { location, condition, ...ledger, lostKeysFile, keys, uses, isServed: isOpen, now, zone, command };
  } finally {
    store?.close();
  }
}
