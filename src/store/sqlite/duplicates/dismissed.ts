/**
 * Pairs that somebody has set aside: known from the corrections that stand, like transfers, so that each has
 * its reason, its user and its undo.
 */
import type { Connection } from '../engine/connection.ts';
import { MERGED_MEMBERS, redirectSql } from '../identity/former-keys.ts';

export const DISMISSAL_KIND = 'duplicates_dismiss';

/** What is kept of one: ids of members. */
export interface DismissalOptions {
  readonly one: number;
  readonly other: number;
}

/** The member that has now what the one with this id had. */
const memberNow = (name: keyof DismissalOptions): string => {
  const id = `json_extract(o.options, '$.${name}')`;
  return `coalesce((${redirectSql(MERGED_MEMBERS, id)}), ${id})`;
};

/** The same for both orders. */
export const personPair = (one: string, other: string): string =>
  one < other ? `${one} ${other}` : `${other} ${one}`;

/** The corrections by the pairs of national IDs that they have set aside: two people in every cooperative. */
export const readDismissed = (db: Connection): ReadonlyMap<string, number> =>
  new Map(
    db
      .rows<{ id: number; one: string; other: string }>(
        `SELECT o.id, a.identity_card AS one, b.identity_card AS other FROM main.operations o
         CROSS JOIN main.members a ON a.id = ${memberNow('one')}
         CROSS JOIN main.members b ON b.id = ${memberNow('other')}
         WHERE o.kind = '${DISMISSAL_KIND}' AND o.undone_at IS NULL`,
      )
      .map(({ id, one, other }) => [personPair(one, other), id]),
  );
