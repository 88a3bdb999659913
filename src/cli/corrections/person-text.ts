/** Everything held about a person as the command shows it: text for people, JSON for programs. */

import { formatActor } from '../../app/wording/actors.ts';
import type { TimeZone } from '../../domain/values/date-time.ts';
import { say, type Text } from '../../domain/values/message.ts';
import type { HeldMembership, HeldPerson, HeldRow } from '../../store/ports/journal/held-data.ts';
import { describeEntry } from '../journal/history-text.ts';
import { formatFields, formatTable } from '../terminal/output.ts';
import { describeHeld, formatHeld } from './held-data-text.ts';

/** The lists of a membership by their names in JSON, and their headings. */
const LISTS = [
  ['deliveries', 'Deliveries', ({ deliveries }) => deliveries],
  ['loans', 'Loans', ({ loans }) => loans],
  ['payments', 'Payments', ({ payments }) => payments],
  ['savings_accounts', 'Savings accounts', ({ savingsAccounts }) => savingsAccounts],
  ['savings_transactions', 'Savings transactions', ({ savingsTransactions }) => savingsTransactions],
] as const satisfies readonly (readonly [
  name: string,
  heading: string,
  rows: (membership: HeldMembership) => readonly HeldRow[],
])[];

export const describePerson = (person: HeldPerson, zone: TimeZone) => ({
  identity_card: person.identityCard,
  former_identity_cards: person.formerIdentityCards,
  memberships: person.memberships.map((membership) => ({
    ...describeHeld(membership.member, zone),
    ...Object.fromEntries(
      LISTS.map(([name, , rows]) => [name, rows(membership).map((row) => describeHeld(row, zone))]),
    ),
  })),
  history: person.history.map(({ entity, row, ...entry }) => ({
    entity,
    row,
    ...describeEntry(entry, zone),
  })),
  kept_responses: person.keptResponses,
});

function formatMembership(membership: HeldMembership, zone: TimeZone, translate: Translate): string {
  const member = describeHeld(membership.member, zone);
  const fields = Object.entries(member).map(([field, value]) => [field, value ?? ''] as const);
  const lists = LISTS.flatMap(([, heading, rows]) => {
    const found = rows(membership);
    return found.length === 0 ? [] : [`\n${translate(heading)}\n${formatHeld(found, zone)}`];
  });
  const names = { code: member.member_code ?? '', cooperative: member.cooperative ?? '' };
  const title = translate(say('Member {code} of {cooperative}', names));
  return `\n${title}\n${formatFields(fields)}${lists.join('')}`;
}

const HISTORY_HEADINGS = ['AT', 'KIND', 'ROW', 'FIELD', 'OLD', 'NEW', 'BY'];

type Translate = (text: Text) => string;

/** The only text of a command that shows names and national IDs on purpose. */
export function formatPerson(person: HeldPerson, zone: TimeZone, translate: Translate): string {
  const { identityCard, formerIdentityCards, memberships, history, keptResponses } = person;
  const rows = history.map(({ entity, row, ...entry }) => {
    const { field, old, new: value, at, actor } = describeEntry(entry, zone);
    return [at, entity, row, field, old ?? '', value ?? '', translate(formatActor(actor))];
  });
  return (
    formatFields([
      [translate('National ID'), identityCard],
      [translate('Former numbers'), formerIdentityCards.join(', ')],
      [translate('Responses kept for repeated requests'), String(keptResponses)],
    ]) +
    memberships.map((membership) => formatMembership(membership, zone, translate)).join('') +
    `\n${translate('History')}\n${formatTable(HISTORY_HEADINGS.map(translate), rows)}`
  );
}
