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
import { conditionOf } from './condition.ts';

const PATH = '/health';

export const HEALTH: Screen = {
  path: PATH,
  title: say('Health'),
  menu: say('Health'),
  personal: 'none',
  read: (visit) => showHealth(visit),
  actions: {
    async backup(visit, given) {
      const { clock, files, storage } = visit.desk;
      const folder = given.get('folder');
      const mayCreate = given.get('create') !== '';
      const refuse = async (fault: string): Promise<Page> => ({
        ...(await showHealth(visit, { folder, fault })),
        status: 422,
      });
      if (!isAbsolute(folder))
        return await refuse(visit.say('Give the complete path of a folder, such as /var/backups/registry.'));
      if (!mayCreate && storage.backupPlaceOf(folder) === 'missing')
        return await refuse(
          visit.say('There is no such folder. Mount its disk, or tick the box to create it.'),
        );
      const args = [storage.datedFolderIn(folder, clock.now()), '--verify', ...(mayCreate ? ['--yes'] : [])];
      files.commands.startWork('backup', args, runAs(visit));
      return { goTo: PATH };
    },
    check(visit) {
      visit.desk.files.commands.startWork('check', [], runAs(visit));
      return { goTo: PATH };
    },
  },
};

/** A folder that was typed, and what is wrong with it. */
interface RefusedFolder {
  readonly folder: string;
  readonly fault: string;
}

async function showHealth(visit: Visit, refused?: RefusedFolder): Promise<Page> {
  const { storage, clock, config, files } = visit.desk;
  const heading = html`<h1>${visit.say('Health')}</h1>`;
  const backup = files.commands.workOf('backup');
  if (backup?.isAtWork)
    return workUnderWay(
      visit,
      heading,
      visit.say('Backing up into {folder}…', { folder: folderOf(backup) }),
      backup,
    );
  const check = files.commands.workOf('check');
  if (check?.isAtWork) return workUnderWay(visit, heading, visit.say('Reading everything…'), check);
  const facts = await readFacts(storage, { ...config, clock }, (text) => typed(text, config.storage));
  const told =
    refused === undefined
      ? backup !== undefined && backedUp(visit, backup)
      : html`<p class="refused" role="alert">${refused.fault}</p>`;
  return {
    body: html`${heading}${told}${attention(visit, findAttention(facts))}
${conditionOf(visit, facts)}
<div class="beside forms"><section class="card">${backups(visit, facts, refused)}</section>
<section class="card">${checks(visit, check)}</section></div>`,
  };
}

/** It gets a folder of its own, named by the time, in that of all backups. */
const folderOf = ({ args: [, target = ''] }: CommandRun): string => dirname(target);

const backedUp = (visit: Visit, run: CommandRun): Html | false =>
  run.status === 0
    ? html`<p class="told" role="status">${visit.say('Backed up in {folder}, and read back: it is sound.', {
        folder: run.args[1] ?? '',
      })}</p>`
    : failure(visit, run);

function backups(visit: Visit, { condition }: StatusFacts, refused: RefusedFolder | undefined): Html {
  const { say } = visit;
  const last = condition.lastBackup;
  const folder = refused?.folder ?? (last === null ? undefined : dirname(last.folder));
  return html`<h2>${say('Back up now')}</h2>
${form(visit, {
  path: PATH,
  action: 'backup',
  button: say('Back up now'),
  body: html`${input({
    name: 'folder',
    label: say('Folder of the backups'),
    maxLength: 1_000,
    ...(folder === undefined ? {} : { value: folder }),
    fault: refused?.fault,
    hint: say(
      'On another disk than the registry. The backup gets a folder of its own in it, and is read back.',
    ),
  })}<label class="tick"><input type="checkbox" name="create" value="yes">
${say('Create this folder if there is none. Not if it is on a disk that has to be mounted first.')}</label>`,
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
      // In the words of the command, in which these are looked up.
      html`<code>${check}</code>`,
      fault !== null
        ? html`<b>${translate(asMessage(fault))}</b>`
        : value === undefined
          ? say('sound')
          : html`<code>${value}</code>`,
    ]),
  )}</details>`
}`;
}
