/** What a dry run shows of the rows of a file, and of the values that an import would change. */

import { hideIdentityCards } from '../../domain/membership/identity-card.ts';
import type { TimeZone } from '../../domain/values/date-time.ts';
import { type Message, say } from '../../domain/values/message.ts';
import { IMPORT_COLUMNS } from '../../import/columns/columns.ts';
import { formatStored } from '../../import/columns/stored-values.ts';
import type { ColumnChanges, FirstRow } from '../../import/run/import-news.ts';
import type { AcceptedFile, StagedChange } from '../../store/contract/import/import-session.ts';
import type { FileToShow } from './import-output.ts';

const SHOWN_EXAMPLES = 3;
/** Changes among which examples are looked for; a column that changes only later has none. */
const SEARCHED_CHANGES = 10_000;

/** For each column how many values change, with the first ones. National IDs are never among them. */
export function listColumnChanges(accepted: AcceptedFile): ColumnChanges[] {
  const examples = new Map([...accepted.columns.keys()].map((column) => [column, [] as StagedChange[]]));
  let searched = 0;
  for (const change of accepted.listChanges()) {
    const found = examples.get(change.column);
    if (found !== undefined && found.length < SHOWN_EXAMPLES) found.push(change);
    const isEnough = [...examples.values()].every(({ length }) => length === SHOWN_EXAMPLES);
    if (++searched === SEARCHED_CHANGES || isEnough) break;
  }
  const hidden = (value: StagedChange['old']) =>
    typeof value === 'string' ? hideIdentityCards(value) : value;
  return [...accepted.columns].map(([column, count]) => ({
    column,
    count,
    examples: (column === 'identity_card' ? [] : (examples.get(column) ?? [])).map((change) => ({
      row: hideIdentityCards(change.row),
      old: hidden(change.old),
      new: hidden(change.new),
    })),
  }));
}

/**
 * A line for each column, with values as they are stored and as they would be.
 * @param name of the file
 * @param empty stands for a value that is not there
 */
export function describePreview(
  name: string,
  changes: readonly ColumnChanges[],
  zone: TimeZone,
  empty: string,
): Message[] {
  return changes.map(({ column, count, examples }) => {
    const show = (value: StagedChange['old']) => formatStored(column, value, zone) ?? empty;
    const texts = examples.map((each) => `${each.row} ${show(each.old)} → ${show(each.new)}`);
    const list = (count > texts.length ? [...texts, '…'] : texts).join('; ');
    const fields = { file: name, column, count };
    return texts.length === 0
      ? say('{file}: {column} changes in {count|# row|# rows}', fields)
      : say('{file}: {column} changes in {count|# row|# rows}: {examples}', {
          ...fields,
          examples: list,
        });
  });
}

/** The first rows as they were understood, without national IDs. */
export const listFirstRows = ({ file, findings }: FileToShow): FirstRow[] =>
  findings.firstRows.map(({ line, values }) => ({
    line,
    values: Object.fromEntries(
      IMPORT_COLUMNS[file.kind].flatMap(({ name }, i) => {
        const value = values[i] ?? null;
        if (value === null || name === 'identity_card') return [];
        return [[name, typeof value === 'string' ? hideIdentityCards(value) : value]];
      }),
    ),
  }));
