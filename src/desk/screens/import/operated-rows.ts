/** The rows of an operation that has few: whose each is, and what it says now. */
import { ENTITY_NAMES } from '../../../app/wording/entity-names.ts';
import { hideIdentityCards } from '../../../domain/membership/identity-card.ts';
import { asMessage } from '../../../domain/values/message.ts';
import { type HtmlValue, html } from '../../../html/html.ts';
import { FIELD_GROUPS } from '../../../store/contract/access-ledger.ts';
import { FILE_COLUMNS } from '../../../store/contract/import/import-columns.ts';
import type { HeldMembership, HeldRow } from '../../../store/contract/journal/held-data.ts';
import type { Journal, OperatedRow, RecordedImport } from '../../../store/contract/journal/operations.ts';
import type { EnteredKind } from '../../page/entered-kinds.ts';
import { ownersOf, ROWS_OF, referenceOf, textOf } from '../../page/held-values.ts';
import { writeStored } from '../../page/write-stored.ts';
import type { Shows, Visit } from '../../visit/screen.ts';

/** Of an operation of more rows, its file or its reason says what they are. */
const MOST_SHOWN = 20;

export interface ShownRow {
  readonly memberId: number | null;
  readonly what: string;
  /** A link to the person; empty for a cooperative. */
  readonly member: HtmlValue;
  /** Empty for a member. */
  readonly values: string;
}

export function rowsOfOperation(visit: Visit, log: Journal, operation: RecordedImport): readonly ShownRow[] {
  const rows = operation.created + operation.changed > MOST_SHOWN ? [] : log.listRows(operation.id);
  if (rows.length === 0) return [];
  const held = visit.use((storage) => storage.openHeldData());
  const numbers = held.findNumbers(rows.flatMap(({ memberId }) => memberId ?? []));
  return rows.map((row) => {
    const membership = row.memberId === null ? undefined : held.findMembership(row.memberId);
    return { memberId: row.memberId, ...shown(visit, row, membership, numbers) };
  });
}

function shown(
  visit: Visit,
  { entity, id, row, memberId }: OperatedRow,
  membership: HeldMembership | undefined,
  numbers: ReadonlyMap<number, string>,
): Omit<ShownRow, 'memberId'> {
  const label = hideIdentityCards(referenceOf({ reference: row }), visit.say('(hidden)'));
  const what = `${visit.translate(asMessage(ENTITY_NAMES[entity]))} ${label}`.trim();
  const stored = membership && ROWS_OF[entity]?.(membership).find((each) => each.id === id);
  if (membership === undefined || stored === undefined) return { what, member: '', values: '' };
  const name = ['cooperative', 'member_code', 'full_name']
    .map((field) => textOf(membership.member, field))
    .join(' · ');
  const number = numbers.get(Number(memberId));
  return {
    what,
    member:
      number === undefined ? name : html`<a href="/person/${visit.session.persons.of(number)}">${name}</a>`,
    values: entity === 'members' ? '' : valuesOf(visit, entity as EnteredKind, membership, stored),
  };
}

function valuesOf(visit: Visit, kind: EnteredKind, of: HeldMembership, row: HeldRow): string {
  const { loan_reference: loan } = ownersOf(kind, of, row);
  const values = FILE_COLUMNS[kind].flatMap(({ name, field, role }) =>
    ['reference', 'member_code'].includes(name) || role === 'compared'
      ? []
      : (writeStored(visit, name, row[field.name]) ?? []),
  );
  return [...(loan === undefined ? [] : [loan]), ...values].join(' · ');
}

export function showingRows(rows: readonly ShownRow[]): Shows | 'nobody' {
  const memberIds = [...new Set(rows.flatMap(({ memberId }) => memberId ?? []))];
  return memberIds.length === 0 ? 'nobody' : { fields: FIELD_GROUPS, subject: { memberIds } };
}
