/** All rows of a kind, in order of id, as they are in one snapshot. */
import type { Visible } from '../../domain/access/visible.ts';
import type { ProductionEntry, SavingsTransaction } from '../../domain/entries/entries.ts';
import type { LoanRecord, Owner } from '../../domain/lending/loans.ts';
import type { PaymentRecord } from '../../domain/lending/payments.ts';
import type { Cooperative } from '../../domain/membership/cooperatives.ts';
import type { Member } from '../../domain/membership/members.ts';
import type { ImportKind } from './import/import-session.ts';

/** The member of a row as files name it. */
export interface ExportedOwner extends Owner {
  readonly memberCode: string | null;
}

export interface ExportedRows {
  readonly cooperatives: Cooperative;
  readonly members: Member;
  readonly production: ProductionEntry & ExportedOwner;
  readonly loans: LoanRecord & ExportedOwner;
  readonly payments: PaymentRecord & ExportedOwner & { readonly loanReference: string };
  readonly savings: SavingsTransaction & ExportedOwner;
}

export interface ExportFilter {
  readonly visible: Visible;
  readonly cooperativeId?: number;
  readonly status?: string;
  /** Whether the entries of erased persons are left out, which no file could name. */
  readonly isNamed?: boolean;
}

export interface ExportSnapshot {
  /** Of the last event that the snapshot has, and of the sequence. */
  readonly sequence: number;
  readonly epoch: string;
  count(kind: ImportKind, filter: ExportFilter): number;
  rows<Kind extends ImportKind>(kind: Kind, filter: ExportFilter): Iterable<ExportedRows[Kind]>;
}

/** Reads beside a service without making it wait. */
export interface ExportSession {
  /** Begins to read one state of the registry. While it lasts, the registry's log can only grow. */
  begin(): ExportSnapshot;
  /** Ends the snapshot. */
  end(): void;
  /** @returns the id of the cooperative with this code */
  findCooperative(code: string): number | undefined;
  /** Whether the disk takes more and keeps its reserve. */
  hasRoom(): boolean;
  close(): void;
}
