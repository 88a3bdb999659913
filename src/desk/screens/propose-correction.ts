/** A correction at the desk: its dry run is shown, a reason asked for, and only then is it made. */
import type { Options } from '../../app/operations/corrections.ts';
import { formatChanges, formatRefused } from '../../app/wording/correction-changes.ts';
import { MAX_REASON_LENGTH, parseReason } from '../../domain/corrections.ts';
import { contradictionsOf, type Described } from '../../domain/membership/duplicates.ts';
import { FieldError } from '../../domain/values/errors.ts';
import { asMessage, say, type Text } from '../../domain/values/message.ts';
import { type Html, html } from '../../html/html.ts';
import type {
  ComparedPeople,
  CorrectionDone,
  CorrectionRefused,
  CorrectionResult,
  CorrectionStore,
} from '../../store/contract/journal/corrections.ts';
import type { HeldRow } from '../../store/contract/journal/held-data.ts';
import { compared } from '../page/compared.ts';
import { textOf } from '../page/held-values.ts';
import { fields, form as formOf, input } from '../page/parts.ts';
import type { Continuation, Form, Page, Shows, Visit } from '../visit/screen.ts';

export interface Proposal {
  /** What is about to be done. */
  readonly heading: Text;
  /** The path of the screen, and the name of this action there. */
  readonly path: string;
  readonly action: string;
  /** What the action was given: it gets them again once somebody has agreed. */
  readonly given: { readonly [name: string]: string };
  /** What of that somebody has to see again before agreeing, with its labels. */
  readonly seen?: readonly (readonly [label: string, value: string])[];
  /** The page that it was begun on. */
  readonly back: string;
  /** Where it goes on, if not there. */
  readonly afterwards?: string;
  /** Two people, perhaps, of whom it makes one: a box is to be ticked. */
  readonly compared?: ComparedPeople | undefined;
  /** It cannot be undone: a box is to be ticked. */
  readonly isFinal?: true;
  readonly shows: Shows | 'nobody';
  readonly run: (store: CorrectionStore, options: Options) => CorrectionResult;
}

/** Stands in for the reason of a dry run, which nothing keeps. */
const NO_REASON = 'Dry run at the desk';

/** @returns the dry run with a form that agrees to it; after that form, where it goes on */
export function proposeCorrection(visit: Visit, form: Form, proposal: Proposal): Page | Continuation {
  const store = visit.use((storage) => storage.openCorrections());
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
      // What is only shown is shown as it would be once somebody has said so.
      samePerson: isDryRun || form.get('same_person') !== '',
      agreed,
    });
  let done = run(agreed === '' || isUnexplained || isUnticked);
  if (done.outcome === 'refused' && done.compared !== undefined) done = run(true);
  if (done.outcome === 'refused') return refusal(visit, proposal, done);
  const { correctionId: id } = done;
  if (id === null) {
    if (agreed === '') return preview(visit, proposal, done);
    if (agreed !== done.fingerprint)
      return preview(visit, proposal, done, visit.say('Something has changed meanwhile. Look at it again.'));
    const fault = isUnexplained ? visit.translate(reason.text) : visit.say('Tick the box first.');
    return preview(visit, proposal, done, fault);
  }
  const isSlow = done.errorAfterCommit !== undefined;
  const told = isSlow
    ? say('Correction {id} is done. Lookups of it are slower until `registry summarize` has run.', { id })
    : say('Correction {id} is done.', { id });
  const undo = proposal.isFinal === true ? {} : { operationId: id };
  return { goTo: proposal.afterwards ?? proposal.back, told, ...undo };
}

function preview(visit: Visit, proposal: Proposal, plan: CorrectionDone, fault?: string): Page {
  const isFinal = proposal.isFinal === true;
  const people = plan.compared ?? proposal.compared;
  const agree = formOf(visit, {
    path: proposal.path,
    action: proposal.action,
    hidden: { ...proposal.given, expected: plan.fingerprint ?? '' },
    body: html`${input({
      name: 'reason',
      label: visit.say('Why? It is kept in the history. Write no national ID.'),
      maxLength: MAX_REASON_LENGTH,
    })}${people !== undefined && tick('same_person', visit.say('They are the same person'))}${
      isFinal && tick('agreed', visit.say('I know that this cannot be undone.'))
    }`,
    button: visit.say('Do it'),
    ...(isFinal ? { look: 'danger' } : {}),
  });
  const body = html`<h1>${visit.translate(proposal.heading)}</h1>
${fault !== undefined && html`<p class="refused" role="alert">${fault}</p>`}
${fields(proposal.seen ?? [])}
${plan.compared && html`<h2>${visit.say('The new number belongs, or belonged, to somebody')}</h2>`}
${people !== undefined && sideBySide(visit, people)}
<section class="card"><p>${visit.say('This would be done:')}</p>${lines(visit, formatChanges(plan))}</section>
<div class="narrow">${agree}<p><a href="${proposal.back}">${visit.say('Change nothing')}</a></p></div>`;
  return { body, shows: withMembers(proposal.shows, plan) };
}

const tick = (name: string, label: string): Html =>
  html`<label class="tick"><input type="checkbox" name="${name}" value="yes" required>
${label}</label>`;

function sideBySide(visit: Visit, { memberIds, contradictions }: ComparedPeople): Html {
  const held = visit.use((storage) => storage.openHeldData());
  const sides = memberIds.flat().flatMap((id) => held.findMembership(id) ?? []);
  return html`<section class="card"><p>${
    contradictions.length === 0
      ? visit.say('Nothing contradicts that they are one person.')
      : visit.say('What contradicts that they are one person: {contradictions}', {
          contradictions: contradictions.map(asMessage),
        })
  }</p>${compared(visit, sides)}</section>`;
}

/** Also those of others, such as the one that a member is merged into. */
function withMembers(
  shows: Shows | 'nobody',
  { members, compared: people }: CorrectionDone,
): Shows | 'nobody' {
  if (shows === 'nobody') return shows;
  const { fields, subject } = shows;
  const ids = [...members.map(({ id }) => id), ...(people?.memberIds.flat() ?? [])];
  const memberIds = [...new Set([...(subject.memberIds ?? []), ...ids])];
  return { fields, subject: { ...subject, memberIds } };
}

function refusal(visit: Visit, { heading, back, shows }: Proposal, refused: CorrectionRefused): Page {
  const body = html`<h1>${visit.translate(heading)}</h1>
<section class="refused" role="alert">${lines(visit, formatRefused(refused))}</section>
<p><a href="${back}">${visit.say('Back')}</a></p>`;
  return { body, shows, status: 409 };
}

/** What was given cannot be read: nothing was tried. */
export const refuseGiven = (visit: Visit, heading: Text, back: string, fault: Text): Page => ({
  body: html`<h1>${visit.translate(heading)}</h1>
<p class="refused" role="alert">${visit.translate(fault)}</p>
<p><a href="${back}">${visit.say('Back')}</a></p>`,
  shows: 'nobody',
  status: 422,
});

const lines = (visit: Visit, texts: readonly Text[]): Html =>
  html`<ul>${texts.map((text) => html`<li>${visit.translate(text).trim()}</li>`)}</ul>`;

/** Two members who are to be merged, where something contradicts that they are one person. */
export function comparedMembers(visit: Visit, ids: readonly number[]): ComparedPeople | undefined {
  const held = visit.use((storage) => storage.openHeldData());
  const [one, other] = ids.map((id) => held.findMembership(id)?.member);
  if (one === undefined || other === undefined) return undefined;
  const contradictions = contradictionsOf(describedIn(one), describedIn(other));
  const [first = 0, second = 0] = ids;
  return contradictions.length === 0 ? undefined : { memberIds: [[first], [second]], contradictions };
}

const describedIn = (member: HeldRow): Described => ({
  fullName: textOf(member, 'full_name'),
  gender: textOf(member, 'gender') || null,
  dateOfBirth: textOf(member, 'date_of_birth') || null,
  mobile: textOf(member, 'mobile') || null,
});
