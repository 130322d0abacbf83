// Configures the site of the docs, whose pages are the repository's Markdown files.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { type DefaultTheme, defineConfig, type MarkdownOptions, type MarkdownRenderer } from 'vitepress';
import manifest from '../../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replaceAll('\\', '/');
const REPOSITORY = manifest.homepage.replace('#readme', '');
const SOURCES = `${REPOSITORY}/blob/main/`;

/** Pages outside of docs/, and their places in the site. Those of docs/ keep their path in it. */
const PLACES: Record<string, string> = {
  'README.md': 'index.md',
  'ARCHITECTURE.md': 'contributing/architecture.md',
  'CONTRIBUTING.md': 'contributing/index.md',
  'CHANGELOG.md': 'changelog.md',
  'docs/SECURITY.md': 'security.md',
};

/** Pages that the npm package doesn't contain, so that the README doesn't list them. */
const FOR_CONTRIBUTORS = readdirSync(join(ROOT, 'docs/contributing')).map((name) => `docs/contributing/${name}`);

const OTHER_FOLDERS = readdirSync(ROOT, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'docs')
  .map(({ name }) => name);

/** Words that people search for and pages don't use, by section. */
const KEYWORDS: Record<string, string> = {
  '/client.html#retries': 'timeout',
  '/errors.html#errors': 'error codes, status codes',
  '/from-novu.html#from-novu': 'novu, migrate from novu, novu cloud',
  '/from-novu.html#python-and-other-languages': 'python, php, go, java, ruby',
  '/from-novu.html#webhooks': 'webhook',
  '/identity-providers.html#identity-providers': 'login, sso, oauth, oidc, jwt',
  '/inbox.html#a-persons-own-inbox': 'notification center, bell, badge, unread count',
  '/modules.html#modules': 'custom endpoint',
  '/network.html#behind-a-load-balancer': 'nginx, reverse proxy, path, endpoint, /api/graphql',
  '/network.html#headers-for-the-service': 'custom header, access proxy, api gateway',
  '/production.html#production': 'deploy, docker, kubernetes, helm',
  '/react.html#forms': 'server actions, server functions, form errors',
  '/testing.html#testing-your-app': 'mock, unit tests',
  '/trigger.html#get-and-list-subscribers': 'paginate, pagination, get a subscriber, list subscribers',
  '/trigger.html#list-workflows': 'list all workflows',
  '/trigger.html#trigger-notifications': 'trigger a notification, send a notification',
  '/upgrading.html#upgrading': 'upgrade, update, migrate, new version',
};

/** Returns the place of a page in the site, and undefined for files that are no pages of it. */
const placeOf = (file: string): string | undefined => PLACES[file] ?? /^docs\/(.+\.md)$/.exec(file)?.[1];

/** Ids of headings as the code host makes them, so that links work there too. */
const slugify = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

/** Returns the address in the site of what a page links to. Files that are no pages are shown by the code host. */
function resolveLink(page: string, link: string): string {
  const [path = '', anchor] = link.replace(SOURCES, '/').split('#');
  if (path === '' || /^[a-z]+:/.test(path)) {
    return link;
  }
  const file = path.startsWith('/') ? path.slice(1) : join(dirname(page), path);
  const place = placeOf(file);
  return `${place === undefined ? `${SOURCES}${file}` : `/${place}`}${anchor === undefined ? '' : `#${anchor}`}`;
}

/** Replaces pictures for each color scheme by two images, because the reader chooses the theme on the page. */
const splitPictures = (html: string): string =>
  html.replace(
    /<picture>\s*<source [^>]*srcset="([^"]+)">\s*<img src="([^"]+)" alt="([^"]+)">\s*<\/picture>/g,
    (_, dark: string, light: string, alt: string) =>
      `<p><img class="when-light" src="./${light}" alt="${alt}"><img class="when-dark" src="./${dark}" alt="${alt}"></p>`,
  );

function adaptPages(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('pages', ({ tokens, env }) => {
    const page = relative(ROOT, String(env.realPath ?? env.path));
    const labels: string[] = [];
    let column = 0;
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'thead_open') {
        labels.length = 0;
      } else if (token.type === 'th_open') {
        labels.push((tokens[index + 1]?.children ?? []).map(({ content }) => content).join(''));
      } else if (token.type === 'tr_open') {
        column = 0;
      } else if (token.type === 'td_open') {
        token.attrSet('data-label', labels[column] ?? '');
        column += 1;
      }
      token.content = token.type === 'html_block' ? splitPictures(token.content) : token.content;
      for (const child of token.children ?? []) {
        const link = child.type === 'link_open' ? child.attrGet('href') : undefined;
        if (typeof link === 'string') {
          child.attrSet('href', resolveLink(page, link));
        }
        if (child.type === 'code_inline') {
          child.attrSet('v-pre', ''); // Otherwise, Vue replaces `{{name}}`.
        }
      }
    }
  });
}

const readTitle = (file: string): string => /^# (.+)$/m.exec(readFileSync(join(ROOT, file), 'utf8'))?.[1] ?? file;

/** Returns the groups of the README's list of pages, which is by reader. */
function readSidebar(): DefaultTheme.SidebarItem[] {
  const [, list = ''] = readFileSync(join(ROOT, 'README.md'), 'utf8').split('\n## Documentation\n');
  return list
    .split(/^(?=\*\*)/m)
    .slice(1)
    .map((group) => {
      const [, text = ''] = /^\*\*(.+)\*\*/.exec(group) ?? [];
      const files = [...group.matchAll(/\]\(([^)#]+)\)/g)].map(([, link = '']) => link.replace(SOURCES, ''));
      const all = [
        ...(text === 'Start' ? ['README.md'] : []),
        ...files,
        ...(text === 'Contributors' ? FOR_CONTRIBUTORS : []),
      ];
      return { text, items: all.map((file) => ({ text: readTitle(file), link: resolveLink('README.md', file) })) };
    });
}

type SearchOptions = NonNullable<DefaultTheme.LocalSearchOptions['miniSearch']>;

/** Options of the index and of the browser's search. The browser gets the text of these functions, so they use nothing outside of them. */
const indexOptions = {
  fields: ['title', 'titles', 'text', 'keywords'],
  // Only the build calls this one, so it may use `KEYWORDS`.
  extractField: (section: Record<string, string>, field: string) =>
    field === 'keywords' ? (KEYWORDS[section.id ?? ''] ?? '') : (section[field] ?? ''),
  processTerm: (term: string) =>
    /^(?:an?|and|are|can|do|does|for|from|how|i|in|is|it|my|of|on|or|the|to|what|when|where|which|why|with|you|your)$/i.test(
      term,
    )
      ? null
      : term.toLowerCase(),
};

const search: SearchOptions = {
  options: indexOptions,
  searchOptions: {
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    boost: { keywords: 6, title: 4, titles: 1, text: 1 },
    // References and pages for contributors mention almost everything.
    boostDocument: (section: string) => (/^\/(?:contributing\/|benchmarks|changelog)/.test(section) ? 0.3 : 1),
  },
};

const STYLE = `
  .dark .when-light, html:not(.dark) .when-dark { display: none; }
  /* Without the outline, code has room. */
  @media (min-width: 960px) and (max-width: 1599px) {
    .VPDoc .aside { display: none !important; }
    .VPDoc.has-aside .content-container, .VPDoc:not(.has-aside) .content-container { max-width: none !important; }
    .VPDoc .content { max-width: none !important; }
    .vp-doc [class*='language-'] code { font-size: 13px; }
  }
  @media (min-width: 640px) {
    .vp-doc [class*='language-'] code { width: auto; min-width: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
  }
  /* On a phone, a row is a list of its cells. */
  @media (max-width: 639px) {
    .vp-doc table, .vp-doc tbody, .vp-doc tr, .vp-doc td { display: block; }
    .vp-doc thead { display: none; }
    .vp-doc tr { padding: 8px 0; }
    .vp-doc td { border: 0; padding: 2px 12px; text-align: start !important; overflow-wrap: anywhere; }
    .vp-doc td:empty { display: none; }
    .vp-doc td::before { content: attr(data-label) ': '; font-weight: 600; }
  }
`;

const markdown: MarkdownOptions = {
  anchor: { slugify },
  config: adaptPages,
  theme: { light: 'github-light-high-contrast', dark: 'github-dark' },
};

export default defineConfig({
  title: 'Notigraph',
  description: 'A typed GraphQL API in front of a notification service',
  lang: 'en-US',
  base: `/${REPOSITORY.split('/').at(-1)}/`, // Place of the site on GitHub Pages.
  srcDir: '..',
  srcExclude: OTHER_FOLDERS.map((folder) => `${folder}/**`),
  rewrites: { ...PLACES, 'docs/:page(.*)': ':page' },
  outDir: '.vitepress/dist',
  markdown,
  head: [['style', {}, STYLE]],
  themeConfig: {
    sidebar: readSidebar(),
    outline: [2, 3],
    search: { provider: 'local', options: { miniSearch: search } },
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
  },
});
