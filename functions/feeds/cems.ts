import { z } from 'zod'
import type { EventType } from '../../shared/schemas/event.ts'
import {
  type Content,
  type Feed,
  type FeedResult,
  feedError,
  type Normalised,
  normaliseEach,
  type PollInput,
  reject,
  toEvent,
} from './feed.ts'
import { fetchFeed, parseJson, pauseFor, Validators } from './fetch.ts'
import { instantOfIso } from './formats/times.ts'

/** The newest activations: about as many as there are in half a year. */
const LIST =
  'https://mapping.emergency.copernicus.eu/activations/api/activations/?limit=50&offset=0'
const PAGES = 'https://mapping.emergency.copernicus.eu/activations'
const INTERVAL_SECONDS = 30 * 60
const MAX_POLL_SECONDS = 6 * 60 * 60
const SEVERITY = 50
const CLOSED_SEVERITY = 20

const Text = z.string().nullish().catch(null)
const Activation = z.object({
  code: z.string().regex(/^[A-Z]+\d+$/),
  name: Text,
  category: z.object({ slug: Text, name: Text }).nullish().catch(null),
  centroid: z.string(),
  activationTime: z.string(),
  lastUpdate: Text,
  closed: z.boolean().nullish(),
})
const List = z.object({ results: z.array(z.unknown()) })

/** Words of a category, the first that is found decides. */
const WORDS: [words: RegExp, type: EventType][] = [
  [/fire/i, 'wildfire'],
  [/tsunami/i, 'tsunami'],
  [/flood/i, 'flood'],
  [/storm|cyclone|hurricane|wind/i, 'storm'],
  [/earthquake/i, 'earthquake'],
  [/volcan/i, 'volcano'],
  [/drought/i, 'drought'],
]

/** The activations of Copernicus EMS Rapid Mapping: disasters for which maps are being made. */
export const cems: Feed = {
  source: 'cems',
  title: 'Copernicus EMS activations',
  attribution: 'Activations: European Union, Copernicus Emergency Management Service',
  types: ['wildfire', 'flood', 'storm', 'earthquake', 'volcano', 'tsunami', 'drought', 'other'],
  ceilings: {
    wildfire: SEVERITY,
    flood: SEVERITY,
    storm: SEVERITY,
    earthquake: SEVERITY,
    volcano: SEVERITY,
    tsunami: SEVERITY,
    drought: SEVERITY,
    other: SEVERITY,
  },
  interval_seconds: INTERVAL_SECONDS,
  poll,
  normalise: (text) => readAnswer(parseJson(text)),
}

async function poll(input: PollInput): Promise<FeedResult> {
  const validators = Validators.catch({}).parse(input.state)
  const fetched = await fetchFeed(LIST, { ...input, validators })
  const pause = pauseFor(fetched.max_age_seconds, INTERVAL_SECONDS, MAX_POLL_SECONDS)
  if (fetched.not_modified) {
    return { events: [], state: input.state, not_modified: true, rejected: [], ...pause }
  }
  const content = readAnswer(fetched.json)
  return { ...content, state: { ...fetched.validators }, not_modified: false, ...pause }
}

/** A list, or one activation. */
function readAnswer(json: unknown): Content {
  const list = List.safeParse(json)
  if (list.success) return normaliseEach(list.data.results, readActivation)
  if (!z.object({ code: z.string() }).safeParse(json).success) {
    throw feedError('not_json', 'answered with JSON that has no results')
  }
  return normaliseEach([json], readActivation)
}

function readActivation(json: unknown, position: string): Normalised {
  const item = z.object({ code: z.string().min(1) }).safeParse(json).data?.code ?? position
  const read = Activation.safeParse(json)
  if (!read.success) return reject(item, read.error)
  const { code, name, category, centroid, activationTime, lastUpdate, closed } = read.data
  const place = /POINT\s*Z?\s*\(\s*(-?\d+(?:\.\d+)?)\s+(-?\d+(?:\.\d+)?)/i.exec(centroid)
  if (!place) return reject(item, 'centroid: is not a point')
  const label = [category?.slug, category?.name].join(' ')
  return toEvent(
    {
      id: `cems:${code}`,
      source: 'cems',
      type: WORDS.find(([words]) => words.test(label))?.[1] ?? 'other',
      title: name?.trim() || `${category?.name?.trim() || 'Activation'} ${code}`,
      lon: Number(place[1]),
      lat: Number(place[2]),
      ts: instantOfIso(activationTime, { local: 'utc' }),
      severity: closed ? CLOSED_SEVERITY : SEVERITY,
      status: closed ? 'ended' : 'active',
      url: `${PAGES}/${code}/`,
      revised_at: lastUpdate ? instantOfIso(lastUpdate, { local: 'utc' }) : null,
    },
    item,
  )
}
