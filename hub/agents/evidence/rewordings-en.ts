import type { Names } from './persons.ts'
import { isNumber } from './tokens.ts'

/*
 * English sentences that say the same in other words. Each rule holds for any verb, noun and number;
 * a form that is no English does no harm, for it must be found in the evidence word by word.
 */

const SUBJECT = /^‹(?:us|you|person|company)›$/
const SUBJECTS = ['‹us›', '‹you›', '‹person›', '‹company›']

/** Words that a noun phrase does not hold; with one of them a passive is not turned. */
const NO_NOUN_PHRASE = new Set(
  'will would can could may might must should shall not never no nobody nothing neither nor has have had be been is are was were to by that which who if only every each all both do does did'.split(
    ' ',
  ),
)
/** Where the one who acts ends: "by the auditors in June". */
const AFTER_AGENT = new Set(
  'in on at since for from to last this with during before after'.split(' '),
)

const TIME_WORDS =
  '(?:(?:last|this|next) (?:year|month|week|quarter|spring|summer|autumn|winter)|(?:in|since|until|during) (?:\\p{Lu}\\p{L}+ )?\\d{4}|on (?:working days|weekdays|weekends|\\p{Lu}\\p{L}+days?|\\d{1,2} \\p{Lu}\\p{L}+ \\d{4})|at night|in (?:the )?(?:morning|afternoon|evening|summer|winter))'
const FRONTED = new RegExp(`^(${TIME_WORDS}),?\\s+(.+?)([.!]?)$`, 'iu')
/** Words at the beginning of a sentence that reach over all that is joined to it. */
export const REACHES_OVER =
  /^(?:in|on|at|since|until|with|without|for|by|from|during|after|before|under|within|among|per|like|as|because|when|while|if|although|unless|through|thanks|last|this|next|every|today|yesterday|tomorrow|now)(?!\p{L})/iu
/** A second verb, to which the time at the end of a sentence might belong. */
const JOINS =
  /[,;]|\s(?:and|but|or|because|while|when|if|that|which|who|where|whose|said|says|told|than)\s/iu
const INFINITIVE = /\sto \p{Ll}/u

/** The same sentence as other texts: its time at the end, companies by name, what "you" said. */
export function englishTexts(sentence: string, names: Names): string[] {
  const found: string[] = []
  const fronted = FRONTED.exec(sentence)
  if (fronted) {
    const [, time = '', rest = '', end = ''] = fronted
    if (!JOINS.test(rest) && !INFINITIVE.test(rest))
      found.push(`${rest} ${time[0]?.toLowerCase()}${time.slice(1)}${end}`)
  }
  const named = [
    [/\byour (?:company|firm|business)(?![\p{L}'’-])/giu, names.company],
    [/\bour (?:company|firm|business)(?![\p{L}'’-])/giu, names.us[0]],
  ] as const
  for (const [pattern, name] of named) {
    const said = name ? sentence.replace(pattern, () => name) : sentence
    if (said !== sentence) found.push(said)
  }
  const quoted = /^(?:in your words|according to you|you said),?\s+(?:that )?(.+)$/iu.exec(sentence)
  if (quoted && !/^you said that/iu.test(sentence)) found.push(`You said that ${quoted[1]}`)
  return found
}

/** A rule turns a sentence's words into those of sentences that mean the same. */
export type Rule = (tokens: string[]) => string[][]

/** "S sold its plant": whose it is, is the subject. */
export const ownThing: Rule = (tokens) => {
  const [subject = ''] = tokens
  return SUBJECT.test(subject) && tokens[2] === 'its' ? [tokens.with(2, `${subject}:of`)] : []
}

const PAST: Record<string, string> = {
  begun: 'began', broken: 'broke', chosen: 'chose', done: 'did', drawn: 'drew', driven: 'drove',
  eaten: 'ate', flown: 'flew', forgiven: 'forgave', frozen: 'froze', given: 'gave', grown: 'grew',
  hidden: 'hid', known: 'knew', overseen: 'oversaw', overtaken: 'overtook', ridden: 'rode',
  rung: 'rang', seen: 'saw', shaken: 'shook', shown: 'showed', sewn: 'sewed', spoken: 'spoke',
  stolen: 'stole', sung: 'sang', sworn: 'swore', taken: 'took', thrown: 'threw', torn: 'tore',
  undertaken: 'undertook', withdrawn: 'withdrew', woken: 'woke', worn: 'wore', woven: 'wove',
  written: 'wrote',
} // biome-ignore format: a table
const BASE: Record<string, string> = {
  built: 'build', bought: 'buy', brought: 'bring', caught: 'catch', dealt: 'deal', fed: 'feed',
  found: 'find', held: 'hold', kept: 'keep', led: 'lead', left: 'leave', lent: 'lend', lost: 'lose',
  made: 'make', met: 'meet', paid: 'pay', run: 'run', said: 'say', sent: 'send', sold: 'sell',
  spent: 'spend', taught: 'teach', told: 'tell', won: 'win', done: 'do', drawn: 'draw',
  driven: 'drive', given: 'give', grown: 'grow', known: 'know', seen: 'see', shown: 'show',
  taken: 'take', written: 'write', chosen: 'choose',
} // biome-ignore format: a table
const UNCHANGED = new Set('cut put set hit shut split spread'.split(' '))

/** The forms of the active verb: "was planned" is "planned", "are planned" is "plan". */
function activeForms(participle: string, auxiliary: string): string[] {
  if (auxiliary === 'was' || auxiliary === 'were') {
    return UNCHANGED.has(participle) ? [`${participle}:past`] : [PAST[participle] ?? participle]
  }
  if (UNCHANGED.has(participle)) return [`${participle}:s`]
  const known = BASE[participle]
  const stem = /ed$/.test(participle) ? participle.slice(0, -2) : undefined
  // "Taped" comes from "tape": of "tap" it would be "tapped".
  const isShort = stem !== undefined && /^[^aeiou]*[aeiou][^aeiouwxy]$/.test(stem)
  const bases = known
    ? [known]
    : isShort
      ? [`${stem}e`]
      : stem === undefined
        ? []
        : [stem, `${stem}e`, stem.replace(/(.)\1$/, '$1'), stem.replace(/i$/, 'y')]
  return [...new Set(bases)].flatMap((base) => [base, `${base}s`])
}

/** "The plant was sold (by S) in 2022" is "S sold the plant in 2022", whoever S is. */
const active: Rule = (tokens) => {
  const at = tokens.findIndex((token) => ['is', 'are', 'be', 'was', 'were'].includes(token))
  const things = tokens.slice(0, at)
  const [auxiliary = '', participle = ''] = tokens.slice(at)
  if (at < 1 || participle === '' || things.some((token) => NO_NOUN_PHRASE.has(token))) return []
  const verbs = activeForms(participle, auxiliary)
  const rest = tokens.slice(at + 2)
  const [by, ...said] = rest
  if (by === 'by' && !isNumber(said[0] ?? '')) {
    const ends = said.findIndex((token) => AFTER_AGENT.has(token))
    const agent = ends < 0 ? said : said.slice(0, ends)
    const more = ends < 0 ? [] : said.slice(ends)
    const isVague = agent.some((token) => isNumber(token) || NO_NOUN_PHRASE.has(token))
    if (agent.length === 0 || isVague) return []
    return verbs.map((verb) => [...agent, verb, ...things, ...more])
  }
  return SUBJECTS.flatMap((subject) => verbs.map((verb) => [subject, verb, ...things, ...rest]))
}

const joined = (tokens: string[]) => tokens.join(' ')
const S = '(‹(?:us|you|person|company)›)'
const AMOUNT = '((?:more than |over |at least )?\\d\\S*)'

/** Pairs of patterns of which each says the same as its other side. */
const SAME: [RegExp, string][] = [
  [new RegExp(`^${AMOUNT} people (?:work|be employed|are employed) (?:for|at|by) ${S}$`), '$2 employ $1 people'],
  [new RegExp(`^${S} have ${AMOUNT} employees$`), '$1 employ $2 people'],
  [/^you pay nothing for (.+)$/, '$1 is free'],
  [/^‹you› pay nothing for (.+)$/, '$1 is free'],
  [/^((?!‹(?:you|person|company)›).+) (?:is|be) free of charge$/, '$1 is free'],
  [/^((?!‹(?:you|person|company)›).+) (?:is|be) at no cost$/, '$1 is free'],
  [/^((?!‹(?:you|person|company)›).+) costs? nothing$/, '$1 is free'],
  [/^(.+) (?:is|be) free$/, '$1 is free of charge'],
  [new RegExp(`^${S}:of (\\p{L}+(?: \\p{L}+)?)( in \\d{4})? was (\\d.*?)( in \\d{4})?$`, 'u'), '$1 had a $2 of $4$3$5'],
  [new RegExp(`^${S}:of (\\p{L}+(?: \\p{L}+)?)( in \\d{4})? was (\\d.*?)( in \\d{4})?$`, 'u'), '$1 had $2 of $4$3$5'],
  [new RegExp(`^${S}:of (\\p{L}+(?: \\p{L}+)?) is (\\d.*)$`, 'u'), '$1 have a $2 of $3'],
  [new RegExp(`^${S}:of (\\p{L}+(?: \\p{L}+)?) is (\\d.*)$`, 'u'), '$1 have $2 of $3'],
] // biome-ignore format: a table

const same: Rule = (tokens) => {
  const text = joined(tokens)
  return SAME.flatMap(([pattern, form]) =>
    pattern.test(text) ? [text.replace(pattern, form).split(' ')] : [],
  ).map((found) =>
    // "S be free" is how the verb after a known subject is kept.
    SUBJECT.test(found[0] ?? '') && found[1] === 'is' ? found.with(1, 'be') : found,
  )
}

const TIMES = new Set('minute hour day week month quarter year'.split(' '))
const NO_RATE = new Set('within in for after before of than by at on to until'.split(' '))

/** "900 an hour" is "900 per hour"; "within an hour" is not. */
const rate: Rule = (tokens) =>
  tokens.flatMap((token, at) => {
    const unit = tokens[at + 1] ?? ''
    if (!TIMES.has(unit) || at === 0 || NO_RATE.has(tokens[at - 1] ?? '')) return []
    if (token === 'a' || token === 'an') return [tokens.with(at, 'per')]
    return token === 'per' ? [tokens.with(at, unit === 'hour' ? 'an' : 'a')] : []
  })

export const ENGLISH_RULES: Rule[] = [ownThing, active, same, rate]
