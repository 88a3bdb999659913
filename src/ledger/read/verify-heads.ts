/** The signed lines of a chain, each verified once. */
import { existsSync } from 'node:fs';
import { type Head, type Removal, readHeads, type SignedLine } from '../files/heads.ts';
import { chainFolderOf, headsFileOf } from '../files/paths.ts';
import { openVerifier } from '../files/signatures.ts';

/** Found in the place that is being read; the message begins with that place. */
export class Fault extends Error {}

export const COMPARE = 'Compare with a backup, and with the receipts of clients.';

export interface ClosedSegment extends Head {
  /** Whether retention has removed it. */
  readonly isRemoved: boolean;
}

export class VerifiedHeads {
  private readonly ledger: string;
  private readonly chain: number;
  private readonly found = new Map<number, ClosedSegment>();
  private verified = 0;
  private fault: Fault | undefined;

  constructor(ledger: string, chain: number) {
    this.ledger = ledger;
    this.chain = chain;
  }

  /**
   * Lines that were added since are read.
   * @returns undefined for a segment that was not closed
   * @throws Fault when a line is not sound, and that of the segment is not before it
   */
  find(segment: number): ClosedSegment | undefined {
    if (!this.found.has(segment)) this.readOn();
    const head = this.found.get(segment);
    if (head === undefined && this.fault !== undefined) throw this.fault;
    return head;
  }

  private readOn(): void {
    const folder = chainFolderOf(this.ledger, this.chain);
    if (!existsSync(headsFileOf(folder))) {
      this.fault ??= new Fault(
        `heads.ndjson: it is missing, and with it what was signed of closed segments. ${COMPARE}`,
      );
      return;
    }
    const isSigned = openVerifier(this.ledger);
    for (const line of readHeads(folder).slice(this.verified)) {
      this.fault ??= this.faultOf(line, isSigned);
      if (this.fault !== undefined) return;
      this.verified++;
      const value = line.value as Head | Removal;
      if ('hash' in value) this.found.set(value.segment, { ...value, isRemoved: false });
      const head = this.found.get(value.segment);
      if ('removed' in value && head !== undefined)
        this.found.set(value.segment, { ...head, isRemoved: true });
    }
  }

  private faultOf(
    { value, signed, signature }: SignedLine,
    isSigned: ReturnType<typeof openVerifier>,
  ): Fault | undefined {
    if (isSigned === null)
      return new Fault('signing.pub: it is missing or damaged. Restore it from a backup.');
    if (value !== undefined && value.chain === this.chain && isSigned(signed, signature)) return undefined;
    return new Fault(
      `heads.ndjson, segment ${value?.segment ?? 'unknown'}: the line was changed after it was signed, or ` +
        `another key has signed it. ${COMPARE}`,
    );
  }
}
