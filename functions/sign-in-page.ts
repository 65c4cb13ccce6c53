import type { Hono } from 'hono'
import type { Env } from './context.ts'
import { pageRoutes } from './page.ts'

export const SIGN_IN_PATH = '/sign-in'

/**
 * The page behind a sign-in link of the local issuer. The token follows `#`, so it does not reach the
 * server before the button is pressed: programs that open links in messages do not use it up.
 */
export const signInPage: Hono<Env> = pageRoutes('sign-in', (publicUrl) => ({
  title: 'Sign in to Watchpost',
  main: `<p id="intro">This link works once, and only for a short time.</p>
<p><button id="sign-in" type="button">Sign in</button></p>
<p id="problem" role="alert" hidden></p>
<section id="session" hidden>
<p>Signed in as <strong id="email"></strong>. This access token works until <time id="until"></time>:</p>
<p><label for="token">Access token</label><textarea id="token" rows="6" readonly></textarea></p>
<p><button id="renew" type="button">Get a new access token</button> Leave this page open to renew it; it keeps the session.</p>
<p>It manages the account:</p>
<pre><code>curl ${publicUrl}/api/v1/account -H "Authorization: Bearer $ACCESS_TOKEN"</code></pre>
</section>`,
  script: SCRIPT,
}))

const SCRIPT = `const byId = (id) => document.getElementById(id)
const link = location.hash.slice(1)
let refreshToken

async function ask(path, body) {
  byId('problem').hidden = true
  try {
    const response = await fetch('auth/v1/' + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    const session = await response.json()
    if (!response.ok) throw new Error(session.message)
    refreshToken = session.refresh_token
    byId('email').textContent = session.user.email
    byId('token').value = session.access_token
    byId('until').textContent = new Date(session.expires_at * 1000).toLocaleTimeString()
    byId('session').hidden = false
    byId('intro').hidden = true
    byId('sign-in').hidden = true
  } catch (error) {
    say(error instanceof TypeError ? 'The service cannot be reached. Try again.' : error.message)
  }
}

function say(problem) {
  byId('problem').textContent = problem
  byId('problem').hidden = false
}

byId('sign-in').addEventListener('click', () =>
  ask('verify', { token_hash: link, type: 'magiclink' }),
)
byId('renew').addEventListener('click', () =>
  ask('token?grant_type=refresh_token', { refresh_token: refreshToken }),
)
if (link === '') {
  byId('sign-in').disabled = true
  say('This link is not complete: it has no token after #. Copy the whole link, or ask for a new one.')
}
`
