/** What the pages of imports show of the registry. */
import { FIELD_GROUPS } from '../../../store/contract/access-ledger.ts';
import type { Shows, Visit } from '../../visit/screen.ts';

/** Values of anybody may be among the changes. */
export async function showingAll({ desk }: Visit): Promise<Shows> {
  const { sequence } = await desk.storage.readCondition();
  const all = { asOfSequence: sequence?.lastSequence ?? 0, cooperativeIds: null };
  return { fields: FIELD_GROUPS, subject: { all } };
}
