/** Warns before a session ends, and keeps the input on the page afterwards (docs/desk.md#coming-back). */

const panel = document.querySelector('#idle');
const [lifeMs, warningMs] = [Number(panel.dataset.life), Number(panel.dataset.warning)];
const LOOK_MS = 5_000;
/** Milliseconds between the requests that extend the session of a user who types. */
const TYPING_MS = 60_000;
/** Channel to the other pages of the desk in this browser, which have the same session. */
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

/** Extends the session by a request, also after a new link has resumed the session. */
async function keep() {
  const token = document.querySelector('input[name="token"]')?.value ?? '';
  const sent = { method: 'POST', body: new URLSearchParams({ token }) };
  // The session is extended from the request; the response may be late.
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

// Stops a form after the end of the session: its input would be lost.
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
