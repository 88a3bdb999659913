/** Filters that the lists of loans and of payments have in common. */
import { parseIdentityCard } from '../../../domain/membership/identity-card.ts';
import { parseDateTime, type TimeZone } from '../../../domain/values/date-time.ts';
import { MAX_LENGTH, parseText } from '../../../domain/values/text.ts';
import { string } from '../../../json/schema.ts';
import { IDENTITY_CARD } from '../../../json/shown/row-properties.ts';
import { momentFilter } from '../../declare/query.ts';
import { COOPERATIVE_FILTER } from '../cooperative-fields.ts';

/** @param whose such as `the loans` */
export const lendingFilters = (whose: string, zone: TimeZone) => ({
  identity_card: {
    description: `Only ${whose} of this person, in every cooperative.`,
    schema: IDENTITY_CARD,
    parse: parseIdentityCard,
  },
  cooperative: COOPERATIVE_FILTER,
  reference: {
    description: 'Only those with exactly this reference: at most one in each cooperative.',
    schema: string(),
    parse: (value: string) => parseText(value, MAX_LENGTH.reference),
  },
  updated_since: momentFilter(
    'Only those whose updated_at is this moment or later. More than 10,000 are 400: follow /events ' +
      'instead, which also name what was deleted.',
    (value) => parseDateTime(value, zone),
  ),
});
