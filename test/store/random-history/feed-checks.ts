/** What the sequence of changes must say of a step, from all rows before and after it. */
import assert from 'node:assert/strict';
import type { RegistryEvent } from '../../../src/events/feed.ts';
import { EVENT_FIELDS, type EventEntity } from '../../../src/registry/changes/event-types.ts';
import { isErased, type Row, type Rows, rowsOf } from './rows.ts';

/** Stored columns whose fields have other names. */
const COLUMN_OF: { readonly [field: string]: string } = {
  amount: 'amount_minor',
  interest_rate: 'interest_rate_hundredths',
  paid_amount: 'paid_amount_minor',
};

/** Entries have no events of their own: they are values of their member, by its id. */
function entriesOf(rows: Rows): { readonly [field: string]: ReadonlyMap<unknown, string> } {
  const [production, savings] = [new Map<unknown, string>(), new Map<unknown, string>()];
  const add = (texts: Map<unknown, string>, member: unknown, ...values: unknown[]) =>
    texts.set(member, `${texts.get(member) ?? ''}${JSON.stringify(values)}`);
  for (const { member_id, id, cooperative_id, delivered_at, grams, product } of rowsOf(rows, 'delivery'))
    add(production, member_id, id, cooperative_id, delivered_at, grams, product);
  for (const { member_id, id, cooperative_id, account_number } of rowsOf(rows, 'account'))
    add(savings, member_id, id, cooperative_id, account_number);
  for (const { account_id, id, cooperative_id, kind, amount_minor, transacted_at } of rowsOf(
    rows,
    'transaction',
  ))
    add(
      ...([savings, rows.get(`account ${account_id}`)?.member_id, id, account_id] as const),
      ...[cooperative_id, kind, amount_minor, transacted_at],
    );
  return { production_summary: production, savings_summary: savings };
}

/** What followers see of the rows: the values that events name. */
export function announcedRows(rows: Rows): Rows {
  const entries = entriesOf(rows);
  const announced = new Map<string, Row>();
  for (const [key, row] of rows) {
    const fields: readonly string[] | undefined = EVENT_FIELDS[key.split(' ')[0] as EventEntity];
    if (fields === undefined || isErased(row)) continue;
    const values = fields.map((field): [string, string | number | null] => [
      field,
      entries[field] === undefined
        ? (row[COLUMN_OF[field] ?? field] ?? null)
        : (entries[field].get(row.id) ?? ''),
    ]);
    announced.set(key, {
      '#cooperative': row.cooperative_id ?? row.id ?? null,
      ...Object.fromEntries(values),
    });
  }
  return announced;
}

/** The events between two states of the rows, as texts in no order. */
export function eventsBetween(before: Rows, after: Rows, actor: string): string[] {
  const [was, is] = [announcedRows(before), announcedRows(after)];
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((key) => {
    const [former, row] = [was.get(key), is.get(key)];
    const [entity, id] = key.split(' ');
    const text = (action: string, of: Row, fields: readonly string[] = []) =>
      `${entity}.${action} ${id} of ${of['#cooperative']} [${fields}] by ${actor}`;
    if (former === undefined) return [text('created', row as Row)];
    if (row === undefined) return [text('deleted', former)];
    const fields = Object.keys(row).filter((field) => field[0] !== '#' && row[field] !== former[field]);
    return fields.length === 0 ? [] : [text('updated', row, fields)];
  });
}

/** An event as `eventsBetween` has it. */
const textOf = ({ type, id, cooperativeId, fieldsChanged, actor }: RegistryEvent): string =>
  `${type} ${id} of ${cooperativeId} [${fieldsChanged}] by ${actor}`;

/** Where a step wrote a row several times, its events are more than the difference: they are left out. */
const isOnce = (text: string, all: readonly RegistryEvent[]): boolean => {
  const [type = '', id] = text.split(' ');
  const isOfRow = (event: RegistryEvent) =>
    event.type.split('.')[0] === type.split('.')[0] && String(event.id) === id;
  return all.filter(isOfRow).length < 2;
};

/** @throws AssertionError unless a step has appended exactly what it changed */
export function checkEvents(events: readonly RegistryEvent[], expected: readonly string[]): void {
  const once = (texts: readonly string[]) => texts.filter((text) => isOnce(text, events)).sort();
  assert.deepEqual(once(events.map(textOf)), once(expected));
}
