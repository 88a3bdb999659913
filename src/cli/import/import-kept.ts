/** What an import leaves as it is stored: values that were corrected, and rows that a newer version lacks. */
import { DERIVED_REFERENCE } from '../../domain/entries/entries.ts';
import { hideIdentityCards } from '../../domain/membership/identity-card.ts';
import type { TimeZone } from '../../domain/values/date-time.ts';
import { joinTexts, say, type Text, Written } from '../../domain/values/message.ts';
import { IMPORT_COLUMNS } from '../../import/columns/columns.ts';
import { formatStored, kindOf } from '../../import/columns/stored-values.ts';
import { nameOf } from '../../import/run/import-report.ts';
import type { AcceptedFile } from '../../store/contract/import/import-session.ts';
import { SHOWN_FAULTS, type Show } from './import-faults.ts';
import type { FileToShow } from './import-output.ts';

/** Rows shown that the replaced import had and the file has not. */
const SHOWN_MISSING = 3;
const SHOWN_OF_MISSING = {
  codes: ['code', 'member_code', 'loan_reference', 'reference', 'delivered_at', 'transacted_at', 'paid_at'],
  values: ['kg', 'product', 'kind', 'amount'],
};

/** Values that the file would change, and that stay as they were corrected. */
export function showKept(show: Show, file: string, accepted: AcceptedFile): void {
  let shown = 0;
  for (const { line, column } of accepted.listKept()) {
    if (shown++ === SHOWN_FAULTS) break;
    show(
      say('{file} line {line}, column {column}: kept, because it was corrected after it was imported.', {
        file,
        line,
        column,
      }),
      [line],
    );
  }
  const rest = accepted.changes.kept - SHOWN_FAULTS;
  if (rest > 0)
    show(
      say('{file}: {rest|# more value is|# more values are} kept; --json lists all of them.', { file, rest }),
    );
  if (accepted.canOverwriteKept)
    show(say('{file}: to import these values nevertheless, add --overwrite-corrections.', { file }));
}

/** A cell as a value that a page writes its own way. @param text of an instant, only the day */
function writtenOf(column: string, text: string): string | Written {
  const kind = kindOf(column)?.kind;
  if (text === '') return text;
  if (kind === 'decimal') return new Written('amount', text);
  return kind?.endsWith('instant') === true ? new Written('day', text) : text;
}

/** Of members only the codes; of entries that would be removed the amounts, too. */
export function showMissing(
  show: Show,
  { file, checked }: FileToShow,
  { zone, absent }: { readonly zone: TimeZone; readonly absent: string | undefined },
): void {
  const missing = checked.isRefused ? undefined : checked.missing;
  if (missing === undefined || missing.count === 0) return;
  const names = IMPORT_COLUMNS[file.kind].map(({ name }) => name);
  const isShown = (name: string) =>
    SHOWN_OF_MISSING.codes.includes(name) || (missing.areRemoved && SHOWN_OF_MISSING.values.includes(name));
  // Of an instant the day, and no reference that nobody has written.
  const shorten = (text: string) =>
    hideIdentityCards(text.startsWith(DERIVED_REFERENCE) ? '' : text.replace(/T\d\d:.*$/, ''));
  const examples: Text[] = [];
  for (const values of missing.list()) {
    const cells = names.flatMap((name, i) =>
      isShown(name) ? writtenOf(name, shorten(formatStored(name, values[i] ?? null, zone) ?? '')) : [],
    );
    if (
      examples.push(
        joinTexts(
          cells.filter((cell) => cell !== ''),
          ' ',
        ),
      ) === SHOWN_MISSING
    )
      break;
  }
  if (missing.count > examples.length) examples.push('…');
  const { count } = missing;
  const rows = say(
    '{count|# row of the replaced import is|# rows of the replaced import are} not in this file ({examples})',
    { count, examples: joinTexts(examples, '; ') },
  );
  const places = { file: nameOf(file), rows, count };
  if (missing.areRemoved) show(say('{file}: {rows}.', places));
  else if (absent === undefined)
    show(say('{file}: {rows}: {count|it stays|they stay}; --absent FILE writes {count|it|them}.', places));
  else
    show(
      say('{file}: {rows}: {count|it stays|they stay}; {absent} lists {count|it|them}.', {
        ...places,
        absent,
      }),
    );
}
