/**
 * Corrections that people made by hand: a value whose last change came over HTTP or by a command is kept
 * where the file still has what it was before (docs/import-reference.md#values-changed-by-hand).
 */
import type { ImportKind } from '../../../contract/import/import-session.ts';
import { REVERSED_ACTORS } from '../../journal/operations.ts';
import { keepStored } from '../staged/changes.ts';
import type { FileScope } from '../staged/file-scope.ts';

/**
 * Changes of one field of a row, of which `h` is one; `e` is what the file would change. The paid amount of a
 * file is compared with the total that is paid, too.
 */
const ofField = (kind: ImportKind, h: string): string =>
  `${h}.entity = '${kind}' AND ${h}.row_id = e.row_id AND ${h}.field IN (e.field, e."column")`;
/** An undo and the import that it took back leave no trace in what counts. */
const isInForce = (h: string): string => `${h}.actor NOT IN (${REVERSED_ACTORS})`;
const isByHand = (h: string): string => `(${h}.actor GLOB 'key:*' OR ${h}.actor GLOB 'correction:*')`;

/**
 * A void payment stays void, whoever made it so, and whatever else is imported; an opening balance that is
 * kept keeps its end.
 */
export function keepRelated(scope: FileScope): void {
  if (scope.kind === 'payments')
    keepStored(
      scope,
      `SELECT e.id FROM staging.changes e CROSS JOIN main.payments t ON t.id = e.row_id
       WHERE e."column" = 'status' AND t.status = 'void'`,
    );
  if (scope.kind === 'loans')
    keepStored(
      scope,
      `SELECT e.id FROM staging.changes e WHERE e."column" = 'paid_until'
         AND e.line IN (SELECT line FROM staging.kept WHERE "column" = 'paid_amount')`,
    );
}

/** Takes such values off the staged changes: they are listed as kept. */
export function keepCorrections(scope: FileScope): void {
  const { db, kind } = scope;
  if (!db.has('staging.changes')) return;
  // Before the first correction since the last import, the value was what that one had set, or what the row
  // was created with.
  const found = `SELECT e.id FROM staging.changes e CROSS JOIN main.changes l
    ON l.id = (SELECT max(h.id) FROM main.changes h WHERE ${ofField(kind, 'h')} AND ${isInForce('h')})
      AND ${isByHand('l')}
    WHERE e.new IS (SELECT f.old FROM main.changes f WHERE ${ofField(kind, 'f')} AND f.id >
      coalesce((SELECT max(g.id) FROM main.changes g
        WHERE ${ofField(kind, 'g')} AND ${isInForce('g')} AND NOT ${isByHand('g')}), 0)
      ORDER BY f.id LIMIT 1)`;
  keepStored(scope, found);
}
