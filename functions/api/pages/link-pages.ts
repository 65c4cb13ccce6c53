import type { OpenAPIHono } from '@hono/zod-openapi'
import { html } from 'hono/html'
import { tellReason } from '../../../shared/reason/reason.ts'
import type { EventType } from '../../../shared/schemas/event.ts'
import { languageOf } from '../../../shared/words/language-of.ts'
import type { Language } from '../../../shared/words/texts.ts'
import { connect } from '../../auth.ts'
import type { Facts } from '../../channels/channel.ts'
import { clockOf } from '../../channels/message/clock.ts'
import { LINK_WORDS, type LinkWords } from '../../channels/message/link-words.ts'
import { drillTitle } from '../../channels/message/words.ts'
import type { Ctx, Env } from '../../context.ts'
import { auditContext } from '../../credential.ts'
import {
  LINK_PURPOSES,
  LINKS_PATH,
  type LinkPurpose,
  type LinkSubject,
  readLink,
} from '../../links.ts'
import { pageHtml, STYLE } from '../../page.ts'

/** What a page shows: the thing behind the link, what there is to know before it is done, and what afterwards. */
type Shown = {
  language: Language
  is_done: boolean
  about?: string[]
  before?: string[]
  after?: string[]
  /** What else can be done, with its words in brackets that lead to the console; and where that is. */
  way?: string
  console?: string | undefined
}
type Outcome = 'done' | 'already' | 'gone'

/** What the link of a purpose leads to. Both return null, or `gone`, for a thing that is no longer there. */
type Act<P extends LinkPurpose> = {
  show: (c: Ctx, subject: LinkSubject<P>) => Promise<Shown | null>
  act: (c: Ctx, subject: LinkSubject<P>) => Promise<Outcome>
}

/**
 * The pages of signed links. A GET only shows what the button will do, because scanners of mail and previews of chats
 * open links; a POST does it. They need no script and no session.
 */
export function mountLinkPages(app: OpenAPIHono<Env>): void {
  app.get(`${LINKS_PATH}/page.css`, (c) => c.body(STYLE, 200, { 'Content-Type': 'text/css' }))
  for (const purpose of LINK_PURPOSES) {
    const path = `${LINKS_PATH}/${purpose}`
    app.get(path, (c) => showPage(c, purpose))
    app.post(path, (c) => actOn(c, purpose))
  }
}

async function showPage(c: Ctx, purpose: LinkPurpose): Promise<Response> {
  const opened = await open(c, purpose)
  if ('refusal' in opened) return opened.refusal
  const { words, shown } = opened
  const { title, text, button, already } = words.pages[purpose]
  if (shown.is_done) return answerDone(c, { ...opened, purpose, text: already })
  const form = html`<form method="post"><p><button>${button}</button></p></form>`
  const paragraphs = [...(shown.about ?? []), ...(shown.before ?? []), text]
  return answer(c, 200, { ...opened, title, paragraphs, more: form })
}

async function actOn(c: Ctx, purpose: LinkPurpose): Promise<Response> {
  const opened = await open(c, purpose)
  if ('refusal' in opened) return opened.refusal
  const { words, subject, language } = opened
  // safe: the subject was read for this purpose
  const outcome = await actsOf(purpose).act(c, subject as never)
  const shown = outcome === 'gone' ? null : await actsOf(purpose).show(c, subject as never) // safe: as above
  if (!shown) return refuse(c, 410, language, words.gone)
  const { done, already } = words.pages[purpose]
  return answerDone(c, { words, purpose, shown, text: outcome === 'done' ? done : already })
}

type Done = { words: LinkWords; purpose: LinkPurpose; shown: Shown; text: string }

function answerDone(c: Ctx, { words, purpose, shown, text }: Done): Response {
  const { about = [], after = [] } = shown
  const title = words.pages[purpose].over
  return answer(c, 200, { ...shown, title, paragraphs: [...about, text, ...after] })
}

type Opened = {
  words: LinkWords
  language: Language
  subject: LinkSubject<LinkPurpose>
  shown: Shown
}

/** What the link names, or the page that says why it is good for nothing. */
async function open(c: Ctx, purpose: LinkPurpose): Promise<Opened | { refusal: Response }> {
  const guess = languageOf(c)
  const guessed = LINK_WORDS[guess]
  const { address, address_limit, seal } = c.get('deps')
  const wait = address_limit(address(c))
  if (wait > 0) {
    c.header('Retry-After', String(wait))
    return { refusal: refuse(c, 429, guess, guessed.busy) }
  }
  const token = c.req.query('token') ?? ''
  const link = await readLink(seal, { purpose, token, now: new Date() })
  if (!link) return { refusal: refuse(c, 404, guess, guessed.invalid) }
  // safe: the subject was read for this purpose
  const shown = await actsOf(purpose).show(c, link.subject as never)
  if (!shown) return { refusal: refuse(c, 410, guess, guessed.gone) }
  const { language } = shown
  const words = LINK_WORDS[language]
  // What was done in time stays done.
  if (link.is_expired && !shown.is_done) {
    const { title, [purpose]: way } = words.expired
    return { refusal: answer(c, 410, { ...shown, title, paragraphs: [], way }) }
  }
  return { words, language, subject: link.subject, shown }
}

const ACTS: { [P in LinkPurpose]: Act<P> } = {
  'confirm-address': {
    show: (c, subject) => showAddress(c, subject, true),
    act: (c, { channel_id, confirmation_id }) =>
      outcomeOf(c, 'select private.confirm_address($1, $2, $3) as outcome', [
        channel_id,
        confirmation_id,
      ]),
  },
  unsubscribe: {
    show: (c, subject) => showAddress(c, subject, false),
    act: (c, { channel_id, confirmation_id }) =>
      outcomeOf(c, 'select private.unsubscribe_address($1, $2, $3) as outcome', [
        channel_id,
        confirmation_id,
      ]),
  },
  acknowledge: {
    show: async (c, { alert_id, channel_id }) => {
      const [row] = await ask<{ alert: LinkedAlert | null }>(
        c,
        'select private.alert_behind_link($1, $2) as alert',
        [alert_id, channel_id],
      )
      if (!row?.alert) return null
      // Relative, because a proxy or platform may serve the app under a path of its own.
      const console = c.get('deps').has_console ? `../#/alerts/${alert_id}` : undefined
      return { ...showAlert(row.alert), console }
    },
    act: (c, { alert_id, channel_id }) =>
      outcomeOf(c, `select private.acknowledge_alert($1, $2, $3) ->> 'outcome' as outcome`, [
        alert_id,
        channel_id,
      ]),
  },
}
const actsOf = (purpose: LinkPurpose): Act<LinkPurpose> => ACTS[purpose] as Act<LinkPurpose> // safe: of this purpose

type LinkedAlert = {
  channel: string
  language: Language
  time_zone: string
  zone: string
  title: string
  /** What the event of a drill pretends to be; null: it is none. */
  drill: EventType | null
  facts: Facts
  resolved: boolean
  seen_at: string | null
  seen_via: 'api' | 'console' | 'mcp' | 'channel' | null
  is_seen_here: boolean
}

/** An alert in the words of its channel, as in its messages. */
function showAlert(alert: LinkedAlert): Shown {
  const { channel, language, zone, drill, facts, resolved, seen_at } = alert
  const words = LINK_WORDS[language]
  const clock = clockOf(alert)
  const resolution = resolved ? [words.resolved] : []
  const title = drill ? drillTitle(drill, language) : alert.title
  const shown = { language, about: [`${zone}: ${title}`] }
  if (seen_at === null) {
    const reason = tellReason(facts, { language, clock })
    return { ...shown, is_done: false, before: [reason, ...resolution] }
  }
  const { here, elsewhere, account } = words.seen
  const at = clock(seen_at)
  const byChannel = alert.is_seen_here ? here(at, channel) : elsewhere(at)
  const how = alert.seen_via === 'channel' ? byChannel : account(at)
  const way = resolved ? {} : { way: words.console }
  return { ...shown, ...way, is_done: true, after: [how, ...resolution] }
}

async function showAddress(
  c: Ctx,
  { channel_id, confirmation_id }: LinkSubject<'unsubscribe'>,
  is_done_when_confirmed: boolean,
): Promise<Shown | null> {
  const [row] = await ask<{ found: { language: Language; is_confirmed: boolean } | null }>(
    c,
    'select private.address_behind_link($1, $2) as found',
    [channel_id, confirmation_id],
  )
  if (!row?.found) return null
  const { language, is_confirmed } = row.found
  return { language, is_done: is_confirmed === is_done_when_confirmed }
}

async function outcomeOf(c: Ctx, statement: string, ids: string[]): Promise<Outcome> {
  const context = { ...auditContext(c), request_id: c.get('request_id') }
  const [row] = await ask<{ outcome: string }>(c, statement, [...ids, context])
  c.get('deps').wake?.()
  if (row?.outcome === 'gone' || row?.outcome === 'already') return row.outcome
  return 'done'
}

/** One statement of the login itself: whoever opens a link is nobody. */
async function ask<Row>(c: Ctx, statement: string, values: unknown[]): Promise<Row[]> {
  const connection = await connect(c)
  try {
    const { rows } = await connection.query(statement, values)
    connection.release()
    return rows as Row[] // safe: the columns of the statement
  } catch (error) {
    connection.release(true)
    throw error
  }
}

/** A sentence of ours with the words in brackets as a link; where there is nothing to link to, as they are. */
function linked(sentence: string, href: string | undefined) {
  const [before, words = '', after = ''] = sentence.split(/[[\]]/)
  return html`<p>${before}${href ? html`<a href="${href}">${words}</a>` : words}${after}</p>`
}

type Content = Pick<Shown, 'language' | 'way' | 'console'> & {
  title: string
  paragraphs: string[]
  more?: unknown
}

function refuse(
  c: Ctx,
  status: 404 | 410 | 429,
  language: Language,
  { title, text }: { title: string; text: string },
): Response {
  return answer(c, status, { language, title, paragraphs: [text] })
}

function answer(
  c: Ctx,
  status: 200 | 404 | 410 | 429,
  { language, title, paragraphs, way, console, more = '' }: Content,
): Response {
  c.header('Referrer-Policy', 'no-referrer')
  c.header('Cache-Control', 'no-store')
  c.header('X-Robots-Tag', 'noindex')
  const said = paragraphs.map((text) => html`<p>${text}</p>`)
  const main = html`${said}${way === undefined ? '' : linked(way, console)}${more}`
  return c.html(pageHtml({ language, title, main: String(main), stylesheet: 'page.css' }), status)
}
