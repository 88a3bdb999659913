/** Section of a person's page with the changes of their rows and the actors of each change. */

import { hasKeys, openKeys } from '../../access/api-key-store.ts';
import { table } from '../../desk/parts.ts';
import type { Visit } from '../../desk/screen.ts';
import { openJournal } from '../../journal/journal.ts';
import { CHANGED_ENTITIES } from '../../registry/changes/correction-kinds.ts';
import { countEntities, ENTITY_NAMES, formatActor } from '../../registry/changes/labels.ts';
import { CREATED } from '../../registry/changes/record-changes.ts';
import { nameOf, writeStored } from '../../registry/pages/stored-values.ts';
import type { StoredChange } from '../../registry/stored/stored-data-types.ts';
import type { Actor } from '../../sqlite/entity-store.ts';
import { type Html, type HtmlValue, html } from '../../values/html.ts';
import { asMessage, type Message, say } from '../../values/message.ts';

const SHOWN = 30;

export interface Actors {
  /** User and file of an import, user and reason of a correction, or name of a key. */
  nameOf(actor: Actor | null): Message;
  /** Link to the undo of the whole operation, or false. */
  undoOf(actor: Actor | null): HtmlValue;
}

export function actorsOf(visit: Visit, history: readonly StoredChange[]): Actors {
  const names = new Map<string, Message>();
  const undoable = new Map<string, Html>();
  const actors = new Map(history.flatMap(({ actor, user }) => (actor === null ? [] : [[actor, user]])));
  const { storage } = visit.desk;
  const log = visit.use(() => openJournal(storage));
  const isMade = [...actors.keys()].some((actor) => actor.startsWith('key:')) && hasKeys(storage);
  const keys = isMade ? visit.use(() => openKeys(storage, 'manage')).list(visit.now) : [];
  for (const [actor, user] of actors) {
    const [type, id] = actor.split(':');
    const key = type === 'key' ? keys.find((each) => each.id === Number(id)) : undefined;
    const operation = type === 'key' ? undefined : log.find(Number(id));
    const who = key?.name ?? user;
    const reason = operation?.reason ?? '';
    // The stored reason of a row entered by hand is its kind.
    const what = operation?.kind === 'row_enter' ? nameOf(reason) : operation?.fileName || reason;
    const canBeUndone = operation?.undoneAt === null && operation.kind !== 'persons_erase';
    if (canBeUndone && type !== 'undo') {
      const text = operation.fileName === '' ? visit.say('Undo…') : visit.say('Undo the whole import…');
      undoable.set(actor, html` <a class="screen" href="/imports/${operation.id}">${text}</a>`);
    }
    if (who !== null && what !== '')
      names.set(actor, say('{actor}: {who}, {what}', { actor: formatActor(actor), who, what }));
    else names.set(actor, formatActor(actor, who));
  }
  return {
    nameOf: (actor) => names.get(actor ?? '') ?? formatActor(actor),
    undoOf: (actor) => undoable.get(actor ?? '') ?? false,
  };
}

/** @param label accessible name of the table */
export function historyTable(
  visit: Visit,
  label: string,
  history: readonly StoredChange[],
  actors: Actors,
): Html {
  const { say, write, translate } = visit;
  const headings = [say('When'), say('Row'), say('Field'), say('Before'), say('After'), say('Who')];
  return table(
    label,
    headings.map((heading) => ({ heading })),
    history.map(({ at, entity, row, field, old, new: value, actor }) => [
      write.moment(at),
      `${translate(asMessage(ENTITY_NAMES[entity]))} ${row}`,
      translate(nameOf(field)),
      writeStored(visit, field, old) ?? '–',
      writeStored(visit, field, value) ?? '–',
      html`${translate(actors.nameOf(actor))}${actors.undoOf(actor)}`,
    ]),
  );
}

/** Changes, newest first; for rows without changes only their number and origin. */
export function changes(visit: Visit, history: readonly StoredChange[], actors: Actors): Html {
  const { say, write } = visit;
  const origins = history.filter(({ field }) => field === CREATED);
  const changed = history.filter(({ field }) => field !== CREATED).reverse();
  const heading = say('What has changed, and who did it');
  return html`<section><h2>${heading}</h2>
${
  changed.length === 0
    ? html`<p>${say('Nothing since it was recorded.')}</p>`
    : historyTable(visit, heading, changed.slice(0, SHOWN), actors)
}
${
  changed.length > SHOWN &&
  html`<p><small>${say('The latest {shown} of {all}; the page for printing has all of them.', {
    shown: SHOWN,
    all: write.number(changed.length),
  })}</small></p>`
}
<ul>${sources(origins).map(
    ([actor, rows]) =>
      html`<li><small>${say('{rows} from {actor}, {at}', {
        rows: CHANGED_ENTITIES.flatMap((entity) => {
          const count = rows.filter((each) => each.entity === entity).length;
          return count === 0 ? [] : [countEntities(entity, count)];
        }),
        actor: actors.nameOf(actor),
        at: write.moment(rows[0]?.at ?? 0),
      })}${actors.undoOf(actor)}</small></li>`,
  )}</ul></section>`;
}

const sources = (origins: readonly StoredChange[]): (readonly [Actor | null, readonly StoredChange[]])[] => [
  ...Map.groupBy(origins, ({ actor }) => actor),
];
