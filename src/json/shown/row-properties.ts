/** What the responses of several resources have in common. */
import type { Owner } from '../../domain/lending/loans.ts';
import { COOPERATIVE_FIELDS } from '../../domain/membership/cooperatives.ts';
import { MEMBER_FIELDS } from '../../domain/membership/members.ts';
import { kindOf, type ShownProperties, shownObject } from '../declared-fields.ts';
import { nullable, string } from '../schema.ts';
import { instant, plain, text } from '../serializer.ts';

export const SHOWN_ID: ShownProperties<{ readonly id: number }> = {
  id: { schema: string({ description: 'Opaque.', examples: ['3'] }), write: plain(({ id }) => String(id)) },
};

export const SHOWN_TIMES: ShownProperties<{ readonly createdAt: number; readonly updatedAt: number }> = {
  created_at: {
    schema: string({ format: 'date-time', description: 'When the row was created.' }),
    write: instant(({ createdAt }) => createdAt),
  },
  updated_at: {
    schema: string({ format: 'date-time', description: 'When the row last changed.' }),
    write: instant(({ updatedAt }) => updatedAt),
  },
};

type OfCooperative = Pick<Owner, 'cooperativeId' | 'cooperativeCode' | 'cooperativeName'>;

const ofCooperative = shownObject<OfCooperative>('CooperativeReference', {
  id: { schema: string({ examples: ['1'] }), write: plain(({ cooperativeId }) => String(cooperativeId)) },
  code: {
    schema: string({ examples: ['KOAKAMA-HUY'] }),
    write: plain(({ cooperativeCode }) => cooperativeCode),
  },
  name: {
    schema: string({ examples: [COOPERATIVE_FIELDS.name.example] }),
    write: text(({ cooperativeName }) => cooperativeName),
  },
});
/** What other resources show of a cooperative. */
export const COOPERATIVE_SUMMARY = ofCooperative.schema;

/** The cooperative of a row. */
export const SHOWN_COOPERATIVE: ShownProperties<OfCooperative> = {
  cooperative: { schema: COOPERATIVE_SUMMARY, write: ofCooperative.serialize },
};

export const IDENTITY_CARD = kindOf(MEMBER_FIELDS.identityCard).schema;

const ofMember = shownObject<Owner>('LoanMember', {
  id: {
    schema: string({ description: 'Opaque.', examples: ['3'] }),
    write: plain(({ memberId }) => String(memberId)),
  },
  identity_card: {
    schema: nullable(IDENTITY_CARD),
    write: plain(({ identityCard }) => identityCard),
    groups: [MEMBER_FIELDS.identityCard.group],
  },
  full_name: {
    schema: kindOf(MEMBER_FIELDS.fullName).schema,
    write: text(({ fullName }) => fullName),
    groups: [MEMBER_FIELDS.fullName.group],
  },
});

/** The member and the cooperative of a loan or payment. */
export const SHOWN_OWNER: ShownProperties<Owner> = {
  member: { schema: ofMember.schema, write: ofMember.serialize, groups: ofMember.groups },
  ...SHOWN_COOPERATIVE,
};
