/** Two people of whom a correction would make one, beside each other, with what contradicts it. */
import { hideIdentityCards } from '../../domain/membership/identity-card.ts';
import { asMessage, type Message, say } from '../../domain/values/message.ts';
import type { ComparedPeople } from '../../store/contract/journal/corrections.ts';
import type { HeldRow } from '../../store/contract/journal/held-data.ts';
import type { Run } from '../terminal/run.ts';
import { withStore } from '../terminal/with-store.ts';

/** Reads who they are. @returns lines; the caller has recorded who is shown */
export const formatCompared = (
  run: Run,
  { memberIds: [replaced, holding], contradictions }: ComparedPeople,
): Promise<Message[]> =>
  withStore(run.storage.openHeldData(), (store) => {
    const lines = (ids: readonly number[]) =>
      ids.flatMap((id) => {
        const found = store.findMembership(id);
        return found === undefined ? [] : [formatMembership(found.member)];
      });
    return [
      say('This person has the number that is replaced:'),
      ...lines(replaced),
      say('This person has, or had, the new number:'),
      ...lines(holding),
      contradictions.length === 0
        ? say('Nothing contradicts that they are one person.')
        : say('What contradicts that they are one person: {contradictions}', {
            contradictions: contradictions.map(asMessage),
          }),
    ];
  });

function formatMembership(member: HeldRow): Message {
  const { cooperative, member_code: code, full_name: name, date_of_birth: born, mobile } = member;
  const shown = (value: HeldRow[string] | undefined) => hideIdentityCards(String(value ?? '–'));
  return say('  {member}: {name}, born {born}, gender {gender}, telephone {phone}, {status}', {
    ...{ member: `${cooperative}/${shown(code)}`, name: shown(name), born: shown(born) },
    ...{ gender: shown(member.gender), phone: shown(mobile), status: asMessage(shown(member.status)) },
  });
}

/** Ids, and no values: what a program prints may be kept. */
export const describeCompared = ({ memberIds: [replaced, holding], contradictions }: ComparedPeople) => ({
  replaced,
  holding,
  contradictions,
});
