/** Types and fields of events, and their codes in SQLite. */

import { ACTOR_KINDS, type Actor } from '../../sqlite/entity-store.ts';
import { listFields, type RecordedField } from '../../values/declared-fields.ts';
import { COOPERATIVE_FIELDS } from '../cooperatives.ts';
import { LOAN_FIELDS } from '../loans.ts';
import { MEMBER_FIELDS } from '../members.ts';
import { PAYMENT_FIELDS } from '../payments.ts';

export const EVENT_ENTITIES = ['cooperative', 'member', 'loan', 'payment'] as const;
export type EventEntity = (typeof EVENT_ENTITIES)[number];

export const EVENT_ACTIONS = ['created', 'updated', 'deleted'] as const;
export type EventAction = (typeof EVENT_ACTIONS)[number];

export type EventType = `${EventEntity}.${EventAction}`;

/** The index of a type is its code in stored events, so the order of entities and actions must not change. */
export const EVENT_TYPES: readonly EventType[] = EVENT_ENTITIES.flatMap((entity) =>
  EVENT_ACTIONS.map((action): EventType => `${entity}.${action}`),
);

/** Fields that report changes of deliveries and savings in an event of the member, with their bits. */
const SUMMARIES = { production_summary: 12, savings_summary: 13 };
export type EventSummary = keyof typeof SUMMARIES;

/** @throws Error if two fields have the same bit, or if a bit below the highest bit has no field */
function namesByBit(
  fields: { readonly [property: string]: RecordedField },
  summaries: { readonly [name: string]: number } = {},
): readonly string[] {
  const declared = listFields(fields).map(({ name, eventBit }) => [name, eventBit] as const);
  const names: string[] = [];
  for (const [name, bit] of [...declared, ...Object.entries(summaries)]) {
    if (bit === null) continue;
    if (names[bit] !== undefined) throw new Error(`Two fields have the event bit ${bit}.`);
    names[bit] = name;
  }
  if (Object.keys(names).length < names.length)
    throw new Error('An event bit below the highest is not used.');
  return names;
}

/** Names of fields in bodies and files. The index of a name is the bit of the field in stored events. */
export const EVENT_FIELDS: { readonly [entity in EventEntity]: readonly string[] } = {
  cooperative: namesByBit(COOPERATIVE_FIELDS),
  member: namesByBit(MEMBER_FIELDS, SUMMARIES),
  loan: namesByBit(LOAN_FIELDS),
  payment: namesByBit(PAYMENT_FIELDS),
};

export const typeCode = (entity: EventEntity, action: EventAction): number =>
  EVENT_TYPES.indexOf(`${entity}.${action}`);

export const typeOfCode = (code: number): EventType => EVENT_TYPES[code] as EventType;

export const entityOfType = (code: number): EventEntity =>
  EVENT_ENTITIES[Math.floor(code / EVENT_ACTIONS.length)] as EventEntity;

/** Returns 0 for a field that events do not report. */
export function fieldBit(entity: EventEntity, field: string): number {
  const place = EVENT_FIELDS[entity].indexOf(field);
  return place < 0 ? 0 : 2 ** place;
}

/** @param fields different fields */
export const fieldBits = (entity: EventEntity, fields: readonly string[]): number =>
  fields.reduce((bits, field) => bits + fieldBit(entity, field), 0);

export const fieldsOfBits = (entity: EventEntity, bits: number): string[] =>
  EVENT_FIELDS[entity].filter((_field, place) => Math.floor(bits / 2 ** place) % 2 === 1);

export function actorCode(actor: Actor): number {
  const [kind, id] = actor.split(':') as [(typeof ACTOR_KINDS)[number], string];
  return Number(id) * ACTOR_KINDS.length + ACTOR_KINDS.indexOf(kind);
}

export function actorOfCode(code: number): Actor {
  const kind = ACTOR_KINDS[code % ACTOR_KINDS.length] as (typeof ACTOR_KINDS)[number];
  return `${kind}:${Math.floor(code / ACTOR_KINDS.length)}`;
}
