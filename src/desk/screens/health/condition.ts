/** The facts of `status`, and of the metrics that say the same. */

import { expiringSoon, refusedOften, type StatusFacts } from '../../../app/condition/attention.ts';
import { type Html, type HtmlValue, html } from '../../../html/html.ts';
import { fields, table } from '../../page/parts.ts';
import type { Visit } from '../../visit/screen.ts';

type Entries = readonly (readonly [label: string, value: HtmlValue])[];

export function conditionOf(visit: Visit, facts: StatusFacts): Html {
  const { say, write } = visit;
  const { condition, keys, isServed } = facts;
  const { rows, readModel, sequence, imports } = condition;
  const { number, bytes } = write;
  const part = (title: string, entries: Entries) =>
    html`<section><h2>${title}</h2>${fields(entries)}</section>`;
  return html`<div class="beside">
${part(say('Service'), [
  [say('Registry'), facts.location],
  [say('Service'), isServed ? say('running') : say('not running')],
  [say('Imports under way'), number(imports.running)],
])}
${part(say('Disk'), [
  [say('Registry'), bytes(condition.bytes)],
  [say('of that, write-ahead log'), bytes(condition.logBytes)],
  [say('Free'), html`${bytes(condition.freeBytes)}${free(visit, facts)}`],
])}
${part(say('Rows'), [
  [say('Cooperatives'), number(rows.cooperatives)],
  [say('Members'), number(rows.members)],
  [say('Deliveries'), number(rows.deliveries)],
  [say('Loans'), number(rows.loans)],
  [say('Payments'), number(rows.payments)],
  [say('Savings'), number(rows.transactions)],
])}
${part(say('Last backup'), lastBackup(visit, facts))}
${part(say('Lookups and events'), [
  [
    say('Read model'),
    readModel.stale === 0 && !readModel.hasOtherRules ? say('up to date') : say('out of date'),
  ],
  [
    say('Events'),
    sequence === undefined ? say('unknown') : say('up to {n}', { n: number(sequence.lastSequence) }),
  ],
])}
${part(say('Keys'), [
  [say('active keys'), number(keys.filter(({ isActive }) => isActive).length)],
  [say('ending within 30 days'), number(expiringSoon(facts).length)],
  [say('refused often'), number(refusedOften(facts).length)],
])}
${part(say('Access ledger'), ledger(visit, facts))}</div>${webhooks(visit, facts)}`;
}

function free({ say }: Visit, { condition: { freeBytes, bytes: taken, reservedBytes } }: StatusFacts): Html {
  const needed = taken + reservedBytes;
  const label = say('Free, beside what an import of everything would need');
  return html` <meter min="0" max="${2 * needed}" low="${needed}" optimum="${2 * needed}"
 value="${Math.min(freeBytes, 2 * needed)}" aria-label="${label}"></meter>`;
}

function lastBackup({ say, write }: Visit, { condition }: StatusFacts): Entries {
  const last = condition.lastBackup;
  if (last === null) return [[say('When'), say('none known')]];
  const at = (ms: number) => write.moment(Math.floor(ms / 1000));
  const checked =
    last.verifiedAtMs === null ? say('not read back') : say('read back {at}', { at: at(last.verifiedAtMs) });
  const disk = { beside: say('in the folder of the registry'), same_disk: say('that of the registry') };
  const bad = last.place === 'missing' ? say('GONE') : last.fault !== null && say('NOT sound');
  return [
    [say('When'), at(last.instantMs)],
    [say('Where'), last.folder],
    [say('Disk'), last.place in disk && disk[last.place as keyof typeof disk]],
    [say('Size'), write.bytes(last.bytes)],
    [say('State'), bad ? html`<b>${bad}</b>` : checked],
  ];
}

function ledger({ say, write }: Visit, { ledger: found, isLedgerOn, ledgerFolder }: StatusFacts): Entries {
  return [
    [say('Readings'), isLedgerOn ? say('recorded') : say('not recorded')],
    [say('So far'), write.number(found?.entries ?? 0)],
    [say('Size'), found && write.bytes(found.bytes)],
    [say('Folder'), found && ledgerFolder],
  ];
}

function webhooks({ say, write }: Visit, { condition: { endpoints } }: StatusFacts): Html | false {
  return (
    endpoints.length > 0 &&
    html`<h2>${say('Webhooks')}</h2>${table(
      say('Webhooks'),
      [
        { heading: say('Endpoint') },
        { heading: say('State') },
        { heading: say('Events behind'), isNumber: true },
        { heading: say('Failures'), isNumber: true },
      ],
      endpoints.map(({ endpoint, behind }) => [
        `${endpoint.id} · ${new URL(endpoint.url).host}`,
        endpoint.disabledAt === null ? say('delivering') : say('disabled'),
        behind === null ? say('starts again') : write.number(behind),
        write.number(endpoint.failures),
      ]),
    )}`
  );
}
