/** One request of a session as screens see it, and what of it was opened and must be closed. */
import type { Awaitable } from '../../domain/values/awaitable.ts';
import { type InPlaces, Message, type Values } from '../../domain/values/message.ts';
import { type Language, onPage } from '../../language/language.ts';
import { nowSeconds } from '../../runtime/clock.ts';
import type { DeskDependencies, Session, Visit } from '../visit/screen.ts';
import { writingIn } from '../visit/writing.ts';

interface Asked {
  readonly session: Session;
  readonly language: Language;
  readonly places: { readonly [name: string]: string };
  readonly query: URLSearchParams;
}

/** @returns what `work` returned, once all that it opened is closed */
export async function visiting<T>(
  desk: DeskDependencies,
  asked: Asked,
  work: (visit: Visit) => Awaitable<T>,
): Promise<T> {
  const opened: { close(): void }[] = [];
  const { language } = asked;
  const write = writingIn(language, desk.config.zone);
  const visit: Visit = {
    ...asked,
    desk,
    now: nowSeconds(desk.clock),
    write,
    say: <const Template extends string>(template: Template, ...[values]: InPlaces<Template>) =>
      onPage(new Message(template, (values ?? {}) as Values), language, write.written),
    translate: (text) => onPage(text, language, write.written),
    use(open) {
      const store = open(desk.storage);
      opened.push(store);
      return store;
    },
  };
  try {
    return await work(visit);
  } finally {
    for (const store of opened.reverse()) store.close();
  }
}
