/** The frame of the pages. */
import { type Html, html, styleElement, toDocument } from '../../html/html.ts';
import { STYLE } from './style.ts';

/** Its icon is empty: without one, a browser asks for /favicon.ico. */
export const inFrame = (title: string, body: Html): string =>
  toDocument(html`<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
${styleElement(STYLE)}
</head>
<body>
${body}
</body>
</html>`);
