/** Says before a session ends, and keeps what was typed on the page when it has (docs/desk.md#coming-back). */

const panel = document.querySelector('#idle');
const [lifeMs, warningMs] = [Number(panel.dataset.life), Number(panel.dataset.warning)];
const LOOK_MS = 5_000;
/** While somebody types, the desk hears of it this often. */
const TYPING_MS = 60_000;
/** The other pages of the desk in this browser: they have the same session. */
const others = new BroadcastChannel('desk');
let askedAt = Date.now();

function state() {
  const idleMs = Date.now() - askedAt;
  if (idleMs >= lifeMs) return 'ended';
  return idleMs >= lifeMs - warningMs ? 'soon' : 'open';
}

function show() {
  const now = state();
  for (const each of panel.querySelectorAll('[data-when]')) each.hidden = each.dataset.when !== now;
  panel.hidden = now === 'open';
}

/** Asks the desk, so that the session goes on; one that was opened again is the same one. */
async function keep() {
  const token = document.querySelector('input[name="token"]')?.value ?? '';
  const sent = { method: 'POST', body: new URLSearchParams({ token }) };
  // A session lasts from the request: an answer that was long on its way does not extend it.
  const sentAt = Date.now();
  const answer = await fetch('/session', sent).catch(() => undefined);
  if (answer?.status === 204) {
    askedAt = Math.max(askedAt, sentAt);
    others.postMessage('asked');
  } else if (answer !== undefined) askedAt = Date.now() - lifeMs;
  show();
}

panel.querySelector('button').addEventListener('click', () => void keep());
setInterval(show, LOOK_MS);
addEventListener('visibilitychange', show);

addEventListener('input', () => {
  if (state() !== 'ended' && Date.now() - askedAt > TYPING_MS) void keep();
});

// Sent now, a form would be lost.
addEventListener(
  'submit',
  (event) => {
    if (state() !== 'ended') return;
    event.preventDefault();
    event.stopImmediatePropagation();
    show();
  },
  true,
);

others.addEventListener('message', () => {
  if (state() === 'ended') return void keep();
  askedAt = Date.now();
  show();
});
others.postMessage('asked');
