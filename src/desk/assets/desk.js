/** What the pages gain from a script; all of them work without it. */

const box = document.querySelector('#find');
const isTyping = (target) => target.closest('input, textarea, select, [contenteditable]') !== null;

document.addEventListener('keydown', (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === '/' && box !== null && !isTyping(event.target)) {
    event.preventDefault();
    box.focus();
    box.select();
  }
  // From the box into the list of what was found, and up and down in it.
  const hits = [...document.querySelectorAll('.hit, .hits a')];
  const place = hits.indexOf(document.activeElement);
  const next = { ArrowDown: place + 1, ArrowUp: place - 1 }[event.key];
  if (next === undefined || hits[next] === undefined) return;
  if (place < 0 && event.target !== box && event.target !== document.body) return;
  event.preventDefault();
  hits[next].focus();
});

// A form is sent once, however often its button is pressed. One that saves a file leaves its page as it is.
document.addEventListener('submit', (event) => {
  if (event.target.dataset.saves !== undefined) return;
  if (event.target.dataset.sent !== undefined) event.preventDefault();
  event.target.dataset.sent = '';
});
// Gone back to, a page is as it was left.
addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset.sent;
});

// What is shown once is gone before the browser keeps the page for going back to it.
addEventListener('pagehide', () => document.querySelector('[data-once]')?.remove());

if (document.querySelector('.drop') !== null) await import('/assets/import.js');
if (document.querySelector('#idle') !== null) await import('/assets/idle.js');
