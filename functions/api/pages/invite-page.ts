import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Env } from '../../context.ts'
import { pageRoutes } from '../../page.ts'
import { INVITE_DAYS } from '../orgs.ts'

const WORDS = {
  en: {
    title: 'You are invited to an organisation on Watchpost',
    terms: `The invite works once, for ${INVITE_DAYS} days, and only for the email address it was sent to.`,
    sign_in:
      'Sign in with the invited address. If you have no account yet, create one with this address and confirm it.',
    accept: 'Accept the invite in the console',
    program: 'Accept it from a program',
    by_token: 'Send the token of the invite with the access token of your session:',
    token: 'what follows # in the link',
    list: (url: string) =>
      `Signed in, you can also see your open invites with <code>GET ${url}</code> and accept one by its id.`,
    incomplete:
      'This link is not complete: it has no token after #. Copy the whole link, or ask for a new invite.',
  },
  tr: {
    title: 'Watchpost’ta bir kuruluşa davet edildiniz',
    terms: `Davet bir kez, ${INVITE_DAYS} gün boyunca ve yalnızca gönderildiği e-posta adresi için geçerlidir.`,
    sign_in:
      'Davet edilen adresle oturum açın. Henüz hesabınız yoksa bu adresle bir hesap açıp onaylayın.',
    accept: 'Daveti konsolda kabul et',
    program: 'Bir programdan kabul et',
    by_token: 'Davetin anahtarını oturumunuzun erişim anahtarıyla birlikte gönderin:',
    token: 'bağlantıda # işaretinden sonra gelen',
    list: (url: string) =>
      `Oturum açtıktan sonra açık davetlerinizi <code>GET ${url}</code> ile görebilir, birini kimliğiyle kabul edebilirsiniz.`,
    incomplete:
      'Bu bağlantı eksik: # işaretinden sonra anahtarı yok. Bağlantının tamamını kopyalayın ya da yeni bir davet isteyin.',
  },
}

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
    const { title, terms, sign_in } = WORDS.en
    const detail = `${terms} ${sign_in} Then send {"token": "<what follows # in the link>"} to POST ${url} with the access token of the session.`
    return c.json({ title, detail })
  })
  app.route(
    '/invite',
    pageRoutes('invite', ({ public_url, language }) => ({
      title: WORDS[language].title,
      main: instructions(accept(public_url), WORDS[language]),
      script: SCRIPT,
    })),
  )
}

function instructions(url: string, words: (typeof WORDS)['en']): string {
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
