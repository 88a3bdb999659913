/** What a person at the terminal sees of commands, and files that show the usual messages. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { command } from './command.ts';
import { type ImportPlace, MEMBERS_HEADER, member, members, nid, startedPlace } from './importing.ts';

const FILES = {
  'bad.csv': `${MEMBERS_HEADER},status,umuryango
A-1,1.19858E+15,M-1,Person 1,active,Kabeza
A-1,123456,M-2,Person 2,active,Kabeza
X-9,${nid(3)},M-3,Person 3,active,Kabeza
A-1,${nid(4)},M-4,Person 4,Widowed,Kabeza
A-1,${nid(5)},M-5,Person 5,active,Kabeza
A-1,${nid(5)},M-6,Person 5,active,Kabeza
A-1,${nid(7)},M-7
`,
  'zeros.csv': members(
    ...Array.from({ length: 20 }, (_, i) => `A-1,${nid(20 + i).slice(0, 15)}0,Z-${i},Person ${i}`),
  ),
  'no-columns.csv': 'reference,kg\nP-1,12\n',
  'unknown.csv': `cooperative_code,member_code,identity_card,reference,delivered_at,kg
A-1,M-9,,P-1,2024-03-31,12
A-1,,${nid(99)},P-2,2024-03-31,12
`,
  'other.csv': members(...[1, 2, 3].map((n) => member(n, 'B-2').replace('M-', 'B-'))),
  'new.csv': `${MEMBERS_HEADER},status\n${member(1)} Aline,active\n${member(4)},active\n`,
  'old.csv': `${MEMBERS_HEADER},status\n${member(4)},active\n`,
  'erased.csv': members(member(2)),
};

/** A command, and what is answered to its question. */
export type Step = readonly [args: readonly string[], answer?: string];
/** `startedPlace` with these files in its folder. */
export async function startedWithFiles(context: TestContext): Promise<ImportPlace> {
  const place = await startedPlace(context);
  for (const [name, content] of Object.entries(FILES)) place.write(name, content);
  return place;
}

interface Shown {
  readonly status: number;
  readonly out: string;
  readonly err: string;
  /** Both, with the questions, in the order in which they appeared. */
  readonly screen: string;
}

/** Runs a command in the folder of the place, as it were. */
export async function show(place: ImportPlace, [args, answer]: Step, env: NodeJS.ProcessEnv): Promise<Shown> {
  let [screen, out, err] = ['', '', ''];
  const paths = args.map((arg) => (/^[\w-]+\.csv$/.test(arg) ? join(place.folder, arg) : arg));
  // Receipts are new each time.
  const settings = { REGISTRY_DB: place.databaseFile, ACCESS_LEDGER: 'off', ...env };
  const { status } = await command(paths, settings, place.clock, {
    out: (text) => {
      out += text;
      screen += text;
    },
    err: (text) => {
      err += text;
      screen += text;
    },
    ...(answer === undefined
      ? {}
      : {
          ask: async (question) => {
            screen += `${question}${answer}\n`;
            return answer;
          },
        }),
  });
  return { status, out, err, screen: screen.replaceAll(`${place.folder}/`, '') };
}
