import type { Language } from '../../i18n/words.ts'
import { isNumber, tokensOf } from './tokens.ts'

/** Who a sentence may speak of. A company's name with and without its legal form is one name. */
export type Names = { us: string[]; person: string | null; company: string | null }

/** Where a sentence stands: in a mail, in evidence about us, or in evidence about the reader. */
export type Voice = 'mail' | 'us' | 'lead'

const US = '‹us›'
const YOU = '‹you›'
const PERSON = '‹person›'
const COMPANY = '‹company›'
const OF = ':of'
/**
 * The legal forms at the end of a name. A dot behind one belongs to no form itself: where two parts could
 * take it, a name of many forms would cost twice the time for each.
 */
const LEGAL =
  /(?:[\s,]+(?:san(?:ayi)?(?:\.? ve tic(?:aret)?)?|tic(?:aret)?|a\.?\s?ş|ltd(?:\.? şti)?|limited(?: şirketi)?|gmbh(?: & co\.? kg)?|kg|ohg|ag|inc|llc|corp|s\.?a(?:\.?s)?|s\.?r\.?l|s\.?l(?:\.?u)?|s\.?p\.?a|sarl|b\.?v|n\.?v|oyj?|ab|aps|a\/s|sp\. z o\.o|s\.r\.o|kft|plc|co)\.?)+$/iu

/** What the reader's person and company may both be called. */
const READER = [YOU, PERSON, COMPANY]
const SUBJECTS = [US, ...READER]

/** A note about a lead that begins with one of these speaks of that lead: "Has 40 trucks". */
const NOTED = new Set(
  'has employs operates owns sells makes produces manufactures exports imports delivers distributes offers provides serves'.split(
    ' ',
  ),
)

/** "Runs 40 trucks": a verb, for no number follows a noun in the plural. */
const isNoteOf = ([first = '', second = '']: string[]) =>
  NOTED.has(first) || (/[^sui]s$/.test(first) && isNumber(second))

const PRONOUNS: Record<Language, Record<string, string>> = {
  en: { we: US, us: US, our: US + OF, you: YOU, your: YOU + OF },
  tr: {
    biz: US, bizim: US + OF, bize: `${US}:a`, bizi: `${US}:i`, bizde: `${US}:da`, bizden: `${US}:dan`,
    siz: YOU, sizin: YOU + OF, size: `${YOU}:a`, sizi: `${YOU}:i`, sizde: `${YOU}:da`, sizden: `${YOU}:dan`,
  },
} // biome-ignore format: a table

const CASES: [RegExp, string][] = [
  [/^n?[ıiuü]n$/, OF],
  [/^y?[ae]$/, ':a'],
  [/^y?[ıiuü]$/, ':i'],
  [/^[dt][ae]$/, ':da'],
  [/^[dt][ae]n$/, ':dan'],
  [/^y?l[ae]$/, ':la'],
]

/**
 * personed replaces whoever a sentence speaks of: our names and "we" are the same, the reader's
 * names are told apart, and "you" may be either. In evidence about a lead nobody knows who "we" and
 * "you" are, so those match nothing.
 */
export function personed(text: string, names: Names, voice: Voice, language: Language): string[] {
  const tokens = named([...tokensOf(text, language)], distinct(names, language), language)
  const isKnown = voice !== 'lead'
  const replaced = tokens.map((token) => {
    const who = PRONOUNS[language][token]
    return who === undefined ? token : isKnown ? who : `‹${token}?›`
  })
  if (language === 'tr') return conjugated(replaced, isKnown)
  const isNote = voice === 'lead' && isNoteOf(replaced)
  return isNote ? agreed([YOU, ...replaced], [YOU, ...tokens]) : agreed(replaced, tokens)
}

/** A reader with our own name, whatever its legal form, is told apart by "we" and "you" alone. */
function distinct(names: Names, language: Language): Names {
  const of = (name: string | null) =>
    tokensOf((name ?? '').trim().replace(LEGAL, ''), language).join(' ')
  const theirs = [of(names.company), of(names.person)]
  return { ...names, us: names.us.filter((name) => !theirs.includes(of(name))) }
}

function named(tokens: string[], names: Names, language: Language): string[] {
  const known: [string, string][] = [
    ...names.us.map((name): [string, string] => [name, US]),
    ...(names.company ? [[names.company, COMPANY] as [string, string]] : []),
    ...(names.person?.includes(' ') ? [[names.person, PERSON] as [string, string]] : []),
  ]
  const forms = known
    .flatMap(([name, who]) => [name, name.replace(LEGAL, '')].map((form) => ({ form, who })))
    .map(({ form, who }) => ({ words: tokensOf(form, language), who }))
    .filter(({ words }) => words.length > 0)
    .sort((a, b) => b.words.length - a.words.length)
  const found: string[] = []
  for (let at = 0; at < tokens.length; ) {
    const form = forms.find(({ words }) => words.every((word, of) => tokens[at + of] === word))
    if (!form) {
      found.push(tokens[at] ?? '')
      at += 1
      continue
    }
    at += form.words.length
    const next = tokens[at] ?? ''
    const ending = next.startsWith("'") ? next.slice(1) : undefined
    const of = language === 'en' ? (ending === 's' ? OF : undefined) : caseOf(ending)
    if (of !== undefined) at += 1
    found.push(form.who + (of ?? ''))
  }
  return found
}

const caseOf = (ending: string | undefined) =>
  ending === undefined ? undefined : CASES.find(([pattern]) => pattern.test(ending))?.[1]

/** Verbs whose past looks like their present. */
const SAME_PAST = new Set(
  'beat bet bid broadcast burst cast cost cut fit forecast hit hurt let offset outbid put quit read reset rid set shed shut split spread upset'.split(
    ' ',
  ),
)
const FORMS: Record<string, string> = {
  has: 'have', is: 'be', are: 'be', am: 'be', was: 'was', were: 'was', does: 'do',
} // biome-ignore format: a table

/** "We run" and "Nordlicht runs" are the same form of the verb. */
function agreed(tokens: string[], written: string[]): string[] {
  const [subject = '', verb] = tokens
  if (!SUBJECTS.includes(subject) || verb === undefined) return tokens
  const isNamed = written[0] === subject
  const bare = bareVerb(verb)
  const form = SAME_PAST.has(bare)
    ? `${bare}:${verb !== bare ? 's' : isNamed ? 'past' : 'unclear'}`
    : bare
  return [subject, form, ...tokens.slice(2)]
}

/** The same for a sentence that was put together from one that was read before. */
export function verbAfter(tokens: string[]): string[] {
  const [subject = '', verb] = tokens
  if (!SUBJECTS.includes(subject) || verb === undefined || verb.includes(':')) return tokens
  return [subject, bareVerb(verb), ...tokens.slice(2)]
}

function bareVerb(verb: string): string {
  const form = FORMS[verb]
  if (form) return form
  if (/[^aeiou]ies$/.test(verb)) return `${verb.slice(0, -3)}y`
  if (/(?:ss|sh|ch|x|zz|o)es$/.test(verb)) return verb.slice(0, -2)
  return /[^sui]s$/.test(verb) ? verb.slice(0, -1) : verb
}

const VERBS: [RegExp, string, string][] = [
  [/yoruz$/, 'yor', US],
  [/(r)[ıiuü]z$/, '$1', US],
  [/(m[ae])y[ıi]z$/, '$1z', US],
  [/ac(?:ağ)ız$/, 'acak', US],
  [/ec(?:eğ)iz$/, 'ecek', US],
  [/([dt][ıiuü])k$/, '$1', US],
  [/(m[ıiuü]ş)[ıiuü]z$/, '$1', US],
  [/(m[ae]kt[ae])y[ıi]z$/, '$1', US],
  [/(m[ae]kt[ae])s[ıi]n[ıi]z$/, '$1', YOU],
  [/yorsunuz$/, 'yor', YOU],
  [/([rz])s[ıiuü]n[ıiuü]z$/, '$1', YOU],
  [/([ae]c[ae]k)s[ıi]n[ıi]z$/, '$1', YOU],
  [/([dt][ıiuü])n[ıiuü]z$/, '$1', YOU],
  [/(m[ıiuü]ş)s[ıiuü]n[ıiuü]z$/, '$1', YOU],
]

/**
 * Turkish says who acts by the verb's ending and whose something is by the noun's. Both become what
 * they would be with a name: "kamyonunuz var" is "‹you›'in kamyonu var".
 */
function conjugated(given: string[], isKnown: boolean): string[] {
  const tokens = [...given]
  if (!isKnown) return joinedEndings(tokens)
  const last = tokens.length - 1
  let actor: string | undefined
  const verb = tokens[last] ?? ''
  const form = VERBS.find(([pattern]) => pattern.test(verb))
  if (form) {
    const [pattern, bare, who] = form
    tokens[last] = verb.replace(pattern, bare)
    actor = who
  }
  const owners: string[] = []
  for (const [at, token] of tokens.entries()) {
    if (at === last && form) continue
    const owned = ownedBy(token)
    if (!owned) continue
    tokens[at] = owned.word
    owners.push(owned.who + OF)
  }
  const found = joinedEndings(tokens)
  const [owner] = owners
  if (owner && owners.length === 1 && found[0] !== owner) found.unshift(owner)
  if (owners.length > 1) found.unshift(...owners)
  if (actor && !found.includes(actor)) found.unshift(actor)
  return found
}

/** "Bursa'dan" and "Bursadan" are the same word; a number keeps its ending apart. */
function joinedEndings(tokens: string[]): string[] {
  const found: string[] = []
  for (const token of tokens) {
    const before = found.at(-1)
    const isJoined = token.startsWith("'") && before !== undefined && /\p{L}$/u.test(before)
    if (isJoined) found[found.length - 1] = before + token.slice(1)
    else found.push(token.startsWith("'") ? token.slice(1) : token)
  }
  return found
}

const HARMONY: Record<string, string> = { a: 'ı', e: 'i', o: 'u', ö: 'ü' }
/** Words that end as if somebody owned them: "deniz", "temiz". */
const NOT_OWNED =
  /^(?:(?:kara|ak)?deniz|temiz|omuz|domuz|yıldız|semiz)(?:[ıiuü]n?|[ae]|d[ae]n?|l[ae])?$/u

/** Nouns that end in a vowel themselves: "müşterimiz" is "müşterisi", but "kamyonumuz" is "kamyonu". */
const WITH_VOWEL = new Set(
  'müşteri gemi bayi kişi sürücü kullanıcı tedarikçi yatırımcı nakliyeci temsilci satıcı alıcı üretici ihracatçı yönetici öğrenci'.split(
    ' ',
  ),
)

function ownedBy(token: string): { word: string; who: string } | undefined {
  const match = /^(.{2,})([nm])([ıiuü])z([ıiuü]n?|[ae]|d[ae]n?|l[ae])?$/u.exec(token)
  if (!match || NOT_OWNED.test(token)) return undefined
  const [, stem = '', owner, vowel = '', ending = ''] = match
  const before = stem.at(-1) ?? ''
  const isVowelStem = before in HARMONY
  if (!isVowelStem && before !== vowel) return undefined
  const owned = WITH_VOWEL.has(stem) ? `${stem}s${vowel}` : stem
  const base = isVowelStem ? `${stem}s${HARMONY[before]}` : owned
  const tail = ending === '' ? '' : /^l/.test(ending) ? `y${ending}` : `n${ending}`
  return { word: base + tail, who: owner === 'n' ? YOU : US }
}

/** The same words with the reader called "you", in each way in which a mail may mix them. */
export function asReader(tokens: string[]): string[][] {
  const places = tokens.flatMap((token, at) =>
    token.startsWith(PERSON) || token.startsWith(COMPANY) ? [at] : [],
  )
  if (places.length === 0 || places.length > 4) return [tokens]
  return Array.from({ length: 2 ** places.length }, (_, bits) => {
    const copy = [...tokens]
    for (const [bit, at] of places.entries()) {
      if (bits & (2 ** bit)) copy[at] = (copy[at] ?? '').replace(/^‹(?:person|company)›/, YOU)
    }
    return copy
  })
}

/** What is said to the reader, and the same said of the reader's company. */
export function fromReader(tokens: string[]): string[][] {
  return [tokens, tokens.map((token) => token.replace(YOU, COMPANY))]
}

/**
 * What the reader said of itself, told back: its "we" is "you". Our own name in it stays a word, for
 * it would be turned into the reader's.
 */
export function turned(text: string, names: Names, language: Language): string[] {
  const tokens = personed(text, { ...names, us: [] }, 'mail', language)
  return tokens.map((token) =>
    token.startsWith(US) ? token.replace(US, YOU) : token.replace(YOU, US),
  )
}

/** The subject that a second half of a sentence shares with the first. */
export const subjectOf = (tokens: string[]): string | undefined =>
  SUBJECTS.find((subject) => tokens[0] === subject)
