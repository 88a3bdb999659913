/** What the entities of a registry share. */
import type { GroupCommit } from './connection/group-commit.ts';
import type { ReadSnapshot } from './connection/read-snapshot.ts';
import type { CooperativeSummaries } from './cooperative-summaries.ts';
import type { ResponseKeeper } from './idempotent-responses.ts';

export interface StoreDependencies {
  readonly commits: GroupCommit;
  readonly snapshot: ReadSnapshot;
  readonly cooperativeSummaries: CooperativeSummaries;
  /** Creates rows that answer a request. */
  readonly responses: ResponseKeeper;
}
