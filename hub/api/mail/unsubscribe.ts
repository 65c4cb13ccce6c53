import { createHash } from 'node:crypto'
import { z } from 'zod'
import { createRoute, resource } from '../../../shared/route.ts'
import { languageOf } from '../../../shared/words/language-of.ts'
import { addressOf } from '../../auth/caller.ts'
import { everywhere } from '../../db/db.ts'
import { type Ctx, type Env, problems } from '../../http/http.ts'
import type { Language } from '../../i18n/words.ts'
import { applyOptOuts, keepOptOut } from '../../mail/opt-outs.ts'
import { readSalt, readToken, tokenHash } from '../../mail/suppression.ts'
import { TEST_TOKEN } from '../../queue/test-mail.ts'

const WORDS = {
  en: {
    title: 'Unsubscribe',
    ask: 'Stop sending mail to {to}?',
    button: 'Unsubscribe',
    done: 'Done. We will not send any more mail to {to}.',
    wrong: 'This link is incomplete. Open it from the mail again, or reply to the mail.',
    test: 'This was a test mail: its link unsubscribes nobody.',
    address: '{email}',
    you: 'your address',
  },
  tr: {
    title: 'Abonelikten çık',
    ask: '{to} artık e-posta gönderilmesin mi?',
    button: 'Abonelikten çık',
    done: 'Tamam. {to} artık e-posta göndermeyeceğiz.',
    wrong: 'Bu bağlantı eksik. E-postadan yeniden açın ya da e-postayı yanıtlayın.',
    test: 'Bu bir deneme e-postasıydı: bağlantısı kimseyi çıkarmaz.',
    address: '{email} adresine',
    you: 'Adresinize',
  },
} as const

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:30rem;margin:15vh auto;padding:0 1.5rem;color:#1f2328;background:#fff}' +
  'h1{font-size:1.25rem}button{font:inherit;padding:.6rem 1.2rem;border:0;border-radius:.4rem;background:#1f5f99;color:#fff;cursor:pointer}' +
  '@media(prefers-color-scheme:dark){body{color:#e6e8eb;background:#14181d}}'
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`

type Mail = {
  draft_id: string
  project_id: string
  lead_id: string | null
  email: string
  subject: string
  language: Language
}

/** The unsubscribe link in every mail: GET changes nothing, POST unsubscribes (RFC 8058). */
export const unsubscribe = resource<Env>()

const Token = z.object({ token: z.string().max(200) })
const html = (description: string) => ({
  description,
  content: { 'text/html': { schema: z.string() } },
})

unsubscribe.openapi(
  createRoute({
    method: 'get',
    path: '/u/{token}',
    operationId: 'showUnsubscribe',
    tags: ['Mail'],
    summary: 'The page that asks for confirmation',
    security: [],
    request: { params: Token },
    responses: { 200: html('The page.'), 404: html('The link is not valid.'), ...problems() },
  }),
  async (c) => {
    const { token } = c.req.valid('param')
    const { hash, mail } = await read(c, token)
    const words = WORDS[mail?.language ?? languageOf(c)]
    if (token === TEST_TOKEN) return page(c, mail, words.test, 404)
    if (!hash) return page(c, mail, words.wrong, 404)
    const form = `<form method="post"><button>${words.button}</button></form>`
    return page(c, mail, `${words.ask}`, 200, form)
  },
)

unsubscribe.openapi(
  createRoute({
    method: 'post',
    path: '/u/{token}',
    operationId: 'unsubscribe',
    tags: ['Mail'],
    summary: 'Unsubscribe with one click (RFC 8058)',
    description:
      'Accepts any body and needs neither a cookie nor an Origin header. The request is recorded even while the hub is read-only or its database is unavailable; nothing is sent to that address from then on.',
    security: [],
    request: { params: Token },
    responses: { 200: html('Unsubscribed.'), 404: html('The link is not valid.'), ...problems() },
  }),
  async (c) => {
    const { token } = c.req.valid('param')
    const { hash, mail } = await read(c, token)
    const words = WORDS[mail?.language ?? languageOf(c)]
    if (!hash) return page(c, mail, words.wrong, 404)
    const { config, db, key_role } = c.get('deps')
    await keepOptOut(config.paths, hash, token)
    if (key_role === 'hub_rw') {
      await applyOptOuts({ config, db }).catch((error: unknown) => {
        c.get('log').kept_for_later = error instanceof Error ? error.message : String(error)
      })
    }
    return page(c, mail, words.done, 200)
  },
)

/**
 * The address's hash if the token is valid, and the mail with the link if the database knows it.
 */
async function read(c: Ctx, token: string): Promise<{ hash?: string; mail?: Mail }> {
  const { config, db } = c.get('deps')
  const hash = readToken(await readSalt(config.paths), token)
  if (!hash) {
    c.get('deps').attempts.wrong('link', addressOf(c))
    return {}
  }
  // The token itself holds the hash, so the page works without the database.
  const [mail] = await everywhere(
    db,
    (sql) => sql<Mail>`
      select r.draft_id, r.project_id, r.lead_id, r.email, d.subject, d.language
      from hub.recipients as r
      join hub.drafts as d on d.id = r.draft_id
      where r.token_hash = ${tokenHash(token)}`,
  ).catch(() => [])
  return { hash, ...(mail ? { mail } : {}) }
}

function page(
  c: Ctx,
  mail: Mail | undefined,
  text: string,
  status: 200 | 404,
  form = '',
): Response {
  const language = mail?.language ?? languageOf(c)
  const words = WORDS[language]
  const to = mail ? words.address.replace('{email}', () => masked(mail.email)) : words.you
  const shown = escaped(text.replace('{to}', () => to))
  c.set('content_policy', POLICY)
  return c.html(
    `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${words.title}</title><style>${STYLE}</style></head><body><h1>${words.title}</h1><p>${shown}</p>${form}</body></html>`,
    status,
  )
}

/** Hides most of the address: whoever has the link may not be its owner. */
function masked(email: string): string {
  const at = email.lastIndexOf('@')
  return `${email.slice(0, 1)}…${email.slice(at)}`
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string) => text.replace(/[&<>"]/g, (char) => ESCAPES[char] ?? char)
