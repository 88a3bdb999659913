/** A cooperative in bodies and responses, from the declarations of its fields. */

import { COOPERATIVE_FIELDS, type CooperativeSummary } from '../../domain/membership/cooperatives.ts';
import { string } from '../../json/schema.ts';
import { SHOWN_COOPERATIVE_ROW } from '../../json/shown/rows.ts';
import { SHOWS_COOPERATIVES } from '../declare/narrowing.ts';
import { idFilter } from '../declare/query.ts';
import { representCounted } from '../writes/preconditions.ts';
import { declareResource } from './resource.ts';

/** The parameter `cooperative` of lists. */
export const COOPERATIVE_FILTER = idFilter(
  'Only those of the cooperative with this id.',
  'Expected the id of a cooperative; a code goes into /cooperatives?code=',
);

/** The parameter `district`, of any text: an unknown one is of no cooperative. */
export const DISTRICT_FILTER = {
  description: 'Only those of this district, in any letter case.',
  schema: string(),
  parse: (value: string) => value,
};

// The store gives the same object for a cooperative until one changes.
const summaryTexts = new WeakMap<CooperativeSummary, string>();

export function serializeCooperativeSummary(cooperative: CooperativeSummary): string {
  let text = summaryTexts.get(cooperative);
  if (text === undefined) {
    const { id, code, name } = cooperative;
    text = JSON.stringify({ id: String(id), code, name });
    summaryTexts.set(cooperative, text);
  }
  return text;
}

const counted = declareResource(COOPERATIVE_FIELDS, {
  tag: 'cooperatives',
  title: 'Cooperative',
  narrowed: SHOWS_COOPERATIVES,
  properties: SHOWN_COOPERATIVE_ROW,
});

export const COOPERATIVE: typeof counted = {
  ...counted,
  // Members join and leave without a write of the cooperative, so the tag has a part for their count.
  represent: (cooperative, zone) =>
    representCounted(
      counted.serialize(cooperative, zone),
      counted.serialize({ ...cooperative, membersCount: 0 }, zone),
      cooperative.membersCount,
    ),
};
