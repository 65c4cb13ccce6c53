import type { Hono } from 'hono'
import type { Env } from '../context.ts'
import { pageRoutes } from '../page.ts'

export const SIGN_IN_PATH = '/sign-in'

/**
 * The page behind a sign-in link of the local issuer. The token follows `#`, so it does not reach the
 * server before the button is pressed: programs that open links in messages do not use it up. With `?alert=` and its id it
 * shows that alert afterwards, and what can be done about it.
 */
export const signInPage: Hono<Env> = pageRoutes('sign-in', (publicUrl) => ({
  title: 'Sign in to Watchpost',
  main: `<p id="intro">This link works once, and only for a short time.</p>
<p id="paste" hidden><label for="link">Your sign-in link</label><input id="link" type="url" autocomplete="off"></p>
<p><button id="sign-in" type="button">Sign in</button></p>
<p id="problem" role="alert" hidden></p>
<section id="alert" hidden>
<h2 id="title"></h2>
<p id="reason"></p>
<p><button id="resolve" type="button">Resolve the alert</button> <button id="snooze" type="button">Snooze its zone for 24 hours</button></p>
<p id="done" role="status"></p>
</section>
<section id="session" hidden>
<p><a id="console" href="../">Open the console</a></p>
<p>Signed in as <strong id="email"></strong>. This access token works until <time id="until"></time>:</p>
<p><label for="token">Access token</label><textarea id="token" rows="6" readonly></textarea></p>
<p><button id="renew" type="button">Get a new access token</button> Leave this page open to renew it; it keeps the session.</p>
<p>It manages the account:</p>
<pre><code>curl ${publicUrl}/api/v1/account -H "Authorization: Bearer $ACCESS_TOKEN"</code></pre>
</section>`,
  script: SCRIPT,
}))

const SCRIPT = `const byId = (id) => document.getElementById(id)
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const asked = new URLSearchParams(location.search).get('alert') ?? ''
let refreshToken
let shown

async function request(path, { method = 'POST', headers = {}, body }) {
  const response = await fetch(path, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.detail ?? answer.message)
  return answer
}

const api = (method, path, body) =>
  request('api/v1/' + path, { method, body, headers: { Authorization: 'Bearer ' + byId('token').value } })

/** Does what a button is for, and says why it did not work. */
async function attempt(work) {
  byId('problem').hidden = true
  try {
    await work()
  } catch (error) {
    say(error instanceof TypeError ? 'The service cannot be reached. Try again.' : error.message)
  }
}

function say(problem) {
  byId('problem').textContent = problem
  byId('problem').hidden = false
}

async function ask(path, body) {
  const session = await request('auth/v1/' + path, { body })
  refreshToken = session.refresh_token
  // Where the console looks for it.
  localStorage.setItem('watchpost.session', JSON.stringify(session))
  byId('email').textContent = session.user.email
  byId('token').value = session.access_token
  byId('until').textContent = new Date(session.expires_at * 1000).toLocaleTimeString()
  byId('session').hidden = false
  for (const id of ['intro', 'paste', 'sign-in']) byId(id).hidden = true
}

async function signIn() {
  const link = location.hash || byId('link').value
  await ask('verify', { token_hash: link.slice(link.indexOf('#') + 1).trim(), type: 'magiclink' })
  if (!UUID.test(asked)) return
  ;({ alert: shown } = await api('GET', 'alerts/' + asked))
  byId('title').textContent = shown.zone_name + ': ' + shown.event.title
  byId('reason').textContent = shown.reason
  byId('alert').hidden = false
  byId('console').href = '../#/alerts/' + asked
  showResolved()
}

function showResolved() {
  byId('resolve').disabled = shown.resolved
  if (shown.resolved) byId('done').textContent = 'The alert is resolved.'
}

async function resolve() {
  ;({ alert: shown } = await api('PATCH', 'alerts/' + asked, { resolved: true }))
  showResolved()
}

async function snooze() {
  const until = new Date(Date.now() + 24 * 60 * 60 * 1000)
  await api('PATCH', 'zones/' + shown.zone_id, { snoozed_until: until.toISOString() })
  byId('snooze').disabled = true
  byId('done').textContent = 'The zone is snoozed until ' + until.toLocaleString() + '.'
}

const buttons = {
  'sign-in': signIn,
  renew: () => ask('token?grant_type=refresh_token', { refresh_token: refreshToken }),
  resolve,
  snooze,
}
for (const [id, work] of Object.entries(buttons)) byId(id).addEventListener('click', () => attempt(work))

if (location.hash.length < 2) {
  byId('intro').textContent =
    'You need a sign-in link, which works once. Whoever runs this service makes one for you: npm run admin -- account link --email …'
  byId('paste').hidden = false
}
`
