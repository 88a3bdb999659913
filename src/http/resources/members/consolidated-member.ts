/** What a lookup by national ID shows: the consolidated record of a person, and its memberships. */

import { PRODUCTION_WINDOW_DAYS } from '../../../domain/entries/production.ts';
import { LOAN_HISTORY_LIMIT } from '../../../domain/lending/loan-history.ts';
import { IDENTITY_CARD } from '../../../domain/membership/identity-card.ts';
import { CONSOLIDATED, LOOKED_UP, MEMBER_FIELDS } from '../../../domain/membership/members.ts';
import { financials, NULL_FINANCIALS, shownFields, shownObject } from '../../../json/declared-fields.ts';
import { array, nullable, string } from '../../../json/schema.ts';
import { quote, serializeArray, text } from '../../../json/serializer.ts';
import { COOPERATIVE_SUMMARY } from '../../../json/shown/row-properties.ts';
import type { ConsolidatedMember, Membership } from '../../../lookup/consolidate.ts';
import {
  LOAN_HISTORY_ENTRY,
  PRODUCTION_SUMMARY,
  SAVINGS_SUMMARY,
  serializeProduction,
} from '../../../lookup/financial-blocks.ts';
import { serializeCooperativeSummary } from '../cooperative-fields.ts';

const NAME_GROUPS = [MEMBER_FIELDS.fullName.group];
const NAMES = [MEMBER_FIELDS.fullName.example];

/** Beside Content-Location; only responses to lookups of replaced numbers have it. */
const CURRENT_IDENTITY_CARD = {
  current_identity_card: string({
    pattern: IDENTITY_CARD.source,
    description: 'Only if the number that was asked for was replaced: the one that replaced it. Ask for it.',
  }),
};

export const SHOWN_MEMBERSHIP = shownObject<Membership>(
  'Membership',
  {
    cooperative: {
      schema: COOPERATIVE_SUMMARY,
      write: ({ cooperative }) => serializeCooperativeSummary(cooperative),
    },
    ...shownFields(MEMBER_FIELDS, LOOKED_UP),
    ...financials<Membership>({
      production_summary: {
        schema: nullable(PRODUCTION_SUMMARY, {
          description:
            `Deliveries of the last ${PRODUCTION_WINDOW_DAYS} × 24 hours. ` +
            `${NULL_FINANCIALS}; with it and without deliveries, zeros and null.`,
        }),
        write: ({ financials: blocks }, zone) =>
          blocks === null ? 'null' : serializeProduction(blocks.production, zone),
      },
      loan_history: {
        schema: nullable(array(LOAN_HISTORY_ENTRY, { maxItems: LOAN_HISTORY_LIMIT }), {
          description:
            `At most ${LOAN_HISTORY_LIMIT} loans: first those granted (approved, defaulted, paid), then ` +
            'pending, last rejected and cancelled ones; within each those without a start date, then by ' +
            `start date, newest first. ${NULL_FINANCIALS}; with it and without loans, an empty list.`,
        }),
        write: ({ financials: blocks }) => (blocks === null ? 'null' : blocks.loanHistory),
      },
      savings_summary: {
        schema: nullable(SAVINGS_SUMMARY, {
          description: `${NULL_FINANCIALS}; with it and without savings, zeros and null.`,
        }),
        write: ({ financials: blocks }) => (blocks === null ? 'null' : blocks.savingsSummary),
      },
    }),
  },
  CURRENT_IDENTITY_CARD,
);
export const { schema: MEMBERSHIP, serialize: serializeMembership } = SHOWN_MEMBERSHIP;

export const CONSOLIDATED_MEMBER = shownObject<ConsolidatedMember>(
  'ConsolidatedMember',
  {
    ...shownFields(MEMBER_FIELDS, ['identityCard']),
    primary_full_name: {
      schema: string({ description: 'Name of the newest registration.', examples: NAMES }),
      write: text(({ primaryFullName }) => primaryFullName),
      groups: NAME_GROUPS,
    },
    name_variants: {
      schema: array(string({ examples: NAMES }), {
        description: 'Distinct names, newest registration first.',
      }),
      write: ({ nameVariants }, zone) => serializeArray(nameVariants, quote, zone),
      groups: NAME_GROUPS,
    },
    ...shownFields(MEMBER_FIELDS, CONSOLIDATED),
    memberships: {
      schema: array(MEMBERSHIP, { description: 'Active memberships, newest registration first.' }),
      write: ({ memberships }, zone) => serializeArray(memberships, serializeMembership, zone),
      groups: SHOWN_MEMBERSHIP.groups,
    },
  },
  CURRENT_IDENTITY_CARD,
);
export const serializeConsolidated = CONSOLIDATED_MEMBER.serialize;
