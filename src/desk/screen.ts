/** Types of a screen: path, title, page and actions. desk-screens.ts lists all screens. */

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

// In addresses, numbers replace national IDs and search texts, because browsers store addresses

/** Maximum count of stored numbers. A further number removes the oldest, whose links then return 404. */
const MOST_NUMBERS = 10_000;

export class Numbers {
  private readonly values = new Map<number, string>();
  private readonly numbers = new Map<string, number>();
  private readonly next: () => number;

  /** @param next returns a number that no session of the desk has used */
  constructor(next: () => number) {
    this.next = next;
  }

  /** Returns a value's number. A new value gets a new number. */
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

export interface ActionNotice extends Pick<Continuation, 'operationId' | 'another'> {
  readonly text: Text;
}

/** State of a browser that has opened a link. */
export interface Session {
  readonly user: string;
  /** CSRF token in all forms of the session. */
  readonly token: string;
  /** National IDs. */
  readonly persons: Numbers;
  /** Search texts. */
  readonly searches: Numbers;
  /** Message at the top of the next page. */
  notice: ActionNotice | undefined;
  /** Secret of a new API key, which the page of the key shows once. */
  issued: { readonly keyId: number; readonly secret: string } | undefined;
}

export interface DeskDependencies {
  readonly config: Pick<Config, 'storage' | 'accessLedger' | 'accessLedgerDays' | 'registryName'>;
  readonly clock: Clock;
  readonly storage: Storage;
  /** In the order of the menu. */
  readonly screens: readonly Screen[];
  /** Undefined if the access ledger is off. */
  readonly ledger?: AccessLedger | undefined;
  /** `DeskFiles` (uploads, long tasks). The desk must not import its type (ARCHITECTURE.md#rooms). */
  readonly files: object;
}

export interface Visit {
  readonly desk: DeskDependencies;
  readonly session: Session;
  readonly language: Language;
  readonly write: Writing;
  /** Values of the `:name` parts of the screen's path. */
  readonly places: { readonly [name: string]: string };
  /** Has page numbers and filters, but no personal data. */
  readonly query: URLSearchParams;
  /** Epoch seconds. */
  readonly now: number;
  /** Composes a sentence in the language of the page. */
  say<const Template extends string>(template: Template, ...values: InPlaces<Template>): string;
  translate(text: Text): string;
  /** Opens a store, which is closed at the end of the visit. */
  use<Store extends { close(): void }>(open: (storage: Storage) => Store): Store;
}

/** Personal data on a page, for the access ledger. */
export interface Shows {
  readonly fields: readonly FieldGroup[];
  readonly subject: Subject;
}

export interface Page {
  readonly body: Html;
  /** Replaces the screen's title. Must not name persons, because browsers store titles. */
  readonly title?: Message;
  /** Required if the screen is `personal`; `nobody` for a page without personal data. */
  readonly shows?: Shows | 'nobody';
  readonly searched?: string;
  readonly status?: number;
  /** Set while work is running. */
  readonly refreshSeconds?: number;
}

/** A file to save. Stores of the visit stay open until the entire file has been sent. */
export interface Download {
  /** Letters, digits, hyphens and dots. */
  readonly fileName: string;
  readonly type: string;
  readonly parts: AsyncIterable<Uint8Array>;
  readonly shows: Shows | 'nobody';
}

/** Redirect after a form, so that a reload does not send the form again. */
export interface Continuation {
  readonly goTo: string;
  readonly told?: Text;
  /** Id of the operation that made the change, if the user can undo it. */
  readonly operationId?: number | undefined;
  /** Path of the form for another entry; only if the next page has no link to this form. */
  readonly another?: string | undefined;
  /** Required if the redirect itself reveals personal data, such as that a national ID is registered. */
  readonly shows?: Shows | 'nobody';
}

export interface Form {
  /** Returns the first value, trimmed; empty without a value. */
  get(name: string): string;
  /** Returns all values, such as those of ticked boxes. */
  all(name: string): readonly string[];
  readonly files: readonly GivenFile[];
}

export interface GivenFile {
  /** Name from the browser. Only for display, because it could be any path. */
  readonly name: string;
  readonly content: AsyncIterable<Uint8Array>;
}

/** Undefined for 404. */
export type Answer = Page | Continuation | Download | undefined;
export type Action = (visit: Visit, form: Form) => Awaitable<Answer>;
type Actions = { readonly [name: string]: Action };

export interface Screen {
  /** Such as `/person/:person`, in which `:person` matches letters, digits and hyphens. */
  readonly path: string;
  readonly title: Message;
  readonly menu?: Message;
  /** `some` if pages may show personal data, for the access ledger. */
  readonly personal: 'none' | 'some';
  readonly read: (visit: Visit) => Awaitable<Answer>;
  readonly takesFiles?: true;
  /** Actions by the value of the form field `action`. Forms are posted to the screen's path. */
  readonly actions?: Actions;
}

export interface CooperativeFigures {
  /** Renders a link to a comparison of the cooperative with other cooperatives. */
  link(visit: Visit, code: string): Html;
  show(visit: Visit, cooperativeId: number): Html;
}

/** Forms, and their actions, for a page of another room (directory of `src/`). */
export interface PagePart {
  readonly actions: Actions;
  readonly show: (visit: Visit) => Html;
}
