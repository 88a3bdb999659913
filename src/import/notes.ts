/** What was read leniently or skipped: counted by kind and column, with the lines. */

export interface ImportNote {
  readonly kind: string;
  /** Empty when the note concerns no single column. */
  readonly column: string;
  readonly count: number;
  /** In the order in which they were noted. */
  lines(): Iterable<number>;
}

interface Entry {
  readonly kind: string;
  readonly column: string;
  count: number;
  /** First and last line of each run of successive lines, so that a note on every row takes no memory. */
  readonly runs: number[];
}

export class NoteLog {
  readonly #entries = new Map<string, Entry>();

  add(kind: string, column: string, line: number): void {
    const key = `${kind} ${column}`;
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = { kind, column, count: 0, runs: [] };
      this.#entries.set(key, entry);
    }
    entry.count++;
    const { runs } = entry;
    if (runs.at(-1) === line - 1) runs[runs.length - 1] = line;
    else runs.push(line, line);
  }

  list(): ImportNote[] {
    return [...this.#entries.values()].map(({ kind, column, count, runs }) => ({
      ...{ kind, column, count },
      lines: () => linesOf(runs),
    }));
  }
}

function* linesOf(runs: readonly number[]): Generator<number> {
  for (let i = 0; i < runs.length; i += 2)
    for (let line = runs[i] as number; line <= (runs[i + 1] as number); line++) yield line;
}
