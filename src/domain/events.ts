/** One sequence of changes: what an event says, and the numbers under which it is stored. */

import { LOAN_FIELDS } from './lending/loans.ts';
import { PAYMENT_FIELDS } from './lending/payments.ts';
import { COOPERATIVE_FIELDS } from './membership/cooperatives.ts';
import { MEMBER_FIELDS } from './membership/members.ts';
import { listFields, type RecordedField } from './values/declared-fields.ts';

export const EVENT_ENTITIES = ['cooperative', 'member', 'loan', 'payment'] as const;
export type EventEntity = (typeof EVENT_ENTITIES)[number];

export const EVENT_ACTIONS = ['created', 'updated', 'deleted'] as const;
export type EventAction = (typeof EVENT_ACTIONS)[number];

export type EventType = `${EventEntity}.${EventAction}`;

export const EVENT_TYPES: readonly EventType[] = EVENT_ENTITIES.flatMap((entity) =>
  EVENT_ACTIONS.map((action): EventType => `${entity}.${action}`),
);

/** How long an event is kept (docs/api.md#events). */
export const EVENT_RETENTION_DAYS = 400;

/** What events say of a member whose deliveries or savings transactions have changed. */
const SUMMARIES = { production_summary: 12, savings_summary: 13 };
export type EventSummary = keyof typeof SUMMARIES;

/** @throws Error for two fields with one bit, or a bit without a field */
function namesByBit(
  fields: { readonly [property: string]: RecordedField },
  others: { readonly [name: string]: number } = {},
): readonly string[] {
  const declared = listFields(fields).map(({ name, eventBit }) => [name, eventBit] as const);
  const names: string[] = [];
  for (const [name, bit] of [...declared, ...Object.entries(others)]) {
    if (bit === null) continue;
    if (names[bit] !== undefined) throw new Error(`Two fields have the event bit ${bit}.`);
    names[bit] = name;
  }
  if (Object.keys(names).length < names.length)
    throw new Error('An event bit below the highest is not used.');
  return names;
}

/**
 * The fields that an event may name, by their names in bodies and import files. The place of a field is its
 * bit in stored events.
 */
export const EVENT_FIELDS: { readonly [entity in EventEntity]: readonly string[] } = {
  cooperative: namesByBit(COOPERATIVE_FIELDS),
  member: namesByBit(MEMBER_FIELDS, SUMMARIES),
  loan: namesByBit(LOAN_FIELDS),
  payment: namesByBit(PAYMENT_FIELDS),
};

/** How events name who made the change. */
const ACTOR_KINDS = ['key', 'import', 'undo', 'correction'] as const;
export type EventActor = `${(typeof ACTOR_KINDS)[number]}:${number}`;

export interface RegistryEvent {
  readonly sequence: number;
  readonly type: EventType;
  /** Epoch seconds. */
  readonly at: number;
  /** Of the cooperative, member, loan or payment. */
  readonly id: number;
  /** The cooperative that it belongs to; itself for a cooperative. */
  readonly cooperativeId: number;
  /** Empty for what was created or deleted. */
  readonly fieldsChanged: readonly string[];
  readonly actor: EventActor;
}

/** The stored number of a type. */
export const typeCode = (entity: EventEntity, action: EventAction): number =>
  EVENT_ENTITIES.indexOf(entity) * EVENT_ACTIONS.length + EVENT_ACTIONS.indexOf(action);

export const entityOfType = (code: number): EventEntity =>
  EVENT_ENTITIES[Math.floor(code / EVENT_ACTIONS.length)] as EventEntity;

export const typeOfCode = (code: number): EventType =>
  `${entityOfType(code)}.${EVENT_ACTIONS[code % EVENT_ACTIONS.length] as EventAction}`;

/** The bit of a field; 0 for one that events do not name. */
export function fieldBit(entity: EventEntity, field: string): number {
  const place = EVENT_FIELDS[entity].indexOf(field);
  return place < 0 ? 0 : 2 ** place;
}

/** Adds up the bits of fields, each of which is given once. */
export const fieldBits = (entity: EventEntity, fields: readonly string[]): number =>
  fields.reduce((bits, field) => bits + fieldBit(entity, field), 0);

export const fieldsOfBits = (entity: EventEntity, bits: number): string[] =>
  EVENT_FIELDS[entity].filter((_field, place) => Math.floor(bits / 2 ** place) % 2 === 1);

/** The stored number of an actor. */
export function actorCode(actor: EventActor): number {
  const [kind, id] = actor.split(':') as [(typeof ACTOR_KINDS)[number], string];
  return Number(id) * ACTOR_KINDS.length + ACTOR_KINDS.indexOf(kind);
}

export function actorOfCode(code: number): EventActor {
  const kind = ACTOR_KINDS[code % ACTOR_KINDS.length] as (typeof ACTOR_KINDS)[number];
  return `${kind}:${Math.floor(code / ACTOR_KINDS.length)}`;
}
