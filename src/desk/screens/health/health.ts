/** `/health`: what `status` and `check` say, and a backup (docs/operating.md#status). */
import { dirname, isAbsolute } from 'node:path';
import { findAttention, type StatusFacts } from '../../../app/condition/attention.ts';
import { readFacts } from '../../../app/condition/read-facts.ts';
import { asMessage, say } from '../../../domain/values/message.ts';
import { type Html, html } from '../../../html/html.ts';
import { typed } from '../../page/commands.ts';
import { form, input, table } from '../../page/parts.ts';
import { workUnderWay } from '../../page/under-way.ts';
import type { Page, Screen, Visit } from '../../visit/screen.ts';
import { isUnderWay } from '../../work/long-work.ts';
import { attention } from '../attention.ts';
import { refuseGiven } from '../propose-correction.ts';
import { conditionOf } from './condition.ts';

const PATH = '/health';

export const HEALTH: Screen = {
  path: PATH,
  title: say('Health'),
  menu: say('Health'),
  personal: 'none',
  async read(visit): Promise<Page> {
    const { storage, clock, config, work } = visit.desk;
    const heading = html`<h1>${visit.say('Health')}</h1>`;
    const backup = work.find('backup');
    if (backup !== undefined && isUnderWay(backup)) {
      const { parent, progress } = backup.input;
      return workUnderWay(
        visit,
        heading,
        visit.say('Backing up into {folder}…', { folder: parent }),
        progress[0],
      );
    }
    const check = work.find('check');
    if (check !== undefined && isUnderWay(check))
      return workUnderWay(visit, heading, visit.say('Reading everything…'));
    const facts = await readFacts(storage, { ...config, clock }, (text) => typed(text, config.storage));
    return {
      body: html`${heading}${attention(visit, findAttention(facts))}
${conditionOf(visit, facts)}
<div class="beside forms"><section class="card">${backups(visit, facts)}</section>
<section class="card">${checks(visit)}</section></div>`,
    };
  },
  actions: {
    async backup(visit, given) {
      const parent = given.get('folder');
      const heading = say('Back up now');
      if (!isAbsolute(parent))
        return refuseGiven(
          visit,
          heading,
          PATH,
          say('Give the complete path of a folder, such as /var/backups/registry.'),
        );
      const progress = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));
      const { clock, work } = visit.desk;
      await work.start('backup', { parent, atMs: clock.now(), progress }, visit.now);
      return { goTo: PATH };
    },
    async check({ desk, now }) {
      await desk.work.start('check', undefined, now);
      return { goTo: PATH };
    },
  },
};

function backups(visit: Visit, { condition }: StatusFacts): Html {
  const { say, desk } = visit;
  const { last } = condition.backups;
  const done = desk.work.find('backup');
  const refused = done?.error;
  return html`<h2>${say('Back up now')}</h2>
${done?.result !== undefined && outcome(visit, done.result)}
${
  refused !== undefined &&
  html`<p class="refused" role="alert">${
    refused instanceof Error ? visit.translate(refused.message) : String(refused)
  }</p>`
}
${form(visit, {
  path: PATH,
  action: 'backup',
  button: say('Back up now'),
  body: input({
    name: 'folder',
    label: say('Folder of the backups'),
    maxLength: 1_000,
    ...(last === null ? {} : { value: dirname(last.folder) }),
    hint: say(
      'On another disk than the registry. The backup gets a folder of its own in it, and is read back.',
    ),
  }),
})}`;
}

const outcome = (
  { say }: Visit,
  { folder, fault }: { readonly folder: string; readonly fault: string | null },
): Html =>
  fault === null
    ? html`<p class="told" role="status">
${say('Backed up in {folder}, and read back: it is sound.', { folder })}</p>`
    : html`<p class="refused" role="alert">${say('{folder} is NOT sound: {fault}', { folder, fault })}</p>`;

function checks(visit: Visit): Html {
  const { say, desk, write, translate } = visit;
  const work = desk.work.find('check');
  if (work !== undefined && work.result === undefined) throw desk.work.takeError('check');
  const found = work?.result ?? [];
  const faults = found.filter(({ fault }) => fault !== null).length;
  return html`<h2>${say('Check everything')}</h2>
<p><small>${say('Reads everything and changes nothing. A large registry takes minutes.')}</small></p>
${form(visit, { path: PATH, action: 'check', body: '', button: say('Check now') })}
${
  work !== undefined &&
  html`<p class="${faults === 0 ? 'told' : 'refused'}" role="status">${
    faults === 0
      ? say('The registry is sound.')
      : say('{n|# check has|# checks have} found something.', { n: faults })
  } <small>${say('As of {at}.', { at: write.moment(work.startedAt) })}</small></p>
<details${faults > 0 && html` open`}><summary>${say('What was checked')}</summary>${table(
    say('What was checked'),
    [{ heading: say('Check') }, { heading: say('Result') }],
    found.map(({ check, fault, value }) => [
      check,
      fault === null ? (value ?? say('sound')) : html`<b>${translate(asMessage(fault))}</b>`,
    ]),
  )}</details>`
}`;
}
