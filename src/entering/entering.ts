/**
 * Entering and changing one row at the desk (docs/desk.md#entering-by-hand): first a form, then a preview of
 * the changes, then the row is written as if it came from a file.
 */

import type { Answer, Form, Page, Screen, Shows, Visit } from '../desk/screen.ts';
import { type Entered, enterRow, type RowPlan } from '../import/enter-row.ts';
import { openImportSession } from '../import/staging/session.ts';
import { FILE_COLUMNS } from '../registry/file-columns.ts';
import { nameOf, writeStored } from '../registry/pages/stored-values.ts';
import { type Message, say } from '../values/message.ts';
import { type Entering, planPage, typingPage } from './entering-pages.ts';
import type { Texts } from './row-form.ts';
import { newReference, rowOf, shownTexts, typedOf } from './row-texts.ts';

/** @param find returns undefined if the subject of the page does not exist */
export const enteringScreen = (
  { path, title }: Pick<Screen, 'path' | 'title'>,
  find: (visit: Visit) => Promise<Entering | undefined> | Entering | undefined,
): Screen => ({
  path,
  title,
  personal: 'some',
  async read(visit) {
    const entering = await find(visit);
    if (entering === undefined) return undefined;
    const { stored, initial, settled } = entering;
    const typed = stored === undefined ? (initial ?? {}) : shownTexts(stored);
    const body = typingPage(visit, entering, typed, {});
    return { body, shows: stored === undefined ? 'nobody' : entering.shows({ ...stored, ...settled }) };
  },
  actions: {
    async enter(visit, given) {
      const entering = await find(visit);
      return entering && enter(visit, entering, given);
    },
    async correct(visit, given) {
      const entering = await find(visit);
      if (entering === undefined) return undefined;
      const typed = typedOf(entering, given);
      return {
        body: typingPage(visit, entering, typed, {}),
        shows: entering.shows({ ...typed, ...entering.settled }),
      };
    },
  },
});

async function enter(visit: Visit, entering: Entering, form: Form): Promise<Answer> {
  const { kind } = entering;
  const given = typedOf(entering, form);
  const typed = { ...given, ...entering.withCodes?.(given) };
  if (form.get('again') === 'yes') typed.reference ||= newReference(visit);
  const values = rowOf(entering, typed);
  const shows = entering.shows(Object.fromEntries(values));
  const expected = form.get('expected');
  const entered = await enterRow(
    visit.use((storage) => openImportSession(storage, 'import')),
    { kind, values },
    {
      zone: visit.desk.config.zone,
      clock: visit.desk.clock,
      systemUser: visit.session.user,
      agreed: expected || undefined,
      isDirect: entering.isDirect === true,
    },
  );
  if (entered.outcome === 'entered') {
    const { next, back } = entering;
    const told = tellOf(visit, entering, entered.plan, Object.fromEntries(values));
    const another = entering.asksAnother === true ? entering.path : undefined;
    return { goTo: next?.(typed) ?? back, told, operationId: entered.operationId, another, shows };
  }
  return answer(visit, entering, { typed, values, expected, shows }, entered);
}

interface Given {
  readonly typed: Texts;
  readonly values: ReadonlyMap<string, string>;
  readonly expected: string;
  readonly shows: Shows | 'nobody';
}

function answer(
  visit: Visit,
  entering: Entering,
  { typed, values, expected, shows }: Given,
  entered: Exclude<Entered, { outcome: 'entered' }>,
): Page {
  const members = entering.kind === 'members' ? entering.members?.(Object.fromEntries(values)) : undefined;
  if (entered.outcome === 'refused') {
    const { faults } = entered;
    return { body: typingPage(visit, entering, typed, { faults, members }), shows, status: 422 };
  }
  if (entered.outcome === 'failed')
    return { body: typingPage(visit, entering, typed, { told: entered.message }), shows, status: 503 };
  const { plan } = entered;
  if (plan.changes.created + plan.changes.changed === 0) {
    const asksAgain = entering.stored === undefined && typed.reference === '';
    return { body: typingPage(visit, entering, typed, { told: NOTHING_NEW, asksAgain }), shows };
  }
  // A user who enters a new row does not mean to change another one.
  if (entering.stored === undefined && plan.changes.changed > 0)
    return {
      body: typingPage(visit, entering, typed, { told: EXISTS, stored: plan, members }),
      shows,
      status: 409,
    };
  const isOther = expected !== '' && expected !== plan.fingerprint;
  return { body: planPage(visit, entering, { typed, values, plan, isOther }), shows };
}

const NOTHING_NEW = say('This is stored already, and nothing would change.');
const EXISTS = say(
  'There is one already, with other values. Give another code or number, or change that one on its page.',
);

/**
 * The message after an entry: times and amounts of a new row as they were understood, or the changed columns.
 */
function tellOf(visit: Visit, { kind, heading, whose }: Entering, plan: RowPlan, values: Texts): Message {
  const { changes, listed, understood } = plan;
  const entered = FILE_COLUMNS[kind].flatMap(({ name, field }, i) =>
    field.kind === 'decimal' || name.endsWith('_at') ? writeStored(visit, name, understood[i] ?? null) : [],
  );
  const what = [
    whose?.(values),
    ...(changes.created > 0 ? entered : listed.map(({ column }) => visit.translate(nameOf(column)))),
  ];
  const shown = what.filter((each) => each !== undefined);
  return shown.length === 0
    ? say('{what}: done.', { what: heading })
    : say('{what}: done ({details}).', { what: heading, details: shown });
}
