/** Corrections at the desk: shows the dry run, asks for a reason, then runs the correction. */

import type { Subject } from '../../access/access-ledger.ts';
import { fields, form as formOf, input } from '../../desk/parts.ts';
import type { Continuation, Form, Page, Shows, Visit } from '../../desk/screen.ts';
import { numberOf, textOf } from '../../registry/pages/show-stored-values.ts';
import { openStoredData } from '../../registry/stored/stored-data.ts';
import type { StoredRow } from '../../registry/stored/stored-data-types.ts';
import { FieldError } from '../../values/errors.ts';
import { type Html, html } from '../../values/html.ts';
import { asMessage, say, type Text } from '../../values/message.ts';
import {
  type ComparedPeople,
  type CorrectionDone,
  type CorrectionRefused,
  type CorrectionResult,
  formatChanges,
  formatRefused,
} from '../correction-result.ts';
import { type CorrectionStore, openCorrections } from '../corrections/correction-store.ts';
import { type AgreedOptions, MAX_REASON_LENGTH, parseReason } from '../corrections/run-correction.ts';
import { contradictionsOf, type Described } from '../likeness.ts';
import { compared } from './member-values.ts';

export interface Proposal {
  readonly heading: Text;
  readonly path: string;
  readonly action: string;
  /** Submitted again with the confirmation. */
  readonly values: { readonly [name: string]: string };
  /** Values that the user should check again before confirming. */
  readonly seen?: readonly (readonly [label: string, value: string])[];
  readonly back: string;
  /** Path to show after the correction; by default `back`. */
  readonly afterwards?: string;
  /** People whom the correction merges into one person. The user has to confirm this with a box. */
  readonly compared?: ComparedPeople | undefined;
  /** True if the correction cannot be undone. The user has to confirm this with a box. */
  readonly isFinal?: true;
  readonly shows: Shows | 'nobody';
  readonly run: (store: CorrectionStore, options: AgreedOptions) => CorrectionResult;
}

/** Reason of a dry run, which is never stored. */
const NO_REASON = 'Dry run at the desk';

/** Shows a dry run until the form has a valid confirmation, and then runs the correction. */
export function proposeCorrection(visit: Visit, form: Form, proposal: Proposal): Page | Continuation {
  const store = visit.use(openCorrections);
  const agreed = form.get('expected');
  const reason = parseReason(form.get('reason'));
  const isUnexplained = reason instanceof FieldError;
  const isUnticked =
    (proposal.isFinal === true && form.get('agreed') === '') ||
    (proposal.compared !== undefined && form.get('same_person') === '');
  const run = (isDryRun: boolean): CorrectionResult =>
    proposal.run(store, {
      systemUser: visit.session.user,
      nowSeconds: visit.now,
      reason: isUnexplained ? NO_REASON : reason,
      isDryRun,
      // A dry run assumes that the people are the same person, which the user confirms after the dry run.
      samePerson: isDryRun || form.get('same_person') !== '',
      agreed,
    });
  let result = run(agreed === '' || isUnexplained || isUnticked);
  if (result.outcome === 'refused' && result.compared !== undefined) result = run(true);
  if (result.outcome === 'refused') return refusal(visit, proposal, result);
  const { correctionId: id } = result;
  if (id === null) {
    if (agreed === '') return preview(visit, proposal, result);
    if (agreed !== result.fingerprint)
      return preview(
        visit,
        proposal,
        result,
        visit.say('The data has changed in the meantime. Check it again.'),
      );
    const fault = isUnexplained ? visit.translate(reason.text) : visit.say('Tick the box first.');
    return preview(visit, proposal, result, fault);
  }
  const told =
    result.errorAfterCommit === undefined
      ? say('Correction {id} is done.', { id })
      : say('Correction {id} is done. Lookups of it are slower until `registry summarize` has run.', { id });
  const undo = proposal.isFinal === true ? {} : { operationId: id };
  return { goTo: proposal.afterwards ?? proposal.back, told, ...undo };
}

function preview(visit: Visit, proposal: Proposal, plan: CorrectionDone, fault?: string): Page {
  const isFinal = proposal.isFinal === true;
  const people = plan.compared ?? proposal.compared;
  const agree = formOf(visit, {
    path: proposal.path,
    action: proposal.action,
    hidden: { ...proposal.values, expected: plan.fingerprint ?? '' },
    body: html`${input({
      name: 'reason',
      label: visit.say('Why? It is kept in the history. Write no national ID.'),
      maxLength: MAX_REASON_LENGTH,
    })}${people !== undefined && tick('same_person', visit.say('They are the same person'))}${
      isFinal && tick('agreed', visit.say('I know that this cannot be undone.'))
    }`,
    button: visit.say('Confirm'),
    ...(isFinal ? { look: 'danger' } : {}),
  });
  const body = html`<h1>${visit.translate(proposal.heading)}</h1>
${fault !== undefined && html`<p class="refused" role="alert">${fault}</p>`}
${fields(proposal.seen ?? [])}
${plan.compared && html`<h2>${visit.say('The new number belongs, or belonged, to another person')}</h2>`}
${people !== undefined && sideBySide(visit, people)}
<section class="card"><p>${visit.say('This would be done:')}</p>${lines(visit, formatChanges(plan))}</section>
<div class="narrow">${agree}<p><a href="${proposal.back}">${visit.say('Cancel')}</a></p></div>`;
  const memberIds = [...plan.members.map(({ id }) => id), ...(plan.compared?.memberIds.flat() ?? [])];
  const { shows } = proposal;
  return { body, shows: shows === 'nobody' ? shows : withSubject(shows, { memberIds }) };
}

const tick = (name: string, label: string): Html =>
  html`<label class="tick"><input type="checkbox" name="${name}" value="yes" required>
${label}</label>`;

function sideBySide(visit: Visit, { memberIds, contradictions }: ComparedPeople): Html {
  const store = visit.use(openStoredData);
  const sides = memberIds.flat().flatMap((id) => store.findMembership(id) ?? []);
  return html`<section class="card"><p>${
    contradictions.length === 0
      ? visit.say('They have no conflicting data.')
      : visit.say('Conflicting data: {contradictions}', {
          contradictions: contradictions.map(asMessage),
        })
  }</p>${compared(visit, sides)}</section>`;
}

export function withSubject({ fields, subject }: Shows, added: Subject): Shows {
  const union = <T>(one: readonly T[] = [], other: readonly T[] = []): T[] => [
    ...new Set([...one, ...other]),
  ];
  const identityCards = union(subject.identityCards, added.identityCards);
  const memberIds = union(subject.memberIds, added.memberIds);
  return { fields, subject: { ...subject, ...(identityCards.length > 0 && { identityCards }), memberIds } };
}

function refusal(visit: Visit, { heading, back, shows }: Proposal, refused: CorrectionRefused): Page {
  const body = html`<h1>${visit.translate(heading)}</h1>
<section class="refused" role="alert">${lines(visit, formatRefused(refused))}</section>
<p><a href="${back}">${visit.say('Back')}</a></p>`;
  return { body, shows, status: 409 };
}

const lines = (visit: Visit, texts: readonly Text[]): Html =>
  html`<ul>${texts.map((text) => html`<li>${visit.translate(text).trim()}</li>`)}</ul>`;

/** @returns undefined if the two members have no conflicts */
export function comparedMembers(visit: Visit, ids: readonly number[]): ComparedPeople | undefined {
  const store = visit.use(openStoredData);
  const [one, other] = ids.map((id) => store.findMembership(id)?.member);
  if (one === undefined || other === undefined) return undefined;
  const contradictions = contradictionsOf(describedIn(one), describedIn(other));
  if (contradictions.length === 0) return undefined;
  return { memberIds: [[numberOf(one, 'id')], [numberOf(other, 'id')]], contradictions };
}

const describedIn = (member: StoredRow): Described => ({
  fullName: textOf(member, 'full_name'),
  gender: textOf(member, 'gender') || null,
  dateOfBirth: textOf(member, 'date_of_birth') || null,
  mobile: textOf(member, 'mobile') || null,
});
