import assert from 'node:assert/strict';
import test from 'node:test';
import { NoteLog } from '../../src/import/notes.ts';

test('notes are counted by kind and column, with every line in order', () => {
  const log = new NoteLog();
  for (const line of [2, 3, 4, 9]) log.add('date_order', 'delivered_at', line);
  log.add('date_order', 'registration_date', 3);
  log.add('empty_row', '', 7);
  assert.deepEqual(
    log.list().map(({ lines, ...note }) => ({ ...note, lines: [...lines()] })),
    [
      { kind: 'date_order', column: 'delivered_at', count: 4, lines: [2, 3, 4, 9] },
      { kind: 'date_order', column: 'registration_date', count: 1, lines: [3] },
      { kind: 'empty_row', column: '', count: 1, lines: [7] },
    ],
  );
});

test('the lines of a note can be read more than once', () => {
  const log = new NoteLog();
  log.add('second_phone', 'mobile', 5);
  const [note] = log.list();
  assert.deepEqual([...(note?.lines() ?? [])], [5]);
  assert.deepEqual([...(note?.lines() ?? [])], [5]);
});
