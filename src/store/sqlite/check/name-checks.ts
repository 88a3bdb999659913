/** Whether the indexes of names have exactly the words of all names: reads everything, for `check`. */
import type { Finding } from '../../contract/storage.ts';
import type { Connection } from '../engine/connection.ts';
import { openTemporary } from '../engine/open-database.ts';
import { nextSql } from '../schema/declared-totals.ts';
import { wordsOnlySql } from '../schema/indexed-names.ts';
import { FIRST_UNINDEXED } from '../search/index-names.ts';

/** An index as it should be, in a file of its own. */
const EXPECTED = {
  applicationId: 1,
  migrations: [
    `CREATE VIRTUAL TABLE expected ${wordsOnlySql(", content = ''")};
     CREATE VIRTUAL TABLE expected_words USING fts5vocab(expected, instance)`,
  ],
};

type Instance = readonly [word: string, id: number];

/** Each word with each row that has it, in order. */
const wordsIn = (db: Connection, words: string): IterableIterator<Instance> =>
  db.raw.prepare(`SELECT term, doc FROM ${words}`).raw().iterate() as IterableIterator<Instance>;

function firstDifference(
  found: IterableIterator<Instance>,
  expected: IterableIterator<Instance>,
): number | undefined {
  try {
    for (;;) {
      const [one, other] = [found.next().value, expected.next().value];
      if (one?.[0] !== other?.[0] || one?.[1] !== other?.[1]) return (one ?? other)?.[1];
      if (one === undefined) return undefined;
    }
  } finally {
    found.return?.();
    expected.return?.();
  }
}

/** @returns the first row of which a word is missing or too many */
function firstWrong(registry: Connection, index: string, condition: string): number | undefined {
  const temporary = openTemporary(EXPECTED, { tempStore: 'FILE' });
  try {
    const insert = temporary.raw.prepare('INSERT INTO expected (rowid, words) VALUES (?, ?)');
    const names = registry.raw.prepare(`SELECT id, words FROM ${index}_source WHERE ${condition}`).raw();
    temporary.transaction.immediate(() => {
      for (const name of names.iterate()) insert.run(name);
    });
    return firstDifference(wordsIn(registry, `${index}_words`), wordsIn(temporary, 'expected_words'));
  } finally {
    temporary.close();
  }
}

export function checkNames(registry: Connection): Finding[] {
  const from = registry.value<number | undefined>(FIRST_UNINDEXED);
  const isNamed = `id < min(${from ?? 'id + 1'}, ${nextSql('members')})`;
  const missing = from === undefined ? 0 : registry.count('member_names_source WHERE id >= ?', [from]);
  const findings = [
    ['members', firstWrong(registry, 'member_names', isNamed)],
    ['cooperatives', firstWrong(registry, 'cooperative_names', 'true')],
  ] as const;
  return [
    { check: 'names not indexed yet', fault: null, value: String(missing) },
    ...findings.map(([table, id]) => ({
      check: `names of ${table}`,
      fault: id === undefined ? null : `wrong: index of row ${id}`,
    })),
  ];
}
