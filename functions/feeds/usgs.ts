import { z } from 'zod'
import type { NormalisedEvent } from '../../shared/schemas/event.ts'
import {
  type Feed,
  type FeedError,
  type FeedResult,
  isFeedError,
  normaliseEach,
  type PollInput,
  type Rejected,
} from './feed.ts'
import { type Fetched, fetchFeed, pauseFor, Validators } from './fetch.ts'
import {
  normaliseAnswer,
  normaliseUsgs,
  notGeoJson,
  OTHER_CEILING,
  Summary,
} from './formats/usgs-feature.ts'
import { Memory, type Snapshot, updateMemory, type Window } from './memory/usgs-memory.ts'
import { isSearchDue, SearchState, searchUpdates } from './memory/usgs-search.ts'

const SUMMARY = 'https://earthquake.usgs.gov/earthquakes/feed/v1.0/summary'
const INTERVAL_SECONDS = 60
/** all_day catches what the polls of all_hour missed, and late revisions. */
const DAY_INTERVAL_SECONDS = 15 * 60
const DAY_RETRY_SECONDS = 5 * 60

const State = z.object({
  hour: Validators.default({}),
  day: Validators.default({}),
  /** When all_day is polled next, in ms since 1970. */
  day_due: z.number().default(0),
  memory: Memory.default({}),
  search: SearchState,
})
type State = z.infer<typeof State>

/** The U.S. Geological Survey: its live summary feeds, and its search for what was revised later. */
export const usgs: Feed = {
  source: 'usgs',
  title: 'USGS earthquakes',
  attribution: 'Earthquake data: U.S. Geological Survey',
  types: ['earthquake', 'volcano', 'other'],
  ceilings: { volcano: OTHER_CEILING, other: OTHER_CEILING },
  interval_seconds: INTERVAL_SECONDS,
  poll,
  normalise: normaliseAnswer,
}

async function poll(input: PollInput): Promise<FeedResult> {
  const now = input.now.getTime()
  const state = State.catch(State.parse({})).parse(input.state)
  const day_is_due = now >= state.day_due

  const hour = await attempt('hour', state, input)
  const is_welcome = !('error' in hour && hour.error.code === 'rate_limited')
  const day = day_is_due && is_welcome ? await attempt('day', state, input) : null
  // If only one of the two fails, the events of the other are still used.
  if ('error' in hour && (day === null || 'error' in day)) throw hour.error

  const memory = { ...state.memory }
  const events = new Map<string, NormalisedEvent>()
  const rejected: Rejected[] = []
  const next: State = { ...state, memory }
  let not_modified = true
  let wait_seconds = 0

  if (day) next.day_due = now + 1000 * dayWait(day)
  for (const [window, answer] of [['day', day] as const, ['hour', hour] as const]) {
    if (answer === null) continue
    if ('error' in answer) {
      rejected.push({ item: `all_${window}`, reason: answer.error.message })
      continue
    }
    if (window === 'hour') wait_seconds = answer.fetched.max_age_seconds
    if (answer.fetched.not_modified) continue
    not_modified = false
    next[window] = answer.fetched.validators
    const snapshot = readSummary(window, answer.fetched.json, rejected)
    for (const event of updateMemory(memory, snapshot)) events.set(event.id, newer(events, event))
  }

  if ('fetched' in hour && isSearchDue(state.search, input.now)) {
    const found = await searchUpdates(state.search, input)
    next.search = found.state
    rejected.push(...found.rejected)
    for (const event of found.events) events.set(event.id, newer(events, event))
    not_modified &&= found.events.length === 0
  }

  const unchanged = not_modified && day === null && next.search === state.search
  return {
    events: [...events.values()],
    state: unchanged ? input.state : next,
    not_modified,
    rejected,
    ...pauseFor(wait_seconds, INTERVAL_SECONDS),
  }
}

type Answer = { fetched: Fetched } | { error: FeedError }

async function attempt(window: Window, state: State, input: PollInput): Promise<Answer> {
  const url = `${SUMMARY}/all_${window}.geojson`
  try {
    const fetched = await fetchFeed(url, { ...input, validators: state[window] })
    if (!fetched.not_modified && !Summary.safeParse(fetched.json).success) {
      throw notGeoJson()
    }
    return { fetched }
  } catch (error) {
    if (!isFeedError(error)) throw error
    return { error }
  }
}

function dayWait(day: Answer): number {
  if ('fetched' in day) return DAY_INTERVAL_SECONDS
  return Math.max(day.error.retry_after_seconds ?? 0, DAY_RETRY_SECONDS)
}

function readSummary(window: Window, json: unknown, rejected: Rejected[]): Snapshot {
  const { metadata, features } = Summary.parse(json)
  const content = normaliseEach(features, normaliseUsgs)
  rejected.push(...content.rejected)
  return {
    window,
    events: content.events,
    unread: content.rejected.map(({ item }) => `usgs:${item}`),
    generated: metadata?.generated ?? 0,
    complete: metadata !== undefined && (metadata.count ?? features.length) === features.length,
  }
}

function newer(events: Map<string, NormalisedEvent>, event: NormalisedEvent): NormalisedEvent {
  const other = events.get(event.id)
  return other?.revised_at && event.revised_at && other.revised_at > event.revised_at
    ? other
    : event
}
