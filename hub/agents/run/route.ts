import { bilingual, type Words } from '../../i18n/words.ts'
import { AGENT_NAMES, type AgentName, isAgentName } from '../names.ts'
import { asWritten, inflects, wordsOf } from './fold.ts'
import { PHRASES } from './phrases.ts'
import { routeText } from './route.text.ts'

const say = bilingual(routeText)

/** How many other words may be between two words of a phrase ("find me 20 more companies"). */
const GAP = 3

/** The points of a phrase: an unmistakable one, each word of an ordinary one, and a weak one. */
const POINTS = { sure: 6, word: 2, weak: 1 }

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

const COMMANDS: Record<string, AgentName> = { gelistir: 'pm' }

export type Candidate = { agent: AgentName; points: number; words: string[] }

/** The agent of a task; null means that the words do not decide, so a model must. */
export type Route = {
  agent: AgentName | null
  decided_by: 'command' | 'phrases' | 'model'
  reason: Words
  candidates: Candidate[]
}

type Phrase = { words: { stem: string; language: 'en' | 'tr' }[]; points: number }

const LEXICON = AGENT_NAMES.map((agent) => ({
  agent,
  phrases: (['en', 'tr'] as const).flatMap((language) =>
    PHRASES[agent][language].split(',').map((phrase) => parse(phrase.trim(), language)),
  ),
}))

function parse(text: string, language: 'en' | 'tr'): Phrase {
  const mark = text.startsWith('!') ? 'sure' : text.startsWith('~') ? 'weak' : 'word'
  const stems = text.replace(/^[!~]/, '').split(' ')
  const points = mark === 'word' ? POINTS.word * stems.length : POINTS[mark]
  return { words: stems.map((stem) => ({ stem, language })), points }
}

/**
 * route finds the agent whose phrases match a task best. A word counts once for each agent, in its
 * best phrase. Equal points are decided by FIRST_OF_EQUALS, except between agents with only one
 * weak word each: then, and if no phrase matches, the model decides.
 */
export function route(task: string): Route {
  const command = /^\s*\/(\p{L}[\p{L}\p{N}_]*)/u.exec(task)
  if (command) {
    const word = wordsOf(command[1] ?? '')[0] ?? ''
    const agent = COMMANDS[word] ?? (isAgentName(word) ? word : undefined)
    if (agent) {
      return { agent, decided_by: 'command', reason: say.command(word, agent), candidates: [] }
    }
  }
  const words = wordsOf(task)
  const written = asWritten(task)
  const candidates = LEXICON.map(({ agent, phrases }) => score(agent, phrases, words))
    .map(({ places, ...one }) => ({ ...one, words: places.map((place) => written[place] ?? '') }))
    .filter((candidate) => candidate.points > 0)
    .sort((a, b) => b.points - a.points || rank(a.agent) - rank(b.agent))
  const [best, second] = candidates
  if (!best) {
    return undecided(say.no_word, candidates)
  }
  if (best.points === POINTS.weak && second?.points === POINTS.weak) {
    return undecided(say.either(best.words.join(' '), best.agent, second.agent), candidates)
  }
  const reason = say.said_to(best.words.join(' '), best.agent)
  return { agent: best.agent, decided_by: 'phrases', reason, candidates: candidates.slice(0, 3) }
}

function undecided(reason: Words, candidates: Candidate[]): Route {
  return { agent: null, decided_by: 'model', reason, candidates: candidates.slice(0, 3) }
}

function rank(agent: AgentName): number {
  return FIRST_OF_EQUALS.indexOf(agent)
}

function score(agent: AgentName, phrases: Phrase[], words: string[]) {
  const found = phrases
    .flatMap((phrase) => places(phrase, words).map((at) => ({ at, points: phrase.points })))
    .sort((a, b) => b.points - a.points)
  const taken = new Set<number>()
  let points = 0
  for (const match of found) {
    if (match.at.some((place) => taken.has(place))) continue
    for (const place of match.at) taken.add(place)
    points += match.points
  }
  return { agent, points, places: [...taken].sort((a, b) => a - b) }
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
  for (const [index, { stem, language }] of phrase.words.entries()) {
    const last = index === 0 ? start : Math.min(from + GAP, words.length - 1)
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
