import { fold } from '../../shared/words/fold.ts'

/** The languages of ISO 639-1. */
export const CODES = [
  'aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de',
  'dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia',
  'id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo',
  'lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl',
  'ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk',
  'tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu',
].flatMap((line) => line.split(' '))
const KNOWN: ReadonlySet<string> = new Set(CODES)

/** The primary language of a tag of BCP 47: `tr` of `TR`, `tr-TR`, `tr_TR` and `tur`; undefined for no language. */
export function languageTag(text: string): string | undefined {
  try {
    const { language } = new Intl.Locale(text.trim().replaceAll('_', '-'))
    return KNOWN.has(language) ? language : undefined
  } catch {
    return undefined
  }
}

/** What a language is called in English or Turkish, e.g. `German`. */
export function languageName(code: string, language: 'en' | 'tr'): string {
  return new Intl.DisplayNames(language, { type: 'language' }).of(code) ?? code
}

let names: Map<string, string> | undefined
/** The code of each language by its folded names: in English, in Turkish, and its own. */
function codesByName(): Map<string, string> {
  names ??= new Map(
    CODES.flatMap((code) =>
      [...new Set(['en', 'tr', code])].map((language): [string, string] => [
        fold(new Intl.DisplayNames(language, { type: 'language' }).of(code) ?? code),
        code,
      ]),
    ),
  )
  return names
}

/**
 * languageOfCell reads a language as lists have it: a tag or a name, of several the first, as in
 * `Türkçe`, `German, English` or `tr-TR`. Any other text is returned unchanged and refused later.
 */
export function languageOfCell(text: string): string {
  const [first = ''] = text.split(/[,;/|&+(]|\s(?:and|ve)\s/)
  return codesByName().get(fold(first).trim()) ?? languageTag(first) ?? text
}

const SAYS_NO = /\b(?:not?|never|without|nor)\b|n['’]?t\b|\b(?:degil|yok|hic)\b|m[iu]yor|m[ae]z\b/
/** What somebody speaks, or is to be written to in, in words after which or before which the language stands. */
const SAYS = [
  /\b(?:speaks?|prefers?|reads?|language(?: is)?:?|speaking) (?<name>\p{L}+)/u,
  /\b(?:writes?|wrote|mails?|e-?mails?|letters?|answers?|repl(?:y|ies)|talks?|corresponds?|correspondence|contact\w*)\b.{0,60}? in (?<name>\p{L}+)/u,
  /(?<name>\p{L}+) (?:konus|yazis|tercih ed|bili[ry])/u,
  /(?<name>\p{L}+) (?:yaz(?!il)|mail|e-?posta|mektup)/u,
  /\bdil[i]?:? (?<name>\p{L}+)/u,
]

/**
 * languageSaid returns the language that a sentence says somebody speaks or is to be written to in;
 * undefined where it says none, or says no to one.
 */
export function languageSaid(sentence: string): string | undefined {
  const said = fold(sentence).replace(/\s+/g, ' ')
  if (SAYS_NO.test(said)) return undefined
  for (const pattern of SAYS) {
    const code = codesByName().get(pattern.exec(said)?.groups?.name ?? '')
    if (code) return code
  }
  return undefined
}
