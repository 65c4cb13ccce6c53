import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Env } from '../../context.ts'
import { pageRoutes } from '../../page.ts'
import { INVITE_DAYS } from '../orgs.ts'

const TITLE = 'You are invited to an organisation on Watchpost'
const TERMS = `The invite works once, for ${INVITE_DAYS} days, and only for the email address it was sent to.`
const SIGN_IN =
  'Sign in with the invited address. If you have no account yet, create one with this address and confirm it.'

/**
 * Serves the page behind an invite link, which says how to accept; programs get the same as JSON. The
 * token of the invite follows `#`, so it does not reach the server: only the script of the page sees it.
 */
export function mountInvitePage(app: OpenAPIHono<Env>, base: string): void {
  const accept = (publicUrl: string) => `${publicUrl}${base}/account/invites/accept`
  app.get('/invite', async (c, next) => {
    c.header('Vary', 'Accept')
    if (c.req.header('accept')?.includes('text/html')) return next()
    const url = accept(c.get('deps').public_url)
    const detail = `${TERMS} ${SIGN_IN} Then send {"token": "<what follows # in the link>"} to POST ${url} with the access token of the session.`
    return c.json({ title: TITLE, detail })
  })
  app.route(
    '/invite',
    pageRoutes('invite', (publicUrl) => ({
      title: TITLE,
      main: instructions(accept(publicUrl)),
      script: SCRIPT,
    })),
  )
}

function instructions(url: string): string {
  return `<p>${TERMS}</p>
<ol>
<li>${SIGN_IN}</li>
<li><a id="console" href="./">Accept the invite in the console</a>, or, from a program, accept the invite with the access token of your session:
<pre><code>curl -X POST ${url} \\
  -H "Authorization: Bearer $ACCESS_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"token": "<span id="token">what follows # in the link</span>"}'</code></pre></li>
</ol>
<p id="problem" role="alert" hidden>This link is not complete: it has no token after #. Copy the whole link, or ask for a new invite.</p>
<p>Signed in, you can also see your open invites with <code>GET ${url.replace(/\/accept$/, '')}</code> and accept one by its id.</p>`
}

const SCRIPT = `const token = location.hash.slice(1)
const isToken = /^[\\w-]{1,200}$/.test(token)
if (isToken) {
  document.getElementById('token').textContent = token
  document.getElementById('console').href = './#/invite/' + token
}
document.getElementById('problem').hidden = isToken
`
