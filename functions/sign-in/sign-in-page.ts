import type { Hono } from 'hono'
import type { Env } from '../context.ts'
import { pageRoutes } from '../page.ts'
import { signInText } from './sign-in-page.text.ts'

export const SIGN_IN_PATH = '/sign-in'

/**
 * The page behind a sign-in link of the local issuer, which leads to the console. The token follows `#`, so
 * it does not reach the server before the button is pressed: programs that open links in messages do not use
 * it up. Without a token the console asks for a link.
 */
export const signInPage: Hono<Env> = pageRoutes('sign-in', ({ language }) => {
  const words = signInText[language]
  return {
    title: words.title,
    main: `<p>${words.intro}</p>
<p><button id="sign-in" type="button">${words.sign_in}</button></p>
<p id="problem" role="alert" hidden></p>
<pre id="new-link" hidden><code>npm run admin -- account link --email …</code></pre>`,
    script: `const WORDS = ${JSON.stringify(words)}
${SCRIPT}`,
  }
})

const SCRIPT = `const CONSOLE = './'
const byId = (id) => document.getElementById(id)
const token = location.hash.slice(1).trim()

function say(problem, isUsed = false) {
  byId('problem').textContent = problem
  byId('problem').hidden = false
  byId('new-link').hidden = !isUsed
}

async function signIn() {
  const answer = await fetch('auth/v1/verify', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token_hash: token, type: 'magiclink' }),
  })
  const session = await answer.json()
  if (session.code === 'otp_expired') return say(WORDS.used, true)
  // Such as too many requests, with the seconds to wait.
  if (!answer.ok) return say(session.message ?? WORDS.failed)
  // By the clock of this computer, as the console counts.
  session.expires_at = Math.floor(Date.now() / 1000) + session.expires_in
  localStorage.setItem('watchpost.session', JSON.stringify(session))
  location.replace(CONSOLE)
}

byId('sign-in').addEventListener('click', async (event) => {
  const button = event.currentTarget
  button.disabled = true
  byId('problem').hidden = true
  byId('new-link').hidden = true
  try {
    await signIn()
  } catch (error) {
    say(error instanceof TypeError ? WORDS.unreachable : WORDS.failed)
  } finally {
    button.disabled = false
  }
})

if (token === '') location.replace(CONSOLE)
`
