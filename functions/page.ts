import { Hono } from 'hono'
import { languageOf } from '../shared/words/language-of.ts'
import type { Language } from '../shared/words/texts.ts'
import type { Ctx, Env } from './context.ts'

type Page = { title: string; main: string; script: string }
type Asked = { public_url: string; language: Language }

/**
 * A page of the service at the path where it is mounted: HTML, and beside it its script and style, which
 * the Content-Security-Policy allows only as files. Addresses are relative, because a proxy or platform
 * may serve the app under a path of its own.
 */
export function pageRoutes(name: string, page: (asked: Asked) => Page): Hono<Env> {
  const routes = new Hono<Env>()
  const pageFor = (c: Ctx) => {
    const language = languageOf(c)
    c.header('Vary', 'Accept-Language', { append: true })
    return { language, ...page({ public_url: c.get('deps').public_url, language }) }
  }
  routes.get('/', (c) => {
    const { language, title, main } = pageFor(c)
    const files = { stylesheet: `${name}/page.css`, script: `${name}/page.js` }
    return c.html(pageHtml({ language, title, main, ...files }))
  })
  routes.get('/page.js', (c) =>
    c.body(pageFor(c).script, 200, { 'Content-Type': 'text/javascript' }),
  )
  routes.get('/page.css', (c) => c.body(STYLE, 200, { 'Content-Type': 'text/css' }))
  return routes
}

const MARK =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="32" height="32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#1f1b17"/><path d="M7 22V11l9-4 9 4v11" fill="none" stroke="#f0ebe4" stroke-width="2.2" stroke-linejoin="round" stroke-linecap="round"/><circle cx="16" cy="17.5" r="3.2" fill="#e0a33a"/></svg>'
// Within the page, so that browsers do not ask for /favicon.ico, which a proxy may not pass on.
const ICON = `data:image/svg+xml,${encodeURIComponent(MARK)}`

/** A whole page. `title` and `main` are HTML; the addresses are relative. */
export function pageHtml({
  language = 'en',
  title,
  main,
  stylesheet,
  script,
  refresh_seconds,
}: {
  language?: Language
  title: string
  main: string
  stylesheet: string
  script?: string
  /** How often the page loads itself again. */
  refresh_seconds?: number
}): string {
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">${refresh_seconds ? `\n<meta http-equiv="refresh" content="${refresh_seconds}">` : ''}
<title>${title}</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${stylesheet}">
</head>
<body>
<header>${MARK}Watchpost</header>
<main>
<h1>${title}</h1>
${main}
</main>${script ? `\n<script src="${script}"></script>` : ''}
</body>
</html>
`
}

/** The style of every page, in the colours of web/ui/tokens.css. */
export const STYLE = `:root {
  color-scheme: light dark;
  font: 16px/1.5 Inter, system-ui, sans-serif;
  --ink: #ffffff; --text: #131a22; --muted: #56646f; --line: #dde3ea; --line-strong: #8492a1;
  --accent: #1d5fd1; --accent-text: #1d5fd1; --on-accent: #ffffff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #0b0f14; --text: #e6edf3; --muted: #93a4b5; --line: #243040; --line-strong: #5d6f83;
    --accent: #4c8dff; --accent-text: #78a9ff; --on-accent: #0b0f14;
  }
}
body { margin: 0; background: var(--ink); color: var(--text); overflow-wrap: break-word; }
header { display: flex; align-items: center; gap: 0.625rem; font-weight: 600; }
header, main { max-width: 42rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.75rem; line-height: 1.25; text-wrap: balance; }
h2 { font-size: 1.25rem; line-height: 1.25; }
a { color: var(--accent-text); }
summary { color: var(--accent-text); cursor: pointer; }
pre { overflow-x: auto; padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: 6px; }
code { font-family: ui-monospace, monospace; font-size: 0.875rem; }
button, .button { display: inline-block; font: inherit; font-weight: 500; text-decoration: none; padding: 0.5rem 1rem; cursor: pointer; color: var(--on-accent); background: var(--accent); border: 0; border-radius: 6px; }
button:disabled { color: var(--muted); background: var(--line); cursor: default; }
:focus-visible { outline: 2px solid var(--accent-text); outline-offset: 2px; }
[role="alert"] { font-weight: 600; }
`
