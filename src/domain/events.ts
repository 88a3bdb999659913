/** One sequence of changes: what an event says, and the numbers under which it is stored. */

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

/**
 * The fields that an event may name, by their names in bodies and import files; the two summaries stand for
 * deliveries and savings transactions of the member. The place of a field is its bit in stored events: add
 * new ones at the end, and never remove or reorder one.
 */
export const EVENT_FIELDS = {
  cooperative: ['code', 'name', 'sector', 'province', 'district', 'registration_date', 'status'],
  member: [
    ...['cooperative_id', 'identity_card', 'member_code', 'full_name', 'first_name', 'last_name'],
    ...['gender', 'date_of_birth', 'mobile', 'role', 'status', 'registration_date'],
    ...['production_summary', 'savings_summary'],
  ],
  loan: [
    ...['cooperative_id', 'member_id', 'reference', 'amount', 'interest_rate', 'status', 'paid_amount'],
    ...['loan_start_date', 'loan_end_date', 'approved_at'],
  ],
  payment: ['cooperative_id', 'loan_id', 'reference', 'amount', 'method', 'status', 'paid_at'],
} as const satisfies { readonly [entity in EventEntity]: readonly string[] };

export type EventField<entity extends EventEntity> = (typeof EVENT_FIELDS)[entity][number];

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
  const place = (EVENT_FIELDS[entity] as readonly string[]).indexOf(field);
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
