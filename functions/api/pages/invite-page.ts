import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Language } from '../../../shared/words/texts.ts'
import type { Env } from '../../context.ts'
import { pageRoutes } from '../../page.ts'
import { inviteText } from './invite-page.text.ts'

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
    const { title, terms, sign_in } = inviteText.en
    const detail = `${terms} ${sign_in} Then send {"token": "<what follows # in the link>"} to POST ${url} with the access token of the session.`
    return c.json({ title, detail })
  })
  app.route(
    '/invite',
    pageRoutes('invite', ({ public_url, language }) => ({
      title: inviteText[language].title,
      main: instructions(accept(public_url), inviteText[language]),
      script: SCRIPT,
    })),
  )
}

function instructions(url: string, words: (typeof inviteText)[Language]): string {
  return `<p>${words.terms}</p>
<p>${words.sign_in}</p>
<p id="problem" role="alert" hidden>${words.incomplete}</p>
<p><a id="console" class="button" href="./">${words.accept}</a></p>
<details>
<summary>${words.program}</summary>
<p>${words.by_token}</p>
<pre><code>curl -X POST ${url} \\
  -H "Authorization: Bearer $ACCESS_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"token": "<span id="token">${words.token}</span>"}'</code></pre>
<p>${words.list(url.replace(/\/accept$/, ''))}</p>
</details>`
}

const SCRIPT = `const token = location.hash.slice(1)
const isToken = /^[\\w-]{1,200}$/.test(token)
if (isToken) {
  document.getElementById('token').textContent = token
  document.getElementById('console').href = './#/invite/' + token
}
document.getElementById('problem').hidden = isToken
`
