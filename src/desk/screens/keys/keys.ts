/** `/keys`: all keys, and the form that issues one (docs/keys.md). */
import { refusalsOf, usesOf } from '../../../app/shown-keys.ts';
import { stateOfKey } from '../../../domain/access/api-keys.ts';
import { say } from '../../../domain/values/message.ts';
import { type Html, html } from '../../../html/html.ts';
import { nameOf } from '../../page/names.ts';
import { table } from '../../page/parts.ts';
import type { Page, Screen, Visit } from '../../visit/screen.ts';
import {
  faultsOf,
  fieldsOf,
  type KeyFields,
  keyForm,
  keyOperations,
  NEW_KEY,
  readFields,
  toChanges,
} from './key-form.ts';
import { narrowing, type ReadKeys, readCodes, readKeys } from './read-keys.ts';

const PATH = '/keys';

export const KEYS: Screen = {
  path: PATH,
  title: say('Keys'),
  menu: say('Keys'),
  personal: 'none',
  async read(visit) {
    const read = await readKeys(visit);
    const body = html`<h1>${visit.say('Keys')}</h1>${
      read.keys.length === 0 ? html`<p>${visit.say('None yet.')}</p>` : keysTable(visit, read)
    }
<details class="wide"><summary>${visit.say('Issue a key')}</summary>${issueForm(
      visit,
      fieldsOf(NEW_KEY, read.codes, visit.desk.config.zone),
    )}</details>`;
    return { body };
  },
  actions: {
    async issue(visit, given) {
      const values = readFields(given);
      const codes = readCodes(visit);
      try {
        const changes = toChanges(values, undefined, codes, visit.desk.config.zone);
        const openKeys = () => visit.use((storage) => storage.openKeys('issue'));
        const issued = await keyOperations(visit, openKeys).create(changes);
        visit.session.issued = { keyId: Number(issued.id), secret: issued.key };
        return { goTo: `/key/${issued.id}` };
      } catch (error) {
        return refused(visit, values, faultsOf(visit, error));
      }
    },
  },
};

const issueForm = (visit: Visit, values: KeyFields, faults?: readonly string[]): Html =>
  keyForm(visit, {
    path: PATH,
    action: 'issue',
    values,
    button: visit.say('Issue the key'),
    ...(faults === undefined ? {} : { faults }),
  });

const refused = (visit: Visit, values: KeyFields, faults: readonly string[]): Page => ({
  body: html`<h1>${visit.say('Issue a key')}</h1><div class="wide">${issueForm(visit, values, faults)}</div>
<p><a href="${PATH}">${visit.say('Back')}</a></p>`,
  status: 422,
});

function keysTable(visit: Visit, { keys, uses, codes }: ReadKeys): Html {
  const { say, translate, write, now } = visit;
  const number = (heading: string) => ({ heading, isNumber: true as const });
  return table(
    say('Keys'),
    [
      { heading: say('Who holds it') },
      { heading: translate(nameOf('status')) },
      { heading: say('What it may do') },
      { heading: say('Only') },
      number(say('Limits')),
      number(say('Admitted, last')),
      number(say('Refused in a day')),
    ],
    keys.map((key) => {
      const [admitted] = usesOf(key, uses, 'admitted');
      const refusals = refusalsOf(key, uses);
      const state = stateOfKey(key, now);
      const shown = translate(nameOf(`key_${state}`));
      return [
        html`<a class="hit" href="/key/${key.id}">${key.name}</a><br>
<small>${key.prefixes.join(', ')}</small>`,
        state === 'active' ? shown : html`<b>${shown}</b>`,
        key.scopes.map((scope, i) => html`${i > 0 && html`<br>`}${scope}`),
        narrowing(visit, key, codes).join(', '),
        html`${say('{n} an hour', { n: write.number(key.limits.perHour) })}<br>
${say('{n} a day', { n: write.number(key.limits.perDay) })}`,
        admitted === undefined
          ? say('never')
          : html`${write.number(admitted.requests)}<br><small>${write.moment(admitted.lastAt)}</small>`,
        refusals > 0 && write.number(refusals),
      ];
    }),
  );
}
