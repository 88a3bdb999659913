/** Finds the present and former national IDs and member ids under which the access ledger knows a person. */

import { findErasure } from '../registry/stored/erasures.ts';
import { REPLACED_NUMBERS } from '../registry/stored/former-ids.ts';
import { identifyPerson, listOf, type Person } from '../registry/stored/identify.ts';
import { openStoredDataAnd } from '../registry/stored/stored-data.ts';
import type { Connection } from '../sqlite/connection.ts';
import { ERASED_STATUS } from '../sqlite/counts.ts';
import type { Storage } from '../sqlite/storage.ts';

/** Period in which one of this person's national IDs belonged to another person. */
interface OtherHolder {
  readonly identityCard: string;
  readonly memberId: number;
  /** Epoch seconds. */
  readonly since: number;
  /** Epoch seconds; null if the ID still belongs to the other person. */
  readonly until: number | null;
}

export type PersonTraces = ReturnType<typeof findTraces>;

export interface KnownNumber {
  /** Present or former national ID. */
  readonly number: string;
  /** Present national ID of the same person. */
  readonly current: string;
  /** Epoch second at which the person lost the number; null if the number still leads to the person. */
  readonly until: number | null;
}

function findTraces(db: Connection, requested: string) {
  const { rows: memberIds, numbers, mistaken } = identifyPerson(db, requested) ?? NOBODY;
  const rows = listOf(memberIds);
  /** Returns a SELECT of a column's present and former values in the person's rows, even in removed rows. */
  const values = (column: string) => `SELECT ${column} AS value FROM main.members WHERE id IN (${rows})
    ${['old', 'new']
      .map(
        (side) => `UNION SELECT ${side} FROM main.changes WHERE entity = 'members' AND row_id IN (${rows})
          AND field = '${column}' AND ${side} IS NOT NULL`,
      )
      .join(' ')}`;
  const identityCards = [...new Set([requested, ...numbers, ...mistaken])];
  return {
    /** All present and former national IDs of the person. The requested ID is first. */
    identityCards,
    otherHolders: otherHolders(db, identityCards, memberIds),
    /** Ids of the person's members, including members that were merged into others. */
    memberIds,
    cooperativeIds: db.values<number>(values('cooperative_id')),
    /** Epoch second of the first registration; undefined for an erased or unknown person. */
    since: db.value<number | null>(`SELECT min(value) FROM (${values('created_at')})`) ?? undefined,
    /** Epoch second of the erasure. The registry no longer knows the cooperatives of an erased person. */
    erasedAt: findErasure(db, requested),
  };
}

const NOBODY: Pick<Person, 'rows' | 'numbers' | 'mistaken'> = { rows: [], numbers: [], mistaken: [] };

const IS_NUMBER = "c.entity = 'members' AND c.field = 'identity_card'";

/** SELECT of all national IDs of the members in `others`, with the period in which each ID was valid. */
const HOLDERS = `
  SELECT c.row_id AS memberId, c.old AS identityCard, c.at AS until,
    coalesce(lag(c.at) OVER (PARTITION BY c.row_id ORDER BY c.id),
      (SELECT created_at FROM main.members WHERE id = c.row_id),
      (SELECT old FROM main.changes
       WHERE entity = 'members' AND row_id = c.row_id AND field = 'created_at' AND old IS NOT NULL), 0
    ) AS since
  FROM main.changes c WHERE ${IS_NUMBER} AND c.row_id IN (SELECT id FROM others)
  UNION ALL SELECT m.id, m.identity_card, NULL, coalesce(
      (SELECT c.at FROM main.changes c WHERE ${IS_NUMBER} AND c.row_id = m.id ORDER BY c.id DESC LIMIT 1),
      m.created_at)
  FROM main.members m WHERE m.id IN (SELECT id FROM others)`;

function otherHolders(
  db: Connection,
  identityCards: readonly string[],
  memberIds: readonly number[],
): OtherHolder[] {
  const numbers = listOf(identityCards);
  return db.rows<OtherHolder>(
    `WITH others (id) AS (
       SELECT id FROM main.members WHERE identity_card IN (${numbers})
       UNION SELECT c.row_id FROM main.changes c WHERE ${IS_NUMBER} AND c.old IN (${numbers})
       EXCEPT VALUES ${[0, ...memberIds].map((id) => `(${id})`).join(', ')})
     SELECT identityCard, memberId, since, until FROM (${HOLDERS}) WHERE identityCard IN (${numbers})`,
  );
}

/** SELECT of all national IDs. Reads former IDs from the history, because some of them have no redirect. */
const KNOWN_NUMBERS = `
  SELECT * FROM (
    SELECT c.old AS number, m.identity_card AS current, c.at AS until
    FROM main.changes c CROSS JOIN main.members m ON m.id = c.row_id
    WHERE ${IS_NUMBER} AND c.old IS NOT NULL AND m.status <> '${ERASED_STATUS}' ORDER BY c.at)
  UNION ALL SELECT old, new, NULL FROM main.${REPLACED_NUMBERS.inForce}
  UNION ALL SELECT DISTINCT identity_card, identity_card, NULL FROM main.members
    WHERE status <> '${ERASED_STATUS}'`;

export const openPersonTraces = (storage: Storage) =>
  openStoredDataAnd(storage, (db) => ({
    /** For an unknown national ID, returns only this ID. */
    findTraces: (identityCard: string) => db.transaction.deferred(() => findTraces(db, identityCard)),
    /** Yields all national IDs: first those from the history, in the order of their replacement. */
    listNumbers: (): Iterable<KnownNumber> => db.iterate<KnownNumber>(KNOWN_NUMBERS),
  }));

export type PersonTracesStore = ReturnType<typeof openPersonTraces>;
