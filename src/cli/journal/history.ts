/** `history`: what has changed in a member or a cooperative, and who changed it. */
import type { Command } from 'commander';
import { isIdentityCard } from '../../domain/membership/identity-card.ts';
import type { Subject } from '../../store/contract/access-ledger.ts';
import type { HistoryStore, RowHistory } from '../../store/contract/journal/history.ts';
import { findMemberId } from '../persons/named-member.ts';
import { MEMBER_GROUPS, recordReading } from '../persons/record-reading.ts';
import { showingNobody } from '../persons/shown-persons.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { parseCode } from '../terminal/options.ts';
import { acting, type Run } from '../terminal/run.ts';
import { addPrintOptions } from '../terminal/settings.ts';
import { withStore } from '../terminal/with-store.ts';
import { describeEntry, formatHistory } from './history-text.ts';

type Find = (history: HistoryStore) => readonly RowHistory[];

interface Wanted extends Pick<Subject, 'identityCards' | 'memberIds'> {
  readonly find: Find;
}

export function declareHistory(history: Command, context: CliContext): void {
  addPrintOptions(history.command('member'), 'REGISTRY_USER')
    .argument('<member>', 'id, CODE/MEMBERCODE, CODE/NID; or a NID for all memberships of the person')
    .description('what has changed in a member, the newest last; holds personal data')
    .action(
      acting(context, async (run, given: string) => {
        const wanted = isIdentityCard(given) ? ofPerson(given) : ofMember(await findMemberId(run, given));
        await recordReading(run, { ...wanted, fields: MEMBER_GROUPS });
        await print(run, wanted.find);
      }),
    );
  addPrintOptions(showingNobody(history.command('cooperative')))
    .argument('<code>', 'code of a cooperative', parseCode)
    .description('what has changed in a cooperative, the newest last')
    .action(
      acting(context, (run, code: string) =>
        print(run, (store) => {
          const found = store.ofCooperative(code);
          if (found === undefined)
            throw new CommandError(EXIT.refused, 'There is no cooperative with this code.');
          return [found];
        }),
      ),
    );
}

const ofPerson = (identityCard: string): Wanted => ({
  identityCards: [identityCard],
  find(store) {
    const found = store.ofPerson(identityCard);
    if (found.length === 0) throw new CommandError(EXIT.refused, 'Nobody has this national ID.');
    return found;
  },
});

const ofMember = (id: number): Wanted => ({
  memberIds: [id],
  find(store) {
    const found = store.ofMember(id);
    if (found === undefined) throw new CommandError(EXIT.refused, 'There is no member with this id.');
    return [found];
  },
});

async function print({ storage, zone, show }: Run, find: Find): Promise<void> {
  const rows = await withStore(storage.openHistory(), find);
  // Of a person, each entry names its membership.
  const nameOf = ({ id }: RowHistory) => (rows.length > 1 ? { member_id: id } : {});
  const history = rows.flatMap((row) =>
    row.entries.map((entry) => ({ ...nameOf(row), ...describeEntry(entry, zone) })),
  );
  show({ history }, rows.map((row) => formatHistory(row, zone)).join('\n'));
}
