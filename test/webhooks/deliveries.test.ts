/** Deliveries to endpoints (docs/webhooks.md): signed, in order, until they were accepted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verify } from '../support/receiver.ts';
import { startWebhooks } from '../support/webhooks.ts';

test('changes are posted in order, each signed so that the library of the standard accepts it', async (context) => {
  const { app, receiver, add, create } = await startWebhooks(context);
  await create('BEFORE');
  const { secret } = await add();
  await create('A');
  await create('B');
  const [first, second] = await receiver.waitFor(2);
  assert.deepEqual(
    [first, second].map((each) => [each?.json.type, each?.json.sequence, each?.json.data.id]),
    [
      ['cooperative.created', 2, '2'],
      ['cooperative.created', 3, '3'],
    ],
  );
  const feed = await app.send('/events?after=1');
  assert.deepEqual(
    receiver.deliveries.map(({ json }) => json),
    feed.json.results,
  );
  for (const delivery of receiver.deliveries) verify(secret, delivery);
  assert.throws(() => verify('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLawq', receiver.deliveries[0] as never));
});
