/** Restores that erase again who was erased since: killed at any step, and after random histories. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { CHILD_LIMIT, command, plainEnvironment } from '../../support/command.ts';
import { type ImportPlace, importPlace, MEMBERS_HEADER, nid } from '../../support/importing.ts';
import { filesWith } from '../../support/registry-files.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const KILLED = fileURLToPath(new URL('../../support/sqlite-killed-restore.ts', import.meta.url));
const WHY = ['--reason', 'Request of 12 June', '--yes'];
const PERSONS = 5;

/** What a person has in one registration: every text is nobody else's, and in no other registration. */
interface Registration {
  readonly person: number;
  readonly code: string;
  number: string;
  readonly texts: string[];
}

interface TakenBackup {
  readonly folder: string;
  readonly takenAt: number;
  readonly registered: readonly Registration[];
  readonly rows: readonly Row[];
}

type Row = { readonly member_code: string; readonly status: string };

class World {
  readonly place: ImportPlace;
  readonly backups: TakenBackup[] = [];
  registered: Registration[] = [];
  /** Every text of a registration that was ever erased, with the person. */
  readonly erasedTexts: (readonly [text: string, person: number])[] = [];
  private readonly erasedAt = new Map<number, number>();
  private used = 0;

  constructor(context: TestContext) {
    this.place = importPlace(context);
  }

  static async start(context: TestContext): Promise<World> {
    const world = new World(context);
    await world.place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
    for (let person = 1; person <= PERSONS; person++) await world.register(person);
    await world.backUp();
    return world;
  }

  async run(...args: string[]): Promise<string> {
    const { status, out, err } = await this.place.command(...args);
    assert.equal(status, 0, `${args.join(' ')}: ${err}${out}`);
    return out;
  }

  find(person: number): Registration | undefined {
    return this.registered.find((each) => each.person === person);
  }

  private async load({ person, code, number, texts }: Registration): Promise<void> {
    const n = 1000 + ++this.used;
    const [name, phone] = [`Zimulinda Qx${n}x`, `78877${n}`];
    texts.push(name, phone);
    const row = `${person % 2 === 0 ? 'A-1' : 'B-2'},${number},${code},${name},0${phone}`;
    const options = ['--yes', '--overwrite-corrections', '--despite-erasure'];
    const { status, err } = await this.place.load(
      'members',
      `${MEMBERS_HEADER},mobile\n${row}\n`,
      ...options,
    );
    assert.equal(status, 0, err);
    rmSync(join(this.place.folder, 'members.csv'));
  }

  /** Under the first number of the person. */
  async register(person: number): Promise<void> {
    if (this.find(person) !== undefined) return;
    const code = `ZX-${1000 + ++this.used}Q`;
    const registration = { person, code, number: nid(person), texts: [nid(person), code] };
    await this.load(registration);
    this.registered.push(registration);
  }

  async rename(person: number): Promise<void> {
    const registration = this.find(person);
    if (registration !== undefined) await this.load(registration);
  }

  async replace(person: number): Promise<void> {
    const registration = this.find(person);
    if (registration === undefined) return;
    const number = nid(1000 + ++this.used);
    await this.run('nid', 'replace', registration.number, number, ...WHY);
    registration.number = number;
    registration.texts.push(number);
  }

  async erase(person: number): Promise<void> {
    const registration = this.find(person);
    if (registration === undefined) return;
    await this.run('persons', 'erase', registration.number, ...WHY);
    this.erasedAt.set(person, ++this.used);
    this.forget([registration]);
    // What older backups have of the person.
    this.forget(
      this.backups.flatMap(({ registered }) => registered).filter((each) => each.person === person),
    );
    this.registered = this.registered.filter((each) => each !== registration);
  }

  private forget(registrations: readonly Registration[]): void {
    for (const { texts, person } of registrations)
      for (const text of texts) this.erasedTexts.push([text, person]);
  }

  async backUp(): Promise<void> {
    const folder = join(this.place.folder, `backup-${this.backups.length}`);
    await this.run('backup', folder);
    this.backups.push({
      ...{ folder, takenAt: ++this.used, rows: this.rows() },
      registered: this.registered.map((each) => ({ ...each, texts: [...each.texts] })),
    });
  }

  rows(): Row[] {
    return this.place.query<Row>('SELECT * FROM members ORDER BY id');
  }

  /** @param at picks one of the backups */
  async restore(at: number): Promise<void> {
    const { folder, registered, takenAt, rows } = this.backups[at % this.backups.length] as TakenBackup;
    await this.run('restore', folder, '--replace');
    this.registered = registered
      .filter(({ person }) => (this.erasedAt.get(person) ?? 0) < takenAt)
      .map((each) => ({ ...each, texts: [...each.texts] }));
    const codes = this.registered.map(({ code }) => code);
    const ofThese = (all: readonly Row[]) => all.filter((row) => codes.includes(row.member_code));
    const now = this.rows();
    assert.deepEqual(ofThese(now), ofThese(rows));
    assert.equal(now.filter(({ status }) => status !== 'erased').length, codes.length);
    assert.equal(now.length, rows.length);
  }

  /** Nothing of anybody who was erased is in a file, but for the number of one who is registered again. */
  async check(): Promise<void> {
    for (const name of readdirSync(this.place.folder))
      if (name.includes('.replaced-')) rmSync(join(this.place.folder, name), { recursive: true });
    const present = new Set(this.registered.flatMap(({ texts }) => texts));
    const gone = this.erasedTexts.map(([text]) => text).filter((text) => !present.has(text));
    assert.deepEqual(filesWith(this.place.folder, gone), []);
    await this.run('check');
  }
}

const STEPS = ['backUp', 'erase', 'erase', 'register', 'rename', 'replace', 'restore'] as const;

test('a restore brings back nobody who was erased since the backup, and everybody else as they were', {
  timeout: 300_000,
}, async (context) => {
  const steps = fc.array(fc.tuple(fc.constantFrom(...STEPS), fc.nat({ max: 30 })), {
    ...{ minLength: 6, maxLength: 14 },
  });
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      const world = await World.start(context);
      for (const [step, at] of taken) {
        if (step === 'backUp') await world.backUp();
        else await world[step](step === 'restore' ? at : (at % PERSONS) + 1);
        if (step === 'restore') await world.check();
      }
      for (let at = 0; at < world.backups.length; at++) {
        await world.restore(at);
        await world.check();
      }
    }),
    process.env.ERASURE_RUNS === undefined
      ? { numRuns: 8, seed: 7 }
      : { numRuns: Number(process.env.ERASURE_RUNS) },
  );
});

test('a restore that is killed at any step erases again, and forgets no erasure', async (context) => {
  const world = await World.start(context);
  const backup = (world.backups[0] as TakenBackup).folder;
  await world.erase(1);
  await world.erase(2);
  const { place } = world;
  const original = join(place.folder, 'original');
  for (const name of readdirSync(place.folder).filter((each) => each.startsWith('registry')))
    cpSync(join(place.folder, name), join(original, name), { recursive: true });
  const steps: string[] = [];
  for (let number = 1; steps.at(-1) !== 'complete'; number++) {
    for (const name of readdirSync(place.folder).filter((each) => each.startsWith('registry')))
      rmSync(join(place.folder, name), { recursive: true });
    cpSync(original, place.folder, { recursive: true });
    const args = [KILLED, place.databaseFile, backup, String(number)];
    const killed = spawnSync('node', args, { ...CHILD_LIMIT, cwd: ROOT, env: plainEnvironment });
    const isComplete = killed.status === 0;
    const step = isComplete ? 'complete' : (killed.stdout.toString().trim().split('\n').at(-1) as string);
    assert.ok(isComplete || killed.signal === 'SIGKILL', killed.stderr.toString());
    steps.push(step);
    if (!isComplete) {
      const refused = await command(['serve', '--port', '0', '--db', place.databaseFile]);
      assert.equal(refused.status, 2, step);
      assert.match(
        refused.err,
        /was interrupted\. Wait for it, or run it again: .* restore DIR --replace --db \S+\n$/,
      );
      const again = await world.place.command('restore', backup, '--replace');
      assert.equal(again.status, 0, again.err);
      assert.doesNotMatch(again.err, /unknown/, step);
      assert.match(again.out, /^Erased again, as they were erased after the backup: members 1, 2\.$/m, step);
    }
    await world.check();
    assert.equal(world.rows().filter(({ status }) => status !== 'erased').length, PERSONS - 2, step);
  }
  assert.deepEqual(steps, [
    ...['announced', 'prepared', 'copied registry.db', 'copied registry.keys.db'],
    ...['erased a person', 'erased a person', 'erasures added'],
    ...['moved registry.db', 'moved registry.keys.db', 'moved registry.backups.json', 'moved'],
    ...['placed registry.db', 'placed registry.keys.db', 'placed', 'complete'],
  ]);
});
