/** Tries every command against a state that a registry can be in, made from the commands themselves. */
import { once } from 'node:events';
import { cpSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import type { Command } from 'commander';
import { createProgram } from '../../src/program.ts';
import { temporaryFolder, testClock } from './app.ts';
import { command } from './command.ts';
import { copyRegistry } from './sample-registry.ts';

const program = await createProgram({
  env: {},
  clock: testClock(0),
  out: () => {},
  err: () => {},
  terminal: undefined,
});

// What serves finds its port in use, and ends.
const taken = createServer().listen(0, '127.0.0.1');
await once(taken, 'listening');
const usedPort = `${(taken.address() as AddressInfo).port}`;
after(() => taken.close());

/** Stands for a folder of its own, which is not there yet. */
const FOLDER = 'FOLDER';

/** What fits the argument or the option of this name; others get a number. */
function valueFor(name: string, choices: readonly string[] | undefined): string {
  const known: { readonly [name: string]: string } = {
    nid: '1198079244288038',
    old: '1198079244288038',
    new: '1198079244288046',
    dir: FOLDER,
    folder: FOLDER,
    scope: 'members:read',
    events: 'member.created',
    url: 'https://example.rw/',
    name: 'Uwase',
    to: 'A',
    on: '2026-01-01',
    code: 'KOMUKINYU-GSG',
  };
  return choices?.[0] ?? known[name.toLowerCase()] ?? '1';
}

/** A command line for each command, with what it must be given. */
function linesOf(each: Command, path: readonly string[]): string[][] {
  // Some say themselves that an option is missing.
  const needed = each.options.filter(
    (option) => option.mandatory || ['name', 'scope', 'key', 'url'].includes(option.attributeName()),
  );
  const line = [
    ...path,
    ...each.registeredArguments
      .filter(({ required }) => required)
      .map((given) => valueFor(given.name(), given.argChoices)),
    ...needed.flatMap((option) => [option.long ?? '', valueFor(option.attributeName(), option.argChoices)]),
    ...(each.options.some(({ long }) => long === '--yes') ? ['--yes'] : []),
    ...(each.options.some(({ long }) => long === '--port') ? ['--port', usedPort] : []),
  ];
  return [
    ...(each.options.some(({ long }) => long === '--db') ? [line] : []),
    ...each.commands.flatMap((inner) => linesOf(inner, [...path, inner.name()])),
  ];
}
export const runs = program.commands.flatMap((each) => linesOf(each, [each.name()]));

export interface Disk {
  /** Called once the registry is there. */
  readonly seal: () => void;
  readonly remove: () => void;
}

export interface State {
  /** What the registry is made of; `db` is a complete one. */
  readonly make?: (db: string) => unknown;
  /** Makes the folder of a command a disk of its own. */
  readonly on?: (folder: string) => Disk;
  readonly env?: NodeJS.ProcessEnv;
  /** The only commands that may succeed; without it, any may. */
  readonly works?: RegExp;
}

/** @returns the commands that answered with something else than a sentence and a documented status */
export async function tryCommands(context: TestContext, { make, on, env, works }: State): Promise<string[]> {
  const faults: string[] = [];
  const made = temporaryFolder(context);
  const prepared = await copyRegistry(made);
  await make?.(prepared);
  for (const [i, words] of runs.entries()) {
    const folder = join(temporaryFolder(context), `${i}`);
    const disk = on?.(folder);
    cpSync(made, folder, { recursive: true });
    disk?.seal();
    const db = join(folder, 'live', 'registry.db');
    const line = [...words.map((word) => (word === FOLDER ? join(folder, 'other') : word)), '--db', db];
    const tried = await command(line, { HOST: '127.0.0.1', ...env }, undefined, { language: 'en' }).catch(
      (error: unknown) => ({ status: -1, out: '', err: `${error instanceof Error ? error.stack : error}` }),
    );
    const text = `${tried.out}${tried.err}`;
    const isSentence = tried.status === 0 || /[A-Za-z]{3}.*[.:!]\s/.test(`${text} `);
    const isTrace = /^\s+at .+:[0-9]+:[0-9]+\)?$|\b(?:Sqlite|Type|Range|Reference)Error\b/m.test(text);
    const isUnexpected = tried.status === 0 && works?.test(words.join(' ')) === false;
    if (
      isUnexpected ||
      ![0, 1, 2, 3].includes(tried.status) ||
      !isSentence ||
      isTrace ||
      /SQLITE_|undefined/.test(tried.err)
    )
      faults.push(`${words.join(' ')}: ${tried.status} ${text.slice(0, 1500)}`);
    disk?.remove();
    rmSync(folder, { recursive: true, force: true });
  }
  return faults;
}
