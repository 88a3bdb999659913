/** The warnings that all ledgers have, as `warning-statements.ts` has those of each kind. */
import { say, unpack } from '../../../../domain/values/message.ts';
import { removedSql } from '../checks/missing-rows.ts';
import { alreadyStoredSql } from './already-stored.ts';
import { otherCooperativeSql, otherNameSql } from './ledger-of-another-cooperative.ts';
import { describeNewer, newerVersionSql } from './newer-version.ts';

export const LEDGER_WARNINGS = [
  {
    kind: 'other_cooperative',
    needs: [],
    sql: otherCooperativeSql,
    message: (_: number, detail: string) => unpack(detail),
  },
  {
    kind: 'other_name',
    needs: ['full_name'],
    sql: otherNameSql,
    message: (n: number) =>
      say('{n|# row has|# rows have} a name that shares no word with that of the member.', { n }),
  },
  {
    kind: 'already_stored',
    needs: [],
    sql: alreadyStoredSql,
    message: (_: number, detail: string) => unpack(detail),
  },
  {
    kind: 'removed',
    needs: [],
    sql: removedSql,
    message: (_: number, detail: string) => unpack(detail),
  },
] as const;

/** Of ledgers whose rows may come without a reference. */
export const newerVersion = (kind: 'production' | 'savings') =>
  ({ kind: 'newer_version', needs: [], sql: newerVersionSql, message: describeNewer(kind) }) as const;
