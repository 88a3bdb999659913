/** The rows of an operation that has few: whose each is, and what it says now. */
import { ENTITY_NAMES } from '../../../app/wording/entity-names.ts';
import { hideIdentityCards } from '../../../domain/membership/identity-card.ts';
import { asMessage } from '../../../domain/values/message.ts';
import { type HtmlValue, html } from '../../../html/html.ts';
import { FIELD_GROUPS } from '../../../store/contract/access-ledger.ts';
import { FILE_COLUMNS } from '../../../store/contract/import/import-columns.ts';
import type { HeldRow } from '../../../store/contract/journal/held-data.ts';
import type { Journal, RecordedImport } from '../../../store/contract/journal/operations.ts';
import { type EnteredKind, isEnteredKind } from '../../page/entered-kinds.ts';
import { describeMember, referenceOf } from '../../page/held-values.ts';
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
  return rows.map(({ entity, row, memberId, values }) => {
    const label = hideIdentityCards(referenceOf({ reference: row }), visit.say('(hidden)'));
    const [member] = memberId === null ? [] : held.findMembers({ id: memberId });
    const name = member && describeMember(member);
    const number = numbers.get(Number(memberId));
    return {
      memberId,
      what: `${visit.translate(asMessage(ENTITY_NAMES[entity]))} ${label}`.trim(),
      member:
        number === undefined ? name : html`<a href="/person/${visit.session.persons.of(number)}">${name}</a>`,
      values: isEnteredKind(entity) && entity !== 'members' ? valuesOf(visit, entity, values) : '',
    };
  });
}

const valuesOf = (visit: Visit, kind: EnteredKind, row: HeldRow): string =>
  FILE_COLUMNS[kind]
    .flatMap(({ name, field, role }) =>
      ['reference', 'member_code'].includes(name) || role === 'compared'
        ? []
        : (writeStored(visit, name, row[name] ?? row[field.name]) ?? []),
    )
    .join(' · ');

export function showingRows(rows: readonly ShownRow[]): Shows | 'nobody' {
  const memberIds = [...new Set(rows.flatMap(({ memberId }) => memberId ?? []))];
  return memberIds.length === 0 ? 'nobody' : { fields: FIELD_GROUPS, subject: { memberIds } };
}
