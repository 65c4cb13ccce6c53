/**
 * Who wrote a mail, if no person did. `replied`: a program answered it. `generated`: a program sent it.
 * `list`: it went to many.
 */
export type Automatic = 'replied' | 'generated' | 'list'

const AUTO_SUBJECT =
  /^\s*(auto(matic)?[ -]?(reply|response)|out of (the )?office|otomatik (yan[ıi]t|cevap)|ofis d[ıi][şs][ıi]nda|i[şs] yeri d[ıi][şs][ıi]nda|abwesenheit|automatische antwort)/i

/**
 * automaticBy reads from the headers that no person wrote a mail: Auto-Submitted (RFC 3834), Precedence,
 * List-Id and its like (RFC 2919, 2369); programs without them are known by how they begin a subject.
 */
export function automaticBy(headers: Map<string, string>, subject: string): Automatic | null {
  const submitted = headerOf(headers, 'auto-submitted')
  if (submitted.startsWith('auto-replied')) return 'replied'
  if (headers.has('x-autoreply') || headers.has('x-autorespond')) return 'replied'
  const precedence = headerOf(headers, 'precedence')
  if (precedence === 'auto_reply' || AUTO_SUBJECT.test(subject)) return 'replied'
  if (submitted !== '' && !/^no\b/.test(submitted)) return 'generated'
  if (['list-id', 'list-unsubscribe', 'list-post'].some((name) => headers.has(name))) return 'list'
  return /^(bulk|junk|list)$/.test(precedence) ? 'list' : null
}

function headerOf(headers: Map<string, string>, name: string): string {
  return headers.get(name)?.trim().toLowerCase() ?? ''
}

/** The beginnings by which mail programs mark answers, forwarded mails and automatic answers. */
const PREFIX =
  /^(?:(?:re|fw|fwd|aw|wg|ynt|ilt|yan[ıi]t|cevap|sv|rv|tr|antw|auto(?:matic)? ?reply|out of (?:the )?office|otomatik yan[ıi]t|abwesenheitsnotiz|automatische antwort)(?:\s*\[\d+\])?\s*[:：]\s*)+/iu

/** The subject without Re: and the like, in lower case and with single spaces. */
function bareSubject(subject: string): string {
  const even = (text: string) => text.normalize('NFC').replace(/\s+/g, ' ').trim()
  return even(even(subject).replace(PREFIX, '')).toLocaleLowerCase('en')
}

/** What stands for a reader's own words in the subject of a mail to many; an empty one takes its space along. */
const FIELD = /( ?)\{[a-z][a-z0-9_]*(?:\|[^{}]*)?\}/

/** The longest text that a field is filled with. */
const MAX_FIELD = 200

/**
 * Whether a text is made of parts in turn; every second one is the space before a field. Each end that
 * the parts so far may have is looked at once: a pattern would try all ways to fill several fields.
 */
function isMadeOf(text: string, parts: string[]): boolean {
  // A field at an end may have been filled with nothing, and its space is trimmed.
  const padded = ` ${text} `
  let ends = new Set([0, 1])
  for (const [at, part] of parts.entries()) {
    const next = new Set<number>()
    for (const end of ends) {
      const behind = end + part.length
      if (at % 2 === 1 && part !== '') next.add(end)
      if (!padded.startsWith(part, end)) continue
      const last = at % 2 === 0 ? behind : Math.min(behind + MAX_FIELD, padded.length)
      for (let to = behind; to <= last; to += 1) next.add(to)
    }
    ends = next
  }
  return ends.has(padded.length) || ends.has(padded.length - 1)
}

/** relatesTo tells whether a subject is an answer to one of ours; a short or empty one is none. */
export function relatesTo(subject: string, ours: string[]): boolean {
  const theirs = bareSubject(subject)
  return ours.some((one) => {
    const parts = bareSubject(one).split(FIELD)
    return parts.join('').trim().length >= 3 && isMadeOf(theirs, parts)
  })
}
