/**
 * What a screen of the desk is: a path, a title, what it reads and what it does. One file in `../screens/`
 * declares one, and `../desk.ts` lists it; the server does the rest (docs/desk.md).
 */
import type { Config } from '../../config.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';
import type { InPlaces, Message, Text } from '../../domain/values/message.ts';
import type { Html } from '../../html/html.ts';
import type { Language } from '../../language/language.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { AccessLedger, FieldGroup, Subject } from '../../store/contract/access-ledger.ts';
import type { Storage } from '../../store/contract/storage.ts';
import type { DeskFiles } from '../importing/desk-files.ts';
import type { Numbers } from './numbers.ts';
import type { Writing } from './writing.ts';

/** What was done, and by which operation, if it can be undone. */
export interface Told {
  readonly text: Text;
  readonly operationId?: number | undefined;
  /** The path of the form for another one, where the page that follows has none. */
  readonly another?: string | undefined;
}

/** Without a request a session ends. */
export const IDLE_MS = 30 * 60_000;
/** So long before it is said on the page. */
export const WARNING_MS = 5 * 60_000;

/** One browser that has opened a link. It ends when nothing was asked of it for half an hour. */
export interface Session {
  /** Under whom changes are recorded. */
  readonly user: string;
  /** In every form: another site cannot know it. */
  readonly token: string;
  /** National IDs by the numbers of `/person/…`. */
  readonly persons: Numbers<string>;
  /** What was searched for, by the numbers of `/found/…`. */
  readonly searches: Numbers<string>;
  /** Said on top of the next page. */
  told: Told | undefined;
  /** The secret of a key that was just issued: the next page of that key shows it, and none after it. */
  issued: { readonly keyId: number; readonly secret: string } | undefined;
}

/** What the desk as a whole depends on. */
export interface DeskDependencies {
  readonly config: Pick<Config, 'storage' | 'zone' | 'accessLedger' | 'accessLedgerDays' | 'registryName'>;
  readonly clock: Clock;
  readonly storage: Storage;
  /** All that there are, in the order of the menu. */
  readonly screens: readonly Screen[];
  /** Where it is recorded who has seen whose data; undefined where none is kept. */
  readonly ledger?: AccessLedger | undefined;
  /** Files to be imported, and what takes longer than a page may. */
  readonly files: DeskFiles;
}

/** One request of a session: what a screen reads from and writes with. */
export interface Visit {
  readonly desk: DeskDependencies;
  readonly session: Session;
  readonly language: Language;
  readonly write: Writing;
  /** Of the places of the screen's path. */
  readonly places: { readonly [name: string]: string };
  /** What stands behind `?`: pages and filters, never what is personal. */
  readonly query: URLSearchParams;
  /** Epoch seconds. */
  readonly now: number;
  /** A sentence in the language of the page; the catalogue must have it (src/language/). */
  say<const Template extends string>(template: Template, ...values: InPlaces<Template>): string;
  /** A text that is said elsewhere, in the language of the page. */
  translate(text: Text): string;
  /** Opens a store for this visit: it is closed once the page was made, so that nothing stays open. */
  use<Store extends { close(): void }>(open: (storage: Storage) => Store): Store;
}

/** Whose data a page shows, and what of it: for the access ledger. */
export interface Shows {
  readonly fields: readonly FieldGroup[];
  readonly subject: Subject;
}

export interface Page {
  readonly body: Html;
  /** Instead of the screen's own title. Never a name or a number: browsers keep titles. */
  readonly title?: Message;
  /** Required where the screen is `personal`, unless nobody is shown. */
  readonly shows?: Shows | 'nobody';
  /** What the box on top goes on with. */
  readonly searched?: string;
  /** 200 unless it is given. */
  readonly status?: number;
  /** For work that goes on: the browser asks again after so long, without a script. */
  readonly refreshSeconds?: number;
}

/** A file for the browser to keep. The stores of the visit are open until all of it was sent. */
export interface Download {
  /** Of letters, digits, hyphens and dots. */
  readonly fileName: string;
  /** Its media type. */
  readonly type: string;
  readonly parts: AsyncIterable<Uint8Array>;
  readonly shows: Shows | 'nobody';
}

/** What follows a change: the browser goes there, so that reloading repeats nothing. */
export interface Continuation {
  readonly goTo: string;
  readonly told?: Text;
  /** The operation that has done it, which can be undone. */
  readonly operationId?: number;
  /** The path of the form for another one, where the page that follows has none. */
  readonly another?: string | undefined;
  /** Where going there already says something of a person: that somebody has a number. */
  readonly shows?: Shows | 'nobody';
}

/** A form that was sent with its token, in UTF-8. */
export interface Form {
  /** The first field of this name, trimmed; empty when there is none. */
  get(name: string): string;
  /** All fields of this name, such as ticked boxes. */
  all(name: string): readonly string[];
  /** Where the screen takes them. */
  readonly files: readonly GivenFile[];
}

export interface GivenFile {
  /** Whatever the browser says: it is shown, and never part of a path. */
  readonly name: string;
  readonly content: AsyncIterable<Uint8Array>;
}

/** @returns undefined for 404: there is no such person, search or row any more */
export type Answer = Page | Continuation | Download | undefined;
export type Reading = (visit: Visit) => Awaitable<Answer>;
export type Action = (visit: Visit, form: Form) => Awaitable<Answer>;

export interface Screen {
  /** Such as `/person/:person`: a place holds letters, digits and hyphens. */
  readonly path: string;
  readonly title: Message;
  /** Its name in the menu; screens without one are reached from others. */
  readonly menu?: Message;
  /** Whether it shows people, for the access ledger: like `access` of a route, nothing is left unsaid. */
  readonly personal: 'none' | 'some';
  readonly read: Reading;
  /** Whether its forms bring files (docs/desk.md). */
  readonly takesFiles?: true;
  /** By the value of the field `action` of its forms, which are posted to the path of the screen. */
  readonly actions?: { readonly [name: string]: Action };
}
