/** Templates of HTML: no value becomes markup. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeElement, html, toDocument } from '../../src/values/html.ts';

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

test('an address is a path or on the web', () => {
  for (const address of ['/docs?a="', '#a', '?page=2', 'https://example.rw', ''])
    assert.match(String(html`<a class="x" href="${address}">`), /^<a class="x" href="[^"]*">$/);
  for (const address of ['javascript:alert(1)', ' javascript:alert(1)', 'data:text/html,x', '//example.com'])
    assert.throws(() => html`<a href="${address}">`, /An address begins/, address);
  assert.throws(() => html`<a href="${''}${'javascript:alert(1)'}">`, /An address begins/);
  assert.throws(() => html`<form id="${1}" action="${'javascript:alert(1)'}">`, /An address begins/);
  assert.throws(() => html`<a${html` href="${'javascript:alert(1)'}"`}>`, /An address begins/);
});

test('a value may follow the beginning of an attribute, such as the query of an address', () => {
  assert.equal(String(html`<a href="/import?before=${7}">`), '<a href="/import?before=7">');
  assert.equal(String(html`<a title="a = ${'"b"'}">`), '<a title="a = &quot;b&quot;">');
  assert.throws(() => html`<a href="/" class=${'a'}>`, /Write quotes around/);
});

test('markup may add an attribute to a tag, and a text may not', () => {
  const cell = (isNumber: boolean) => html`<td id="${1}"${isNumber && html` class="n"`}>${'a="b"'}</td>`;
  assert.equal(String(cell(true)), '<td id="1" class="n">a=&quot;b&quot;</td>');
  assert.equal(String(cell(false)), '<td id="1">a=&quot;b&quot;</td>');
  assert.throws(() => html`<p ${'hidden'}>`, /Only markup adds an attribute/);
  assert.throws(() => html`<${'p'}>`, /Only markup adds an attribute/);
});

test('a value where escaping does not help is refused', () => {
  assert.throws(() => html`<p class=${'a b'}>`, /Write quotes around the value after "<p class="/);
  assert.throws(() => html`<p class='${'a'}'>`, /Write quotes around/);
  assert.throws(() => html`<script>${'x'}</script>`, /script or a style/);
  assert.throws(() => html`<style>a > b { c: ${'x'} }</style>`, /script or a style/);
  assert.throws(() => html`<p onclick="${'x'}">`, /attribute onclick/);
  assert.throws(() => html`<p class="a" style="color: ${'x'}">`, /attribute style/);
  assert.throws(() => html`<p title="${html`<b>`}">`, /takes a text or a number/);
  assert.throws(() => codeElement('style', '</style><script>'), /must not end/);
  assert.equal(String(html`<style>a > b {}</style><p>${'x'}</p>`), '<style>a > b {}</style><p>x</p>');
  assert.equal(String(html`${codeElement('style', 'p > a {}')}`), '<style>p > a {}</style>');
});

test('a document begins with its type', () => {
  assert.equal(toDocument(html`<html></html>`), '<!doctype html>\n<html></html>\n');
});
