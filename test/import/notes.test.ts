import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { NOTES, NoteLog } from '../../src/import/reading/notes.ts';

test('notes are counted by kind and column, with every line in order', () => {
  const log = new NoteLog(false);
  for (const line of [2, 3, 4, 9]) log.note('heading', 'delivered_at', line);
  log.note('heading', 'registration_date', 3);
  log.note('empty_row', '', 7);
  assert.deepEqual(
    log.list().map(({ lines, ...note }) => ({ ...note, lines: [...lines()] })),
    [
      { kind: 'heading', column: 'delivered_at', count: 4, lines: [2, 3, 4, 9] },
      { kind: 'heading', column: 'registration_date', count: 1, lines: [3] },
      { kind: 'empty_row', column: '', count: 1, lines: [7] },
    ],
  );
});

test('the lines of a note can be read more than once', () => {
  const log = new NoteLog(false);
  log.note('ignored_column', 'mobile', 5);
  const [note] = log.list();
  assert.deepEqual([...(note?.lines() ?? [])], [5]);
  assert.deepEqual([...(note?.lines() ?? [])], [5]);
});

test('a national ID in the texts of a note is hidden also where the text is cut', () => {
  const log = new NoteLog(false);
  const before = 'Bikozwe na '.padEnd(66, '.');
  log.note('text_below', '', 9, { text: `${before}1198580012345678` });
  assert.deepEqual(log.list()[0]?.texts, [`${before}(hidden)`]);
});

test('the documented kinds of notes are those of the code, each with its fault', () => {
  const reference = readFileSync(new URL('../../docs/import-reference.md', import.meta.url), 'utf8');
  const section = /^## Notes$([\s\S]*?)^## /m.exec(reference)?.[1] ?? '';
  const listed = [...section.matchAll(/^- `(\w+)`: [\s\S]*?\(`([^`]*)`\)$/gm)];
  assert.deepEqual(
    listed.map(([, kind, text = '']) => [kind, `Refused with --strict: ${text.replace(/\s+/g, ' ')}`]),
    Object.entries(NOTES).map(([kind, { refusal }]) => [kind, refusal]),
  );
});
