import { inflects, wordsOf } from '../run/words.ts'
import { endingOf } from './endings.ts'
import { isEverybody, isPeople } from './people.ts'
import { ADDRESSED_AS, ARTICLES, GO_ON, isAnswered, isEnglish, isRelated } from './relation.ts'
import { AND_OR_WITH, type Token } from './tokens.ts'

/** A lead as far as its names go. */
export type NamedLead = { id: string; name: string | null; company: string | null }

/** Where a task names leads. */
export type Mention = {
  /** The tokens from `from` up to but not including `to`. */
  from: number
  to: number
  /** Where what belongs to it ends: "Tom Bey’e", "Tom Becker from Becker & Söhne". */
  until: number
  ids: string[]
  /** Whether it is certainly a name; else a person must say so. */
  isSure: boolean
  /** Whether its words are those of the name, without endings. */
  isExact: boolean
  /** Whether it is written like a name, though it may be only a part of one: "Demir" of Demir Lojistik. */
  isNamed: boolean
  /** The case ending of a whole name without an apostrophe: "a" of "selin aksoya", "s" of "petra langs". */
  ending: string
  /**
   * `recipient` and `subject` as far as the words around it say; several people may share one.
   * `related`: it only describes somebody else ("the rival of Mark Grant").
   */
  role: 'recipient' | 'subject' | 'related' | 'unknown'
}

const LEGAL_FORMS = new Set(
  'as ltd limited sti san tic ve gmbh ag kg co inc llc plc corp corporation company sa srl bv nv oy ab spa sarl anonim sirketi a s'.split(
    ' ',
  ),
)
const TITLES = new Set('dr prof doc av mr mrs ms miss muh uzm op bay bayan sayin sn'.split(' '))
/** Words of every other sentence, which are names only where they are written like one. */
const COMMON = new Set(
  'will can may an in on so do be no al de da ve ya ne bu su o as at by is it of or up us we'.split(
    ' ',
  ),
)
const AFTER_NAME = /^(?:bey|hanim|beyefendi|hanimefendi)/

/** mentionsOf finds the leads whose name or company stands in a task as whole words. */
export function mentionsOf(tokens: Token[], leads: NamedLead[]): Mention[] {
  const byPlace = new Map<string, Mention>()
  const add = (found: Omit<Mention, 'until' | 'ids' | 'role'>, id: string) => {
    const key = `${found.from} ${found.to}`
    const known = byPlace.get(key)
    if (!known) {
      const until = AFTER_NAME.test(tokens[found.to]?.word ?? '') ? found.to + 1 : found.to
      byPlace.set(key, { ...found, until, ids: [id], role: 'unknown' })
      return
    }
    if (!known.ids.includes(id)) known.ids.push(id)
    known.isSure ||= found.isSure
    known.isExact ||= found.isExact
    known.isNamed ||= found.isNamed
    known.ending ||= found.ending
  }
  for (const lead of leads) {
    const name = wordsOf(lead.name ?? '').filter((word) => !TITLES.has(word))
    const company = withoutForm(wordsOf(lead.company ?? ''))
    const single = name.length > 1 ? name.filter((word) => word.length > 1) : []
    const whole = [name, company, ...single.map((word) => [word])].map((words) => ({
      words,
      isWhole: true,
    }))
    // People say "Demir" of Demir Lojistik, and of any other Demir: a person decides which.
    const part = company.length > 1 ? [{ words: company.slice(0, 1), isWhole: false }] : []
    for (const { words, isWhole } of [...whole, ...part]) {
      if (words.join('').length < 2) continue
      for (let from = 0; from + words.length <= tokens.length; from += 1) {
        const fit = fits(tokens, from, words)
        const to = from + words.length
        const ending = isWhole && fit !== 'exact' ? endingAt(tokens, from, words) : ''
        if (fit === 'no' && (ending === '' || words.length < 2)) continue
        const isName =
          tokens.slice(from, to).some((token) => token.isName) ||
          AFTER_NAME.test(tokens[to]?.word ?? '') ||
          ADDRESSED_AS.has(tokens[from - 1]?.word ?? '') ||
          isForm(tokens[to])
        // "kaliteli" is no inflection of the firm Kalite unless it is written like a name.
        const isLong = words.length > 1 && ending !== ''
        if (fit === 'inflected' && !isName && !isLong && !TO_TR.test(ending)) continue
        if (!isName && words.length === 1 && COMMON.has(words[0] ?? '')) continue
        // "Petra Lang-Meyer" is not Petra Lang.
        const isCut = tokens[from]?.isJoined || tokens[to]?.isJoined
        const isExact = !isCut && ((fit === 'exact' && isWhole) || isLong)
        add({ from, to, isSure: isExact && isName, isExact, isNamed: isName, ending }, lead.id)
      }
    }
  }
  return joined(tokens, narrowed(tokens, withRoles(tokens, longest([...byPlace.values()]))))
}

function withoutForm(words: string[]): string[] {
  let end = words.length
  while (end > 1 && LEGAL_FORMS.has(words[end - 1] ?? '')) end -= 1
  return words.slice(0, end)
}

/** "A.Ş." and "Ltd" follow the name of a firm, and no common word. */
const isForm = (token: Token | undefined) => token?.isName === true && LEGAL_FORMS.has(token.word)

/** Turkish endings count in a Turkish task alone: in an English one, "Petra Lange" is not Petra Lang. */
function endingAt(tokens: Token[], from: number, words: string[]): string {
  const last = words.length - 1
  if (words.slice(0, last).some((word, at) => tokens[from + at]?.word !== word)) return ''
  const token = tokens[from + last]
  const ending = token?.suffix === '' ? endingOf(token.word, words[last] ?? '') : ''
  return ending === 's' || !isEnglish(tokens) ? ending : ''
}

function fits(tokens: Token[], from: number, words: string[]): 'exact' | 'inflected' | 'no' {
  const last = words.length - 1
  for (let at = 0; at < last; at += 1) if (tokens[from + at]?.word !== words[at]) return 'no'
  const token = tokens[from + last]
  const word = words[last] ?? ''
  if (!token) return 'no'
  if (token.word === word) return 'exact'
  // "the two Murats"
  if (token.isName && word.length > 2 && token.word === `${word}s`) return 'inflected'
  return token.suffix === '' && word.length > 2 && inflects(token.word, word, 'tr')
    ? 'inflected'
    : 'no'
}

/** Of mentions that overlap, the longest: "Ali Demir" is not the firm Demir. */
function longest(mentions: Mention[]): Mention[] {
  const kept: Mention[] = []
  const byLength = mentions.toSorted((a, b) => b.to - b.from - (a.to - a.from) || a.from - b.from)
  for (const mention of byLength) {
    if (kept.every((other) => mention.to <= other.from || mention.from >= other.to))
      kept.push(mention)
  }
  return kept.toSorted((a, b) => a.from - b.from)
}

/** Between two names: they are not one person. */
const AGAINST = new Set('not but except without unlike degil haric'.split(' '))
/** Between a name and the firm behind it. */
const OF_FIRM = new Set(['from', 'of', 'at'])

/** "Ali of Demir Lojistik" is one person: the lead that both mentions name. */
function narrowed(tokens: Token[], mentions: Mention[]): Mention[] {
  let all = mentions
  for (const [index, one] of mentions.entries()) {
    for (const other of mentions.slice(index + 1)) {
      const both = one.ids.filter((id) => other.ids.includes(id))
      // "the new leads" are not the firm New Leads because its owner is named beside them.
      if (!one.isNamed || !other.isNamed) continue
      const between = tokens.slice(one.to, other.from)
      if (between.some(({ word }) => AGAINST.has(word))) continue
      if (both.length === 0 || !all.includes(one) || !all.includes(other)) continue
      const [narrow, wide] = one.ids.length <= other.ids.length ? [one, other] : [other, one]
      narrow.ids = both
      if (wide.role === 'recipient') narrow.role = 'recipient'
      const isFirmBehind = wide === other && between.every(({ word }) => OF_FIRM.has(word))
      if (isFirmBehind) narrow.until = wide.to
      all = all.filter((mention) => mention !== wide)
    }
  }
  return all
}

const TO_EN = new Set(
  'to for mail email write tell ask invite thank call contact message dear remind greet'.split(' '),
)
const ANSWER = /^(?:answer|reply)$/
const TO_RIGHT_BEHIND = /^(?:send|give|show|let|drop|forward|answer|reply|cc|bcc)$/
const ABOUT_EN = new Set(
  'about regarding concerning like than from by re mentioning versus against mention unlike'.split(
    ' ',
  ),
)
const TO_TR = /^(?:n?[ea]|y[ea])$/
const FROM_TR = /^(?:n?[dt][ea]n)$/
const ABOUT_TR = new Set('hakkinda gibi konusunda dair kadar tarafindan'.split(' '))

/** What a name is the subject of: "Ali must not get it". */
export const CLAUSE =
  /^(?:is|isn|was|wasn|has|hasn|had|hadn|will|won|would|can|could|must|mustn|should|shouldn|may|does|doesn|did|didn|said|says|thinks|knows)$/

function withRoles(tokens: Token[], mentions: Mention[]): Mention[] {
  return mentions.map((mention) => {
    const role = roleOf(tokens, mention)
    const isSure = mention.isSure || isSaidTo(tokens, { ...mention, role })
    return { ...mention, role, isSure, isNamed: mention.isNamed || isSure }
  })
}

function joined(tokens: Token[], found: Mention[]): Mention[] {
  // "Ali ve Veli'ye": what is joined by "and" has one role, and is as much a name.
  const join = (one: Mention | undefined, other: Mention | undefined) => {
    if (!one || !other) return
    const between = tokens.slice(one.until, other.from)
    if (!between.every(({ word }) => AND_OR_WITH.has(word))) return
    // "Ali’ye Veli’nin selamını ilet": side by side without a comma they are two.
    if (between.length === 0 && tokens[other.from]?.isNext) return
    // "Write to Ali, Veli was wrong": of the second one it is only said.
    if (tokens[other.to]?.isNext && CLAUSE.test(tokens[other.to]?.word ?? '')) return
    if (one.role === 'unknown') one.role = other.role
    if (other.role === 'unknown') other.role = one.role
    const isSure = one.isSure || other.isSure
    if (one.isExact) one.isSure = isSure
    if (other.isExact) other.isSure = isSure
  }
  for (let at = 1; at < found.length; at += 1) join(found[at - 1], found[at])
  for (let at = found.length - 1; at > 0; at -= 1) join(found[at - 1], found[at])
  const addressed = found.filter(({ role }) => role === 'recipient')
  if (addressed.length > 1) {
    for (const one of addressed) {
      // "Tom’a ve Petra’ya yazdığımızı söyle" may be for both; a person decides.
      const isAnd = AND_OR_WITH.has(tokens[one.from - 1]?.word ?? '')
      if (!isAnd && isInClauseTr(tokens, one)) one.role = 'subject'
    }
  }
  return found
}

/** "Ali’ye verdiğimiz fiyatı Veli’ye yaz": Ali belongs to a clause, and gets nothing. */
export function isInClauseTr(tokens: Token[], { to, ending }: Mention): boolean {
  if (!TO_TR.test(tokens[to - 1]?.suffix || ending)) return false
  for (const token of tokens.slice(to, to + 3)) {
    if (!token.isNext || AND_OR_WITH.has(token.word)) return false
    if (CLAUSE_TR.test(token.word)) return true
  }
  return false
}
/** "verdiğimiz", "söylediğini": the verb of a clause about something else. */
const CLAUSE_TR =
  /[dt][iu]g(?:[iu]|[iu]m|[iu]m[iu]z|[iu]n|[iu]n[iu]z|lar[iu]|ler[iu])(?:[iu]|n[iu])?$/

/** Verbs with whom something goes to right behind them: "send mark grant our terms". */
const GIVE_EN = new Set('send give show let drop tell ask remind'.split(' '))
const AFTER_GIVE = new Set([...ARTICLES, 'know'])
/** What ends a sentence that is typed in a hurry. */
const ENDS = new Set('re pls please asap w cc fyi bcc'.split(' '))
const OF_TR = /^n?[iu]n$/
const SPOKEN_OF = /^(?:dair|iliskin|gore|ragmen|kadar|karsi|ait|ozel|benz\w*)$/

/**
 * isSaidTo says whether a name of several words is certainly one, although nothing but its place says
 * so: "write to petra lang about", "selin aksoya yaz". People type names without capitals.
 */
function isSaidTo(tokens: Token[], mention: Mention): boolean {
  const { from, to, isExact, role, ending } = mention
  if (!isExact || to - from < 2 || role === 'subject' || role === 'related') return false
  const own = tokens.slice(from, to).map(({ word }) => word)
  if (own.some((word) => COMMON.has(word) || isPeople(word) || isEverybody(word))) return false
  const next = tokens[to]
  if (TO_TR.test(ending)) return !SPOKEN_OF.test(next?.word ?? '')
  const before = tokens[from - 1]?.word ?? ''
  // What is theirs and makes them no "related" is a mail of theirs, which is answered.
  if (ending !== '') return OF_TR.test(ending) || (ending === 's' && role === 'recipient')
  const isEnd = !next?.isNext || GO_ON.has(next.word) || ENDS.has(next.word)
  const isMet = before === 'with'
  if ((role === 'recipient' || isMet) && isEnglish(tokens) && before !== 'the' && isEnd) return true
  return GIVE_EN.has(before) && AFTER_GIVE.has(next?.word ?? '')
}

/** What "to" leads to a place after: "our trip to Paris". */
const MOTION =
  /^(?:trips?|journeys?|moves?|visits?|flights?|deliver(?:y|ies)|expansion|shipments?|transports?|relocation|routes?|exports?|way|tours?)$/
const INTRODUCED = /^(?:introduc(?:ed|ing)|recommend(?:ed|ing)|referr(?:ed|ing))$/
const PLACE_EN = new Set(['in', 'near', 'around'])

function roleOf(tokens: Token[], mention: Mention): Mention['role'] {
  const { from, to } = mention
  const last = tokens[to - 1]
  const after = tokens[to]
  const isPolite = AFTER_NAME.test(after?.word ?? '')
  const suffix = isPolite ? (after?.suffix ?? '') : last?.suffix || mention.ending
  const behind = isPolite ? to + 1 : to
  const next = tokens[behind]?.word ?? ''
  if (isRelated(tokens, mention, { suffix, next: behind })) return 'related'
  if (isAnswered(tokens, mention)) return 'recipient'
  if (TO_TR.test(suffix) || (isPolite && /^(?:beye|hanima)/.test(after?.word ?? '')))
    return 'recipient'
  if (next === 'icin') return 'recipient'
  if (FROM_TR.test(suffix) || ABOUT_TR.has(next)) return 'subject'
  if (next === 'ile' && /^ilgili/.test(tokens[behind + 1]?.word ?? '')) return 'subject'
  const before = tokens
    .slice(Math.max(0, from - 2), from)
    .filter(({ word }) => !ADDRESSED_AS.has(word) && word !== 'the')
    .at(-1)?.word
  // "like the one for Ali": an example, not a recipient.
  const isExample = tokens.slice(Math.max(0, from - 5), from).some(({ word }) => word === 'like')
  if (isExample) return 'subject'
  // "Thank Ali for introducing us to Veli"
  const isMet = tokens[from - 1]?.word === 'to' && INTRODUCED.test(tokens[from - 3]?.word ?? '')
  if (isMet) return 'subject'
  const isPlace = tokens[from - 1]?.word === 'to' && MOTION.test(tokens[from - 2]?.word ?? '')
  if (isPlace || PLACE_EN.has(before ?? '')) return 'subject'
  if (before !== undefined && TO_EN.has(before)) return 'recipient'
  // "Send Tom the mail we sent to Petra", "Answer Tom’s mail"
  if (TO_RIGHT_BEHIND.test(before ?? '') && (suffix !== 's' || ANSWER.test(before ?? '')))
    return 'recipient'
  if (before !== undefined && ABOUT_EN.has(before)) return 'subject'
  return 'unknown'
}
