/** Finds the issues that an operator should resolve, each with a command to run. */
import { dirname } from 'node:path';
import { type ApiKey, hasExpired } from '../access/api-keys.ts';
import { refusalsOf } from '../keys/key-text.ts';
import { type LedgerStatus, lostKeys } from '../ledger/open-ledger.ts';
import { quoted } from '../runtime/typed-command.ts';
import { formatBytes } from '../terminal/output.ts';
import { DAY_SECONDS, formatDate, formatDateTime } from '../values/date-time.ts';
import { type Message, say, Written } from '../values/message.ts';
import { type Issue, STALE_COUNTED, type StatusFacts } from './registry-status.ts';

/** Two hours more than a day, because a daily backup may take longer than the previous backup. */
const OLDEST_BACKUP_SECONDS = 26 * 3_600;
const EXPIRES_SOON_SECONDS = 30 * DAY_SECONDS;
/** A recorded time more than this far in the future shows that the clock is or was wrong. */
const AHEAD_SECONDS = 60;
/** Minimum number of refused requests in a day that makes a key an issue. */
const REFUSED_OFTEN = 100;
/** Maximum number of keys or files that an issue names. */
const NAMED = 3;

/** Returns the issues; the worst is first. */
export const findIssues = (facts: StatusFacts): readonly Issue[] =>
  [ofClock, ofDisk, ofSequence, ofLostKeys, ofLedger, ofBackups, ofAdded, ofReadModel, ofKeys].flatMap(
    (rule) => [...rule(facts)],
  );

function* ofClock({ condition: { lastImport, lastBackup }, uses, now, zone }: StatusFacts): Iterable<Issue> {
  const latest = Math.max(
    lastImport?.importedAt ?? 0,
    Math.floor((lastBackup?.instantMs ?? 0) / 1000),
    ...uses.map(({ lastAt }) => lastAt),
  );
  if (latest <= now + AHEAD_SECONDS) return;
  const at = new Written('moment', formatDateTime(latest, zone));
  const text = say('Something was recorded at {at}, in the future: the clock is or was wrong.', {
    at,
  });
  yield { about: 'clock', text, command: 'timedatectl' };
}

function* ofDisk({ location, condition }: StatusFacts): Iterable<Issue> {
  const { freeBytes, reservedBytes, bytes } = condition;
  if (freeBytes >= bytes + reservedBytes) return;
  const free = formatBytes(freeBytes);
  const text =
    freeBytes < reservedBytes
      ? say('Only {free} of the disk is free: writes are refused.', { free })
      : say('Only {free} of the disk is free, less than the size of the registry: an import may not fit.', {
          free,
        });
  yield { about: 'disk', text, command: `df -h ${quoted(dirname(location))}` };
}

function* ofSequence({ condition, command }: StatusFacts): Iterable<Issue> {
  if (condition.sequence !== undefined) return;
  yield {
    about: 'events',
    text: say('The registry has lost its sequence of events.'),
    command: command('check'),
  };
}

function* ofLostKeys({ lostKeysFile: file, command }: StatusFacts): Iterable<Issue> {
  if (file !== undefined)
    yield { about: 'keys', text: lostKeys(file), command: command('restore DIR --replace') };
}

const LEDGER_FAULTS: { readonly [fault in NonNullable<LedgerStatus['fault']>]: Message } = {
  'open to others': say('Users other than the owner can open the files of the access ledger.'),
  'not writable': say('This user cannot write the access ledger: no personal data is shown.'),
  'does not answer': say('The disk of the access ledger does not answer: no personal data is shown.'),
};

function* ofLedger({ isLedgerOn, ledger, ledgerFolder, command }: StatusFacts): Iterable<Issue> {
  if (!isLedgerOn || ledger === undefined) return;
  const { fault, unreadable, missing, tooOld } = ledger;
  const entry = (text: Message, command: string): Issue => ({ about: 'ledger', text, command });
  if (fault !== null) {
    const look = fault === 'open to others' ? 'chmod -R go-rwx' : 'ls -la';
    yield entry(LEDGER_FAULTS[fault], `${look} ${quoted(ledgerFolder)}`);
  }
  if (unreadable.length > 0) {
    const text = say('Files of the access ledger cannot be read: {names}.', { names: shortList(unreadable) });
    yield entry(text, command('ledger verify'));
  }
  if (missing.length > 0) {
    const text = say('Files of the access ledger are missing: {names}.', { names: shortList(missing) });
    yield entry(text, command('ledger verify'));
  }
  if (tooOld.length > 0) {
    const text = say('Files of the access ledger are too old, while later months are missing: {names}.', {
      names: shortList(tooOld),
    });
    yield entry(text, command('ledger prune'));
  }
}

const shortList = (names: readonly string[]): string =>
  names.length > NAMED ? `${names.slice(0, NAMED).join(', ')}, …` : names.join(', ');

function* ofBackups({ condition: { lastBackup }, now, zone, command }: StatusFacts): Iterable<Issue> {
  const entry = (text: Message, next = 'backup DIR --keep 14 --verify'): Issue => ({
    about: 'backup',
    text,
    command: command(next),
  });
  if (lastBackup === null) {
    yield entry(say('No backup has been made since the registry was created or restored here.'));
    return;
  }
  const { folder, fault, place, instantMs, verifiedAtMs } = lastBackup;
  const at = new Written('moment', formatDateTime(Math.floor(instantMs / 1000), zone));
  if (place === 'missing')
    yield entry(
      say('The last backup, in {folder}, is missing: it was removed, or its disk is not mounted.', {
        folder,
      }),
    );
  else if (fault !== null)
    yield entry(say('The last backup, in {folder}, is not sound: {fault}', { folder, fault }));
  else if (now - instantMs / 1000 > OLDEST_BACKUP_SECONDS)
    yield entry(say('The last backup is of {at}: older than a day.', { at }));
  else if (verifiedAtMs === null)
    yield entry(say('The last backup, of {at}, is not verified.', { at }), `backup verify ${quoted(folder)}`);
}

const ofAdded = (facts: StatusFacts): readonly Issue[] =>
  facts.condition.added.flatMap(({ issues }) => issues(facts));

function* ofReadModel({ condition: { readModel, imports }, command }: StatusFacts): Iterable<Issue> {
  const { stale, hasOtherRules, unindexed } = readModel;
  const entry = (text: Message): Issue => ({ about: 'read model', text, command: command('summarize') });
  // A running import will index the names.
  if (unindexed > 0 && imports.running === 0)
    yield entry(say('Searches by name do not find {unindexed|# member|# members} yet.', { unindexed }));
  else if (hasOtherRules)
    yield entry(say('The read model was stored by another release: lookups are slower.'));
  else if (stale === STALE_COUNTED)
    yield entry(
      say('Lookups of {stale} members or more are slower: a change was not summarized.', { stale }),
    );
  else if (stale > 0)
    yield entry(
      say('Lookups of {stale|# member|# members} are slower: a change was not summarized.', { stale }),
    );
}

export const expiringSoon = ({ keys, now }: StatusFacts): readonly ApiKey[] =>
  keys.filter(
    (key) =>
      key.isActive &&
      key.expiresAt !== null &&
      !hasExpired(key, now) &&
      key.expiresAt < now + EXPIRES_SOON_SECONDS,
  );

export const refusedOften = ({ keys, uses }: StatusFacts): readonly ApiKey[] =>
  keys.filter((key) => refusalsOf(key, uses) >= REFUSED_OFTEN);

function* ofKeys(facts: StatusFacts): Iterable<Issue> {
  const { uses, zone, command } = facts;
  const listed = (keys: readonly ApiKey[], describe: (key: ApiKey) => Written | Message) => [
    ...keys
      .slice(0, NAMED)
      .map((key) => say('key {id} ({name}) {told}', { id: key.id, name: key.name, told: describe(key) })),
    ...(keys.length > NAMED ? [say('{more} more', { more: keys.length - NAMED })] : []),
  ];
  const entry = (text: Message, keys: readonly ApiKey[], commandOfOne: string): Issue => ({
    about: 'keys',
    text,
    command: command(keys.length === 1 ? commandOfOne : 'keys list'),
  });
  const refused = refusedOften(facts);
  if (refused[0] !== undefined) {
    const named = listed(refused, (key) => say('{n|# time|# times}', { n: refusalsOf(key, uses) }));
    const text = say('Refused often in the last day: {named}.', { named });
    yield entry(text, refused, `keys show ${refused[0].id}`);
  }
  const expiring = expiringSoon(facts);
  if (expiring[0] !== undefined) {
    const named = listed(expiring, (key) => new Written('day', formatDate(key.expiresAt ?? 0, zone)));
    const text = say('Expiring within 30 days: {named}.', { named });
    yield entry(text, expiring, `keys update ${expiring[0].id} --expires DATE`);
  }
}
