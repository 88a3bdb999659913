/** The command `status`, which shows the health of the registry on one screen (docs/operating.md#status). */

import type { Command } from 'commander';
import type { BackupPlace } from '../backup/numbered-backups.ts';
import { describeImport, formatUndone } from '../journal/imports-text.ts';
import type { Operation } from '../journal/operations.ts';
import { refusalsOf } from '../keys/key-text.ts';
import { typedCommand } from '../runtime/typed-command.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { formatBytes } from '../terminal/output.ts';
import { showingNobody } from '../terminal/record-reading.ts';
import { acting } from '../terminal/run.ts';
import { addPrintOptions } from '../terminal/settings.ts';
import { formatDateTime, type TimeZone } from '../values/date-time.ts';
import { counted } from '../values/text.ts';
import { type Issue, type ReadAdded, readStatusFacts, type StatusFacts } from './registry-status.ts';
import { expiringSoon, findIssues, refusedOften } from './status-warnings.ts';

export const declareStatus =
  (added: readonly ReadAdded[]) =>
  (command: Command, context: CliContext): void => {
    addPrintOptions(showingNobody(command)).action(
      acting(context, async ({ config, storage, clock, options, show }) => {
        const toCommand = (text: string) => typedCommand(text, options.db);
        const facts = await readStatusFacts(storage, config, clock, toCommand, added);
        const attention = findIssues(facts);
        show(describeStatus(facts, attention), formatStatus(facts, attention));
        if (attention.length > 0) throw new CommandError(EXIT.refused, '');
      }),
    );
  };

const WIDTH = 80;
/** Maximum number of issues: the output has to fit on one screen. */
const SHOWN_ATTENTION = 8;

const instant = (ms: number, zone: TimeZone): string => formatDateTime(Math.floor(ms / 1000), zone);

/** Wraps text at spaces. Does not break long words, such as paths. */
function wrap(text: string, indent: string, start = indent): string {
  const lines = [start];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) as string;
    const isFirst = line === start || line === indent;
    if (isFirst || line.length + 1 + word.length <= WIDTH)
      lines[lines.length - 1] = line + (isFirst ? '' : ' ') + word;
    else lines.push(indent + word);
  }
  return `${lines.join('\n')}\n`;
}

function formatStatus(facts: StatusFacts, attention: readonly Issue[]): string {
  const { location, isServed, now, zone } = facts;
  const service = isServed ? 'The service or another process has it open' : 'The service is not running';
  const head = `${location} at ${formatDateTime(now, zone)}. ${service}.\n\n`;
  const first = attention.slice(0, SHOWN_ATTENTION).map(formatAttention).join('');
  const more = attention.length - SHOWN_ATTENTION;
  const rest = more <= 0 ? '' : `  … and ${more} more, which --json shows\n`;
  const issues = attention.length === 0 ? 'Nothing needs attention.\n' : `NEEDS ATTENTION\n${first}${rest}`;
  const lines = factsOf(facts).map(([label, value]) => wrap(value, ' '.repeat(13), label.padEnd(13)));
  return `${head}${issues}\n${lines.join('')}`;
}

const formatAttention = ({ about, text, command }: Issue): string =>
  `${wrap(`${about}: ${text}`, '    ', '  ')}      ${command}\n`;

const ROWS = [
  ['cooperatives', 'cooperative'],
  ['members', 'member'],
  ['deliveries', 'delivery', 'deliveries'],
  ['loans', 'loan'],
  ['payments', 'payment'],
  ['transactions', 'savings transaction'],
] as const;

function factsOf(facts: StatusFacts): readonly (readonly [label: string, value: string])[] {
  const { condition, keys, zone } = facts;
  const { rows, readModel, sequence, lastImport } = condition;
  const { running } = condition.imports;
  const active = keys.filter(({ isActive }) => isActive).length;
  const [expiring, refused] = [expiringSoon(facts).length, refusedOften(facts).length];
  return [
    [
      'size',
      `${formatBytes(condition.bytes)}, including ${formatBytes(condition.logBytes)} of write-ahead log; ` +
        `${formatBytes(condition.freeBytes)} of the disk free`,
    ],
    ['rows', ROWS.map(([name, one, many]) => counted(rows[name], one, many)).join(', ')],
    ['last import', lastImport === undefined ? 'none' : importText(lastImport, zone)],
    ...(running === 0 ? [] : [['importing', counted(running, 'import')] as const]),
    ['last backup', backupText(facts)],
    ['read model', readModel.stale === 0 && !readModel.hasOtherRules ? 'up to date' : 'out of date'],
    [
      'events',
      sequence === undefined ? 'unknown' : `up to ${sequence.lastSequence} of epoch ${sequence.epoch}`,
    ],
    ...condition.added.map(({ line }) => line),
    ['ledger', ledgerText(facts)],
    [
      'keys',
      `${active} active of ${keys.length}; ${expiring} expiring within 30 days, ${refused} refused often`,
    ],
  ];
}

function importText(last: Operation, zone: TimeZone): string {
  const did = `${last.created} new, ${last.changed} changed, ${last.refusedRows} refused`;
  const undone = formatUndone(describeImport(last, zone));
  const at = formatDateTime(last.importedAt, zone);
  const what = `${last.id}: ${last.fileName} (${last.kind}), ${at}, by ${last.systemUser}`;
  return `${what}: ${did}${undone === null ? '' : `; undone ${undone}`}`;
}

function backupText({ condition: { lastBackup: last }, zone }: StatusFacts): string {
  if (last === null) return 'none since the registry was created or restored here';
  if (last.place === 'missing') return `${instant(last.instantMs, zone)}, GONE from ${last.folder}`;
  const checked =
    last.verifiedAtMs === null ? 'not verified' : `verified ${instant(last.verifiedAtMs, zone)}`;
  const result = last.fault === null ? checked : 'NOT sound';
  const place = PLACES[last.place] ?? '';
  return `${instant(last.instantMs, zone)}, ${result}, ${formatBytes(last.bytes)} in ${last.folder}${place}`;
}

const PLACES: { readonly [place in BackupPlace]?: string } = {
  beside: ', beside the registry',
  same_disk: ', on the disk of the registry',
};

function ledgerText({ ledger, isLedgerOn, zone }: StatusFacts): string {
  const isOn = isLedgerOn ? 'on' : 'OFF';
  if (ledger === undefined) return `${isOn}, nothing recorded yet`;
  const { entries, files, bytes, newestMs, removed, removedAtMs, reservedAccesses } = ledger;
  const newest = newestMs === null ? '' : `, the last one ${instant(newestMs, zone)}`;
  const count = `${counted(entries, 'entry', 'entries')} in ${counted(files, 'file', 'files')}`;
  const reserve = reservedAccesses === 0 ? '' : `; room for about ${reservedAccesses} on a full disk`;
  const gone = removedAtMs === null ? '' : `; ${removed} removed, the last ${instant(removedAtMs, zone)}`;
  return `${isOn}, ${count}, ${formatBytes(bytes)}${newest}${gone}${reserve}`;
}

function describeStatus(facts: StatusFacts, attention: readonly Issue[]) {
  const { location, condition, keys, uses, isServed, ledger, zone, now } = facts;
  const last = condition.lastBackup;
  return {
    database: location,
    at: formatDateTime(now, zone),
    in_use: isServed,
    needs_attention: attention,
    bytes: condition.bytes,
    wal_bytes: condition.logBytes,
    free_bytes: condition.freeBytes,
    rows: condition.rows,
    imports_running: condition.imports.running,
    last_import: condition.lastImport === undefined ? null : describeImport(condition.lastImport, zone),
    last_backup: last && {
      folder: last.folder,
      instant: instant(last.instantMs, zone),
      bytes: last.bytes,
      verified_at: last.verifiedAtMs === null ? null : instant(last.verifiedAtMs, zone),
      fault: last.fault,
      place: last.place,
    },
    read_model: { stale_members: condition.readModel.stale, other_rules: condition.readModel.hasOtherRules },
    epoch: condition.sequence?.epoch ?? null,
    last_sequence: condition.sequence?.lastSequence ?? null,
    ...Object.assign({}, ...condition.added.map(({ document }) => document)),
    ledger: {
      on: facts.isLedgerOn,
      chains: ledger?.chains ?? 0,
      entries: ledger?.entries ?? 0,
      bytes: ledger?.bytes ?? 0,
      newest_at: ledger?.newestMs ? instant(ledger.newestMs, zone) : null,
      removed: ledger?.removed ?? 0,
      removed_at: ledger?.removedAtMs ? instant(ledger.removedAtMs, zone) : null,
      files: ledger?.files ?? 0,
      unreadable: ledger?.unreadable ?? [],
      missing: ledger?.missing ?? [],
      too_old: ledger?.tooOld ?? [],
      reserved_readings: ledger?.reservedAccesses ?? 0,
    },
    keys: {
      count: keys.length,
      active: keys.filter(({ isActive }) => isActive).length,
      expiring_soon: expiringSoon(facts).map(({ id }) => String(id)),
      refused_often: refusedOften(facts).map((key) => ({
        id: String(key.id),
        requests: refusalsOf(key, uses),
      })),
    },
  };
}
