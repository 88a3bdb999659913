/** Erasures after random imports, writes and corrections: nothing of the person is left. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { startApp } from '../../support/app.ts';
import { type ImportPlace, importPlace, MEMBERS_HEADER, nid } from '../../support/importing.ts';
import { filesWith } from '../../support/registry-files.ts';

const WHY = ['--reason', 'Request of 12 June'];
const OTHERS = 40;
const STEPS = ['patch', 'file', 'replace', 'merge', 'merge-mistake', 'other-patch', 'other-replace'] as const;
type Step = (typeof STEPS)[number];

/** Values that nobody else has are made from a number that is used once. */
const nameOf = (n: number): string => `Zimulinda Qx${n}x`;
const phoneOf = (n: number): string => `78877${1000 + n}`;

class World {
  readonly place: ImportPlace;
  /** What must be gone after the erasure. */
  readonly texts = ['Zimulinda'];
  private used = 0;
  private readonly app: Awaited<ReturnType<typeof startApp>>;

  private constructor(place: ImportPlace, app: Awaited<ReturnType<typeof startApp>>) {
    this.place = place;
    this.app = app;
  }

  static async start(context: TestContext): Promise<World> {
    const place = importPlace(context);
    await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
    const world = new World(place, await startApp(context, { folder: place.folder }));
    const others = Array.from({ length: OTHERS }, (_, i) => `B-2,${nid(i + 1)},M-${i + 1},Other ${i + 1},`);
    await world.load(...others, world.row(nid(900), 'ZX-1'));
    world.texts.push(nid(900), 'ZX-1');
    return world;
  }

  async load(...rows: string[]): Promise<void> {
    const { status, err } = await this.place.load(
      'members',
      `${MEMBERS_HEADER},mobile\n${rows.join('\n')}\n`,
      ...['--yes', '--overwrite-corrections'],
    );
    assert.equal(status, 0, err);
  }

  /** A row of the person with a new name and phone. */
  row(number: string, code: string): string {
    const n = ++this.used;
    this.texts.push(nameOf(n), phoneOf(n));
    return `A-1,${number},${code},${nameOf(n)},0${phoneOf(n)}`;
  }

  private newNumber(): string {
    return nid(1000 + ++this.used);
  }

  memberBy(code: string): { readonly id: number; readonly identity_card: string } {
    const [row] = this.place.query<{ id: number; identity_card: string }>(
      `SELECT id, identity_card FROM members WHERE member_code = '${code}'`,
    );
    return row as { id: number; identity_card: string };
  }

  async command(...args: string[]): Promise<void> {
    const { status, err } = await this.place.command(...args, ...WHY);
    assert.equal(status, 0, `${args[0]} ${args[1]}: ${err}`);
  }

  async patch(code: string, body: object): Promise<void> {
    const { status, text } = await this.app.send(`/members/${this.memberBy(code).id}`, {
      method: 'PATCH',
      body,
    });
    assert.equal(status, 200, text);
  }

  /** @param at picks one of the others */
  async take(step: Step, at: number): Promise<void> {
    const other = `M-${at + 1}`;
    const current = this.memberBy('ZX-1').identity_card;
    const number = this.newNumber();
    if (step === 'file') return this.load(this.row(current, 'ZX-1'));
    if (step === 'other-patch') return this.patch(other, { full_name: `Other ${this.used}` });
    if (step === 'other-replace')
      return this.command('nid', 'replace', '--yes', this.memberBy(other).identity_card, number);
    if (step === 'merge-mistake') {
      // It has the number of one of the others.
      const code = `ZZ-${this.used}Q`;
      this.texts.push(code);
      await this.load(this.row(this.memberBy(other).identity_card, code));
      return this.command(
        'members',
        'merge',
        '--yes',
        String(this.memberBy(code).id),
        String(this.memberBy('ZX-1').id),
      );
    }
    if (step === 'replace' || step === 'merge') this.texts.push(number);
    if (step === 'replace') return this.command('nid', 'replace', '--yes', current, number);
    if (step === 'patch') {
      const n = this.used;
      this.texts.push(nameOf(n), phoneOf(n));
      // A number that has replaced another one is not changed over HTTP.
      const former = 'SELECT 1 FROM replaced_identity_cards WHERE ended_by IS NULL AND new';
      const isFixed = this.place.value(`${former} = '${current}'`) !== undefined;
      const body = { full_name: nameOf(n), mobile: `0${phoneOf(n)}` };
      if (!isFixed) this.texts.push(number);
      return this.patch('ZX-1', isFixed ? body : { ...body, identity_card: number });
    }
    const code = `ZY-${this.used}Q`;
    this.texts.push(code);
    await this.load(this.row(number, code));
    await this.command(
      'members',
      'merge',
      '--yes',
      String(this.memberBy(code).id),
      String(this.memberBy('ZX-1').id),
    );
  }

  /** Rows, redirects and history of everybody else. */
  others(): unknown[] {
    return [
      "SELECT * FROM members WHERE member_code LIKE 'M-%' ORDER BY id",
      `SELECT r.* FROM replaced_identity_cards r JOIN members m ON m.identity_card = r.new
       WHERE m.member_code LIKE 'M-%' ORDER BY 1, 3`,
      `SELECT c.* FROM changes c JOIN members m ON m.id = c.row_id
       WHERE c.entity = 'members' AND m.member_code LIKE 'M-%' ORDER BY c.id`,
    ].map((sql) => this.place.query(sql));
  }
}

test('after an erasure no file has anything of the person, and everything of the others is as it was', {
  timeout: 300_000,
}, async (context) => {
  const steps = fc.array(fc.tuple(fc.constantFrom(...STEPS), fc.nat({ max: 2 })), {
    ...{ minLength: 4, maxLength: 10 },
  });
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      const world = await World.start(context);
      for (const [step, at] of taken) await world.take(step, at);
      const before = world.others();
      await world.command('persons', 'erase', '--yes', world.memberBy('ZX-1').identity_card);
      assert.deepEqual(world.others(), before);
      assert.deepEqual(filesWith(world.place.folder, world.texts), []);
      for (const number of world.texts.filter((text) => /^\d{16}$/.test(text))) {
        const again = await world.place.command('persons', 'erase', '--yes', number, ...WHY);
        assert.equal(again.err, 'This person was erased. Nothing was changed.\n');
      }
      assert.equal((await world.place.command('check')).status, 0);
    }),
    process.env.ERASURE_RUNS === undefined
      ? { numRuns: 8, seed: 7 }
      : { numRuns: Number(process.env.ERASURE_RUNS) },
  );
});
