import { type HtmlToTextOptions, htmlToText } from 'html-to-text'
import { MAX_DEPTH, withinLimits } from '../../html.ts'
import { parseMail } from './parse.ts'

/** Characters of a reply that the timeline keeps, and that agents read. */
export const MAX_REPLY = 4000
/** Characters of a mail that the inbox keeps. */
export const MAX_WHOLE = 20_000

/** The text of a mail, always plain text. */
export type ReadText = {
  /** What the person wrote, without what it quotes and without a signature; null for nothing. */
  said: string | null
  /** Everything, with quotes. */
  whole: string
  /** Whether the end was left out. */
  is_cut: boolean
}

/** readText reads the text of a mail in any charset; of HTML it reads the words. */
export async function readText(source: Uint8Array): Promise<ReadText> {
  const { email, is_cut: hasMoreLines } = await parseMail(source)
  const plain = cleaned(email?.text ?? '')
  const { html, is_cut: hasMoreTags } = withinLimits(plain === '' ? (email?.html ?? '') : '')
  const said = unquoted(html === '' ? plain : cleaned(htmlToText(html, UNQUOTED)))
  const whole = html === '' ? plain : cleaned(htmlToText(html, QUOTED))
  return {
    said: said === '' ? null : shortened(said),
    whole: shortened(whole),
    is_cut: hasMoreLines || hasMoreTags || whole.length > MAX_WHOLE,
  }
}

const shortened = (text: string) => text.slice(0, MAX_WHOLE).toWellFormed()

/** Without control characters, which Postgres and pages refuse, and marks that turn the direction. */
function cleaned(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
    .trim()
}

const QUOTED: HtmlToTextOptions = {
  wordwrap: false,
  limits: { maxDepth: MAX_DEPTH },
  selectors: [
    { selector: 'img', format: 'skip' },
    { selector: 'a', options: { ignoreHref: true } },
  ],
}
/** Mail programs quote in a blockquote, or below a line or a block of their own. */
const UNQUOTED: HtmlToTextOptions = {
  ...QUOTED,
  selectors: [
    { selector: 'blockquote', format: 'skip' },
    { selector: '.gmail_quote', format: 'skip' },
    { selector: '#divRplyFwdMsg', format: 'skip' },
    ...(QUOTED.selectors ?? []),
  ],
}

const WROTE =
  /^(?:on\b.{5,200}\bwrote|am\b.{5,200}\bschrieb\b.{0,100}|.{5,200}(?:tarihinde|günü|saat).{0,200}yazd[ıi]|.{3,200}<[^<>@\s]+@[^<>\s]+>.{0,40}yazd[ıi]).{0,20}:\s*$/iu
/** The same, broken into two lines. */
const BROKEN = /^((?:on|am) [^\n]{5,200})\n([^\n]{0,120}(?:wrote|schrieb)[^\n]{0,40}:)[^\S\n]*$/gimu
const DIVIDER =
  /^\s*(?:-{2,}\s*(?:original message|original mesaj|orijinal (?:ileti|mesaj)|özgün ileti|ursprüngliche nachricht|forwarded message|[iİ]letilen).*|_{10,}|begin forwarded message:|[iİ]letilen (?:iletinin|mesajın) başlangıcı:)\s*$/iu
/** The line that some programs draw above the head of what they quote. */
const RULE = /^(?:-{3,}|={3,}|\*{3,})$/u
const FROM = /^\s*\*?(?:from|kimden|gönderen|von)\*?\s*:/iu
const HEADER =
  /^\s*\*?(?:sent|date|to|cc|subject|gönderildi|gönderme tarihi|tarih|kime|bilgi|konu|gesendet|datum|an|betreff)\*?\s*:/iu
const SIGNATURE =
  /^(?:--\s?|sent from my .{1,60}|.{1,40}(?:umdan|ümdan|imden|ımdan|den|dan) gönderildi)$/iu

/** A longer line is a paragraph: no signature, and no line above a quote. */
const MAX_MARK = 500

/** unquoted removes what a reply repeats of an earlier mail, and its signature. */
export function unquoted(text: string): string {
  const lines = text.replace(/\r\n?/g, '\n').replace(BROKEN, '$1 $2').split('\n')
  const isMarked = (line: string) => line.trimStart().startsWith('>')
  const lastMarked = lines.findLastIndex(isMarked)
  const kept: string[] = []
  for (const [at, line] of lines.entries()) {
    const trimmed = line.trim()
    const mark = trimmed.length > MAX_MARK ? '' : trimmed
    if (SIGNATURE.test(mark) || DIVIDER.test(mark)) break
    if (FROM.test(mark) && lines.slice(at + 1, at + 6).some((next) => HEADER.test(next))) {
      while (kept.at(-1)?.trim() === '') kept.pop()
      if (RULE.test(kept.at(-1)?.trim() ?? '')) kept.pop()
      break
    }
    if (WROTE.test(mark)) {
      // Below it stand the quoted lines and perhaps answers to them; without marks it is all quoted.
      if (lastMarked <= at) break
      continue
    }
    if (!isMarked(line)) kept.push(line.trimEnd())
  }
  return kept
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/** So many characters of a line that is ours too are no accident. */
const MIN_QUOTED = 20

/**
 * Removes the mail that a reply repeats without marks, with its footer: its first long line, the
 * short ones right above, and each line below that stands in the mail too.
 */
export function withoutMail(said: string, mail: string): string {
  const linesOf = (text: string) => text.split('\n').map((line) => line.trim().replace(/\s+/g, ' '))
  const ours = new Set(linesOf(mail).filter((line) => line !== ''))
  const lines = said.split('\n')
  const bare = linesOf(said)
  const labels = linesOf(mail).flatMap((line) => LINK.exec(line)?.[1] ?? [])
  let from = bare.findIndex((line) => line.length >= MIN_QUOTED && ours.has(line))
  if (from === -1) return said
  // Its greeting, which is short.
  while (from > 0 && (bare[from - 1] === '' || ours.has(bare[from - 1] ?? ''))) from -= 1
  return lines
    .filter(
      (_, at) =>
        at < from || !(ours.has(bare[at] ?? '') || isUnsubscribeLink(bare[at] ?? '', labels)),
    )
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/** The line of our footer with the link to unsubscribe, before the link is filled in. */
const LINK = /^(.{1,80}?) ?<?\{unsubscribe_url\}>?$/u

/** The same line in a reply: with another link, or without one. */
function isUnsubscribeLink(line: string, labels: string[]): boolean {
  const known = ['unsubscribe', 'abonelikten çık', ...labels.map((label) => label.toLowerCase())]
  return known.includes(line.replace(/ ?<?https?:\S+$/u, '').toLowerCase())
}

/** The paragraphs of a reply that may become evidence: whole ones, so that nothing is taken back. */
export function reportedBy(text: string): string[] {
  return text
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.replace(/\s+/g, ' ').trim())
    .filter((paragraph) => paragraph.length > 10 && paragraph.length <= 1000)
    .slice(0, 10)
}
