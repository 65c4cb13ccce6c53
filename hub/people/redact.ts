import { createHmac } from 'node:crypto'
import { foldName } from '../../shared/words/fold.ts'
import { normaliseEmail } from '../mail/address.ts'
import type { Salt } from '../mail/suppression.ts'

/** A person as texts know them: by an address and by names. After a restore either may be unknown. */
export type Person = { email: string | null; names: string[] }

/** What stands in a text instead; never longer than what it replaces, because columns have limits. */
const MARKER = '[erased]'
const SHORT_MARKER = '***'
const markerFor = (found: string) => (found.length < MARKER.length ? SHORT_MARKER : MARKER)

const AT = '(?:@|%40|&#64;|&#x40;)'
const BEFORE = '(?<![\\p{L}\\p{N}])'
/** A name before an @ is part of somebody's address. */
const AFTER = '(?![\\p{L}\\p{N}@])'
/** Facts about a person that stand beside their address in an object. */
const PERSONAL = new Set(
  'name first_name last_name email title phone linkedin note notes quote fact address'.split(' '),
)
const MAX_NAME_WORDS = 6

/** A literal in any case, whichever of the four Turkish letters i is written. */
function literal(text: string): string {
  return [...text.normalize('NFC')]
    .map((letter) => {
      if (/[iıİI]/.test(letter)) return '(?:[iıİI]\\u0307?)'
      if (/\s/.test(letter)) return '\\s'
      const composed = letter.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
      const apart = letter.normalize('NFD')
      return apart === letter ? composed : `(?:${composed}|${apart})`
    })
    .join('')
    .replace(/(?:\\s)+/g, '\\s+')
}

const slugOf = (name: string) => foldName(name).replace(/\s+/g, '-')

export type Matcher = ReturnType<typeof matcherOf>

/** matcherOf finds and replaces a person's address and exact names in texts, paths and JSON. */
export function matcherOf({ email, names }: Person) {
  const patterns: RegExp[] = []
  if (email) {
    const at = email.lastIndexOf('@')
    const address = `${literal(email.slice(0, at))}${AT}${literal(email.slice(at + 1))}`
    patterns.push(
      new RegExp(`(?<![\\p{L}\\p{N}._+-])${address}(?![\\p{L}\\p{N}-]|\\.[\\p{L}\\p{N}])`, 'giu'),
    )
  }
  const nameList = names.map((name) => name.trim()).filter((name) => name !== '')
  const namePatterns = nameList.map(
    (name) => new RegExp(`${BEFORE}${literal(name)}${AFTER}`, 'giu'),
  )
  /** Documents are named by their titles: docs/ayse-yilmaz-….md, and so are profiles on the web. */
  const slugs = nameList
    .map(slugOf)
    .filter((slug) => slug.includes('-'))
    .map((slug) => new RegExp(`(?<![a-z0-9])${literal(slug)}(?![a-z0-9@])`, 'giu'))

  const replace = (text: string, { keeps_names = false } = {}): string => {
    let done = text
    for (const pattern of patterns) done = done.replace(pattern, markerFor)
    if (keeps_names) return done
    for (const pattern of namePatterns) done = done.replace(pattern, markerFor)
    for (const pattern of slugs) done = done.replace(pattern, 'erased')
    return done
  }
  const json = (value: unknown): unknown => {
    if (typeof value === 'string') return replace(value)
    if (Array.isArray(value)) return value.map(json)
    if (typeof value !== 'object' || value === null) return value
    const isAbout =
      email !== null &&
      Object.values(value).some((one) => typeof one === 'string' && normaliseEmail(one) === email)
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [
        replace(key),
        isAbout && PERSONAL.has(key) && typeof one === 'string' && one !== ''
          ? markerFor(one)
          : json(one),
      ]),
    )
  }
  return {
    email,
    names: nameList,
    replace,
    json,
    /** The places in a text, each with some words around it. */
    excerpts: (text: string): string[] =>
      [...patterns, ...namePatterns, ...slugs].flatMap((pattern) =>
        [...text.matchAll(pattern)].map(({ index, 0: found }) =>
          text.slice(Math.max(0, index - 60), index + found.length + 60),
        ),
      ),
    /** Patterns for LIKE, over folded text, that let through at least what the others find. */
    likes: [...(email ? [email.replace('@', ' ')] : []), ...nameList].map((text) =>
      text.split(/[^\p{L}\p{N}]+/u).filter(Boolean),
    ),
  }
}

/** The hash of a name, with how many words it has; a restored text is searched by these. */
export function nameHashes(salt: Salt['current'], name: string): string[] {
  const words = foldName(name).split(/\s+/).filter(Boolean)
  if (words.length === 0 || words.length > MAX_NAME_WORDS) return []
  return [`${words.length}:${hashOfName(salt, words.join(' '))}`]
}

function hashOfName(salt: Buffer, folded: string): string {
  return createHmac('sha256', salt).update('name').update(folded).digest('hex')
}

/** namesIn finds the names in a text of which only the hashes are known, as they are written there. */
export function namesIn(salt: Salt, hashes: ReadonlySet<string>, text: string): string[] {
  const counts = new Set([...hashes].map((hash) => Number(hash.split(':')[0])))
  if (counts.size === 0) return []
  const words = [...text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)]
  const found: string[] = []
  for (const count of counts) {
    for (let at = 0; at + count <= words.length; at += 1) {
      const first = words[at]
      const last = words[at + count - 1]
      if (!first || !last) break
      const raw = text.slice(first.index, last.index + last[0].length)
      // Words joined by a dot are an address or a domain, not a name.
      if (raw.length > 200 || (count > 1 && !/[\s-]/.test(raw))) continue
      const folded = foldName(raw)
      if (salt.all.some((one) => hashes.has(`${count}:${hashOfName(one, folded)}`))) found.push(raw)
    }
  }
  return found
}

/** No address is longer. Longer runs of letters, as files have them, would be read again and again. */
const MAX_PART = 254
const ADDRESS = new RegExp(
  `${AT}(?<=([^@\\s,;:"'<>()|\\[\\]={}\\\\]{1,${MAX_PART}})${AT})(?=([^@\\s,;:"'<>()|\\[\\]{}&?\\\\]{1,${MAX_PART}}))`,
  'giu',
)

/** addressesIn lists what looks like an address in a text, in time that grows with its length. */
export function addressesIn(text: string): string[] {
  return [...text.matchAll(ADDRESS)].flatMap(([, local = '', domain = '']) => {
    if (!domain.includes('.')) return []
    const email = normaliseEmail(`${local}@${domain.replace(/[.!]+$/, '')}`)
    return email ? [email] : []
  })
}
