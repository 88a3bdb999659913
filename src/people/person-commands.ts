/** `persons`: commands about a person in all cooperatives (docs/correcting.md#a-death). */
import type { Command } from 'commander';
import { formatActor } from '../journal/change-texts.ts';
import { describeEntry } from '../journal/history-commands.ts';
import { readKeyNames } from '../keys/key-text.ts';
import { openLedgerReader } from '../ledger/ledger-reader.ts';
import {
  describeAccess,
  findPersonAccesses,
  formatAccesses,
  formatEverybody,
  ofEverybody,
  ofPerson,
  tellUnreadable,
} from '../ledger/person-accesses.ts';
import { openPersonTraces } from '../ledger/person-traces.ts';
import { ROW_LISTS } from '../registry/stored/stored-data.ts';
import type { StoredMembership, StoredPerson } from '../registry/stored/stored-data-types.ts';
import { type CliContext, CommandError, EXIT, print, translate } from '../terminal/context.ts';
import { readNumber } from '../terminal/options.ts';
import { formatFields, formatJson, formatTable } from '../terminal/output.ts';
import { recordAccess } from '../terminal/record-reading.ts';
import { acting, type Run, withStore } from '../terminal/run.ts';
import { addPrintOptions } from '../terminal/settings.ts';
import type { TimeZone } from '../values/date-time.ts';
import { FIELD_GROUPS } from '../values/declared-fields.ts';
import { say, type Text } from '../values/message.ts';
import { declareCorrections } from './correction-command.ts';
import { describeRow, formatStoredRows } from './member-commands.ts';

/** Number of latest accesses that `persons show` prints; `ledger person` prints all. */
const SHOWN_ACCESSES = 10;

export function declarePersons(persons: Command, context: CliContext): void {
  declareCorrections(persons, context);
  addPrintOptions(persons.command('show'), 'REGISTRY_USER')
    .description('show all data about a person, in all cooperatives and statuses: personal data')
    .argument('<nid>', 'national ID of the person; a former one too')
    .action(acting(context, show));
}

async function show(run: Run, nid: string): Promise<void> {
  const identityCard = readNumber(nid);
  const { zone, storage, options } = run;
  const [person, traces] = await withStore(openPersonTraces(storage), (store) => [
    store.findPerson(identityCard),
    store.findTraces(identityCard),
  ]);
  const { accesses, unreadable } = findPersonAccesses(openLedgerReader(storage.pathForOpening()), traces);
  const shown = { zone, keyNames: readKeyNames(storage, run.now) };
  // The access is recorded even if no person has the number.
  const { memberIds } = traces;
  await recordAccess(run, { identityCards: [identityCard], memberIds, fields: FIELD_GROUPS });
  if (person === undefined) throw new CommandError(EXIT.refused, 'No person has this national ID.');
  const [own, everybody] = [ofPerson(accesses), ofEverybody(accesses).length];
  const last = own.slice(-SHOWN_ACCESSES).reverse();
  if (options.json === true) {
    const entries = last.map((access) => describeAccess(access, shown));
    const readings = { count: own.length, last: entries, everybody };
    return run.out(formatJson({ ...describePerson(person, zone), readings }));
  }
  run.out(formatPerson(person, zone, (text) => translate(run, text)));
  tellUnreadable(run, unreadable);
  if (accesses.length === 0) return;
  run.out('\n');
  if (own.length > 0) {
    print(run, say('Accesses, the last {shown} of {n}', { shown: last.length, n: own.length }));
    run.out(formatAccesses(last, shown, (text) => translate(run, text)));
  }
  if (everybody > 0) print(run, formatEverybody(everybody));
}

const describePerson = (person: StoredPerson, zone: TimeZone) => ({
  identity_card: person.identityCard,
  former_identity_cards: person.formerIdentityCards,
  memberships: person.memberships.map((membership) => ({
    ...describeRow(membership.member, zone),
    ...Object.fromEntries(
      ROW_LISTS.map(([name, , rows]) => [name, rows(membership).map((row) => describeRow(row, zone))]),
    ),
  })),
  history: person.history.map(({ entity, row, ...change }) => ({
    entity,
    row,
    ...describeEntry(change, zone),
  })),
  kept_responses: person.keptResponses,
});

function formatMembership(membership: StoredMembership, zone: TimeZone, translate: Translate): string {
  const member = describeRow(membership.member, zone);
  const fields = Object.entries(member).map(([field, value]) => [field, value ?? ''] as const);
  const lists = ROW_LISTS.flatMap(([, heading, rows]) => {
    const entries = rows(membership);
    return entries.length === 0 ? [] : [`\n${translate(heading)}\n${formatStoredRows(entries, zone)}`];
  });
  const names = { code: member.member_code ?? '', cooperative: member.cooperative ?? '' };
  const title = translate(say('Member {code} of {cooperative}', names));
  return `\n${title}\n${formatFields(fields)}${lists.join('')}`;
}

const HISTORY_HEADINGS = ['AT', 'KIND', 'ROW', 'FIELD', 'OLD', 'NEW', 'BY'];

type Translate = (text: Text) => string;

/** Shows names and national IDs on purpose. Most commands hide national IDs. */
function formatPerson(person: StoredPerson, zone: TimeZone, translate: Translate): string {
  const { identityCard, formerIdentityCards, memberships, history, keptResponses } = person;
  const rows = history.map(({ entity, row, ...entry }) => {
    const { field, old, new: value, at, actor, user } = describeEntry(entry, zone);
    return [at, entity, row, field, old ?? '', value ?? '', translate(formatActor(actor, user))];
  });
  return (
    formatFields([
      [translate('National ID'), identityCard],
      [translate('Former numbers'), formerIdentityCards.join(', ')],
      [translate('Responses kept for repeated requests'), String(keptResponses)],
    ]) +
    memberships.map((membership) => formatMembership(membership, zone, translate)).join('') +
    `\n${translate('History')}\n${formatTable(HISTORY_HEADINGS.map(translate), rows)}`
  );
}
