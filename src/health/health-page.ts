/** The desk's `/health` page: status, checks and backups (docs/operating.md#status). */
import { dirname, isAbsolute } from 'node:path';
import { datedFolderIn, placeOf } from '../backup/numbered-backups.ts';
import type { Finding } from '../check/check.ts';
import { failure, fields, form, input, table, workUnderWay } from '../desk/parts.ts';
import type { Page, Screen, Visit } from '../desk/screen.ts';
import { deskFilesOf } from '../import/pages/desk-files.ts';
import { type CommandRun, runAs } from '../import/pages/previews-and-runs.ts';
import { nameOf } from '../registry/pages/show-stored-values.ts';
import { namedRegistry } from '../runtime/config.ts';
import { typedCommand } from '../runtime/typed-command.ts';
import { type Html, type HtmlValue, html } from '../values/html.ts';
import { asMessage, type Message, say } from '../values/message.ts';
import { type Issue, type ReadAdded, readStatusFacts, type StatusFacts } from './registry-status.ts';
import { expiringSoon, findIssues, refusedOften } from './status-warnings.ts';

/** Pages of the desk on which the user can resolve an issue. */
const PLACES: { readonly [about in Issue['about']]?: readonly [path: string, name: Message] } = {
  backup: ['/health', say('Back up now')],
  keys: ['/keys', say('Keys')],
};

export const attention = (visit: Visit, issues: readonly Issue[]): Html =>
  issues.length === 0
    ? html`<p>${visit.say('Nothing needs attention.')}</p>`
    : html`<section class="attention"><h2>${visit.say('Needs attention')}</h2><ul>${issues.map(
        ({ about, text, command }) => {
          const [path, name] = PLACES[about] ?? [];
          return html`<li><b>${visit.translate(nameOf(about))}</b> ${visit.translate(text)}
${name && html`<a href="${path}">${visit.translate(name)}</a>`}
<details><summary>${visit.say('For the administrator')}</summary>
<code>${command}</code></details></li>`;
        },
      )}</ul></section>`;

export const readVisitedFacts = (
  { desk: { storage, config, clock } }: Visit,
  added: readonly ReadAdded[],
): Promise<StatusFacts> =>
  readStatusFacts(storage, config, clock, (command) => typedCommand(command, namedRegistry(config)), added);

type Entries = readonly (readonly [label: string, value: HtmlValue])[];

function conditionOf(visit: Visit, facts: StatusFacts): Html {
  const { say, write } = visit;
  const { condition, keys, isServed } = facts;
  const { rows, readModel, sequence, imports } = condition;
  const { number, bytes } = write;
  const added = condition.added.map(({ section }) => section(visit));
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
  [say('including write-ahead log'), bytes(condition.logBytes)],
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
${part(say('Access ledger'), ledgerOf(visit, facts))}</div>${added}`;
}

function free({ say }: Visit, { condition: { freeBytes, bytes, reservedBytes } }: StatusFacts): Html {
  const needed = bytes + reservedBytes;
  const label = say('Free space, compared with the needs of a complete import');
  return html` <meter min="0" max="${2 * needed}" low="${needed}" optimum="${2 * needed}"
 value="${Math.min(freeBytes, 2 * needed)}" aria-label="${label}"></meter>`;
}

function lastBackup({ say, write }: Visit, { condition }: StatusFacts): Entries {
  const last = condition.lastBackup;
  if (last === null) return [[say('When'), say('never')]];
  const at = (ms: number) => write.moment(Math.floor(ms / 1000));
  const checked =
    last.verifiedAtMs === null ? say('not verified') : say('verified {at}', { at: at(last.verifiedAtMs) });
  const disk = { beside: say('in the folder of the registry'), same_disk: say('the same as the registry') };
  const bad = last.place === 'missing' ? say('MISSING') : last.fault !== null && say('NOT sound');
  return [
    [say('When'), at(last.instantMs)],
    [say('Where'), last.folder],
    [say('Disk'), last.place in disk && disk[last.place as keyof typeof disk]],
    [say('Size'), write.bytes(last.bytes)],
    [say('State'), bad ? html`<b>${bad}</b>` : checked],
  ];
}

const ledgerOf = ({ say, write }: Visit, { ledger, isLedgerOn, ledgerFolder }: StatusFacts): Entries => [
  [say('Accesses'), isLedgerOn ? say('recorded') : say('not recorded')],
  [say('So far'), write.number(ledger?.entries ?? 0)],
  [say('Size'), ledger && write.bytes(ledger.bytes)],
  [say('Folder'), ledger && ledgerFolder],
];

const PATH = '/health';

export const healthPage = (added: readonly ReadAdded[]): Screen => ({
  path: PATH,
  title: say('Health'),
  menu: say('Health'),
  personal: 'none',
  read: (visit) => showHealth(visit, added),
  actions: {
    async backup(visit, form) {
      const { clock, storage } = visit.desk;
      const folder = form.get('folder');
      const mayCreate = form.get('create') !== '';
      const fault = !isAbsolute(folder)
        ? visit.say('Give the complete path of a folder, such as /var/backups/registry.')
        : !mayCreate &&
          placeOf(storage.location, folder) === 'missing' &&
          visit.say('There is no such folder. Mount its disk, or tick the box to create it.');
      if (fault !== false) return { ...(await showHealth(visit, added, { folder, fault })), status: 422 };
      const args = [datedFolderIn(folder, clock.now()), '--verify', ...(mayCreate ? ['--yes'] : [])];
      deskFilesOf(visit).commands.startWork('backup', args, runAs(visit));
      return { goTo: PATH };
    },
    check(visit) {
      deskFilesOf(visit).commands.startWork('check', [], runAs(visit));
      return { goTo: PATH };
    },
  },
});

interface RefusedFolder {
  readonly folder: string;
  readonly fault: string;
}

async function showHealth(visit: Visit, added: readonly ReadAdded[], refused?: RefusedFolder): Promise<Page> {
  const { commands } = deskFilesOf(visit);
  const heading = html`<h1>${visit.say('Health')}</h1>`;
  const backup = commands.lastOf('backup');
  if (backup?.isAtWork)
    return workUnderWay(
      visit,
      heading,
      visit.say('Backing up into {folder}…', { folder: folderOf(backup) }),
      backup,
    );
  const check = commands.lastOf('check');
  if (check?.isAtWork) return workUnderWay(visit, heading, visit.say('Checking all data…'), check);
  const facts = await readVisitedFacts(visit, added);
  const outcome =
    refused === undefined
      ? backup !== undefined && backedUp(visit, backup)
      : html`<p class="refused" role="alert">${refused.fault}</p>`;
  return {
    body: html`${heading}${outcome}${attention(visit, findIssues(facts))}
${conditionOf(visit, facts)}
<div class="beside forms"><section class="card">${backups(visit, facts, refused)}</section>
<section class="card">${checks(visit, check)}</section></div>`,
  };
}

const folderOf = ({ args: [, target = ''] }: CommandRun): string => dirname(target);

const backedUp = (visit: Visit, run: CommandRun): Html | false =>
  run.status === 0
    ? html`<p class="told" role="status">${visit.say('Backed up in {folder} and verified.', {
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
    value: folder,
    fault: refused?.fault,
    hint: say(
      'Use another disk than that of the registry. The backup gets its own folder there, and is verified.',
    ),
  })}<label class="tick"><input type="checkbox" name="create" value="yes">
${say('Create this folder if it does not exist. If it is on another disk, mount that disk first.')}</label>`,
})}`;
}

function checks(visit: Visit, run: CommandRun | undefined): Html {
  const { say, write, translate } = visit;
  const { checks: findings } = (run?.document ?? { checks: [] }) as { readonly checks: readonly Finding[] };
  const faults = findings.filter(({ fault }) => fault !== null).length;
  return html`<h2>${say('Check everything')}</h2>
<p><small>${say('Reads all data and changes nothing. It takes minutes for a large registry.')}</small></p>
${form(visit, { path: PATH, action: 'check', body: '', button: say('Check now') })}
${run !== undefined && findings.length === 0 && failure(visit, run)}
${
  run !== undefined &&
  findings.length > 0 &&
  html`<p class="${faults === 0 ? 'told' : 'refused'}" role="status">${
    faults === 0 ? say('The registry is sound.') : say('{n|# check|# checks} found problems.', { n: faults })
  } <small>${say('As of {at}.', { at: write.moment(run.startedAt) })}</small></p>
<details${faults > 0 && html` open`}><summary>${say('Checks')}</summary>${table(
    say('Checks'),
    [{ heading: say('Check') }, { heading: say('Result') }],
    findings.map(({ check, fault, value }) => [
      // Untranslated names, as in the documents and in the output of `check`.
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
