/** `duplicates --contradictions`: persons who may be two (docs/correcting.md#one-person-who-may-be-two). */
import { hideIdentityCards } from '../../domain/membership/identity-card.ts';
import { counted } from '../../domain/values/text.ts';
import type {
  Contradictions,
  ContradictoryMember,
  ContradictoryPerson,
} from '../../store/contract/journal/held-data.ts';
import { proposed } from '../terminal/proposed-command.ts';
import type { SettingOptions } from '../terminal/settings.ts';
import { argumentOf, describeMember, refer } from './duplicates-text.ts';

/** Shown of the persons that were found; the rest is counted. */
const SHOWN_PERSONS = 50;

/** What settles it: another number for one of the memberships, or that it is one person. */
function commandsOf({ members }: ContradictoryPerson, options: SettingOptions) {
  const [first, ...others] = members as [ContradictoryMember, ...ContradictoryMember[]];
  return {
    another_number: [...others, first].map((member) => {
      const name = argumentOf(member);
      return proposed(`nid replace ${name} NEW --member ${name} --reason "Two people"`, options);
    }),
    same_person: proposed(
      `duplicates same-person ${argumentOf(first)} --reason "One person, checked"`,
      options,
    ),
  };
}

/** Without names: what a program prints may be kept. */
export const describeContradictions = (
  { persons, accepted, dropped }: Contradictions,
  options: SettingOptions,
) => ({
  persons: persons.map((person) => ({
    contradictions: person.contradictions,
    members: person.members.map(describeMember),
    commands: commandsOf(person, options),
  })),
  accepted,
  dropped,
});

function formatMember(member: ContradictoryMember): string {
  const born = member.dateOfBirth ?? 'unknown';
  const values = [hideIdentityCards(member.fullName), `born ${born}`, `gender ${member.gender ?? 'unknown'}`];
  return `${refer(member)} ${values.join(', ')}\n`;
}

function formatPerson(person: ContradictoryPerson, options: SettingOptions): string {
  const { another_number: numbers, same_person: one } = commandsOf(person, options);
  return [
    ...person.members.map(formatMember),
    `     ${person.contradictions.join(', ')}\n`,
    ...[...numbers, one].map((command) => `     ${command}\n`),
  ].join('');
}

/** @param options of the command */
export function formatContradictions(
  { persons, accepted, dropped }: Contradictions,
  options: SettingOptions,
): string {
  const rest = persons.length - SHOWN_PERSONS;
  return [
    persons.length === 0 ? 'No memberships of one person contradict each other.\n' : '',
    ...persons.slice(0, SHOWN_PERSONS).map((person) => formatPerson(person, options)),
    rest > 0 ? `${rest} more; --json lists all of them.\n` : '',
    dropped > 0 ? `${counted(dropped, 'person', 'persons')} beyond these.\n` : '',
    accepted > 0 ? `${counted(accepted, 'person was', 'persons were')} checked before.\n` : '',
  ].join('');
}
