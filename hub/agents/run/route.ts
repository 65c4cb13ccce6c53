import { fold } from '../../../shared/words/fold.ts'
import { bilingual, type Words } from '../../i18n/words.ts'
import { AGENT_NAMES, type AgentName, isAgentName } from '../names.ts'
import { type Frame, frameOf } from './frames.ts'
import { PHRASES } from './phrases.ts'
import { routeText } from './route.text.ts'
import { subjectOf, type Token, tokensOf } from './tokens.ts'
import { inflects } from './words.ts'

const say = bilingual(routeText)

/** How many other words may be between two words of a phrase ("find me 20 more companies"). */
const GAP = 3

/**
 * The points of a phrase: one that names what is to be made, an unmistakable one, each word of an
 * ordinary one, and a weak one.
 */
const POINTS = { deed: 7, sure: 6, word: 2, weak: 1 }

/** What a task is about counts half: "write a mail about the budget" asks for a mail. */
const SUBJECT = 0.5

/**
 * Who gets the task if agents have equal points: first those whose words nobody uses by chance,
 * last those whose words ("find", "write") occur in many sentences.
 */
const FIRST_OF_EQUALS: AgentName[] = [
  'engineer_system',
  'legal',
  'finance',
  'pm',
  'system',
  'ceo',
  'web_research',
  'sales',
  'marketing',
  'data',
  'engineer',
  'research',
  'docs',
]

const MARKS: Record<string, 'deed' | 'sure' | 'weak' | 'word'> = {
  '>': 'deed',
  '!': 'sure',
  '~': 'weak',
  '+': 'word',
}

const COMMANDS: Record<string, AgentName> = { gelistir: 'pm' }

type Candidate = { agent: AgentName; points: number; words: string[] }

/** The agent of a task; null means that the words do not decide, so a model must. */
export type Route = {
  agent: AgentName | null
  decided_by: 'command' | 'phrases' | 'model'
  reason: Words
  candidates: Candidate[]
}

type Phrase = {
  words: { stem: string; language: 'en' | 'tr'; is_next: boolean }[]
  points: number
  /** An ordinary word that many sentences have in passing: with nothing else it decides nothing. */
  isPassing: boolean
}

const LEXICON = AGENT_NAMES.map((agent) => ({
  agent,
  phrases: (['en', 'tr'] as const).flatMap((language) =>
    PHRASES[agent][language].split(',').map((phrase) => parse(phrase.trim(), language)),
  ),
}))

function parse(text: string, language: 'en' | 'tr'): Phrase {
  const mark = MARKS[text.charAt(0)]
  const parts = (mark ? text.slice(1) : text).split(' ')
  const words = parts.flatMap((part) =>
    part.split('_').map((stem, index) => ({ stem, language, is_next: index > 0 })),
  )
  const isPassing = !mark && words.length === 1 && !text.startsWith('@')
  return { words, points: mark ? POINTS[mark] : POINTS.word * words.length, isPassing }
}

/**
 * route finds the agent whose phrases match a task best. A word counts once for each agent, in its
 * best phrase. Equal points are decided by FIRST_OF_EQUALS. If no phrase matches, or only one weak
 * word or one that is said in passing, the model decides.
 */
export function route(task: string): Route {
  const command = /^\s*\/(\p{L}[\p{L}\p{N}_]*)/u.exec(task)
  if (command) {
    const word = fold(command[1] ?? '')
    const agent = COMMANDS[word] ?? (isAgentName(word) ? word : undefined)
    if (agent) {
      return { agent, decided_by: 'command', reason: say.command(word, agent), candidates: [] }
    }
  }
  const tokens = tokensOf(task)
  const words = tokens.map(({ word }) => word)
  const frame = frameOf(tokens)
  // The kind of sentence says what is asked for, so the words of all other agents are its subject.
  const subject = frame ? () => true : subjectOf(words)
  const candidates = LEXICON.map(({ agent, phrases }) =>
    framed(score(agent, phrases, words, subject), frame),
  )
    .map(({ places, ...one }) => ({ ...one, words: quoted(tokens, places) }))
    .filter((candidate) => candidate.points > 0)
    .sort((a, b) => b.points - a.points || rank(a.agent) - rank(b.agent))
  const [best, second] = candidates
  if (!best) {
    return undecided(say.no_word, candidates)
  }
  // A wrong agent costs its reader more than the model's look at the task.
  if (best.points <= POINTS.weak || best.isPassing) {
    if (second)
      return undecided(say.either(inQuotes(best.words), best.agent, second.agent), candidates)
    return undecided(best.isPassing ? say.passing(inQuotes(best.words)) : say.no_word, candidates)
  }
  const reason = say.said_to(inQuotes(best.words), best.agent)
  return { agent: best.agent, decided_by: 'phrases', reason, candidates: shown(candidates) }
}

/** Words of any sentence: they help to find a phrase, and tell its reader nothing. */
const SMALL = new Set(
  `a an the and or but of to for in on at by with from as is are was were be been am do does did has have had i we you he
  she it they me us my our your his her its their this that these those there can could may might must will would shall
  should please some any about hakkinda ve ya veya da de mi mu bir bu su o ile icin ki ise ama ben biz siz bana bize size
  beni bizi`.split(/\s+/),
)

const inQuotes = (words: string[]) => words.map((word) => `“${word}”`).join(', ')

/** The words that decided, as they are written; small ones only where there are no others. */
function quoted(tokens: Token[], places: number[]): string[] {
  const found = places.flatMap((place) => tokens[place] ?? [])
  const telling = found.filter(({ word }) => !SMALL.has(word))
  return (telling.length > 0 ? telling : found).map(({ written }) => written)
}

/**
 * routeNamed returns the agent that a task names beyond doubt: by its command, or by a phrase that
 * nobody uses by chance. Words that go on from a result ("shorter", "add a table") name none.
 */
export function routeNamed(task: string): Route | undefined {
  const found = route(task)
  const [best] = found.candidates
  if (found.decided_by === 'command') return found
  return found.decided_by === 'phrases' && best && best.points >= POINTS.sure ? found : undefined
}

/** The first three; points that were halved are rounded up. */
function shown(candidates: Candidate[]): Candidate[] {
  return candidates
    .slice(0, 3)
    .map(({ agent, points, words }) => ({ agent, points: Math.ceil(points), words }))
}

function undecided(reason: Words, candidates: Candidate[]): Route {
  return { agent: null, decided_by: 'model', reason, candidates: shown(candidates) }
}

function rank(agent: AgentName): number {
  return FIRST_OF_EQUALS.indexOf(agent)
}

function score(
  agent: AgentName,
  phrases: Phrase[],
  words: string[],
  subject: (place: number) => boolean,
) {
  const found = phrases
    .flatMap((phrase) =>
      places(phrase, words).map((at) => ({
        at,
        points: phrase.points * (at.every(subject) ? SUBJECT : 1),
        isPassing: phrase.isPassing,
      })),
    )
    .sort(
      (a, b) =>
        b.points - a.points ||
        b.at.length - a.at.length ||
        Number(a.isPassing) - Number(b.isPassing),
    )
  const taken = new Set<number>()
  const counted: typeof found = []
  for (const match of found) {
    if (match.at.some((place) => taken.has(place))) continue
    for (const place of match.at) taken.add(place)
    counted.push(match)
  }
  return {
    agent,
    points: counted.reduce((sum, match) => sum + match.points, 0),
    places: [...taken].sort((a, b) => a - b),
    isPassing: counted.length === 1 && counted[0]?.isPassing === true,
  }
}

/** The kind of sentence counts as much as a phrase that names what is to be made. */
function framed(found: ReturnType<typeof score>, frame: Frame | undefined) {
  if (frame?.agent !== found.agent) return found
  const places = [...new Set([...found.places, ...frame.telling])].sort((a, b) => a - b)
  return { ...found, points: found.points + POINTS.deed, places, isPassing: false }
}

/** Every place where a phrase begins, with the positions of its words. */
function places(phrase: Phrase, words: string[]): number[][] {
  const found: number[][] = []
  for (let start = 0; start < words.length; start++) {
    const at = follow(phrase, words, start)
    if (at) found.push(at)
  }
  return found
}

function follow(phrase: Phrase, words: string[], start: number): number[] | undefined {
  const at: number[] = []
  let from = start
  for (const [index, { stem, language, is_next }] of phrase.words.entries()) {
    const gap = index === 0 || is_next ? 0 : GAP
    const last = Math.min(from + gap, words.length - 1)
    let place = -1
    for (let here = from; here <= last && place < 0; here++) {
      if (fits(words[here] ?? '', stem, language)) place = here
    }
    if (place < 0) return undefined
    at.push(place)
    from = place + 1
  }
  return at
}

function fits(word: string, stem: string, language: 'en' | 'tr'): boolean {
  return stem === '#' ? /^\d+$/.test(word) : inflects(word, stem, language)
}
