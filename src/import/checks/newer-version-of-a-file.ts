/**
 * Detects a newer version of an imported file (docs/import-reference.md#a-newer-version-of-a-file). Such
 * a file has a new entry, and lacks a similar stored entry of the same day. Neither entry has a reference.
 */

import { replacementOf } from '../../journal/operations.ts';
import { creatorSql } from '../../registry/changes/row-labels.ts';
import { tableOf } from '../../registry/changes/tables.ts';
import { DERIVED_REFERENCE } from '../../registry/entries.ts';
import type { TimeZone } from '../../values/date-time.ts';
import { joinTexts, Message, say, type Text, Written } from '../../values/message.ts';
import { dayOf, type FileScope, isOnDay } from '../staging/staging-tables.ts';
import { ROWS } from './check-statements.ts';

/** Maximum number of entries in a message. */
const SHOWN = 3;

/** `same` is the SQL condition for a similar stored entry. */
const ENTRIES = {
  production: {
    same: 't.member_id = p.member_id AND t.product IS r.product',
    at: 'delivered_at',
    value: { row: 'r.kg / 1000.0', stored: 't.grams / 1000.0' },
    example: 'line {line}: {now} kg in place of {before} on {day}',
    summary:
      '{rows|# delivery is|# deliveries are} new on a day on which import {id} has others that ' +
      'this file lacks ({examples})',
  },
  savings: {
    same: 't.account_id = p.account_id AND t.kind = r.kind',
    at: 'transacted_at',
    value: { row: 'r.amount / 100.0', stored: 't.amount_minor / 100.0' },
    example: 'line {line}: {now} Frw in place of {before} on {day}',
    summary:
      '{rows|# transaction is|# transactions are} new on a day on which import {id} has others that ' +
      'this file lacks ({examples})',
  },
} as const;

/** @returns SELECT of `line, detail`; undefined if no earlier import has entries without a reference */
export function newerVersionSql({ db, kind, zone }: FileScope): string | undefined {
  if (kind !== 'production' && kind !== 'savings') return undefined;
  const earlier = `main.operations o CROSS JOIN main.imported_files f ON f.operation_id = o.id
    WHERE o.kind = '${kind}' AND o.undone_at IS NULL AND f.time_zone IS NOT NULL`;
  if (!db.has(earlier)) return undefined;
  const { same, at } = ENTRIES[kind];
  // Skips corrected rejects (`r.origin` is not empty), which lack the accepted rows of the original file.
  db.exec(`DELETE FROM staging.superseded;
    INSERT INTO staging.superseded (line, entry_id) SELECT r.line, min(t.id)
    FROM ${ROWS}
    CROSS JOIN main.${tableOf(kind).table} t ON ${same} AND ${isOnDay(`t.${at}`, dayOf(`r.${at}`, zone))}
    WHERE p.id IS NULL AND r.origin = '' AND t.reference GLOB '${DERIVED_REFERENCE}*'
      AND t.id NOT IN (SELECT id FROM staging.resolved_references WHERE id IS NOT NULL)
      AND t.id NOT IN (SELECT id FROM staging.missing)
    GROUP BY r.line`);
  return detailsSql(kind, zone);
}

/** SELECT of the newest version of `g.import`. Later versions have higher ids. */
const NEWEST = `WITH RECURSIVE versions (id) AS (SELECT g.import
    UNION ALL SELECT (${replacementOf('v.id')}) FROM versions v WHERE v.id IS NOT NULL)
  SELECT max(id) FROM versions`;

/** Returns a SELECT of `line` and a `Detail` in JSON. */
function detailsSql(kind: keyof typeof ENTRIES, { offsetSeconds }: TimeZone): string {
  const { at, value } = ENTRIES[kind];
  const number = (of: string) => `printf('%.15g', ${of})`;
  const entry = `line, ${number('new')}, ${number('old')}, date(at + ${offsetSeconds}, 'unixepoch')`;
  return `SELECT * FROM (WITH found AS MATERIALIZED (SELECT s.line, ${value.row} AS new,
      ${value.stored} AS old, t.${at} AS at, ${creatorSql(`'${kind}'`, 't.id')} AS import
    FROM staging.superseded s CROSS JOIN staging.rows r ON r.line = s.line
    CROSS JOIN main.${tableOf(kind).table} t ON t.id = s.entry_id),
  places AS (SELECT *, row_number() OVER (PARTITION BY import ORDER BY line) AS place FROM found),
  details AS MATERIALIZED (SELECT import, json_array((${NEWEST}),
      (SELECT count(*) FROM found f WHERE f.import = g.import) > ${SHOWN},
      json_group_array(json_array(${entry}))) AS text
    FROM (SELECT * FROM places WHERE place <= ${SHOWN} ORDER BY line) g GROUP BY import)
  SELECT f.line, d.text FROM found f JOIN details d ON d.import = f.import)`;
}

type Detail = readonly [
  newest: number,
  isMore: 0 | 1,
  entries: readonly (readonly [line: number, now: string, before: string, day: string])[],
];

export const describeNewer =
  (kind: keyof typeof ENTRIES) =>
  (rows: number, detail: string): Text => {
    const [newest, isMore, entries]: Detail = JSON.parse(detail);
    const id = String(newest);
    const examples = entries.map(([line, now, before, day]) => {
      const amounts = { now: new Written('amount', now), before: new Written('amount', before) };
      return new Message(ENTRIES[kind].example, { line, ...amounts, day: new Written('day', day) });
    });
    const found = new Message(ENTRIES[kind].summary, {
      rows,
      id,
      examples: joinTexts(isMore === 1 ? [...examples, '…'] : examples, '; '),
    });
    return say(
      '{found}. If the file is a newer version of import {id}, add --replaces {id}; if these rows are ' +
        'additional, add --yes.',
      { found, id },
    );
  };
