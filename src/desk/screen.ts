/**
 * The declaration of a screen: a path, a title, and its reads and actions. desk-screens.ts lists all screens;
 * the server does the rest (docs/desk.md).
 */

import type { AccessLedger, Subject } from '../access/access-ledger.ts';
import type { Config } from '../runtime/config.ts';
import type { Clock } from '../runtime/scheduler.ts';
import type { Storage } from '../sqlite/storage.ts';
import type { FieldGroup } from '../values/declared-fields.ts';
import type { Awaitable } from '../values/errors.ts';
import type { Html } from '../values/html.ts';
import type { Language } from '../values/language.ts';
import type { InPlaces, Message, Text } from '../values/message.ts';
import type { Writing } from './localized-formats.ts';

// Numbers that represent persons and searches in addresses, which browsers keep: one set per session

/** Maximum of stored numbers. Beyond it, the oldest are removed, and their links lead nowhere. */
const MOST_NUMBERS = 10_000;

export class Numbers {
  private readonly values = new Map<number, string>();
  private readonly numbers = new Map<string, number>();
  private readonly next: () => number;

  /** @param next returns a number that no other session uses, so that no address leads to another person */
  constructor(next: () => number) {
    this.next = next;
  }

  /** Returns the number of a value: the same one until the value is removed. */
  of(value: string): number {
    const current = this.numbers.get(value);
    if (current !== undefined) return current;
    const number = this.next();
    this.values.set(number, value);
    this.numbers.set(value, number);
    const [oldest] = this.values;
    if (this.values.size > MOST_NUMBERS && oldest !== undefined) {
      this.values.delete(oldest[0]);
      this.numbers.delete(oldest[1]);
    }
    return number;
  }

  find(number: number): string | undefined {
    return this.values.get(number);
  }
}

/** The last action, with its operation if it can be undone. */
export interface ActionNotice extends Pick<Continuation, 'operationId' | 'another'> {
  readonly text: Text;
}

/** Milliseconds after which a session without requests ends. */
export const IDLE_MS = 30 * 60_000;
/** Milliseconds before the end of a session at which its pages warn. */
export const WARNING_MS = 5 * 60_000;

/** A browser that has opened a link. The session ends after half an hour without a request. */
export interface Session {
  /** Name under which changes are recorded. */
  readonly user: string;
  /** Secret in every form of the session, unknown to other sites. */
  readonly token: string;
  /** National IDs by the numbers of `/person/…`. */
  readonly persons: Numbers;
  /** Search texts by the numbers of `/found/…`. */
  readonly searches: Numbers;
  /** Message at the top of the next page. */
  notice: ActionNotice | undefined;
  /** The secret of a key just issued, shown by the next page of that key only. */
  issued: { readonly keyId: number; readonly secret: string } | undefined;
}

export interface DeskDependencies {
  readonly config: Pick<Config, 'storage' | 'zone' | 'accessLedger' | 'accessLedgerDays' | 'registryName'>;
  readonly clock: Clock;
  readonly storage: Storage;
  /** All screens, in the order of the menu. */
  readonly screens: readonly Screen[];
  /** The access ledger; undefined if none is kept. */
  readonly ledger?: AccessLedger | undefined;
  /** Files to be imported, and work that takes longer than a page may. */
  readonly files: object;
}

/** A request of a session: everything that a screen reads from and writes with. */
export interface Visit {
  readonly desk: DeskDependencies;
  readonly session: Session;
  readonly language: Language;
  readonly write: Writing;
  /** Values of the places in the screen's path. */
  readonly places: { readonly [name: string]: string };
  /** Query of the address: pages and filters, never personal data. */
  readonly query: URLSearchParams;
  /** Epoch seconds. */
  readonly now: number;
  /** Returns a sentence in the language of the page, from the catalogue (values/language.ts). */
  say<const Template extends string>(template: Template, ...values: InPlaces<Template>): string;
  /** Translates a text from elsewhere into the language of the page. */
  translate(text: Text): string;
  /** Opens a store for this visit, which is closed once the page has been made. */
  use<Store extends { close(): void }>(open: (storage: Storage) => Store): Store;
}

/** The personal data that a page shows, for the access ledger. */
export interface Shows {
  readonly fields: readonly FieldGroup[];
  readonly subject: Subject;
}

export interface Page {
  readonly body: Html;
  /** Replaces the screen's own title. Never a name or a number: browsers keep titles. */
  readonly title?: Message;
  /** Required if the screen is `personal`; `nobody` if no person is shown. */
  readonly shows?: Shows | 'nobody';
  readonly searched?: string;
  /** Defaults to 200. */
  readonly status?: number;
  /** Seconds after which the browser reloads the page without a script, while work is running. */
  readonly refreshSeconds?: number;
}

/** A file for the browser to save. The stores of the visit stay open until all of it has been sent. */
export interface Download {
  /** Letters, digits, hyphens and dots. */
  readonly fileName: string;
  /** Media type. */
  readonly type: string;
  readonly parts: AsyncIterable<Uint8Array>;
  readonly shows: Shows | 'nobody';
}

/** A redirect after a change, so that reloading repeats nothing. */
export interface Continuation {
  readonly goTo: string;
  readonly told?: Text;
  /** The operation that made the change and can be undone. */
  readonly operationId?: number | undefined;
  /** Path of a form for one more entry, if the next page does not link to it. */
  readonly another?: string | undefined;
  /** Required if the redirect itself reveals something about a person, such as that an ID is registered. */
  readonly shows?: Shows | 'nobody';
}

/** A form sent with its token, in UTF-8. */
export interface Form {
  /** Returns the first field of this name, trimmed; empty if there is none. */
  get(name: string): string;
  /** Returns all fields of this name, such as ticked boxes. */
  all(name: string): readonly string[];
  /** Files, if the screen accepts them. */
  readonly files: readonly GivenFile[];
}

export interface GivenFile {
  /** Name from the browser: it is shown, and never part of a path. */
  readonly name: string;
  readonly content: AsyncIterable<Uint8Array>;
}

/** @returns undefined for 404: there is no such person, search or row any more */
export type Answer = Page | Continuation | Download | undefined;
type ReadPage = (visit: Visit) => Awaitable<Answer>;
export type Action = (visit: Visit, form: Form) => Awaitable<Answer>;
type Actions = { readonly [name: string]: Action };

export interface Screen {
  /** For example `/person/:person`; a place matches letters, digits and hyphens. */
  readonly path: string;
  readonly title: Message;
  /** Name in the menu; screens without one are reached from others. */
  readonly menu?: Message;
  /** Whether pages show personal data, to be recorded in the access ledger. */
  readonly personal: 'none' | 'some';
  readonly read: ReadPage;
  /** True if its forms send files (docs/desk.md). */
  readonly takesFiles?: true;
  /** Actions by the value of the field `action` in its forms, which are posted to the screen's path. */
  readonly actions?: Actions;
}

/** Figures on the page of a cooperative. */
export interface CooperativeFigures {
  /** Link to a comparison of the cooperative with others. */
  link(visit: Visit, code: string): Html;
  show(visit: Visit, cooperativeId: number): Html;
}

/** Actions on a page of another room, with their forms. */
export interface PagePart {
  readonly actions: Actions;
  readonly show: (visit: Visit) => Html;
}
