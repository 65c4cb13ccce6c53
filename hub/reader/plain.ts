import { compile } from 'html-to-text'
import { Parser } from 'htmlparser2'
import { MAX_DEPTH, withinLimits } from '../html.ts'
import type { Got } from './fetcher.ts'
import {
  MAX_LINK_LENGTH,
  MAX_LINK_TEXT_LENGTH,
  MAX_LINKS,
  MAX_TEXT_LENGTH,
  MAX_TITLE_LENGTH,
  type PageText,
} from './wire.ts'

/** How much of a document is looked at without a browser, in characters. */
const MAX_HTML = 500_000

/** Elements whose text nobody sees, or only with scripts switched off. */
const UNSEEN = ['title', 'script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object']

const toText = compile({
  wordwrap: false,
  limits: { maxInputLength: MAX_HTML, maxDepth: MAX_DEPTH, maxChildNodes: 2000 },
  selectors: [
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'img', format: 'skip' },
    ...UNSEEN.map((selector) => ({ selector, format: 'skip' })),
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({
      selector,
      options: { uppercase: false },
    })),
  ],
})

/**
 * plainPage reads the text of a document without a browser: what the server sent, and nothing that
 * scripts would show. It loads nothing and runs nothing.
 */
export function plainPage({ url, body, content_type }: Got): PageText {
  const source = decoded(body, content_type).slice(0, MAX_HTML)
  if (!/html/i.test(content_type)) {
    return { url, title: '', text: evened(source), links: [] }
  }
  const { html } = withinLimits(source)
  return { url, text: evened(toText(html)), ...headAndLinks(html, url) }
}

function decoded(body: Buffer, content_type: string): string {
  const named = /charset\s*=\s*"?([\w-]+)/i
  const charset =
    named.exec(content_type)?.[1] ?? named.exec(body.subarray(0, 2048).toString('latin1'))?.[1]
  try {
    return new TextDecoder(charset ?? 'utf-8').decode(body)
  } catch {
    // A charset that does not exist.
    return new TextDecoder().decode(body)
  }
}

const evened = (text: string) =>
  text
    .replace(/[^\S\n]+/g, ' ')
    .replace(/^ | $/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
    .slice(0, MAX_TEXT_LENGTH)

const oneLine = (text: string, length: number) =>
  text.replace(/\s+/g, ' ').trim().slice(0, length).toWellFormed()

/** The title of a page, and its links, which begin at its address unless a `<base>` says otherwise. */
function headAndLinks(html: string, url: string): Pick<PageText, 'title' | 'links'> {
  const anchors: { href: string; text: string }[] = []
  let title: string | undefined
  let base: string | undefined
  let inside: 'title' | 'link' | undefined
  let unseen = 0
  const parser = new Parser({
    onopentag(name, { href }) {
      if (name === 'base') base ??= href
      if (name === 'title' && unseen === 0 && title === undefined) {
        title = ''
        inside = 'title'
      } else if (UNSEEN.includes(name)) {
        unseen += 1
      } else if (name === 'a' && href !== undefined && unseen === 0) {
        anchors.push({ href, text: '' })
        inside = 'link'
      }
    },
    ontext(text) {
      const link = anchors.at(-1)
      if (inside === 'title') title += text
      else if (inside === 'link' && link && unseen === 0) link.text += text
    },
    onclosetag(name) {
      if (name === 'title' || name === 'a') inside = undefined
      if (unseen > 0 && UNSEEN.includes(name)) unseen -= 1
    },
  })
  parser.end(html)
  const from = base !== undefined && URL.canParse(base, url) ? new URL(base, url).href : url
  return { title: oneLine(title ?? '', MAX_TITLE_LENGTH), links: linksOf(anchors, from) }
}

function linksOf(anchors: { href: string; text: string }[], from: string): PageText['links'] {
  return anchors
    .flatMap(({ href, text }) => {
      if (!URL.canParse(href, from)) return []
      const { href: url, protocol } = new URL(href, from)
      if (!/^https?:$/.test(protocol) || url.length > MAX_LINK_LENGTH) return []
      return [{ url, text: oneLine(text, MAX_LINK_TEXT_LENGTH) }]
    })
    .slice(0, MAX_LINKS)
}
