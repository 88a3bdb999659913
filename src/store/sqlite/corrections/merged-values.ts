/** Which value wins when two members are merged: `merge` of each field in domain/membership/members.ts. */
import { MEMBER_FIELDS } from '../../../domain/membership/members.ts';
import { listFields } from '../../../domain/values/declared-fields.ts';
import type { Connection } from '../engine/connection.ts';

const columnsTo = (what: 'fill' | 'fill together'): string[] =>
  listFields(MEMBER_FIELDS).flatMap(({ column, merge }) => (merge === what ? [column] : []));

const HAS_NO_PARTS = 'm.first_name IS NULL AND m.last_name IS NULL';

/** Fills what the members who stay do not have from those who go, in the pairs that merge.ts has staged. */
export function takeOverValues(db: Connection): void {
  const gaps = columnsTo('fill').map((column) => `${column} = coalesce(m.${column}, f.${column})`);
  const names = columnsTo('fill together').map(
    (column) => `${column} = iif(${HAS_NO_PARTS}, f.${column}, m.${column})`,
  );
  db.exec(`UPDATE main.members AS m SET ${[...gaps, ...names].join(', ')}
    FROM temp.pairs p CROSS JOIN main.members f ON f.id = p.from_id WHERE m.id = p.into_id`);
}
