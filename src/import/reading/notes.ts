/** Notes about cells and lines that an import reads leniently or skips. */

import { hideIdentityCards } from '../../values/identity-card.ts';
import type { Text } from '../../values/message.ts';
import type { ImportFault } from '../files/records.ts';

const ofFile = (refusal: string) => ({ refuses: 'file' as const, refusal });
const ofRow = (refusal: string) => ({ refuses: 'row' as const, refusal });

/** Kinds of notes (docs/import-reference.md#notes), each with the fault that replaces it under `--strict`. */
export const NOTES = {
  encoding: ofFile('Refused with --strict: the file is not UTF-8.'),
  title_row: ofFile('Refused with --strict: this line is above the header.'),
  heading: ofFile('Refused with --strict: the heading is not the name of the column.'),
  ignored_column: ofFile('Refused with --strict: the column is unknown.'),
  empty_row: ofRow('Refused with --strict: the line is empty.'),
  totals_row: ofRow('Refused with --strict: this is a row of totals.'),
  repeated_header: ofRow('Refused with --strict: the line repeats the header.'),
  text_below: ofRow('Refused with --strict: this text is below the table.'),
  example_row: ofRow('Refused with --strict: this is the example of the template.'),
  hidden_row: ofRow('Refused with --strict: the row is hidden.'),
  hidden_column: ofFile('Refused with --strict: the column is hidden.'),
  merged_cell: ofRow('Refused with --strict: the cell is merged with one above.'),
  word: ofRow("Refused with --strict: the word is not one of the registry's."),
  empty_word: ofRow('Refused with --strict: leave the cell empty.'),
  second_phone: ofRow('Refused with --strict: the cell has several telephone numbers.'),
  spreadsheet_text: ofRow('Refused with --strict: the text is wrapped as a formula or has an apostrophe.'),
  decimal_comma: ofRow('Refused with --strict: this is a decimal comma.'),
  unit: ofRow('Refused with --strict: write the number without its unit.'),
  rounded: ofRow('Refused with --strict: the number was rounded.'),
  date_order: ofRow('Refused with --strict: write day and month with two digits.'),
  two_digit_year: ofRow('Refused with --strict: write the year with four digits.'),
};

export type NoteKind = keyof typeof NOTES;

export interface ImportNote {
  readonly kind: NoteKind;
  /** Name of the column; empty for a note that does not concern a single column. */
  readonly column: string;
  readonly count: number;
  /** First few texts that were skipped, without national IDs. */
  readonly texts?: readonly string[];
  /** Lists the lines in the order in which they were noted. */
  lines(): Iterable<number>;
}

/** Maximum number of faults for a range of lines. The file is refused anyway. */
const MOST_FAULTS = 1_000;
const [MOST_TEXTS, MOST_TEXT_CHARACTERS] = [5, 80];

interface NoteOptions {
  /** Message of the fault, instead of the one in `NOTES`. */
  readonly refusal?: Text;
  readonly text?: string | undefined;
}

/** Collects notes by kind and column. With `--strict`, collects faults instead. */
export class NoteLog {
  readonly #isStrict: boolean;
  /**
   * Notes by kind and column. `runs` contains the first and last line of each range of successive lines,
   * because every line of a large file may have a note.
   */
  readonly #entries = new Map<
    string,
    Omit<ImportNote, 'lines'> & { count: number; texts?: string[]; runs: number[] }
  >();
  #faults: ImportFault[] = [];

  constructor(isStrict: boolean) {
    this.#isStrict = isStrict;
  }

  note(kind: NoteKind, column: string, line: number, options: NoteOptions = {}): void {
    const { refusal: message, refuses } = NOTES[kind];
    if (this.#isStrict) {
      this.#faults.push({ line, column, message: options.refusal ?? message, refuses });
      return;
    }
    const entry = this.#add(kind, column, line, line);
    if (options.text === undefined) return;
    entry.texts ??= [];
    if (entry.texts.length < MOST_TEXTS)
      entry.texts.push(hideIdentityCards(options.text).slice(0, MOST_TEXT_CHARACTERS));
  }

  noteLines(kind: NoteKind, first: number, last: number): void {
    if (!this.#isStrict) {
      this.#add(kind, '', first, last);
      return;
    }
    const end = Math.min(last, first + MOST_FAULTS - 1);
    for (let line = first; line <= end; line++) this.note(kind, '', line);
  }

  #add(kind: NoteKind, column: string, first: number, last: number) {
    const key = `${kind} ${column}`;
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = { kind, column, count: 0, runs: [] };
      this.#entries.set(key, entry);
    }
    entry.count += last - first + 1;
    const { runs } = entry;
    if (runs.at(-1) === first - 1) runs[runs.length - 1] = last;
    else runs.push(first, last);
    return entry;
  }

  takeFaults(): ImportFault[] {
    const faults = this.#faults;
    this.#faults = [];
    return faults;
  }

  list(): ImportNote[] {
    return [...this.#entries.values()].map(({ runs, ...note }) => ({ ...note, lines: () => linesOf(runs) }));
  }
}

function* linesOf(runs: readonly number[]): Generator<number> {
  for (let i = 0; i < runs.length; i += 2)
    for (let line = runs[i] as number; line <= (runs[i + 1] as number); line++) yield line;
}
