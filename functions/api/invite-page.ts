import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Env } from '../context.ts'

const TITLE = 'You are invited to an organisation on Watchpost'
const TERMS =
  'The invite works once, for seven days, and only for the email address it was sent to.'
const SIGN_IN =
  'Sign in with the invited address. If you have no account yet, create one with this address and confirm it.'

/**
 * Serves the page behind an invite link, which says how to accept. The token of the invite follows `#`,
 * so it does not reach the server: only the script of the page sees it.
 */
export function mountInvitePage(app: OpenAPIHono<Env>, base: string): void {
  const accept = (publicUrl: string) => `${publicUrl}${base}/account/invites/accept`
  app.get('/invite', (c) => {
    const url = accept(c.get('deps').public_url)
    c.header('Vary', 'Accept')
    if (!c.req.header('accept')?.includes('text/html')) {
      const detail = `${TERMS} ${SIGN_IN} Then send {"token": "<what follows # in the link>"} to POST ${url} with the access token of the session.`
      return c.json({ title: TITLE, detail })
    }
    return c.html(page(url))
  })
  // Relative in the page, because a proxy or platform may serve the app under a path of its own.
  app.get('/invite/start.js', (c) => c.body(SCRIPT, 200, { 'Content-Type': 'text/javascript' }))
  app.get('/invite/style.css', (c) => c.body(STYLE, 200, { 'Content-Type': 'text/css' }))
}

function page(url: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${TITLE}</title>
<link rel="stylesheet" href="invite/style.css">
</head>
<body>
<main>
<h1>${TITLE}</h1>
<p>${TERMS}</p>
<ol>
<li>${SIGN_IN}</li>
<li>Accept the invite with the access token of your session:
<pre><code>curl -X POST ${url} \\
  -H "Authorization: Bearer $ACCESS_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"token": "<span id="token">what follows # in the link</span>"}'</code></pre></li>
</ol>
<p id="problem" hidden>This link is not complete: it has no token after #. Copy the whole link, or ask for a new invite.</p>
<p>Signed in, you can also see your open invites with <code>GET ${url.replace(/\/accept$/, '')}</code> and accept one by its id.</p>
</main>
<script src="invite/start.js"></script>
</body>
</html>
`
}

const SCRIPT = `const token = location.hash.slice(1)
const isToken = /^[\\w-]{1,200}$/.test(token)
if (isToken) document.getElementById('token').textContent = token
document.getElementById('problem').hidden = isToken
`

const STYLE = `:root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif; }
main { max-width: 42rem; margin: 3rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; }
li { margin-block: 0.75rem; }
pre { overflow-x: auto; padding: 0.75rem 1rem; border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: 0.5rem; }
code { font-family: ui-monospace, monospace; font-size: 0.875rem; }
#problem { font-weight: 600; }
`
