/** SQLite does what every engine must do. */
import { join } from 'node:path';
import { temporaryFolder } from '../../support/app.ts';
import { storageAt } from '../../support/storage.ts';
import { cooperativesConformance } from '../conformance/cooperatives.ts';
import type { Engine } from '../conformance/engine.ts';
import { eventsConformance } from '../conformance/events.ts';
import { idempotentResponsesConformance } from '../conformance/idempotent-responses.ts';
import { keysConformance } from '../conformance/keys.ts';
import { loansConformance } from '../conformance/loans.ts';
import { membersConformance } from '../conformance/members.ts';
import { paymentsConformance } from '../conformance/payments.ts';
import { registryConformance } from '../conformance/registry.ts';

const SQLITE: Engine = {
  name: 'SQLite',
  createLocation: (context) => join(temporaryFolder(context), 'registry.db'),
  openStorage: (location) => storageAt(location),
};

registryConformance(SQLITE);
cooperativesConformance(SQLITE);
membersConformance(SQLITE);
loansConformance(SQLITE);
paymentsConformance(SQLITE);
keysConformance(SQLITE);
eventsConformance(SQLITE);
idempotentResponsesConformance(SQLITE);
