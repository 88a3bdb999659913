/** `/health`: what `status` and `check` say, and a backup (docs/operating.md#status). */
import { dirname, isAbsolute } from 'node:path';
import { findAttention, type StatusFacts } from '../../../app/condition/attention.ts';
import { readFacts } from '../../../app/condition/read-facts.ts';
import { asMessage, say } from '../../../domain/values/message.ts';
import { type Html, html } from '../../../html/html.ts';
import type { Finding } from '../../../store/contract/storage.ts';
import type { CommandRun } from '../../importing/command-run.ts';
import { typed } from '../../page/commands.ts';
import { form, input, table } from '../../page/parts.ts';
import { failure, runAs, workUnderWay } from '../../page/under-way.ts';
import type { Page, Screen, Visit } from '../../visit/screen.ts';
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
    const { storage, clock, config, files } = visit.desk;
    const heading = html`<h1>${visit.say('Health')}</h1>`;
    const backup = files.workOf('backup');
    if (backup?.isAtWork)
      return workUnderWay(
        visit,
        heading,
        visit.say('Backing up into {folder}…', { folder: folderOf(backup) }),
        backup,
      );
    const check = files.workOf('check');
    if (check?.isAtWork) return workUnderWay(visit, heading, visit.say('Reading everything…'), check);
    const facts = await readFacts(storage, { ...config, clock }, (text) => typed(text, config.storage));
    return {
      body: html`${heading}${attention(visit, findAttention(facts))}
${conditionOf(visit, facts)}
<div class="beside forms"><section class="card">${backups(visit, facts, backup)}</section>
<section class="card">${checks(visit, check)}</section></div>`,
    };
  },
  actions: {
    backup(visit, given) {
      const parent = given.get('folder');
      const heading = say('Back up now');
      if (!isAbsolute(parent))
        return refuseGiven(
          visit,
          heading,
          PATH,
          say('Give the complete path of a folder, such as /var/backups/registry.'),
        );
      const { clock, files, storage } = visit.desk;
      files.startWork('backup', [storage.datedFolderIn(parent, clock.now()), '--verify'], runAs(visit));
      return { goTo: PATH };
    },
    check(visit) {
      visit.desk.files.startWork('check', [], runAs(visit));
      return { goTo: PATH };
    },
  },
};

/** It gets a folder of its own, named by the time, in that of all backups. */
const folderOf = ({ args: [, target = ''] }: CommandRun): string => dirname(target);

function backups(visit: Visit, { condition }: StatusFacts, run: CommandRun | undefined): Html {
  const { say } = visit;
  const last = condition.lastBackup;
  return html`<h2>${say('Back up now')}</h2>
${
  run !== undefined &&
  (run.status === 0
    ? html`<p class="told" role="status">
${say('Backed up in {folder}, and read back: it is sound.', { folder: run.args[1] ?? '' })}</p>`
    : failure(visit, run))
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

function checks(visit: Visit, run: CommandRun | undefined): Html {
  const { say, write, translate } = visit;
  const { checks: found } = (run?.document ?? { checks: [] }) as { readonly checks: readonly Finding[] };
  const faults = found.filter(({ fault }) => fault !== null).length;
  return html`<h2>${say('Check everything')}</h2>
<p><small>${say('Reads everything and changes nothing. A large registry takes minutes.')}</small></p>
${form(visit, { path: PATH, action: 'check', body: '', button: say('Check now') })}
${run !== undefined && found.length === 0 && failure(visit, run)}
${
  run !== undefined &&
  found.length > 0 &&
  html`<p class="${faults === 0 ? 'told' : 'refused'}" role="status">${
    faults === 0
      ? say('The registry is sound.')
      : say('{n|# check has|# checks have} found something.', { n: faults })
  } <small>${say('As of {at}.', { at: write.moment(run.startedAt) })}</small></p>
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
