/** A cooperative in bodies and responses, from the declarations of its fields. */
import {
  COOPERATIVE_FIELDS,
  type Cooperative,
  type CooperativeSummary,
} from '../../domain/membership/cooperatives.ts';
import type { TimeZone } from '../../domain/values/date-time.ts';
import { otherFields, shownObject } from '../../json/declared-fields.ts';
import { integer } from '../../json/schema.ts';
import { declareBodies } from '../declare/declared-bodies.ts';
import { pathId } from '../declare/path-id.ts';
import { idFilter } from '../declare/query.ts';
import { type Representation, representCounted } from '../writes/preconditions.ts';
import { COOPERATIVE_BODY_EXAMPLE, COOPERATIVE_PATCH_EXAMPLE } from './examples.ts';
import { SHOWN_ID, SHOWN_TIMES } from './row-properties.ts';

export const COOPERATIVE_ID = pathId("A cooperative's id; opaque.");

/** The parameter `cooperative` of lists. */
export const COOPERATIVE_FILTER = idFilter(
  'Only those of the cooperative with this id.',
  'Expected the id of a cooperative; a code goes into /cooperatives?code=',
);

export const { schema: COOPERATIVE, serialize: serializeCooperative } = shownObject<Cooperative>(
  'Cooperative',
  {
    ...SHOWN_ID,
    ...otherFields(COOPERATIVE_FIELDS, []),
    members_count: {
      schema: integer({ minimum: 0, description: 'Active members.' }),
      write: ({ membersCount }) => String(membersCount),
    },
    ...SHOWN_TIMES,
  },
);

export const COOPERATIVE_BODIES = declareBodies(COOPERATIVE_FIELDS, {
  title: 'Cooperative',
  response: COOPERATIVE,
  examples: { body: COOPERATIVE_BODY_EXAMPLE, patch: COOPERATIVE_PATCH_EXAMPLE },
});

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

/** Members join and leave without a write of the cooperative, so the tag has a part for their count. */
export const representCooperative = (cooperative: Cooperative, zone: TimeZone): Representation =>
  representCounted(
    serializeCooperative(cooperative, zone),
    serializeCooperative({ ...cooperative, membersCount: 0 }, zone),
    cooperative.membersCount,
  );
