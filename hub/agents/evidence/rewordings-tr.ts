import type { Rule } from './rewordings-en.ts'

/*
 * Turkish sentences that say the same in other words. A form that is no Turkish does no harm, for it
 * must be found in the evidence word by word.
 */

const SUBJECTS = ['‹us›', '‹you›', '‹person›', '‹company›']
const NEGATIVE = /m[ıiuü]yor|m[ae]z|m[ae]d[ıi]|m[ae]m[ıi]ş|m[ae]y[ae]c/u
const FOCUS =
  /(?:^|\s)(?:sadece|yalnız|yalnızca|bile|de|da|ve|veya|ya da|ama|hem|değil|her|hiç|tüm|bütün)(?=\s|$)/u

/** A word with the ending of a place, a direction or a time behind its apostrophe. */
const PLACED = "\\p{Lu}[\\p{L}]*'(?:y?[ae]|[dt][ae]n?)|\\d{4}'(?:y?[ae]|[dt][ae]n?)"
const PLACED_WORD = new RegExp(`^(?:${PLACED})$`, 'u')
const NEIGHBOURS = new RegExp(`(?<!\\S)(${PLACED}) (${PLACED})(?!\\S)`, 'gu')
/** A second verb inside a sentence, to which a place or a time might belong. */
const INNER_VERB =
  /m[ae]k(?!\p{L})|m[ae]y[ıiae]|[dt][ıiuü]ğ|c[ae]ğ|[ıiuü]p(?!\p{L})|[ae]r[ae]k(?!\p{L})|ken(?!\p{L})|[ae]n(?!\p{L})|m[ıiuü]ş(?!\p{L})|diye|m[ae]s[ıi]/u
/** A time at the beginning holds for all that is joined to it. */
export const TURKISH_TIME_FIRST =
  /^(?:\d{4}['’]?[dt][ae]|(?:geçen|bu|gelecek) (?:yıl|ay|hafta)|bugün|dün|yarın|her)(?!\p{L})/iu
const YEAR = /(?<!\S)\d{4}'[dt][ae](?!\S)/u

/** The same sentence in another order of what is told apart by its endings. */
export function turkishTexts(sentence: string): string[] {
  const even = sentence.replace(/[’ʼ`´‘]/g, "'")
  const found: string[] = []
  const words = even.replace(/[.!]$/, '').split(' ')
  const isSimple =
    !FOCUS.test(` ${even.toLocaleLowerCase('tr')}`) && !NEGATIVE.test(words.at(-1) ?? '')
  const inner = words.slice(0, -1).filter((word) => !PLACED_WORD.test(word))
  if (!isSimple || even.includes(',') || INNER_VERB.test(inner.join(' '))) return found
  const swapped = even.replace(NEIGHBOURS, '$2 $1')
  if (swapped !== even) found.push(swapped)
  const year = words.findIndex((word) => YEAR.test(word))
  if (year >= 0 && words.filter((word) => /^\d/.test(word)).length === 1) {
    const rest = words.toSpliced(year, 1)
    const said = words[year] ?? ''
    for (let at = 0; at < rest.length - 1; at++) {
      if (at !== year) found.push(rest.toSpliced(at, 0, said).join(' '))
    }
  }
  return found
}

const COMPANY_FORMS: Record<string, string> = {
  i: '', ini: ':i', inde: ':da', inin: ':of', ine: ':a', inden: ':dan',
} // biome-ignore format: a table

/** "Şirketinizi" is the company's name with its ending, "Demir firmasında" the name's. */
const company: Rule = (tokens) => {
  const at = tokens.findIndex((token) => /^(?:şirket|firma|işletme)/.test(token))
  const form = /^(?:şirket|firmas|işletmes)[ıi](n?(?:[ıi]n|[dt][ae]n?|[ıiae])?)$/u.exec(
    tokens[at] ?? '',
  )
  if (at < 1 || !form) return []
  const ending = COMPANY_FORMS[`i${(form[1] ?? '').replaceAll('ı', 'i').replaceAll('a', 'e')}`]
  const owner = tokens[at - 1] ?? ''
  if (ending === undefined || !/^‹(?:us|you)›:of$|^‹(?:us|company)›$/u.test(owner)) return []
  const name = owner.startsWith('‹us›') ? '‹us›' : '‹company›'
  return [tokens.toSpliced(at - 1, 2, name + ending)]
}

const S = '(‹(?:us|you|person|company)›)'
const COUNT = '(\\d\\S*(?: [dt][ae]n fazla)?|en az \\d\\S*)'
const SAME: [RegExp, string][] = [
  [new RegExp(`^${S}:of ${COUNT} çalışanı var$`, 'u'), '$1 $2 kişi çalıştırıyor'],
  [new RegExp(`^${S}:da ${COUNT} kişi çalışıyor$`, 'u'), '$1 $2 kişi çalıştırıyor'],
  [/^(.+) için (?:para|ücret) (?:ödemez|ödemiyor)$/u, '$1 ücretsiz'],
  [/^‹you› (.+) için (?:para|ücret) (?:ödemez|ödemiyor)$/u, '$1 ücretsiz'],
  [/^(.+) (?:bedava|parasız)(?:d[ıi]r)?$/u, '$1 ücretsiz'],
] // biome-ignore format: a table
const same: Rule = (tokens) => {
  const text = tokens.join(' ')
  return SAME.flatMap(([pattern, form]) =>
    pattern.test(text) ? [text.replace(pattern, form).split(' ')] : [],
  )
}

const VERBAL = /(?:yor|m[ıiuü]ş|c[ae]k|[dt][ıiuü]|[aeıiuü]r|m[ae]z|var|yok)$/u

/** "Ücretsizdir" is "ücretsiz"; behind a verb the same ending is a guess and stays. */
const copula: Rule = (tokens) => {
  const last = tokens.at(-1) ?? ''
  const bare = /^(.{3,}?)[dt][ıiuü]r$/u.exec(last)?.[1]
  if (bare !== undefined)
    return VERBAL.test(bare) || /m[ae]kt[ae]$/u.test(bare) ? [] : [tokens.with(-1, bare)]
  if (VERBAL.test(last)) return []
  return ['dır', 'dir', 'dur', 'dür', 'tır', 'tir', 'tur', 'tür'].map((end) =>
    tokens.with(-1, last + end),
  )
}

/** Written formally, "göndermektedir" is "gönderiyor". */
const formal: Rule = (tokens) => {
  const stem = /^(.+)m[ae]kt[ae](?:d[ıi]r)?$/u.exec(tokens.at(-1) ?? '')?.[1]
  return stem === undefined ? [] : present(stem).map((verb) => tokens.with(-1, verb))
}

/** The present of a verb's stem, in each vowel: only one of them is a word. */
export function present(stem: string): string[] {
  const bare = /[ae]$/u.test(stem) ? stem.slice(0, -1) : stem
  const soft = bare.endsWith('t') ? [bare, `${bare.slice(0, -1)}d`] : [bare]
  return [
    `${stem}yor`,
    ...soft.flatMap((form) => ['ı', 'i', 'u', 'ü'].map((vowel) => `${form}${vowel}yor`)),
  ]
}

/** "X 1998'de (S tarafından) kuruldu" is "S X'i 1998'de kurdu", whoever S is. */
const active: Rule = (tokens) => {
  const verb = /^(.+?)(?:[ıiuü]?l|[ıiuü]?n)[dt][ıiuü]$/u.exec(tokens.at(-1) ?? '')?.[1]
  if (verb === undefined) return []
  const verbs = ['dı', 'di', 'du', 'dü', 'tı', 'ti', 'tu', 'tü'].map((end) => verb + end)
  const by = tokens.indexOf('tarafından')
  const agent = tokens[by - 1] ?? ''
  if (by >= 0 && !SUBJECTS.includes(agent)) return []
  const rest = (by < 0 ? tokens : tokens.toSpliced(by - 1, 2)).slice(0, -1)
  return [1, 2, 3].flatMap((words) => {
    const thing = rest.slice(0, words)
    if (thing.length < words || thing.some((word) => /^\d|:/u.test(word))) return []
    return accusatives(thing.at(-1) ?? '').flatMap((last) =>
      (by < 0 ? SUBJECTS : [agent]).flatMap((subject) =>
        verbs.map((form) => [subject, ...thing.slice(0, -1), last, ...rest.slice(words), form]),
      ),
    )
  })
}

function accusatives(word: string): string[] {
  if (SUBJECTS.includes(word)) return [`${word}:i`]
  const between = /[aeıioöuü]$/u.test(word) ? ['y', 'n'] : ['']
  return between.flatMap((letter) => ['ı', 'i', 'u', 'ü'].map((vowel) => word + letter + vowel))
}

export const TURKISH_RULES: Rule[] = [company, same, copula, formal, active]

const SEEN =
  /^(.+?)\s+(?:gördü(?:k|m)|okudu(?:k|m)|öğrendi(?:k|m)|duydu(?:k|m)|biliyoru[zm]|biliyor muydunuz|biliyor musunuz)\s*[.?]?$/iu

/**
 * "…taşıdığınızı gördük" states "…taşıyorsunuz", "…taşırsınız" or "…taşıdınız": the form does not
 * tell them apart, so each of them supports it. "…olduğunu" states "…var".
 */
export function seen(sentence: string): string[] {
  const said = SEEN.exec(sentence)?.[1]
  if (said === undefined) return []
  if (/ olduğunu$/u.test(said)) return [said.replace(/olduğunu$/u, 'var')]
  const verb = /^(.+?)(\S+?)[dt][ıiuü](?:ğ[ıiuü]n[ıiuü]z[ıiuü]|ğ[ıiuü]n[ıiuü])$/u.exec(said)
  if (!verb) return []
  const [, before = '', stem = ''] = verb
  const isYou = /n[ıiuü]z[ıiuü]$/u.test(said)
  const you = (vowels: string[]) => (isYou ? vowels.map((vowel) => `s${vowel}n${vowel}z`) : [''])
  const all = ['ı', 'i', 'u', 'ü']
  const soft = stem.endsWith('t') ? [stem, `${stem.slice(0, -1)}d`] : [stem]
  const forms = [
    ...present(stem).map((form) => form + (isYou ? 'sunuz' : '')),
    ...all.flatMap((vowel) =>
      ['d', 't'].map((letter) => `${stem}${letter}${vowel}${isYou ? `n${vowel}z` : ''}`),
    ),
    ...soft.flatMap((form) =>
      ['', 'a', 'e', ...all].flatMap((vowel) => you(all).map((end) => `${form}${vowel}r${end}`)),
    ),
  ]
  return forms.flatMap((form) => [before + form, ...owners(before).map((text) => text + form)])
}

/** The subject of such a sentence stands in the genitive: "kurulumun" is "kurulum". */
function owners(before: string): string[] {
  const even = before.replace(/[’ʼ`´‘]/g, "'")
  const words = even.split(' ')
  return words.slice(0, 4).flatMap((word, at) => {
    const bare = /^(.{2,}?)(?:'n?|n)?[ıiuü]n$/u.exec(word)?.[1]
    return bare === undefined ? [] : [words.with(at, bare).join(' ')]
  })
}
