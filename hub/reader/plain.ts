import { compile } from 'html-to-text'
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

const toText = compile({
  wordwrap: false,
  limits: { maxInputLength: MAX_HTML, maxDepth: 60, maxChildNodes: 2000 },
  selectors: [
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'img', format: 'skip' },
    ...['title', 'script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object'].map(
      (selector) => ({
        selector,
        format: 'skip',
      }),
    ),
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
  return {
    url,
    title: titleOf(source),
    text: evened(toText(source)),
    links: linksOf(source, baseOf(source, url)),
  }
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

const oneLine = (html: string, length: number) =>
  toText(html).replace(/\s+/g, ' ').trim().slice(0, length)

function titleOf(source: string): string {
  const [, title = ''] = /<title[^>]{0,200}>([^<]{0,1000})/i.exec(source) ?? []
  return oneLine(title, MAX_TITLE_LENGTH)
}

/** The address of a tag, whose name and a space come before it. */
const HREF = `[^>]{0,300}?href\\s*=\\s*(?:"([^"]{1,500})"|'([^']{1,500})')`
const hrefOf = ([, one, other]: RegExpExecArray) => (one ?? other ?? '').replaceAll('&amp;', '&')

/** Where the links of a page begin: at its address, unless the page says otherwise. */
function baseOf(source: string, url: string): string {
  const base = new RegExp(`<base\\s${HREF}`, 'i').exec(source)
  const href = base ? hrefOf(base) : ''
  return URL.canParse(href, url) ? new URL(href, url).href : url
}

function linksOf(source: string, base: string): PageText['links'] {
  const found: PageText['links'] = []
  const anchors = new RegExp(`<a\\s${HREF}[^>]{0,300}>`, 'gi')
  for (const match of source.matchAll(anchors)) {
    const href = hrefOf(match)
    if (!URL.canParse(href, base)) continue
    const { href: url, protocol } = new URL(href, base)
    if (!/^https?:$/.test(protocol) || url.length > MAX_LINK_LENGTH) continue
    const from = match.index + match[0].length
    const inner = source.slice(from, from + 400).split(/<\/a/i)[0] ?? ''
    found.push({ url, text: oneLine(inner, MAX_LINK_TEXT_LENGTH) })
    if (found.length === MAX_LINKS) break
  }
  return found
}
