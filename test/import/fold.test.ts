/** How headings and words are compared. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { foldHeading } from '../../src/import/reading/fold-and-misspellings.ts';

test('headings are equal without regard to case, accents, spaces and punctuation', () => {
  const spellings = [
    "Date d'adhésion",
    'DATE D’ADHE\u0301SION',
    ' date_d_adhesion ',
    'Date-d.Adhésion\u00a0:',
  ];
  assert.deepEqual(new Set(spellings.map(foldHeading)), new Set(['datedadhesion']));
  assert.equal(foldHeading('Œuvre'), foldHeading('oeuvre'));
  assert.equal(foldHeading('N° de téléphone (1)'), 'ndetelephone1');
  assert.equal(foldHeading('Ｎｏｍ'), 'nom');
});

test('letters, digits and their order tell headings apart', () => {
  const headings = ['Phone 1', 'Phone 2', 'Nom', 'Prénom', 'Nom Prénom', 'Prénom Nom', 'телефон', 'Ndabaga'];
  assert.equal(new Set(headings.map(foldHeading)).size, headings.length);
});

test('a text without a letter or digit stays as it is, and only a blank one folds to nothing', () => {
  assert.deepEqual(['#', ' - ', '«»', '?'].map(foldHeading), ['#', '-', '«»', '?']);
  assert.deepEqual(['', ' ', '\u00a0\t'].map(foldHeading), ['', '', '']);
});

test('what is folded stays as it is when it is folded again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      assert.equal(foldHeading(foldHeading(text)), foldHeading(text));
      assert.equal(foldHeading(text), foldHeading(text.normalize('NFC')));
    }),
    { numRuns: 2000 },
  );
});
