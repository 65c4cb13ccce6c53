import { Hono } from 'hono'
import type { Env } from './context.ts'

type Page = { title: string; main: string; script: string }

/**
 * A page of the service at the path where it is mounted: HTML, and beside it its script and style, which
 * the Content-Security-Policy allows only as files. Addresses are relative, because a proxy or platform
 * may serve the app under a path of its own.
 */
export function pageRoutes(name: string, page: (publicUrl: string) => Page): Hono<Env> {
  const routes = new Hono<Env>()
  routes.get('/', (c) => {
    const { title, main } = page(c.get('deps').public_url)
    return c.html(
      pageHtml({ title, main, stylesheet: `${name}/page.css`, script: `${name}/page.js` }),
    )
  })
  routes.get('/page.js', (c) =>
    c.body(page(c.get('deps').public_url).script, 200, { 'Content-Type': 'text/javascript' }),
  )
  routes.get('/page.css', (c) => c.body(STYLE, 200, { 'Content-Type': 'text/css' }))
  return routes
}

// Within the page, so that browsers do not ask for /favicon.ico, which a proxy may not pass on.
const ICON = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#1f1b17"/><path d="M7 22V11l9-4 9 4v11" fill="none" stroke="#f0ebe4" stroke-width="2.2" stroke-linejoin="round" stroke-linecap="round"/><circle cx="16" cy="17.5" r="3.2" fill="#e0a33a"/></svg>')}`

/** A whole page. `title` and `main` are HTML; the addresses are relative. */
export function pageHtml({
  language = 'en',
  title,
  main,
  stylesheet,
  script,
  refresh_seconds,
}: {
  language?: 'en' | 'tr'
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
<main>
<h1>${title}</h1>
${main}
</main>${script ? `\n<script src="${script}"></script>` : ''}
</body>
</html>
`
}

/** The style of every page. */
export const STYLE = `:root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif; }
main { max-width: 42rem; margin: 3rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; }
li { margin-block: 0.75rem; }
pre { overflow-x: auto; padding: 0.75rem 1rem; border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: 0.5rem; }
code { font-family: ui-monospace, monospace; font-size: 0.875rem; }
textarea, input { box-sizing: border-box; width: 100%; font: 0.875rem/1.5 ui-monospace, monospace; }
button { font: inherit; padding: 0.5rem 1rem; cursor: pointer; }
[role="alert"] { font-weight: 600; }
`
