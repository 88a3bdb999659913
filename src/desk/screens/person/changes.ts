/** What has changed in the rows of a person, and who changed it. */
import { formatActor } from '../../../app/wording/actors.ts';
import { countEntities, ENTITY_NAMES } from '../../../app/wording/entity-names.ts';
import type { Message } from '../../../domain/values/message.ts';
import { asMessage, say } from '../../../domain/values/message.ts';
import { type Html, type HtmlValue, html } from '../../../html/html.ts';
import { CHANGED_ENTITIES } from '../../../store/contract/journal/corrections.ts';
import type { HeldChange } from '../../../store/contract/journal/held-data.ts';
import { type Actor, CREATED } from '../../../store/contract/journal/history.ts';
import { nameOf } from '../../page/names.ts';
import { table } from '../../page/parts.ts';
import { writeStored } from '../../page/write-stored.ts';
import type { Visit } from '../../visit/screen.ts';

const SHOWN = 30;

/** Who has made changes. */
export interface Actors {
  /** In words: the user and file of an import, the user and reason of a correction, the name of a key. */
  nameOf(actor: Actor | null): Message;
  /** A link to the undo of all that it did. */
  undoOf(actor: Actor | null): HtmlValue;
}

export function actorsOf(visit: Visit, history: readonly HeldChange[]): Actors {
  const names = new Map<string, Message>();
  const undoable = new Map<string, Html>();
  const actors = new Map(history.flatMap(({ actor, user }) => (actor === null ? [] : [[actor, user]])));
  const { storage } = visit.desk;
  const log = visit.use(() => storage.openJournal());
  const hasKeys = [...actors.keys()].some((actor) => actor.startsWith('key:')) && storage.hasKeys();
  const keys = hasKeys ? visit.use(() => storage.openKeys('manage')).list(visit.now) : [];
  for (const [actor, user] of actors) {
    const [type, id] = actor.split(':');
    const key = type === 'key' ? keys.find((each) => each.id === Number(id)) : undefined;
    const operation = type === 'key' ? undefined : log.find(Number(id));
    const who = key?.name ?? user;
    const reason = operation?.reason ?? '';
    // Of a row that was typed it is the kind.
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

/** @param label what the table is */
export function historyTable(
  visit: Visit,
  label: string,
  history: readonly HeldChange[],
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

/** Changes, the newest first; of rows that only came, how many there are and from where. */
export function changes(visit: Visit, history: readonly HeldChange[], actors: Actors): Html {
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

const sources = (origins: readonly HeldChange[]): (readonly [Actor | null, readonly HeldChange[]])[] => [
  ...Map.groupBy(origins, ({ actor }) => actor),
];
