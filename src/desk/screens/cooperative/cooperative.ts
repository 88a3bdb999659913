/** `/cooperative/…`: one cooperative: its statistics, its rows as files, and its end in another one. */

import type { Cooperative } from '../../../domain/membership/cooperatives.ts';
import { FieldError } from '../../../domain/values/errors.ts';
import { say } from '../../../domain/values/message.ts';
import { parseNamedCode } from '../../../domain/values/text.ts';
import { type Html, html } from '../../../html/html.ts';
import { IMPORT_KINDS } from '../../../store/contract/import/import-session.ts';
import { ENTERED } from '../../page/entered-kinds.ts';
import { nameOf } from '../../page/names.ts';
import { fields, form, input, select } from '../../page/parts.ts';
import type { Screen, Visit } from '../../visit/screen.ts';
import { proposeCorrection, refuseGiven } from '../propose-correction.ts';
import { exportRows } from './export-rows.ts';
import { codeOf, findCooperative, pathOf } from './find-cooperative.ts';
import { RECORDED } from './looked-after.ts';
import { statistics } from './statistics.ts';

const MERGING = say('Merge two cooperatives');

export const COOPERATIVE: Screen = {
  path: '/cooperative/:code',
  title: say('Cooperative'),
  // Its statistics show nobody; its export does.
  personal: 'some',
  async read(visit) {
    const registry = visit.use((storage) => storage.openRegistry());
    const cooperative = await findCooperative(visit, registry);
    const sums = cooperative && registry.statistics.ofCooperative(cooperative.id, visit.now);
    if (cooperative === undefined || sums === undefined) return undefined;
    const body = html`${head(visit, cooperative)}
${statistics(visit, sums)}
${actions(visit)}`;
    return { body, shows: 'nobody' };
  },
  actions: {
    export: exportRows,
    merge(visit, given) {
      const path = pathOf(visit);
      const into = parseNamedCode(given.get('into'));
      if (into instanceof FieldError) return refuseGiven(visit, MERGING, path, into.text);
      return proposeCorrection(visit, given, {
        heading: MERGING,
        path,
        action: 'merge',
        given: { into },
        seen: [
          [visit.say('Goes, and is dissolved'), codeOf(visit)],
          [visit.say('Stays'), into],
        ],
        back: path,
        shows: 'nobody',
        afterwards: `/cooperative/${into}`,
        run: (store, options) => store.mergeCooperatives(codeOf(visit), into, options),
      });
    },
  },
};

function head({ say, translate, write }: Visit, cooperative: Cooperative): Html {
  const { code, name, sector, province, district, registrationDate, status, membersCount } = cooperative;
  return html`<h1>${name}</h1>
${fields([
  [translate(nameOf('code')), code],
  [translate(nameOf('sector')), sector && translate(nameOf(sector))],
  [translate(nameOf('district')), [district, province].filter((each) => each !== null).join(', ')],
  [say('Registered'), registrationDate !== null && write.date(registrationDate)],
  [translate(nameOf('status')), translate(nameOf(status))],
  [say('Active members'), write.number(membersCount)],
])}
<p><a href="/cooperative/${code}/members">${say('Its members')}</a> ·
<a href="/cooperative/${code}/change">${say('Edit the cooperative')}</a> ·
<a href="/cooperative/${code}/without-delivery">${say('Members without a delivery this year')}</a> ·
<a href="/cooperative/${code}/late-loans">${say('Late loans')}</a> ·
<a href="/compare?of=${code}">${say('Compare')}</a></p>
<p>${say('Recorded:')} ${Object.values(RECORDED).map(
    ({ path, title }, i) =>
      html`${i > 0 && ' · '}<a href="${path.replace(':code', code)}">${translate(title)}</a>`,
  )}</p>
<p>${say('Enter from paper:')} ${Object.entries(ENTERED).map(
    ([kind, { heading }], i) =>
      html`${i > 0 && ' · '}<a href="/cooperative/${code}/enter/${kind}">${translate(heading)}</a>`,
  )}</p>`;
}

function actions(visit: Visit): Html {
  const { say, translate } = visit;
  const path = pathOf(visit);
  const kinds = IMPORT_KINDS.filter((kind) => kind !== 'cooperatives').map(
    (kind) => [kind, translate(nameOf(kind))] as const,
  );
  return html`<section class="forms"><h2>${say('Files and corrections')}</h2>
<details><summary>${say('Save its rows as a file')}</summary>${form(visit, {
    path,
    action: 'export',
    button: say('Save the file'),
    saves: true,
    body: html`${select('kind', say('Which rows'), kinds)}${select('format', say('As'), [
      ['xlsx', say('Excel workbook')],
      ['csv', say('CSV, with the names that programs use')],
    ])}`,
  })}<p><small>${say('The file holds personal data. Keep it as carefully as the registry.')}</small></p>
</details>
<details><summary>${translate(MERGING)}</summary>
<p><small>${say('All members go to the other one, and this one is dissolved.')}</small></p>${form(visit, {
    path,
    action: 'merge',
    button: say('Show what would be done'),
    body: input({ name: 'into', label: say('Code of the other cooperative'), maxLength: 32 }),
  })}</details></section>`;
}
