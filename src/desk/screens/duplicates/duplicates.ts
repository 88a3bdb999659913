/** `/duplicates`: members who may be one person, pair by pair (docs/correcting.md). */

import type { Likeness } from '../../../domain/membership/duplicates.ts';
import { asMessage, say } from '../../../domain/values/message.ts';
import { type Html, html } from '../../../html/html.ts';
import type { Crowd, HeldMembership } from '../../../store/contract/journal/held-data.ts';
import { compared, nameOfSide } from '../../page/compared.ts';
import { numberOf, textOf } from '../../page/held-values.ts';
import { pages, rowsOf } from '../../page/list.ts';
import { form, select } from '../../page/parts.ts';
import type { Action, Screen, Visit } from '../../visit/screen.ts';
import { comparedMembers, type Proposal, proposeCorrection } from '../propose-correction.ts';
import { again, pageOf, searchAgain, searchFor, showing } from './search.ts';

const PATH = '/duplicates';

export const DUPLICATES: Screen = {
  path: PATH,
  title: say('Duplicates'),
  menu: say('Duplicates'),
  personal: 'some',
  read(visit) {
    const heading = html`<h1>${visit.say('Duplicates')}</h1>`;
    const sentence = visit.say('Looking for members who may be one person…');
    const search = searchFor<FoundPairs>(visit, 'duplicates', PATH, heading, sentence);
    if ('body' in search) return search;
    const { found: all, at } = search;
    const page = pageOf(visit);
    const pairs = readPairs(visit, rowsOf(page, all.pairs));
    const body = html`${heading}${summary(visit, all, at)}
${pairs.map((pair) => onePair(visit, pair))}${pages(visit, PATH, all.pairs.length, page)}`;
    return { body, shows: pairs.length === 0 ? 'nobody' : showing(pairs.flatMap(({ sides }) => sides)) };
  },
  actions: {
    again: searchAgain('duplicates', PATH),
    merge: act(say('Merge two memberships'), (pair) => {
      const [from, into] = pair.sides.map(({ member }) => numberOf(member, 'id')) as [number, number];
      return (store, options) => store.mergeMembers(from, into, options);
    }),
    number: act(say('Correct the national ID'), ({ sides: [from, into] }, right) => {
      const [wrong, current] = right === textOf(from.member, 'id') ? [into, from] : [from, into];
      const numbers = [wrong, current].map(({ member }) => textOf(member, 'identity_card')) as [
        string,
        string,
      ];
      return (store, options) => store.replaceIdentityCard(...numbers, options);
    }),
    dismiss: act(say('Set the pair aside'), (pair) => {
      const [one, other] = pair.sides.map(({ member }) => numberOf(member, 'id')) as [number, number];
      return (store, options) => store.dismissDuplicate(one, other, options);
    }),
  },
};

interface Sides {
  readonly sides: readonly [from: HeldMembership, into: HeldMembership];
}
interface FoundPair extends Likeness {
  /** The one of whom less would be lost goes first. */
  readonly members: readonly [from: { readonly id: number }, into: { readonly id: number }];
}
type Pair = FoundPair & Sides;

/** What `duplicates --json` prints, less the pairs that were settled since. */
interface FoundPairs {
  pairs: readonly FoundPair[];
  readonly dropped: number;
  readonly dismissed: number;
  readonly not_compared: readonly Crowd[];
}

function readSides(visit: Visit, fromId: number, intoId: number): Sides | undefined {
  const held = visit.use((storage) => storage.openHeldData());
  const [from, into] = [held.findMembership(fromId), held.findMembership(intoId)];
  return from && into && { sides: [from, into] };
}

/** Those that are still two: somebody may have settled one elsewhere. */
function readPairs(visit: Visit, pairs: readonly FoundPair[]): Pair[] {
  const found: Pair[] = [];
  for (const pair of pairs) {
    const [from, into] = pair.members;
    const read = readSides(visit, from.id, into.id);
    const [one, other] = read?.sides.map(({ member }) => textOf(member, 'identity_card')) ?? [];
    if (read !== undefined && one !== other) found.push({ ...pair, ...read });
  }
  return found;
}

function summary(
  visit: Visit,
  { pairs, dropped, dismissed, not_compared: crowds }: FoundPairs,
  at: number,
): Html {
  const { say } = visit;
  const uncompared = crowds.reduce((sum, { members }) => sum + members, 0);
  return html`<p>${
    pairs.length === 0
      ? say('No likely duplicates were found.')
      : say('{n|# pair|# pairs} of members may be one person, the likeliest first.', { n: pairs.length })
  } ${dropped > 0 && say('{n|# pair is|# pairs are} less likely than these.', { n: dropped })}
${dismissed > 0 && say('{n|# pair was|# pairs were} set aside before.', { n: dismissed })}
${
  uncompared > 0 &&
  say('{n|# member was|# members were} not compared: too many share a phone, or a name and date of birth.', {
    n: uncompared,
  })
}</p>
<p><a href="${PATH}/contradictions">${visit.say('One person who may be two')}</a></p>
${again(visit, PATH, at)}`;
}

function onePair(visit: Visit, pair: Pair): Html {
  const { say, translate } = visit;
  const { sides, members, score, reasons } = pair;
  const [from, into] = members;
  const hidden = { from: String(from.id), into: String(into.id) };
  const [fromName, intoName] = sides.map(nameOfSide) as [string, string];
  const numberOfSide = ({ member }: HeldMembership) =>
    [textOf(member, 'id'), `${textOf(member, 'identity_card')} (${nameOfSide({ member })})`] as const;
  return html`<section class="card pair"><h2>${fromName} · ${intoName}</h2>
<p>${say('Likeness {score} of 100:', { score })}
${reasons.map((each) => translate(asMessage(each))).join(', ')}</p>
${compared(visit, sides)}
<div class="forms beside">
${
  sides[0].member.cooperative === sides[1].member.cooperative &&
  form(visit, {
    path: PATH,
    action: 'merge',
    hidden,
    button: say('Merge…'),
    body: html`<p>${say('One person, registered twice here: {from} goes, {into} stays.', {
      from: fromName,
      into: intoName,
    })}</p>`,
  })
}
${form(visit, {
  path: PATH,
  action: 'number',
  hidden,
  button: say('Replace the wrong number…'),
  body: select('right', say('One person; the right national ID is'), [...sides].reverse().map(numberOfSide)),
})}
${form(visit, {
  path: PATH,
  action: 'dismiss',
  hidden,
  button: say('Set aside…'),
  body: html`<p>${say('Two people: the pair is not shown again.')}</p>`,
})}</div></section>`;
}

/** A correction of a pair; once it is made, the pair is not shown any more. */
function act(heading: Proposal['heading'], prepare: (pair: Sides, right: string) => Proposal['run']): Action {
  return (visit, given) => {
    const { action, from, into, right } = Object.fromEntries(
      ['action', 'from', 'into', 'right'].map((name) => [name, given.get(name)]),
    ) as { readonly [name in 'action' | 'from' | 'into' | 'right']: string };
    const pair = readSides(visit, Number(from), Number(into));
    if (pair === undefined) return undefined;
    const answer = proposeCorrection(visit, given, {
      heading,
      path: PATH,
      action,
      given: { from, into, right },
      back: PATH,
      shows: showing(pair.sides),
      seen: pair.sides
        .filter(({ member }) => textOf(member, 'id') === right)
        .map(({ member }) => [visit.say('The right national ID'), textOf(member, 'identity_card')]),
      run: prepare(pair, right),
      compared: action === 'merge' ? comparedMembers(visit, [Number(from), Number(into)]) : undefined,
    });
    const found = visit.desk.files.commands.workOf('duplicates')?.document as FoundPairs | undefined;
    if ('goTo' in answer && found !== undefined)
      found.pairs = found.pairs.filter(
        ({ members }) => members[0].id !== Number(from) || members[1].id !== Number(into),
      );
    return answer;
  };
}
