import { z } from 'zod'
import {
  type Content,
  type Feed,
  type FeedError,
  type FeedResult,
  feedError,
  type Normalised,
  normaliseEach,
  type PollInput,
  reject,
  severityOfMagnitude,
  toEvent,
  toSeverity,
} from './feed.ts'
import { fetchFeed, parseJson, pauseFor, Validators } from './fetch.ts'
import { instantOfIso } from './formats/times.ts'
import { OpenEvents, retractMissing } from './memory/open-events.ts'

/** All earthquakes, also those that nobody feels. */
const LIST = 'https://api.geonet.org.nz/quake?MMI=-1'
const INTERVAL_SECONDS = 60

const Feature = z.object({
  properties: z.object({
    publicID: z.string().regex(/^\S+$/),
    time: z.string(),
    depth: z.number().nullish(),
    magnitude: z.number().nullish(),
    /** The shaking at the closest place, −1 (not felt) to 8. */
    mmi: z.number().nullish(),
    locality: z.string().nullish(),
    quality: z.string().nullish(),
  }),
  geometry: z.object({ coordinates: z.tuple([z.number(), z.number()], z.unknown()) }),
})
type Properties = z.infer<typeof Feature>['properties']

const Answer = z.object({ features: z.array(z.unknown()) })
const Named = z.object({ properties: z.object({ publicID: z.string().min(1) }) })

const State = z.object({ validators: Validators.default({}), known: OpenEvents.default({}) })

/** The earthquakes of GeoNet, New Zealand: its list of the latest hundred. */
export const geonet: Feed = {
  source: 'geonet',
  title: 'GeoNet earthquakes (New Zealand)',
  attribution: 'GeoNet, New Zealand (CC BY 4.0)',
  types: ['earthquake'],
  // New Zealand with the Kermadec Islands and the ocean around.
  region: () => [
    [155, -60, 180, -20],
    [-180, -60, -165, -20],
  ],
  interval_seconds: INTERVAL_SECONDS,
  poll,
  normalise,
}

function normaliseQuake(feature: unknown, position: string): Normalised {
  const read = Feature.safeParse(feature)
  if (!read.success) {
    return reject(Named.safeParse(feature).data?.properties.publicID ?? position, read.error)
  }
  const { properties, geometry } = read.data
  const { publicID, magnitude, depth, quality } = properties
  const [lon, lat] = geometry.coordinates
  return toEvent(
    {
      id: `geonet:${publicID}`,
      source: 'geonet',
      type: 'earthquake',
      title: title(properties, lat, lon),
      lat,
      lon,
      ts: instantOfIso(properties.time),
      severity: severity(properties),
      status: quality?.toLowerCase() === 'deleted' ? 'retracted' : 'active',
      url: `https://www.geonet.org.nz/earthquake/${encodeURIComponent(publicID)}`,
      magnitude: magnitude ?? null,
      depth_km: depth ?? null,
    },
    publicID,
  )
}

/** The greater of the rule by magnitude and ten times the shaking (MMI). */
function severity({ magnitude, mmi }: Properties): number {
  return Math.max(severityOfMagnitude(magnitude), toSeverity((mmi ?? 0) * 10))
}

function title({ magnitude, locality }: Properties, lat: number, lon: number): string {
  const where = locality?.trim() || `${lat.toFixed(2)}, ${lon.toFixed(2)}`
  return `${magnitude == null ? 'Magnitude unknown' : `M ${magnitude.toFixed(1)}`} - ${where}`
}

/** The list, or the history or present state of one earthquake. */
function normalise(text: string): Content {
  return normaliseEach(featuresOf(parseJson(text)), normaliseQuake)
}

function featuresOf(json: unknown): unknown[] {
  const answer = Answer.safeParse(json)
  if (answer.success) return answer.data.features
  if (Feature.safeParse(json).success) return [json]
  throw notGeoJson()
}

function notGeoJson(): FeedError {
  return feedError('not_json', 'answered with JSON that is not a FeatureCollection')
}

async function poll(input: PollInput): Promise<FeedResult> {
  const state = State.catch(State.parse({})).parse(input.state)
  const fetched = await fetchFeed(LIST, {
    ...input,
    accept: 'application/vnd.geo+json;version=2',
    validators: state.validators,
  })
  const next_poll = pauseFor(fetched.max_age_seconds, INTERVAL_SECONDS)
  if (fetched.not_modified) {
    return { events: [], rejected: [], state: input.state, not_modified: true, ...next_poll }
  }
  const content = normaliseEach(featuresOf(fetched.json), normaliseQuake)
  const { known, retracted } = retractMissing(state.known, content.events, {
    // The list is cut by number: what is older than its last earthquake has only left it.
    since: oldest(content) ?? input.now.toISOString(),
    unread: content.rejected.map(({ item }) => `geonet:${item}`),
  })
  return {
    events: [...content.events, ...retracted],
    rejected: content.rejected,
    state: { validators: fetched.validators, known },
    not_modified: false,
    ...next_poll,
  }
}

function oldest({ events }: Content): string | undefined {
  return events
    .map(({ ts }) => ts)
    .sort()
    .at(0)
}
