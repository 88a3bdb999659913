/** Events: what is stored of them is stored for years. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  actorCode,
  actorOfCode,
  EVENT_ACTIONS,
  EVENT_ENTITIES,
  EVENT_FIELDS,
  entityOfType,
  fieldBits,
  fieldsOfBits,
  typeCode,
  typeOfCode,
} from '../../src/registry/changes/event-types.ts';

test('the numbers of stored types and the places of stored fields never change', () => {
  const codes = EVENT_ENTITIES.flatMap((entity) =>
    EVENT_ACTIONS.map((action) => `${typeCode(entity, action)} ${entity}.${action}`),
  );
  assert.deepEqual(codes, [
    ...['0 cooperative.created', '1 cooperative.updated', '2 cooperative.deleted'],
    ...['3 member.created', '4 member.updated', '5 member.deleted'],
    ...['6 loan.created', '7 loan.updated', '8 loan.deleted'],
    ...['9 payment.created', '10 payment.updated', '11 payment.deleted'],
  ]);
  // New fields are added at the end of these lists, here too.
  assert.deepEqual(
    Object.entries(EVENT_FIELDS).map(([entity, fields]) => `${entity}: ${fields.join(' ')}`),
    [
      'cooperative: code name sector province district registration_date status',
      'member: cooperative_id identity_card member_code full_name first_name last_name gender ' +
        'date_of_birth mobile role status registration_date production_summary savings_summary',
      'loan: cooperative_id member_id reference amount interest_rate status paid_amount loan_start_date ' +
        'loan_end_date approved_at',
      'payment: cooperative_id loan_id reference amount method status paid_at',
    ],
  );
});

test('types, actors and fields are read as they were stored', () => {
  for (const entity of EVENT_ENTITIES) {
    for (const action of EVENT_ACTIONS) {
      const code = typeCode(entity, action);
      assert.deepEqual([entityOfType(code), typeOfCode(code)], [entity, `${entity}.${action}`]);
    }
    const fields = EVENT_FIELDS[entity];
    assert.deepEqual(fieldsOfBits(entity, fieldBits(entity, fields)), [...fields]);
    assert.deepEqual(fieldsOfBits(entity, fieldBits(entity, ['status'])), ['status']);
  }
  for (const actor of ['key:7', 'import:12', 'undo:1', 'correction:900000'] as const) {
    assert.equal(actorOfCode(actorCode(actor)), actor);
  }
});

test('a field that events do not name has no bit', () => {
  assert.equal(fieldBits('member', ['updated_at', 'status']), fieldBits('member', ['status']));
});
