/** `/person/…`: one person, in all cooperatives and statuses. */

import { fields, table } from '../../desk/parts.ts';
import type { Screen, Visit } from '../../desk/screen.ts';
import { countEntities, ENTITY_NAMES, formatActor } from '../../journal/change-texts.ts';
import { openJournal } from '../../journal/undo.ts';
import { readKeyNames } from '../../keys/key-text.ts';
import { CREATED } from '../../registry/changes/record-changes.ts';
import { CHANGED_ENTITIES } from '../../registry/changes/tables.ts';
import { ENTRY_KINDS } from '../../registry/entries.ts';
import { nameOfPerson, personPath } from '../../registry/pages/find-visited.ts';
import {
  changeLink,
  enterLink,
  nameOf,
  textOf,
  writeStored,
} from '../../registry/pages/show-stored-values.ts';
import { ROW_LISTS } from '../../registry/stored/stored-data.ts';
import type {
  StoredChange,
  StoredMembership,
  StoredPerson,
  StoredRow,
} from '../../registry/stored/stored-data-types.ts';
import type { Actor } from '../../sqlite/entity-store.ts';
import { type Html, type HtmlValue, html } from '../../values/html.ts';
import { asMessage, type Message, say } from '../../values/message.ts';
import { CORRECTING, correctionForms } from './correction-pages.ts';
import { deliveries, entryActions, loans, savings } from './deliveries-loans-and-savings.ts';
import { memberValues } from './member-values.ts';
import { readersOf, readPerson } from './readers.ts';

export const PERSON: Screen = {
  path: '/person/:person',
  title: say('Person'),
  personal: 'some',
  read: readPerson(body),
  actions: CORRECTING,
};

function body(visit: Visit, person: StoredPerson): Html {
  const actors = actorsOf(visit, person.history);
  const { identityCard, formerIdentityCards, memberships: all, history } = person;
  const end = entryActions(visit);
  return html`<h1>${nameOfPerson(person)}</h1>
${fields([
  [visit.say('National ID'), identityCard],
  [visit.say('Former numbers'), formerIdentityCards.join(', ')],
])}
<p><a href="${personPath(visit)}/held">${visit.say('Print all data')}</a>${
    visit.desk.config.accessLedger &&
    html` · <a href="${personPath(visit)}/readers">${visit.say('Who has seen this record')}</a>`
  }</p>
<div class="beside">${all.map((one) => membership(visit, one))}</div>
${deliveries(visit, all, end)}
${loans(visit, all, end)}
${savings(visit, all, end)}
${changes(visit, history, actors)}
${correctionForms(visit, person)}`;
}

function membership(visit: Visit, { member }: StoredMembership): Html {
  const code = textOf(member, 'cooperative');
  return html`<section class="card"><h3><a href="/cooperative/${code}">${code}</a></h3>${fields(
    memberValues(visit, member),
  )}<p>${changeLink(visit, personPath(visit), 'members', textOf(member, 'id'))}${ENTRY_KINDS.map(
    (kind) => html` ${enterLink(visit, personPath(visit), kind, textOf(member, 'id'))}`,
  )}</p></section>`;
}

// `/person/…/held`: all stored data of a person, printable for the data subject

/** Maximum number of columns that fit on a sheet of paper. A row with more columns becomes a list. */
const MOST_COLUMNS = 8;

export const HELD: Screen = {
  path: '/person/:person/held',
  title: say('All data'),
  personal: 'some',
  read: readPerson(bodyHeld),
};

function bodyHeld(visit: Visit, person: StoredPerson): Html {
  const actors = actorsOf(visit, person.history);
  const { say, write, now } = visit;
  const { identityCard, formerIdentityCards, memberships, history, keptResponses } = person;
  return html`<p class="screen"><a href="${personPath(visit)}">${say('Back')}</a></p>
<h1>${say('All data about {name}', { name: nameOfPerson(person) })}</h1>
<p><small>${write.moment(now)}</small></p>
${fields([
  [say('National ID'), identityCard],
  [say('Former numbers'), formerIdentityCards.join(', ')],
  [say('Responses kept for repeated requests'), write.number(keptResponses)],
])}
${memberships.map((one) => membershipHeld(visit, one))}
<h2>${say('History')}</h2>
${historyTable(visit, say('History'), history, actors)}
<h2>${say('Who has seen this record')}</h2>
${readersOf(visit, person)}`;
}

function membershipHeld(visit: Visit, held: StoredMembership): Html {
  const { say, translate } = visit;
  const { member } = held;
  const write = (row: StoredRow, field: string) => writeStored(visit, field, row[field]);
  const lists = ROW_LISTS.map(([, heading, rows]) => [translate(heading), rows(held)] as const);
  const fieldsOf = (rows: readonly StoredRow[]) =>
    Object.keys(rows[0] ?? {}).filter(
      // Ids of owners are omitted, because the heading names the owner.
      (field) => !field.endsWith('_id') && rows.some((row) => row[field] !== null),
    );
  const names = { code: textOf(member, 'member_code'), cooperative: textOf(member, 'cooperative') };
  return html`<h2>${say('Member {code} of {cooperative}', names)}</h2>
${fields(Object.keys(member).map((field) => [translate(nameOf(field)), write(member, field)]))}
${lists.map(
  ([heading, rows]) =>
    rows.length > 0 &&
    html`<h3>${heading}</h3>${
      fieldsOf(rows).length > MOST_COLUMNS
        ? rows.map(
            (row) =>
              html`<div class="card">${fields(
                fieldsOf(rows).map((field) => [translate(nameOf(field)), write(row, field)]),
              )}</div>`,
          )
        : table(
            heading,
            fieldsOf(rows).map((field) => ({ heading: translate(nameOf(field)) })),
            rows.map((row) => fieldsOf(rows).map((field) => write(row, field))),
          )
    }`,
)}`;
}

// Changes of a person's rows, with their actors

const SHOWN = 30;

interface Actors {
  /** Names an import by user and file, a correction by user and reason, a key by its name. */
  nameOf(actor: Actor | null): Message;
  /** Returns a link to undo the entire operation; false if it cannot be undone. */
  undoOf(actor: Actor | null): HtmlValue;
}

function actorsOf(visit: Visit, history: readonly StoredChange[]): Actors {
  const names = new Map<string, Message>();
  const undoable = new Map<string, Html>();
  const actors = new Map(history.flatMap(({ actor, user }) => (actor === null ? [] : [[actor, user]])));
  const { storage } = visit.desk;
  const log = visit.use(openJournal);
  const isByKey = [...actors.keys()].some((actor) => actor.startsWith('key:'));
  const keyNames = isByKey ? readKeyNames(storage, visit.now) : new Map<number, string>();
  for (const [actor, user] of actors) {
    const [type, id] = actor.split(':');
    const keyName = type === 'key' ? keyNames.get(Number(id)) : undefined;
    const operation = type === 'key' ? undefined : log.find(Number(id));
    const who = keyName ?? user;
    const reason = operation?.reason ?? '';
    // The stored reason of a row that was entered by hand is the kind of the row.
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

function historyTable(visit: Visit, label: string, history: readonly StoredChange[], actors: Actors): Html {
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

function changes(visit: Visit, history: readonly StoredChange[], actors: Actors): Html {
  const { say, write } = visit;
  const origins = history.filter(({ field }) => field === CREATED);
  const changed = history.filter(({ field }) => field !== CREATED).reverse();
  const heading = say('History');
  return html`<section><h2>${heading}</h2>
${
  changed.length === 0
    ? html`<p>${say('No changes since it was recorded.')}</p>`
    : historyTable(visit, heading, changed.slice(0, SHOWN), actors)
}
${
  changed.length > SHOWN &&
  html`<p><small>${say('The latest {shown} of {all}. “Print all data” lists all of them.', {
    shown: SHOWN,
    all: write.number(changed.length),
  })}</small></p>`
}
<ul>${[...Map.groupBy(origins, ({ actor }) => actor)].map(
    ([actor, rows]) =>
      html`<li><small>${say('{rows} from {actor}, {at}', {
        rows: CHANGED_ENTITIES.flatMap((entity) => {
          const count = rows.filter((row) => row.entity === entity).length;
          return count === 0 ? [] : [countEntities(entity, count)];
        }),
        actor: actors.nameOf(actor),
        at: write.moment(rows[0]?.at ?? 0),
      })}${actors.undoOf(actor)}</small></li>`,
  )}</ul></section>`;
}
