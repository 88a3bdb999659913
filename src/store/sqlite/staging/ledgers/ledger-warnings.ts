/** The warnings that all ledgers have, as `checks/warning-statements.ts` has those of each kind. */
import { counted } from '../../../../domain/values/text.ts';
import { otherCooperativeSql, otherNameSql } from './other-cooperative.ts';

export const LEDGER_WARNINGS = [
  {
    kind: 'other_cooperative',
    needs: [],
    sql: otherCooperativeSql,
    message: (_: number, detail: string) => `${detail}: is this the right code?`,
  },
  {
    kind: 'other_name',
    needs: ['full_name'],
    sql: otherNameSql,
    message: (n: number) =>
      `${counted(n, 'row has', 'rows have')} a name that shares no word with that of the member.`,
  },
] as const;
