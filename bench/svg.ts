/** Colors for light and dark mode. Drawings have their own background, because the page's mode can differ from the system's. */
const STYLE = `
    .ground { fill: #ffffff; stroke: #d1d9e0 }
    text { font: 13px system-ui, sans-serif; fill: #1f2328 }
    .title { font-weight: 600 }
    .finding { font-size: 20px; font-weight: 600 }
    .others { font-size: 16px }
    .strong { font-weight: 700 }
    .quiet { fill: #59636e; font-size: 12px }
    .right { text-anchor: end }
    .middle { text-anchor: middle }
    .ours { fill: #0969da }
    .floor { fill: #59636e }
    .peer { fill: #afb8c1 }
    .line { fill: none; stroke-width: 2 }
    .line.ours { stroke: #0969da; fill: none }
    .line.floor { stroke: #59636e; fill: none }
    .grid { stroke: #d1d9e0; stroke-width: 1 }
    .limit { stroke: #bc4c00; stroke-width: 2.5 }
    .mark { stroke: #59636e; stroke-width: 1.5; stroke-dasharray: 4 4 }
    @media (prefers-color-scheme: dark) {
      .ground { fill: #0d1117; stroke: #3d444d }
      text { fill: #f0f6fc }
      .quiet { fill: #9198a1 }
      .ours { fill: #4493f8 }
      .floor { fill: #9198a1 }
      .peer { fill: #656c76 }
      .line.ours { stroke: #4493f8 }
      .line.floor { stroke: #9198a1 }
      .grid { stroke: #3d444d }
      .limit { stroke: #f0883e }
      .mark { stroke: #9198a1 }
    }`;

/** Returns a complete drawing. @param title title for screen readers */
export const drawing = (width: number, height: number, title: string, parts: readonly string[]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
  <title>${escaped(title)}</title>
  <style>${STYLE}
  </style>
  <rect class="ground" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="6"/>
${parts.map((part) => `  ${part}\n`).join('')}</svg>
`;

/** Returns a line of text. */
export const text = (x: number, y: number, content: string, kind = ''): string =>
  `<text x="${at(x)}" y="${at(y)}"${kind && ` class="${kind}"`}>${escaped(content)}</text>`;

/** Returns a rectangle. */
export const rect = (x: number, y: number, width: number, height: number, kind: string): string =>
  `<rect x="${at(x)}" y="${at(y)}" width="${at(width)}" height="${at(height)}" rx="2" class="${kind}"/>`;

/** Returns a straight line. */
export const line = (x1: number, y1: number, x2: number, y2: number, kind: string): string =>
  `<line x1="${at(x1)}" y1="${at(y1)}" x2="${at(x2)}" y2="${at(y2)}" class="${kind}"/>`;

/** Returns a line through points, with a dot at each. */
export const path = (points: readonly (readonly [number, number])[], kind: string): string =>
  [
    `<polyline points="${points.map(([x, y]) => `${at(x)},${at(y)}`).join(' ')}" class="line ${kind}"/>`,
    ...points.map(([x, y]) => `<circle cx="${at(x)}" cy="${at(y)}" r="3" class="${kind}"/>`),
  ].join('');

const at = (value: number): string => String(Math.round(value * 10) / 10);

const escaped = (content: string): string =>
  content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
