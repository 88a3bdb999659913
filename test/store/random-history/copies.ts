/**
 * Two machines, their backups and clocks, beside a model of what each must know: members by number, and the
 * readings of its ledger.
 */
import assert from 'node:assert/strict';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLedgerReader } from '../../../src/ledger/ledger-reader.ts';
import { openCommandLedger, pruneLedger } from '../../../src/ledger/open-ledger.ts';
import { openServiceLedger } from '../../../src/ledger/service-ledger.ts';
import type { Storage } from '../../../src/sqlite/storage.ts';
import { parseTimeZone, type TimeZone } from '../../../src/values/date-time.ts';
import { temporaryFolder, testClock } from '../../support/app.ts';
import { command, spawnCommand } from '../../support/command.ts';
import { nid } from '../../support/importing.ts';
import { openFile } from '../../support/sqlite.ts';
import { storageAt } from '../../support/storage.ts';

interface RecordedLookup {
  readonly request: string;
  readonly receipt: string;
  readonly person: number;
  readonly isByNumber: boolean;
}

/** What a registry knows; a backup has a copy. */
interface Known {
  /** Ids of members, by person. */
  readonly members: Map<number, number>;
  readonly readings: Map<string, RecordedLookup>;
  zone: string;
  /** Whether files of its ledger cannot be read. */
  isDamaged: boolean;
}

interface Place extends Known {
  readonly file: string;
}

interface Backup extends Known {
  readonly folder: string;
  hasLedger: boolean;
}

const copyOf = ({ members, readings, zone, isDamaged }: Known): Known => ({
  members: new Map(members),
  readings: new Map(readings),
  zone,
  isDamaged,
});

export type Step =
  | { readonly kind: 'write' | 'backup' | 'take over' | 'start'; readonly at: 0 | 1 }
  | { readonly kind: 'read'; readonly at: 0 | 1; readonly which: number; readonly isByNumber: boolean }
  | { readonly kind: 'restore'; readonly at: 0 | 1; readonly which: number }
  | { readonly kind: 'damage'; readonly at: 0 | 1 }
  | { readonly kind: 'kill'; readonly at: 0 | 1; readonly which: number; readonly afterMs: number }
  | { readonly kind: 'clock'; readonly byHours: number }
  | { readonly kind: 'zone'; readonly at: 0 | 1; readonly zone: string }
  | { readonly kind: 'take ledger away'; readonly which: number };

/** Statuses of what was done: all of it, or all but a ledger that is damaged or missing. */
const DONE = [0, 3];

export class Copies {
  private readonly folder: string;
  private readonly clock = testClock();
  private readonly places: readonly [Place, Place];
  private readonly backups: Backup[] = [];
  /** Every id of a member that either machine has given. */
  private readonly givenIds = new Set<number>();
  private lastPerson = 0;
  private lastRequest = 0;

  constructor(context: TestContext) {
    this.folder = temporaryFolder(context);
    const place = (name: string): Place => ({
      ...copyOf({ members: new Map(), readings: new Map(), zone: '+02:00', isDamaged: false }),
      file: join(this.folder, name, 'registry.db'),
    });
    this.places = [place('first'), place('second')];
  }

  /** Both machines begin with the same registry. */
  async start(): Promise<void> {
    const [first] = this.places;
    writeFileSync(join(this.folder, 'cooperatives.csv'), 'code,name\nA-1,Abahuje\n');
    await this.run(first, ['import', 'cooperatives', join(this.folder, 'cooperatives.csv'), '--create']);
    await this.run(first, ['keys', 'create', '--name', 'one', '--scope', 'members:read']);
    await this.take({ kind: 'write', at: 0 });
    await this.take({ kind: 'read', at: 0, which: 0, isByNumber: true });
    await this.take({ kind: 'backup', at: 0 });
    await this.take({ kind: 'restore', at: 1, which: 0 });
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'clock':
        this.clock.stepWall(step.byHours * 3_600_000);
        return;
      case 'restore':
        await this.restore(this.places[step.at], this.chosen(step.which));
        return;
      case 'kill':
        await this.kill(this.places[step.at], this.chosen(step.which), step.afterMs);
        return;
      case 'take ledger away': {
        const backup = this.chosen(step.which);
        rmSync(join(backup.folder, 'registry.ledger'), { recursive: true, force: true });
        backup.hasLedger = false;
        return;
      }
    }
    const place = this.places[step.at];
    switch (step.kind) {
      case 'write':
        return this.write(place);
      case 'read':
        return this.read(place, step.which, step.isByNumber);
      case 'backup':
        await this.backUp(place);
        return;
      case 'take over':
        await this.takeOver(place);
        return;
      case 'start':
        return this.serve(place);
      case 'damage':
        await this.damage(place);
        return;
      case 'zone':
        await this.run(place, ['time-zone', '--to', step.zone, '--yes']);
        place.zone = step.zone;
    }
  }

  /** What each machine has, and says of itself, is what the model says. */
  async verify(): Promise<void> {
    for (const place of this.places) {
      const statuses = [Number(place.isDamaged)];
      await this.run(place, ['check'], statuses);
      await this.run(place, ['ledger', 'verify'], statuses);
      assert.deepEqual(membersOf(place.file), [...place.members.values()].sort(ascending));
      const ledger = openLedgerReader(this.storage(place).pathForOpening());
      for (const { receipt, request } of place.readings.values())
        assert.equal(ledger.verifyReceipt(receipt).entry?.request_id, request, receipt);
      for (const person of place.members.keys())
        assert.deepEqual(await this.readingsOf(place, person), requestsOf(place, person), nid(person));
    }
  }

  private async readingsOf(place: Place, person: number): Promise<string[]> {
    const { out } = await this.run(place, ['ledger', 'person', nid(person), '--json']);
    const requests: string[] = JSON.parse(out).entries.map(
      (entry: { request_id: string }) => entry.request_id,
    );
    return requests.filter((request) => request.startsWith('r-')).sort();
  }

  private async write(place: Place): Promise<void> {
    const person = ++this.lastPerson;
    const file = join(this.folder, 'members.csv');
    const header = 'cooperative_code,identity_card,member_code,full_name';
    writeFileSync(file, `${header}\nA-1,${nid(person)},M-${person},Person ${person}\n`);
    await this.run(place, ['import', 'members', file]);
    const id = membersOf(place.file).at(-1) as number;
    assert.ok(!this.givenIds.has(id), `the number ${id} was given again`);
    this.givenIds.add(id);
    place.members.set(person, id);
  }

  private async read(place: Place, which: number, isByNumber: boolean): Promise<void> {
    const [person, id] = [...place.members][which % place.members.size] as [number, number];
    const request = `r-${++this.lastRequest}`;
    const reading = {
      timeMs: this.clock.now(),
      requestId: request,
      reader: { keyId: 1 },
      route: 'GET /api/v1/members/{id}',
      fields: ['identity'],
      status: 200,
      address: null,
      purpose: null,
      endUser: null,
      subject: isByNumber ? { identityCards: [nid(person)], memberIds: [id] } : { memberIds: [id] },
    } as const;
    const ledger = openCommandLedger(this.storage(place).pathForOpening());
    const [receipt = ''] = await ledger.record([reading]);
    await ledger.close();
    place.readings.set(request, { request, receipt, person, isByNumber });
  }

  private async backUp(place: Place): Promise<Backup> {
    const folder = join(this.folder, `backup-${this.backups.length}`);
    await this.run(place, ['backup', folder, '--verify'], [place.isDamaged ? 3 : 0]);
    const backup = { ...copyOf(place), folder, hasLedger: true };
    this.backups.push(backup);
    return backup;
  }

  private async restore(place: Place, backup: Backup): Promise<void> {
    const { err } = await this.run(
      { ...place, zone: backup.zone },
      ['restore', backup.folder, '--replace'],
      DONE,
    );
    if (!backup.hasLedger) assert.match(err, /registry\.ledger\/.*: it is missing\./);
    this.becomes(place, backup);
  }

  private becomes(place: Place, backup: Backup): void {
    place.members.clear();
    for (const [person, id] of backup.members) place.members.set(person, id);
    if (backup.hasLedger)
      for (const [request, reading] of backup.readings) place.readings.set(request, reading);
    place.isDamaged ||= backup.hasLedger && backup.isDamaged;
    place.zone = backup.zone;
  }

  /** A restore that was killed is run again. */
  private async kill(place: Place, backup: Backup, afterMs: number): Promise<void> {
    const env = { TIME_ZONE_OFFSET: backup.zone };
    const running = spawnCommand(['restore', backup.folder, '--replace', '--db', place.file], env);
    await sleep(afterMs);
    running.child.kill('SIGKILL');
    await running.ended;
    await this.restore(place, backup);
  }

  private async takeOver(place: Place): Promise<void> {
    const [first, second] = this.places;
    const backup = await this.backUp(place);
    await this.restore(place === first ? second : first, backup);
  }

  /** A service starts, removes what is old, and ends: there is nothing old, whatever the clock says. */
  private async serve(place: Place): Promise<void> {
    const retention = { nowMs: this.clock.now(), days: 730 };
    const options = { clock: this.clock, days: 730, note: () => {} };
    await openServiceLedger(this.storage(place).pathForOpening(), options).close();
    assert.deepEqual(pruneLedger(this.storage(place).pathForOpening(), retention).names, []);
  }

  /** Every file of the ledger: readings go on in a new one. */
  private async damage(place: Place): Promise<void> {
    const folder = place.file.replace('.db', '.ledger');
    for (const name of readdirSync(folder).filter((each) => /^[0-9]/.test(each)))
      if (name.endsWith('.db')) writeFileSync(join(folder, name), 'damaged '.repeat(4_096));
      else rmSync(join(folder, name));
    place.isDamaged = true;
    place.readings.clear();
    await this.run(place, ['ledger', 'verify'], [1]);
  }

  private chosen(which: number): Backup {
    return this.backups[which % this.backups.length] as Backup;
  }

  private storage({ file, zone }: Place): Storage {
    return storageAt(file, parseTimeZone(zone) as TimeZone);
  }

  private async run({ file, zone }: Place, words: readonly string[], statuses: readonly number[] = [0]) {
    const ran = await command([...words, '--db', file], { TIME_ZONE_OFFSET: zone }, this.clock);
    assert.ok(statuses.includes(ran.status), `${words.join(' ')}: ${ran.status} ${ran.out}${ran.err}`);
    return ran;
  }
}

const ascending = (a: number, b: number): number => a - b;

function membersOf(file: string): number[] {
  const db = openFile(file);
  const ids = db.raw.prepare('SELECT id FROM members ORDER BY id').pluck().all() as number[];
  db.close();
  return ids;
}

const requestsOf = ({ readings }: Place, person: number): string[] =>
  [...readings.values()]
    .filter((each) => each.person === person)
    .map(({ request }) => request)
    .sort();
