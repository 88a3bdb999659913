/** Identifiers of persons in the access ledger: national IDs and member ids, including former ones. */

import { findErasure } from '../registry/stored/erasures.ts';
import { REPLACED_NUMBERS } from '../registry/stored/former-ids-and-transfers.ts';
import { identifyPerson, listOf } from '../registry/stored/identify.ts';
import { openStoredDataAnd } from '../registry/stored/stored-data.ts';
import type { Connection } from '../sqlite/connection.ts';
import { ERASED_STATUS } from '../sqlite/counts.ts';
import type { Storage } from '../sqlite/storage.ts';

/**
 * Another person who has or had a national ID of this person. An access to the number in that period did not
 * show this person's data.
 */
interface OtherHolder {
  readonly identityCard: string;
  readonly memberId: number;
  /** Epoch seconds. */
  readonly since: number;
  /** Epoch seconds; null if the other person has the number now. */
  readonly until: number | null;
}

/** Identifiers under which the access ledger may know a person. */
export interface PersonTraces {
  /** Every number under which the person is or was registered, the requested one first. */
  readonly identityCards: readonly string[];
  readonly otherHolders: readonly OtherHolder[];
  /** Members who are or were the person, including merged ones. */
  readonly memberIds: readonly number[];
  /** Cooperatives in which one of these members is or was registered. */
  readonly cooperativeIds: readonly number[];
  /** Epoch second of the first registration; undefined if never registered, or erased. */
  readonly since: number | undefined;
  /** Epoch second of the erasure. The cooperatives of an erased person are no longer known. */
  readonly erasedAt: number | undefined;
}

/** A national ID that identifies, or has identified, a person. */
export interface KnownNumber {
  readonly number: string;
  readonly current: string;
  /** Epoch second until which the number identified the person; null if it still does. */
  readonly until: number | null;
}

function findTraces(db: Connection, requested: string): PersonTraces {
  const { rows: memberIds, numbers, mistaken } = identifyPerson(db, requested) ?? NOBODY;
  const rows = listOf(memberIds);
  /** Returns a SELECT of present and former values of a column, including removed and merged rows. */
  const values = (column: string) => `SELECT ${column} AS value FROM main.members WHERE id IN (${rows})
    ${['old', 'new']
      .map(
        (side) => `UNION SELECT ${side} FROM main.changes WHERE entity = 'members' AND row_id IN (${rows})
          AND field = '${column}' AND ${side} IS NOT NULL`,
      )
      .join(' ')}`;
  const identityCards = [...new Set([requested, ...numbers, ...mistaken])];
  return {
    identityCards,
    otherHolders: otherHolders(db, identityCards, memberIds),
    memberIds,
    cooperativeIds: db.values<number>(values('cooperative_id')),
    since: db.value<number | null>(`SELECT min(value) FROM (${values('created_at')})`) ?? undefined,
    erasedAt: findErasure(db, requested),
  };
}

const NOBODY = { rows: [], numbers: [], mistaken: [] };

const IS_NUMBER = "c.entity = 'members' AND c.field = 'identity_card'";

/** SELECT of the period in which each row of `others` had a national ID. */
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

/** SELECT of all numbers. The history adds numbers that were replaced without a redirect. */
const KNOWN_NUMBERS = `
  SELECT * FROM (
    SELECT c.old AS number, m.identity_card AS current, c.at AS until
    FROM main.changes c CROSS JOIN main.members m ON m.id = c.row_id
    WHERE ${IS_NUMBER} AND c.old IS NOT NULL AND m.status <> '${ERASED_STATUS}' ORDER BY c.at)
  UNION ALL SELECT old, new, NULL FROM main.${REPLACED_NUMBERS.inForce}
  UNION ALL SELECT DISTINCT identity_card, identity_card, NULL FROM main.members
    WHERE status <> '${ERASED_STATUS}'`;

/** Opens the stored data, with queries for the identifiers of persons in the ledger. */
export const openPersonTraces = (storage: Storage) =>
  openStoredDataAnd(storage, (db) => ({
    /** Finds the identifiers of a person. For an unknown number, the number is the only identifier. */
    findTraces: (identityCard: string) => db.transaction.deferred(() => findTraces(db, identityCard)),
    /** Lists all national IDs: former numbers in the order in which they ended, then valid numbers. */
    listNumbers: (): Iterable<KnownNumber> => db.iterate<KnownNumber>(KNOWN_NUMBERS),
  }));

export type PersonTracesStore = ReturnType<typeof openPersonTraces>;
