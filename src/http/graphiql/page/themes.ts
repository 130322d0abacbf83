import type { useMonaco } from '@graphiql/react';

type MonacoState = Parameters<Parameters<typeof useMonaco>[0]>[0];

type Monaco = NonNullable<MonacoState['monaco']>;

/** Names of the editor's themes. */
export const EDITOR_THEMES = { light: 'notigraph-light', dark: 'notigraph-dark' };

/** Background of the page: the editor is transparent, but not its menus. */
const BACKGROUNDS = { light: '#ffffff', dark: '#212a3b' };
const ACCENTS = { light: '#294fbc', dark: '#92b6fc' };

/** Defines the themes: Monaco's own in the colors of the page, with enough contrast for comments and line numbers. */
export function defineThemes({ editor }: Monaco): void {
  editor.defineTheme(EDITOR_THEMES.light, {
    base: 'vs',
    inherit: true,
    colors: colorsOf('light'),
    rules: [
      { token: 'comment', foreground: '#007000' },
      { token: 'argument.identifier.gql', foreground: '#5a3bbd' },
      { token: 'number', foreground: '#06603f' },
    ],
  });
  editor.defineTheme(EDITOR_THEMES.dark, {
    base: 'vs-dark',
    inherit: true,
    colors: { ...colorsOf('dark'), 'editorLineNumber.foreground': '#a3acbd' },
    rules: [
      { token: 'comment', foreground: '#8fc27b' },
      { token: 'argument.identifier.gql', foreground: '#c4b0fb' },
    ],
  });
}

const colorsOf = (theme: 'light' | 'dark') => ({
  'editor.background': '#ffffff00',
  'editorGutter.background': '#ffffff00',
  'scrollbar.shadow': '#ffffff00',
  'editorWidget.background': BACKGROUNDS[theme],
  'editorSuggestWidget.background': BACKGROUNDS[theme],
  'editorSuggestWidget.selectedBackground': `${ACCENTS[theme]}30`,
  'editorHoverWidget.background': BACKGROUNDS[theme],
  'quickInput.background': BACKGROUNDS[theme],
  'textLink.foreground': ACCENTS[theme],
  'editorLink.activeForeground': ACCENTS[theme],
  focusBorder: ACCENTS[theme],
});
