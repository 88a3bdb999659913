/** Templates of HTML: no value becomes markup. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { html, toDocument } from '../../src/html/html.ts';

test('every character that means something in HTML is escaped, in text and in attributes', () => {
  const hostile = `"><script>alert('1')</script>&amp;`;
  const escaped = '&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;amp;';
  assert.equal(String(html`<p title="${hostile}">${hostile}</p>`), `<p title="${escaped}">${escaped}</p>`);
});

test('markup, lists of it and numbers are shown as they are; undefined, null and false are left out', () => {
  const items = ['a<b', 'c'].map((each) => html`<li>${each}</li>`);
  assert.equal(
    String(html`<ul>${items}</ul>${7}${9n}${0}${undefined}${null}${false}`),
    '<ul><li>a&lt;b</li><li>c</li></ul>790',
  );
});

test('what only looks like markup is text, whatever its methods say', () => {
  const disguised = { toString: () => '<b>' } as unknown as string;
  assert.equal(String(html`${disguised}`), '&lt;b&gt;');
});

test('an attribute without quotes is refused', () => {
  assert.throws(() => html`<p class=${'a b'}>`, /Write quotes around the value after "<p class="/);
});

test('a document begins with its type', () => {
  assert.equal(toDocument(html`<html></html>`), '<!doctype html>\n<html></html>\n');
});
