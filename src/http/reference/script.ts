/**
 * What the reference gains from a script: a field that filters the operations, a button that copies, and the
 * section that is read, marked in the contents. It stands behind the contents, so that nothing moves once the
 * browser has gone to an anchor; the page works without it.
 */

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
      // Without TLS there is no clipboard but this one.
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
