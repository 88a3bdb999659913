/** Conveniences: every page also works without scripts. */

const box = document.querySelector('#find');
const isTyping = (target) => target.closest('input, textarea, select, [contenteditable]') !== null;

document.addEventListener('keydown', (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === '/' && box !== null && !isTyping(event.target)) {
    event.preventDefault();
    box.focus();
    box.select();
  }
  // Arrow keys move from the box into the list of results, and up and down in it.
  const hits = [...document.querySelectorAll('.hit, .hits a')];
  const place = hits.indexOf(document.activeElement);
  const next = { ArrowDown: place + 1, ArrowUp: place - 1 }[event.key];
  if (next === undefined || hits[next] === undefined) return;
  if (place < 0 && event.target !== box && event.target !== document.body) return;
  event.preventDefault();
  hits[next].focus();
});

// Sends a form once even if its button is pressed twice. Forms that save a file can be sent again.
document.addEventListener('submit', (event) => {
  if (event.target.dataset.saves !== undefined) return;
  if (event.target.dataset.sent !== undefined) event.preventDefault();
  event.target.dataset.sent = '';
});
// Lets the user go back to a page and send its forms again.
addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset.sent;
});

// Removes a secret that is shown once, before the browser caches the page.
addEventListener('pagehide', () => document.querySelector('[data-once]')?.remove());

if (document.querySelector('.drop') !== null) await import('/assets/import.js');
if (document.querySelector('#idle') !== null) await import('/assets/idle.js');
