/** Random changes of everything that changes in a registry: over HTTP, by imports, and by corrections. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json, Registry } from './processes.ts';

/** A generator of numbers below 1 that a seed repeats (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** No row of the kind that is to change. */
class NothingThere extends Error {}

export class Changes {
  /** How often each kind was made, and how often it was refused. */
  readonly made = new Map<string, number>();
  readonly refused = new Map<string, number>();
  private readonly registry: Registry;
  private readonly random: () => number;
  private count = 0;
  private backups: string[] = [];

  constructor(registry: Registry, seed: number) {
    this.registry = registry;
    this.random = randomOf(seed);
  }

  below = (end: number): number => Math.floor(this.random() * end);
  private pick = <T>(of: readonly T[]): T => {
    if (of.length === 0) throw new NothingThere();
    return of[this.below(of.length)] as T;
  };
  private nid = (): string => `11985${String(90_000_000_000 + this.below(9_999_999_999)).padStart(11, '0')}`;
  /** Few cooperatives, so that changes meet each other's rows. */
  private cooperative = (): string => String(1 + this.below(5));

  private async rows(kind: string): Promise<Json[]> {
    const { rows } = await this.registry.export(kind);
    return rows.filter(({ cooperative }) => Number(cooperative.id) <= 6);
  }

  private member = async (): Promise<Json> => this.pick(await this.rows('members'));
  private async two(): Promise<[Json, Json]> {
    const first = await this.member();
    const rows = (await this.rows('members')).filter(({ id }) => id !== first.id);
    const near = rows.filter(({ cooperative }) => cooperative.id === first.cooperative.id);
    return [first, this.pick(near.length > 0 ? near : rows)];
  }

  private async send(method: string, path: string, body: object): Promise<void> {
    const { status, json } = await this.registry.ask(method, path, body);
    if (status >= 300) throw new Error(`status ${status} ${JSON.stringify(json)}`);
  }

  private async import(kind: string, header: string, lines: readonly string[]): Promise<void> {
    const file = join(this.registry.folder, `${kind}-${this.count}.csv`);
    writeFileSync(file, `${[header, ...lines].join('\n')}\n`);
    await this.registry.run('import', kind, file, '--yes');
  }

  private correct = (...words: string[]) => this.registry.run(...words, '--reason', 'Test', '--yes');

  /** One whose entries can be in any cooperative, by their references. @returns its id */
  private async memberWithEntries(cooperativeId: string): Promise<string> {
    const n = `${this.count}-${this.below(1_000_000)}`;
    const body = { cooperative_id: cooperativeId, identity_card: this.nid(), member_code: `W-${n}` };
    const { json } = await this.registry.ask('POST', '/members', { ...body, full_name: 'With Entries' });
    const delivery = { delivered_at: '2026-11-20', kg: '2', product: 'Maize', reference: `WD-${n}` };
    await this.send('POST', `/members/${json.id}/deliveries`, delivery);
    const saving = {
      account_number: `WA-${n}`,
      kind: 'contribution',
      amount: '70',
      transacted_at: '2026-11-20',
    };
    await this.send('POST', `/members/${json.id}/savings-transactions`, saving);
    const loan = { member_id: json.id, reference: `WL-${n}`, amount: '3000', interest_rate: '5' };
    await this.send('POST', '/loans', loan);
    return json.id;
  }

  /** By name; each may be refused, as what it meets is random. */
  readonly kinds: { readonly [name: string]: () => Promise<unknown> } = {
    'new cooperative': () =>
      this.send('POST', '/cooperatives', { code: `N-${this.count}`, name: 'New \\ "one"' }),
    'changed cooperative': () =>
      this.send('PATCH', `/cooperatives/${this.cooperative()}`, {
        name: `Name ${this.count}`,
        district: 'Huye',
      }),
    'new member': () =>
      this.send('POST', '/members', {
        ...{ cooperative_id: this.cooperative(), identity_card: this.nid() },
        ...{ member_code: `N-${this.count}`, full_name: `Émile "\\n" ${this.count}` },
      }),
    'second membership': async () => {
      const { identity_card } = await this.member();
      const body = { cooperative_id: this.cooperative(), identity_card, member_code: `S-${this.count}` };
      await this.send('POST', '/members', { ...body, full_name: 'Second Name' });
    },
    'changed member': async () =>
      this.send('PATCH', `/members/${(await this.member()).id}`, {
        ...{ mobile: `+25078${String(this.count).padStart(7, '0')}`, gender: this.pick(['MALE', null]) },
        ...{ status: this.pick(['active', 'active', 'inactive']) },
      }),
    delivery: async () =>
      this.send('POST', `/members/${(await this.member()).id}/deliveries`, {
        ...{ delivered_at: '2026-11-20T06:30:00+02:00', kg: `${1 + this.below(99)}.125`, product: 'Milk' },
      }),
    saving: async () => {
      const { id } = await this.member();
      const body = { account_number: `A-${id}-${this.below(2)}`, amount: '500.50' };
      const kind = this.pick(['contribution', 'withdrawal']);
      await this.send('POST', `/members/${id}/savings-transactions`, {
        ...body,
        kind,
        transacted_at: '2026-11-21',
      });
    },
    loan: async () =>
      this.send('POST', '/loans', {
        ...{ member_id: (await this.member()).id, reference: `NL-${this.count}`, amount: '300000' },
        ...{ interest_rate: '18', status: 'approved' },
      }),
    payment: async () => {
      const loan = this.pick((await this.rows('loans')).filter(({ status }) => status === 'approved'));
      const body = { amount: '125.50', method: 'cash', reference: `NP-${this.count}` };
      await this.send('POST', '/payments', { ...body, loan_id: loan.id });
    },
    'void payment': async () =>
      this.send('PATCH', `/payments/${this.pick(await this.rows('payments')).id}`, { status: 'void' }),
    'loan status': async () => {
      const loan = this.pick((await this.rows('loans')).filter(({ status }) => status === 'approved'));
      await this.send('PATCH', `/loans/${loan.id}`, { status: this.pick(['paid', 'defaulted']) });
    },
    'import of members': () => {
      const lines = Array.from({ length: this.pick([3, 120]) }, (_, n) =>
        ['KOBWINYENYE-HUY', this.nid(), `I-${this.count}-${n}`, 'Imported Person'].join(','),
      );
      return this.import('members', 'cooperative_code,identity_card,member_code,full_name', lines);
    },
    'import of deliveries': async () => {
      const members = (await this.rows('members')).filter(({ cooperative }) => cooperative.id !== '6');
      const lines = Array.from({ length: this.pick([4, 150]) }, (_, n) => {
        const { cooperative, member_code } = this.pick(members);
        return [cooperative.code, member_code, `D-${this.count}-${n}`, '2026-11-19', '7.5', 'Milk'].join(',');
      });
      await this.import(
        'production',
        'cooperative_code,member_code,reference,delivered_at,kg,product',
        lines,
      );
    },
    'import of savings': async () => {
      const lines = (await this.rows('members'))
        .slice(0, this.pick([3, 90]))
        .map(({ cooperative, member_code }, n) =>
          [cooperative.code, member_code, `SA-${this.count}-${n}`, `SR-${this.count}-${n}`].concat(
            ...[['contribution', '99.50', '2026-11-18']],
          ),
        );
      const header = 'cooperative_code,member_code,account_number,reference,kind,amount,transacted_at';
      await this.import(
        'savings',
        header,
        lines.map((cells) => cells.join(',')),
      );
    },
    undo: async () => {
      const list = JSON.parse(await this.registry.run('imports', 'list', '--json')).imports;
      const ids: number[] = list.map(({ id }: Json) => Number(id));
      const last = ids.sort((a, b) => b - a).slice(0, 3);
      await this.registry.run('imports', 'undo', String(this.pick(last)), '--yes');
    },
    'undone merge': async () => {
      const [from, into] = await this.two();
      const made = await this.correct('members', 'merge', from.id, into.id, '--json');
      await this.registry.run('imports', 'undo', String(JSON.parse(made).correction_id), '--yes');
    },
    merge: async () => {
      const [from, into] = await this.two();
      await this.correct('members', 'merge', from.id, into.id);
    },
    move: async () => {
      const code = this.pick((await this.registry.export('cooperatives')).rows.slice(0, 5)).code;
      await this.correct('members', 'move', await this.memberWithEntries(this.cooperative()), '--to', code);
    },
    transfer: async () => {
      const code = this.pick((await this.registry.export('cooperatives')).rows.slice(0, 5)).code;
      const words = ['--to', code, '--code', `T-${this.count}`, '--on', '2026-11-23'];
      await this.correct('members', 'transfer', (await this.member()).id, ...words);
    },
    erasure: async () => this.correct('persons', 'erase', (await this.member()).identity_card),
    death: async () =>
      this.correct('persons', 'deceased', (await this.member()).identity_card, '--on', '2026-11-22'),
    'replaced number': async () =>
      this.correct('nid', 'replace', (await this.member()).identity_card, this.nid()),
    'removed deliveries': async () =>
      this.correct('entries', 'remove', 'production', '--member', (await this.member()).id),
    'removed savings': async () =>
      this.correct('entries', 'remove', 'savings', '--member', (await this.member()).id),
    'merged cooperative': async () => {
      const code = `M-${this.count}`;
      await this.send('POST', '/cooperatives', { code, name: 'To be merged' });
      const { rows } = await this.registry.export('cooperatives');
      const { id } = rows.at(-1);
      // Entries of an erased person move without an event of their own.
      const erased = await this.memberWithEntries(id);
      await this.memberWithEntries(id);
      const { json } = await this.registry.ask('GET', `/members/${erased}`);
      await this.correct('persons', 'erase', json.identity_card);
      await this.correct('cooperatives', 'merge', code, this.pick(rows.slice(0, 5)).code);
    },
    backup: async () => {
      const folder = join(this.registry.folder, `backup-${this.count}`);
      await this.registry.run('backup', folder);
      this.backups.push(folder);
    },
    restore: async () => {
      if (this.backups.length === 0) return;
      await this.registry.kill('SIGTERM');
      try {
        await this.registry.run('restore', this.pick(this.backups), '--replace');
      } finally {
        await this.registry.start();
      }
    },
  };

  /** @param name of the change; any, if it is not given */
  async make(name: string = this.pick(Object.keys(this.kinds))): Promise<void> {
    this.count++;
    const counted = await (this.kinds[name] as () => Promise<unknown>)().then(
      () => this.made,
      (error) => {
        if (error instanceof NothingThere || /status [345]..|: status 1: /.test(String(error)))
          return this.refused;
        throw error;
      },
    );
    counted.set(name, (counted.get(name) ?? 0) + 1);
  }
}
