/** Style sheet, script and HTML frame of the pages, for widths from 360 pixels up, and for print. */

import { codeElement, type Html, html, toDocument } from '../values/html.ts';

export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #fdfdfc; --raised: #f3f4f1; --line: #d8dbd4; --text: #1d211c; --quiet: #575f56;
  --accent: #1f6b3f; --warning: #8a4b00; --refused: #a3231f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #151814; --raised: #1f241e; --line: #394037; --text: #e6e9e3; --quiet: #a5ada1;
    --accent: #7fcf9c; --warning: #eab26a; --refused: #f2938c;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; background: var(--ground); color: var(--text);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: break-word;
}
h1, h2, h3, h4 { line-height: 1.25; text-wrap: balance; margin: 0 0 .5rem; }
h1 { font-size: 1.75rem; } h2 { font-size: 1.4rem; } h3 { font-size: 1.1rem; } h4 { font-size: .95rem; }
p, ul, dl, pre, table { margin: 0 0 1rem; }
a { color: var(--accent); text-underline-offset: .15em; text-decoration-thickness: .06em; }
a:hover { text-decoration-thickness: .12em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
code, pre { font-family: ui-monospace, 'Cascadia Mono', 'Liberation Mono', monospace; font-size: .875em; }
code { overflow-wrap: anywhere; }
pre code { font-size: inherit; }
pre {
  padding: .75rem 1rem; background: var(--raised); border: 1px solid var(--line); border-radius: 6px;
  white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.45;
}
dt { font-weight: 600; } dd { margin: 0; }
.quiet { color: var(--quiet); font-weight: 400; }
dt .quiet { font-size: .875em; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 1rem; padding: .5rem 1rem; background: var(--ground); z-index: 1; }
.columns { display: grid; grid-template-columns: minmax(0, 1fr); }
main { padding: 1.5rem 1rem 4rem; max-width: 56rem; }
main > h2 { margin-top: 3rem; }
h2 { padding-bottom: .35rem; border-bottom: 1px solid var(--line); }
.part { padding-top: 1.25rem; }
.operation { margin-top: 2rem; padding-top: 1.5rem; border-top: 1px solid var(--line); }
h2 + .entries { border-top: 0; }
.start { margin: 0 auto; }
.start h2 { margin-top: 2rem; }
h4 { margin: 1.25rem 0 .5rem; }
nav { padding: 1rem; font-size: .875rem; border-bottom: 1px solid var(--line); background: var(--raised); }
nav p { margin: 0 1rem .25rem 0; font-weight: 600; display: inline-block; }
nav ul { list-style: none; padding: 0; margin: 0 0 .75rem; }
nav ul:not(.row) { display: none; }
nav .row li { display: inline-block; margin-right: 1rem; }
nav a { display: inline-block; padding: .2rem 0; text-decoration: none; }
nav a:hover { text-decoration: underline; }
.method { font: 700 .75rem/1 ui-monospace, 'Liberation Mono', monospace; color: var(--warning); }
.method.get { color: var(--accent); }
/* All paths begin in one column, and their further lines too. */
nav li .method { display: inline-block; min-width: 3.1rem; text-indent: 0; }
nav ul:not(.row) a { padding-left: 3.1rem; text-indent: -3.1rem; }
.entries { border-top: 1px solid var(--line); }
.entries > div { padding: .4rem 0; border-bottom: 1px solid var(--line); }
.mark { font-weight: 400; color: var(--warning); }
.deprecated { color: var(--warning); }
.status {
  font: 700 .875rem/1 ui-monospace, 'Liberation Mono', monospace;
  margin-right: .4rem; color: var(--refused);
}
.status.good, .good { color: var(--accent); }
.bad { color: var(--refused); }
.curl, .python, .typescript {
  border-left: 3px solid var(--accent); position: relative; padding-right: 4.75rem;
}
pre button {
  position: absolute; top: .4rem; right: .4rem; padding: .2rem .5rem; font: .8rem system-ui, sans-serif;
  color: var(--accent); background: var(--ground); border: 1px solid var(--line); border-radius: 4px;
}
summary {
  width: fit-content; padding: .2rem 0; margin-bottom: .35rem; color: var(--accent); cursor: pointer;
}
.filter { display: block; margin-bottom: .75rem; font-weight: 600; }
.filter[hidden], nav li[hidden] { display: none; }
.filter input {
  display: block; width: 100%; padding: .35rem .5rem; font: inherit; color: inherit;
  background: var(--ground); border: 1px solid var(--quiet); border-radius: 4px;
}
.filter output { font-weight: 400; color: var(--quiet); }
nav.filtered ul:not(.row) { display: block; margin: 0; }
nav.filtered :is(p:not(:first-child), .row) { display: none; }
nav [aria-current] { font-weight: 700; text-decoration: underline; }
@media (min-width: 64rem) {
  .columns { grid-template-columns: 21rem minmax(0, 1fr); max-width: 96rem; margin: 0 auto; }
  nav {
    position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1rem;
    border: 0; border-right: 1px solid var(--line);
  }
  nav p { display: block; }
  nav ul:not(.row) { display: block; }
  main { padding: 1.5rem 2.5rem 6rem; }
  .columns main { max-width: none; }
  .entries > div { display: grid; grid-template-columns: 17rem minmax(0, 1fr); gap: 1.5rem; }
}
@media print {
  :root {
    color-scheme: light;
    --ground: #fff; --raised: #fff; --line: #aaa; --text: #000; --quiet: #333; --accent: #000;
  }
  body { font-size: 10pt; }
  nav, .skip, pre button { display: none; }
  h2, h3, h4 { break-after: avoid; }
  pre, tr, dt { break-inside: avoid; }
}
`;

// A filter of operations, copy buttons, and a mark of the current section in the contents. The page has the
// script after the contents, to avoid layout shifts after a jump to an anchor.

export const SCRIPT = `{
  const nav = document.querySelector('nav');
  const label = nav.querySelector('.filter');
  const [field, count] = label.querySelectorAll('input, output');
  const rows = [...nav.querySelectorAll('li[data-words]')];
  label.hidden = false;

  field.addEventListener('input', () => {
    const words = field.value.toLowerCase().split(' ').filter(Boolean);
    for (const row of rows) {
      const text = (row.textContent + ' ' + row.dataset.words).toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    nav.classList.toggle('filtered', words.length > 0);
    const found = rows.filter((row) => !row.hidden).length;
    count.textContent = words.length === 0 ? '' : found + ' of ' + rows.length;
  });
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') rows.find((row) => !row.hidden)?.querySelector('a').click();
  });

  async function copy(code) {
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      // Pages without TLS have no other access to the clipboard.
      getSelection().selectAllChildren(code);
      document.execCommand('copy');
    }
  }

  function mark(places) {
    const read = places.filter(([, place]) => place.getBoundingClientRect().top < 96).at(-1);
    for (const [link] of places)
      if (link === read?.[0]) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    if (read === undefined || nav.scrollHeight === nav.clientHeight) return;
    const [shown, all] = [read[0].getBoundingClientRect(), nav.getBoundingClientRect()];
    if (shown.top < all.top || shown.bottom > all.bottom)
      nav.scrollTop += shown.top - all.top - all.height / 2;
  }

  addEventListener('DOMContentLoaded', () => {
    for (const pre of document.querySelectorAll('pre[class]')) {
      const button = document.createElement('button');
      [button.type, button.textContent] = ['button', 'Copy'];
      button.addEventListener('click', async () => {
        await copy(pre.querySelector('code'));
        button.textContent = 'Copied';
        setTimeout(() => { button.textContent = 'Copy'; }, 2000);
      });
      pre.append(button);
    }
    const places = [...nav.querySelectorAll('a[href^="#"]')].map(
      (link) => [link, document.getElementById(link.hash.slice(1))],
    );
    let isAsked = false;
    const later = () => {
      if (!isAsked) requestAnimationFrame(() => { isAsked = false; mark(places); });
      isAsked = true;
    };
    addEventListener('scroll', later, { passive: true });
    later();
  });
}`;

/** The icon is empty: without an icon, browsers request /favicon.ico. */
export const inFrame = (title: string, body: Html): string =>
  toDocument(html`<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
${codeElement('style', STYLE)}
</head>
<body>
${body}
</body>
</html>`);
