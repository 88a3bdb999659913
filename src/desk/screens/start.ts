/** `/`: the box, what needs attention, and what was done last. */
import { findAttention, type StatusFacts } from '../../app/condition/attention.ts';
import { readFacts } from '../../app/condition/read-facts.ts';
import { say } from '../../domain/values/message.ts';
import { type Html, html } from '../../html/html.ts';
import type { RecordedImport } from '../../store/contract/journal/operations.ts';
import { typed } from '../page/commands.ts';
import { findBox } from '../page/layout.ts';
import { nameOf } from '../page/names.ts';
import { fields, table } from '../page/parts.ts';
import { undoneMark, whatOf } from '../page/write-stored.ts';
import type { Screen, Visit } from '../visit/screen.ts';
import { attention } from './attention.ts';

const SHOWN_OPERATIONS = 6;

export const START: Screen = {
  path: '/',
  title: say('Start'),
  menu: say('Start'),
  personal: 'none',
  async read(visit) {
    const { storage, clock, config } = visit.desk;
    const facts = await readFacts(storage, { ...config, clock }, (text) => typed(text, config.storage));
    const operations = visit.use(() => storage.openJournal()).list({ limit: SHOWN_OPERATIONS });
    const body = html`<h1 class="unseen">${visit.say('Start')}</h1>
<div class="big">${findBox(visit.translate, visit.session.token)}
<small>${visit.say('National ID, name, telephone, KOAKAMA/11')}</small></div>
${attention(visit, findAttention(facts))}
<div class="beside"><section><h2>${visit.say('The registry')}</h2>${registry(visit, facts)}</section>
<section><h2>${visit.say('Last imports and corrections')}</h2>
${lastOperations(visit, operations.toReversed())}</section></div>`;
    return { body };
  },
  actions: {
    find: (visit, form) => {
      const text = form.get('text');
      return text === '' ? { goTo: '/' } : { goTo: `/found/${visit.session.searches.of(text)}` };
    },
  },
};

function registry(visit: Visit, { condition, isServed }: StatusFacts): Html {
  const { rows } = condition;
  const { number } = visit.write;
  return fields([
    [visit.say('Cooperatives'), number(rows.cooperatives)],
    [visit.say('Members'), number(rows.members)],
    [visit.say('Deliveries'), number(rows.deliveries)],
    [visit.say('Loans'), number(rows.loans)],
    [visit.say('Last backup'), html`<a href="/health">${lastBackup(visit, condition)}</a>`],
    [visit.say('Service'), isServed ? visit.say('running') : visit.say('not running')],
  ]);
}

const lastBackup = ({ say, write }: Visit, { lastBackup: last }: StatusFacts['condition']): string =>
  last === null ? say('none known') : write.moment(Math.floor(last.instantMs / 1000));

function lastOperations(visit: Visit, operations: readonly RecordedImport[]): Html {
  if (operations.length === 0) return html`<p>${visit.say('None yet.')}</p>`;
  const what = (each: RecordedImport): Html =>
    html`<a href="/imports/${each.id}">${visit.translate(nameOf(each.kind))}</a>
<br><small>${whatOf(visit, each)}${undoneMark(visit, each)}</small>`;
  return table(
    visit.say('Last imports and corrections'),
    [
      { heading: visit.say('What') },
      { heading: visit.say('New'), isNumber: true },
      { heading: visit.say('Changed'), isNumber: true },
      { heading: visit.say('When, and by whom') },
    ],
    operations.map((each) => [
      what(each),
      visit.write.number(each.created),
      visit.write.number(each.changed),
      html`${visit.write.moment(each.importedAt)}<br><small>${each.systemUser}</small>`,
    ]),
  );
}
