/** What is said of a proposed map: what was guessed, and what a person must write in place of null. */

import type { PlacedHeading } from '../../import/proposal/place-headings.ts';
import type { MapProposal } from '../../import/proposal/propose-map.ts';

/** For programs: the map, and what is open in it. */
export function describeProposal(proposal: MapProposal): object {
  const { document, headerLine, headings, unknownWords, missing } = proposal;
  return {
    map: document,
    header_line: headerLine,
    guessed: guessed(headings).map(({ text, column, by }) => ({ heading: text, column, by })),
    ignored: ignored(headings).map(({ text }) => text),
    unnamed: unnamed(headings),
    open: openPlaces(proposal),
    more_words: unknownWords.flatMap(({ column, hasMore }) => (hasMore ? column : [])),
    missing,
  };
}

/** For people. */
export function remarksOn(proposal: MapProposal): string[] {
  const { document, headerLine, headings, unknownWords, missing } = proposal;
  const unknown = ignored(headings).map(({ text }) => quote(text));
  const positions = unnamed(headings);
  return [
    `The header is on line ${headerLine}.`,
    ...guessed(headings).map(
      ({ text, column, by }) => `${quote(text)} is read as ${column}, guessed from its ${by}: check it.`,
    ),
    ...(unknown.length === 0 ? [] : [`Left null, which ignores the column: ${unknown.join(', ')}.`]),
    ...(positions.length === 0
      ? []
      : [`No map can name the headings in these positions, which are ignored: ${positions.join(', ')}.`]),
    ...unknownWords.flatMap(({ column, words, hasMore }) => [
      ...(words.length === 0
        ? []
        : [`${column}: write what these words mean in place of null: ${words.map(quote).join(', ')}.`]),
      ...(hasMore
        ? [`${column}: it has other unknown words, which are not shown, as they may be somebody's data.`]
        : []),
    ]),
    ...Object.keys(document.constants ?? {}).map(
      (column) => `${column}: no heading gives it. Write the value of every row in place of null.`,
    ),
    ...(document.dates === null
      ? ['dates: the file does not settle the order of day and month. Write "dmy" or "mdy" in place of null.']
      : []),
    ...(document.decimal === null
      ? ['decimal: the file does not settle the decimal mark. Write "," or "." in place of null.']
      : []),
    ...(missing.length === 0
      ? []
      : [`Needed, and no heading is read as it: ${missing.join(', ')}. Write it beside its heading.`]),
  ];
}

const guessed = (headings: readonly PlacedHeading[]): PlacedHeading[] =>
  headings.filter(({ by }) => by === 'values' || by === 'spelling');

const ignored = (headings: readonly PlacedHeading[]): PlacedHeading[] =>
  headings.filter(({ column, isNameable }) => isNameable && column === null);

/** Positions, from 1, of headings that repeat another or may be data. */
const unnamed = (headings: readonly PlacedHeading[]): number[] =>
  headings.flatMap(({ text, column, isNameable }, place) =>
    text === '' || isNameable || column !== null ? [] : [place + 1],
  );

/** Paths of the nulls that an import refuses. */
function openPlaces({ document, unknownWords }: MapProposal): string[] {
  return [
    ...Object.keys(document.constants ?? {}).map((column) => `constants.${column}`),
    ...unknownWords.flatMap(({ column, words }) => words.map((word) => `values.${column}.${word}`)),
    ...(['dates', 'decimal'] as const).filter((key) => document[key] === null),
  ];
}

const quote = (text: string): string => `"${text}"`;
