/**
 * Pages to enter or change one row at the desk (docs/desk.md#entering-by-hand): a form, a preview, and an
 * import of the row as if from a file.
 */

import { fields, form as formOf, table } from '../desk/parts.ts';
import type { Answer, Form, Screen, Shows, Visit } from '../desk/screen.ts';
import { unwrapText } from '../formats/spreadsheet-cells-and-empty-words.ts';
import { enterRow, type RowFault, type RowPlan } from '../import/import-entered-row.ts';
import { OUTDATED } from '../import/pages/previews-and-runs.ts';
import { openImportSession } from '../import/staging/import-session.ts';
import { openRegistry } from '../open-registry.ts';
import { COOPERATIVE_FIELDS } from '../registry/cooperatives.ts';
import { FILE_COLUMNS, type ImportKind } from '../registry/file-columns.ts';
import {
  codeOf,
  cooperativePath,
  findCooperative,
  findVisited,
  nameOfPerson,
  personPath,
  showing,
} from '../registry/pages/find-visited.ts';
import {
  changePath,
  describeMember,
  ENTERED,
  type EnteredKind,
  enterPath,
  isEnteredKind,
  listIn,
  nameOf,
  referenceOf,
  textOf,
  writeStored,
} from '../registry/pages/show-stored-values.ts';
import { openStoredData, type StoredDataStore } from '../registry/stored/stored-data.ts';
import type {
  FoundMember,
  MemberName,
  StoredMembership,
  StoredRow,
} from '../registry/stored/stored-data-types.ts';
import { formatDate } from '../values/date-time.ts';
import { listFields, NOW } from '../values/declared-fields.ts';
import { type Html, html } from '../values/html.ts';
import { isIdentityCard } from '../values/identity-card.ts';
import { type Message, say, type Text } from '../values/message.ts';
import {
  type FormRow,
  formTexts,
  labelOf,
  newReference,
  otherFaults,
  rowFields,
  rowOf,
  sayAtDesk,
  submittedTexts,
  type Texts,
  textsOf,
} from './new-or-changed-row-form.ts';

interface Entering extends FormRow {
  readonly heading: Message;
  readonly path: string;
  /** Path of the page that has the link to the form. */
  readonly back: string;
  /** Path after the entry; `back` by default. @param texts submitted values */
  readonly next?: (texts: Texts) => string;
  /** Returns submitted codes and references as they are stored, often in upper case. */
  readonly withCodes?: (texts: Texts) => Texts;
  /** True if the next page links to the form for another row. */
  readonly asksAnother?: boolean;
  readonly initial?: Texts;
  /** True if a new row without warnings is entered without a preview. */
  readonly isDirect?: boolean;
  /** Returns the name of the owner: a member, loan or cooperative. */
  readonly ownerName?: (values: Texts) => string | undefined;
  /** Finds members by code, loan or national ID. */
  readonly members?: (values: Texts) => readonly FoundMember[];
  /** Describes memberships that have a new member's national ID. @param values values of all columns */
  readonly sharing?: (values: Texts) => readonly string[];
  /** @param values values of all columns */
  readonly shows: (values: Texts) => Shows | 'nobody';
}

/** @param find returns undefined for 404 */
const enteringScreen = (
  { path, title }: Pick<Screen, 'path' | 'title'>,
  find: (visit: Visit) => Promise<Entering | undefined> | Entering | undefined,
): Screen => ({
  path,
  title,
  personal: 'some',
  async read(visit) {
    const entering = await find(visit);
    if (entering === undefined) return undefined;
    const { stored, initial = {}, settled } = entering;
    const texts = stored === undefined ? initial : formTexts(stored);
    const shows = stored === undefined ? 'nobody' : entering.shows({ ...stored, ...settled });
    return { body: formPage(visit, entering, texts, {}), shows };
  },
  actions: {
    async enter(visit, form) {
      const entering = await find(visit);
      return entering && enter(visit, entering, form);
    },
    async correct(visit, form) {
      const entering = await find(visit);
      if (entering === undefined) return undefined;
      const texts = submittedTexts(entering, form);
      const shows = entering.shows({ ...texts, ...entering.settled });
      return { body: formPage(visit, entering, texts, {}), shows };
    },
  },
});

async function enter(visit: Visit, entering: Entering, form: Form): Promise<Answer> {
  const { kind, next, back, stored } = entering;
  const submitted = submittedTexts(entering, form);
  const texts = { ...submitted, ...entering.withCodes?.(submitted) };
  if (form.get('again') === 'yes') texts.reference ||= newReference(visit);
  const values = rowOf(entering, texts, formatDate(visit.now, visit.desk.storage.zone));
  const row = Object.fromEntries(values);
  /** Fingerprint of the confirmed plan; empty without a preview. */
  const expected = form.get('expected');
  const entered = await enterRow(
    visit.use(openImportSession),
    { kind, values },
    {
      zone: visit.desk.storage.zone,
      clock: visit.desk.clock,
      systemUser: visit.session.user,
      agreed: expected || undefined,
      isDirect: entering.isDirect === true,
    },
  );
  const shows = entering.shows(row);
  if (entered.outcome === 'entered') {
    const told = messageAfter(visit, entering, entered.plan, row);
    const another = entering.asksAnother === true ? entering.path : undefined;
    return { goTo: next?.(texts) ?? back, told, operationId: entered.operationId, another, shows };
  }
  const again = (findings: Findings) => ({ body: formPage(visit, entering, texts, findings), shows });
  const members = kind === 'members' ? entering.members?.(row) : undefined;
  if (entered.outcome === 'refused') return { ...again({ faults: entered.faults, members }), status: 422 };
  if (entered.outcome === 'failed') return { ...again({ message: entered.message }), status: 503 };
  const { plan } = entered;
  const isNew = stored === undefined;
  if (plan.changes.created + plan.changes.changed === 0)
    return again({ message: NOTHING_NEW, asksAgain: isNew && texts.reference === '' });
  // A form for a new row must not change a stored row.
  if (isNew && plan.changes.changed > 0)
    return { ...again({ message: EXISTS, existing: plan, members }), status: 409 };
  const isOther = expected !== '' && expected !== plan.fingerprint;
  return { body: planPage(visit, entering, { texts, row }, plan, isOther), shows };
}

const NOTHING_NEW = say('This is stored already: nothing would change.');
const EXISTS = say(
  'This code or number exists already, with other values. Enter another one, or change that row on its page.',
);

/** Returns a message with times and amounts of a new row, or with the changed columns. */
function messageAfter(visit: Visit, entering: Entering, plan: RowPlan, row: Texts): Message {
  const { kind, heading: what, ownerName } = entering;
  const columns =
    plan.changes.created > 0
      ? FILE_COLUMNS[kind].flatMap(({ name, field }, i) =>
          field.kind === 'decimal' || name.endsWith('_at')
            ? writeStored(visit, name, plan.understood[i] ?? null)
            : [],
        )
      : plan.listed.map(({ column }) => visit.translate(nameOf(column)));
  const details = [ownerName?.(row), ...columns].filter((detail) => detail !== undefined);
  return details.length === 0
    ? say('{what}: done.', { what })
    : say('{what}: done ({details}).', { what, details });
}

// Form and preview

interface Findings {
  readonly faults?: readonly RowFault[];
  readonly message?: Text;
  /** True to offer a checkbox that enters the row although an equal row is stored. */
  readonly asksAgain?: boolean;
  /** Plan that would change a stored row with the same key as the new row. */
  readonly existing?: RowPlan;
  readonly members?: readonly FoundMember[] | undefined;
}

function formPage(
  visit: Visit,
  entering: Entering,
  texts: Texts,
  { faults = [], message, asksAgain, existing, members = [] }: Findings,
): Html {
  const { stored, path, back } = entering;
  const sentences = [
    ...(message === undefined ? [] : [visit.translate(message)]),
    ...otherFaults(visit, entering, faults),
  ];
  return html`${titleOf(visit, entering, { ...stored, ...texts, ...entering.settled })}
${
  (sentences.length > 0 || faults.length > 0) &&
  html`<section class="refused" role="alert">${sentences.map((sentence) => html`<p>${sentence}</p>`)}${
    faults.length > 0 && html`<p>${visit.say('Nothing was saved. The errors are beside the fields.')}</p>`
  }${existing !== undefined && changesTable(visit, existing, visit.say('Stored'), visit.say('Typed'))}${
    members.length > 0 && html`<p>${visit.say('See:')} ${linksTo(visit, members)}</p>`
  }</section>`
}
<div class="narrow">${formOf(visit, {
    path,
    action: 'enter',
    body: html`${rowFields(visit, entering, texts, faults)}${
      asksAgain === true &&
      html`<label class="tick"><input type="checkbox" name="again" value="yes">
${visit.say('It is another entry with the same values: save it too.')}</label>`
    }`,
    button: stored === undefined ? visit.say('Enter') : visit.say('Preview'),
  })}<p><a href="${back}">${visit.say('Back')}</a></p></div>`;
}

function titleOf({ translate }: Visit, { heading, ownerName }: Entering, values: Texts): Html {
  const owner = ownerName?.(values);
  return html`<h1>${translate(heading)}</h1>
${owner !== undefined && html`<p>${owner}</p>`}`;
}

function linksTo(visit: Visit, members: readonly FoundMember[]): Html[] {
  const numbers = visit.use(openStoredData).findNumbers(members.map(({ id }) => id));
  return members.map((member) => {
    const person = visit.session.persons.of(numbers.get(member.id) ?? '');
    return html`<a href="/person/${person}">${describeMember(member)}</a> `;
  });
}

/** @param isOther true if the user confirmed another plan */
function planPage(
  visit: Visit,
  entering: Entering,
  { texts, row }: { readonly texts: Texts; readonly row: Texts },
  plan: RowPlan,
  isOther: boolean,
): Html {
  const { kind, path, back, sharing } = entering;
  const isNew = plan.changes.created > 0;
  const people = kind === 'members' && isNew ? (sharing?.(row) ?? []) : [];
  const warnings = plan.warnings.map((text) => sayAtDesk(visit, text));
  if (people.length > 0)
    warnings.unshift(
      visit.say('This national ID is already that of {people}. Is it the same person?', { people }),
    );
  return html`${titleOf(visit, entering, row)}
${isOther && html`<p class="refused" role="alert">${visit.translate(OUTDATED)}</p>`}
${
  warnings.length > 0 &&
  html`<section class="attention" role="alert">${warnings.map((text) => html`<p>${text}</p>`)}</section>`
}
<section class="card"><p>${
    isNew ? visit.say('This would be added:') : visit.say('This would be changed:')
  }</p>${
    isNew
      ? fields(understoodValues(visit, entering, plan))
      : changesTable(visit, plan, visit.say('Before'), visit.say('After'))
  }</section>
<div class="narrow">${formOf(visit, {
    path,
    action: 'enter',
    hidden: { ...texts, expected: plan.fingerprint },
    body: '',
    button: visit.say('Confirm'),
  })}${formOf(visit, {
    path,
    action: 'correct',
    hidden: { ...texts },
    body: '',
    button: visit.say('Correct it'),
    look: 'plain',
  })}<p><a href="${back}">${visit.say('Cancel')}</a></p></div>`;
}

const understoodValues = (visit: Visit, { kind }: Entering, { understood }: RowPlan) =>
  FILE_COLUMNS[kind].map((column, i) => {
    const { initial } = column.field;
    const value = understood[i] ?? (initial === NOW ? visit.now : initial);
    return [labelOf(visit, column), writeStored(visit, column.name, value)] as const;
  });

const changesTable = (visit: Visit, { listed }: RowPlan, before: string, after: string): Html =>
  table(
    visit.say('This would be changed:'),
    [visit.say('Field'), before, after].map((heading) => ({ heading })),
    listed.map(({ column, old, new: value }) => [
      visit.translate(nameOf(column)),
      writeStored(visit, column, old) ?? '–',
      writeStored(visit, column, value) ?? '–',
    ]),
  );

// Pages to enter and change the rows of a person

const idOf = (row: StoredRow): string => textOf(row, 'id');

const joined = (...names: (string | undefined)[]): string =>
  names.filter((name) => name !== undefined && name !== '').join(' · ');

export const ENTER_FOR_PERSON: Screen = enteringScreen(
  { path: '/person/:person/enter/:kind/:row', title: say('Enter') },
  (visit) => {
    const person = findVisited(visit);
    const { kind, row = '' } = visit.places;
    if (person === undefined || !isEnteredKind(kind) || kind === 'members') return undefined;
    const membership = person.memberships.find(({ member, loans }) =>
      (kind === 'payments' ? loans : [member]).some((owner) => idOf(owner) === row),
    );
    if (membership === undefined) return undefined;
    const settled = ownerOf(kind, membership, row);
    return {
      kind,
      heading: ENTERED[kind].heading,
      path: enterPath(personPath(visit), kind, row),
      back: personPath(visit),
      settled,
      ownerName: () => joined(nameOfPerson(person), settled.loan_reference),
      shows: () => showing(person),
    };
  },
);

/** Returns the columns that identify the owner of a row. @param loanId used only for a payment */
function ownerOf(kind: ImportKind, { member, loans }: StoredMembership, loanId: string): Texts {
  const cooperative = { cooperative_code: textOf(member, 'cooperative') };
  if (kind === 'members') return cooperative;
  if (kind !== 'payments') return { ...cooperative, member_code: textOf(member, 'member_code') };
  const loan = loans.find((candidate) => idOf(candidate) === loanId);
  return { ...cooperative, loan_reference: loan === undefined ? '' : textOf(loan, 'reference') };
}

const CHANGES: {
  readonly [kind in EnteredKind]: {
    readonly heading: Message;
    readonly rows: (membership: StoredMembership) => readonly StoredRow[];
  };
} = {
  members: { heading: say('Change the member'), rows: ({ member }) => [member] },
  production: { heading: say('Change the delivery'), rows: ({ deliveries }) => deliveries },
  savings: {
    heading: say('Change the savings transaction'),
    rows: ({ savingsTransactions }) => savingsTransactions,
  },
  loans: { heading: say('Change the loan'), rows: ({ loans }) => loans },
  payments: { heading: say('Change the payment'), rows: ({ payments }) => payments },
};

export const CHANGE_ROW: Screen = enteringScreen(
  { path: '/person/:person/change/:kind/:row', title: say('Change') },
  (visit) => {
    const person = findVisited(visit);
    const { kind, row: id } = visit.places;
    if (person === undefined || !isEnteredKind(kind)) return undefined;
    const { heading, rows } = CHANGES[kind];
    for (const membership of person.memberships) {
      const row = rows(membership).find((candidate) => idOf(candidate) === id);
      if (row === undefined) continue;
      const owner = ownerOf(kind, membership, textOf(row, 'loan_id'));
      const list = listIn(visit.query);
      const reference = kind === 'members' ? '' : referenceOf(row);
      return {
        kind,
        heading,
        path: changePath(personPath(visit), kind, idOf(row), list),
        back: list ?? personPath(visit),
        settled: { ...owner, ...keyOf(kind, row) },
        stored: { ...textsOf(visit, kind, row), ...owner },
        ownerName: () => joined(nameOfPerson(person), owner.loan_reference, reference),
        shows: () => showing(person),
      };
    }
    return undefined;
  },
);

const keyOf = (kind: ImportKind, row: StoredRow): Texts =>
  kind === 'members'
    ? { identity_card: textOf(row, 'identity_card') }
    : { reference: textOf(row, 'reference') };

// Pages to enter and change cooperatives, and to enter their rows one by one, for example from paper

export const NEW_COOPERATIVE: Screen = enteringScreen(
  { path: '/cooperatives/enter', title: say('New cooperative') },
  (visit) => ({
    kind: 'cooperatives',
    heading: say('New cooperative'),
    proposed: () => visit.use(openStoredData).listPlaces(),
    withCodes: ({ code = '' }) => ({ code: code.toUpperCase() }),
    path: '/cooperatives/enter',
    back: '/cooperatives',
    next: ({ code = '' }) => `/cooperative/${code}`,
    settled: {},
    shows: () => 'nobody',
  }),
);

export const CHANGE_COOPERATIVE: Screen = enteringScreen(
  { path: '/cooperative/:code/change', title: say('Edit the cooperative') },
  async (visit) => {
    const cooperative = await findCooperative(visit, visit.use(openRegistry));
    if (cooperative === undefined) return undefined;
    const values = Object.fromEntries(
      listFields(COOPERATIVE_FIELDS).map(({ name, property }) => [
        name,
        cooperative[property as keyof typeof COOPERATIVE_FIELDS],
      ]),
    );
    return {
      kind: 'cooperatives',
      heading: say('Edit the cooperative'),
      proposed: () => visit.use(openStoredData).listPlaces(),
      path: `${cooperativePath(visit)}/change`,
      back: cooperativePath(visit),
      settled: { code: cooperative.code },
      stored: textsOf(visit, 'cooperatives', values),
      ownerName: () => cooperative.name,
      shows: () => 'nobody',
    };
  },
);

export const ENTER_IN_COOPERATIVE: Screen = enteringScreen(
  { path: '/cooperative/:code/enter/:kind', title: say('Enter') },
  async (visit) => {
    const { kind } = visit.places;
    const cooperative = await findCooperative(visit, visit.use(openRegistry));
    if (cooperative === undefined || !isEnteredKind(kind)) return undefined;
    const { heading, carriedOver } = ENTERED[kind];
    const path = `${cooperativePath(visit)}/enter/${kind}`;
    const storedData = visit.use(openStoredData);
    const today = formatDate(visit.now, visit.desk.storage.zone);
    const initial = {
      ...Object.fromEntries(carriedOver.map((name) => [name, visit.query.get(name) ?? ''])),
      ...(kind === 'members' ? { registration_date: today } : {}),
    };
    const members = openMembers(storedData, cooperative.code);
    return {
      kind,
      heading,
      path,
      back: cooperativePath(visit),
      next: (texts) => {
        // The page of the person has links to enter the member's rows.
        if (kind === 'members') return `/person/${visit.session.persons.of(numberIn(texts))}`;
        const query = new URLSearchParams(
          Object.fromEntries(carriedOver.map((name) => [name, texts[name] ?? ''])),
        );
        return carriedOver.length === 0 ? path : `${path}?${query}`;
      },
      settled: { cooperative_code: codeOf(visit) },
      initial,
      withCodes: (texts) => (kind === 'members' ? {} : storedCodes(storedData, cooperative.code, texts)),
      proposed: () => (kind === 'production' ? { product: storedData.listProducts(cooperative.id) } : {}),
      isDirect: kind === 'production' || kind === 'savings',
      asksAnother: kind === 'members',
      ownerName: (values) =>
        joined(members(values).map(describeMember)[0] ?? cooperative.name, values.loan_reference),
      members,
      sharing: (values) => storedData.findMembers({ identityCard: numberIn(values) }).map(describeMember),
      shows: (values) => showingInCooperative(values, members(values)),
    };
  },
);

/** Returns the national ID as an import reads it: without spaces or a spreadsheet's apostrophe. */
const numberIn = ({ identity_card: number = '' }: Texts): string => unwrapText(number).replace(/\s/g, '');

function storedCodes(storedData: StoredDataStore, cooperativeCode: string, texts: Texts): Texts {
  const { member_code: memberCode, loan_reference: reference } = texts;
  const [member] = memberCode ? storedData.findMembers({ cooperativeCode, memberCode, isTyped: true }) : [];
  const [loan] = reference ? loansOf(storedData, cooperativeCode, reference) : [];
  return {
    ...(member && { member_code: member.memberCode }),
    ...(loan && { loan_reference: textOf(loan, 'reference') }),
  };
}

/** Finds loans by reference, or else by the reference in upper case. */
function loansOf(
  storedData: StoredDataStore,
  cooperativeCode: string,
  reference: string,
): readonly StoredRow[] {
  const loans = storedData.listEntries('loans', { cooperativeCode, reference });
  if (loans.length > 0) return loans;
  return storedData.listEntries('loans', { cooperativeCode, reference: reference.toUpperCase() });
}

/** Returns a function that finds the members whom a row names by code, by loan or by national ID. */
const openMembers =
  (storedData: StoredDataStore, cooperativeCode: string) =>
  (values: Texts): readonly FoundMember[] => {
    const { member_code: code = '', loan_reference: reference = '' } = values;
    const loans = reference === '' ? [] : loansOf(storedData, cooperativeCode, reference);
    const codes = [code, ...loans.map((loan) => textOf(loan, 'member_code'))];
    const names: MemberName[] = codes.filter(Boolean).map((memberCode) => ({ memberCode }));
    if (isIdentityCard(numberIn(values))) names.push({ identityCard: numberIn(values) });
    const members = names.flatMap((name) =>
      storedData.findMembers({ ...name, cooperativeCode, isTyped: true }),
    );
    return [...new Map(members.map((member) => [member.id, member])).values()];
  };

/** The access record includes the holder of the row's national ID, whom messages may reveal. */
function showingInCooperative(values: Texts, members: readonly FoundMember[]): Shows | 'nobody' {
  const number = numberIn(values);
  const identityCards = isIdentityCard(number) ? [number] : [];
  if (identityCards.length === 0 && members.length === 0) return 'nobody';
  const memberIds = members.map(({ id }) => id);
  return { fields: ['identity', 'contact', 'financials'], subject: { identityCards, memberIds } };
}
