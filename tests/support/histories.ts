/**
 * Random zones and the events around them, as a feed would have reported them over the last days.
 */
import fc from 'fast-check'
import type { NormalisedEvent } from '../../shared/schemas/event.ts'

const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60
/** Positions are kept for only two days, so tracks stay within them. */
const TRACK_MINUTES = 40 * 60

export type SeenEvent = NormalisedEvent & { first_seen_at: string }
/** Events of one source that arrive together; with `drain` they are matched at once. */
type Batch = { kind: 'batch'; at: string; events: SeenEvent[]; drain: boolean }
/** Changes of the zone, of the plan of its owner, or of the organisation that shares it. */
export type Change = { kind: 'change'; at: string } & (
  | { what: 'edit'; patch: object }
  | { what: 'snooze'; minutes: number }
  | { what: 'ban'; minutes: number }
  | { what: 'delete_or_restore' | 'pay_or_not' | 'leave_or_join' | 'share_or_not' }
)
/** Batches and changes in the order in which they happened. */
export type History = {
  zone: object
  /** Whether the zone limits its alerts an hour. */
  has_limit: boolean
  has_channel: boolean
  steps: (Batch | Change)[]
}

/** Who may see the events of a source: everybody, the owner of the zone, or the team. */
export const AUDIENCES: Record<string, 'everybody' | 'owner' | 'team'> = {
  test: 'everybody',
  other: 'everybody',
  'test-owner': 'owner',
  'test-team': 'team',
  usgs: 'everybody',
  emsc: 'everybody',
  geonet: 'everybody',
}
/** Sources that report the same earthquakes. */
const TWINS = ['usgs', 'emsc', 'geonet'] as const
/** What the twins have in common. */
export const storyOf = ({ id, subject }: SeenEvent) =>
  subject ?? id.replace(/^(usgs|emsc|geonet):/, 'twin:')

/** historyOf generates one zone and up to six days until `now`; `name` keeps its ids unique. */
export function historyOf(now: Date, name: string): fc.Arbitrary<History> {
  const ago = (minutes: number) => new Date(now.getTime() - minutes * MINUTE_MS).toISOString()
  return fc
    .record({
      zone: zoneOf,
      has_channel: fc.boolean(),
      mainshock: fc.option(mainshock, { freq: 1 }),
      eventStories: fc.array(eventStory, { minLength: 5, maxLength: 12, size: 'max' }),
      twinStories: fc.array(twinStory, { minLength: 1, maxLength: 2, size: 'max' }),
      tracks: fc.array(track, { minLength: 1, maxLength: 3 }),
      changes: fc.array(fc.tuple(fc.integer({ min: 0, max: 6 * DAY_MINUTES }), change), {
        maxLength: 8,
        size: 'max',
      }),
      cuts: fc.array(fc.record({ size: fc.integer({ min: 1, max: 6 }), drain: fc.boolean() }), {
        minLength: 40,
        maxLength: 40,
      }),
    })
    .map((given) => {
      const { zone, has_channel, mainshock, eventStories, twinStories, tracks, changes, cuts } =
        given
      const stories = mainshock ? [mainshock, ...eventStories] : eventStories
      const events = [
        ...stories.flatMap((given, index) => eventsOf(given, `${name}-${index}`, ago)),
        ...twinStories.flatMap((given, index) => twinsOf(given, `${name}-twin-${index}`, ago)),
        ...tracks.flatMap((given, index) => positionsOf(given, `${name}-${index}`, index, ago)),
      ].sort(bySight)
      // Half a minute off, so that nothing is seen at the very moment of a change.
      const made = [...new Map(changes)].map(([minutes, made]) => ({
        ...made,
        at: ago(minutes + 0.5),
      }))
      // Of two sources, which is matched first decides whose alert is beyond the limit.
      const { has_limit } = zone
      const drained = cuts.map(({ size, drain }) => ({ size, drain: drain || has_limit }))
      return { ...zone, has_channel, steps: cut(events, made.sort(byTime), drained) }
    })
}

/** The order in which what was seen is decided. */
const bySight = (a: SeenEvent, b: SeenEvent) => {
  const [first, second] = [a, b].map(({ first_seen_at, ts, id }) => `${first_seen_at} ${ts} ${id}`)
  return (first ?? '') < (second ?? '') ? -1 : 1
}

const byTime = (a: { at: string }, b: { at: string }) => (a.at < b.at ? -1 : 1)

const clock = fc
  .record({ hour: fc.integer({ min: 0, max: 23 }), minute: fc.constantFrom('00', '30') })
  .map(({ hour, minute }) => `${String(hour).padStart(2, '0')}:${minute}`)

const quiet = fc.record({
  quiet_hours_start: clock,
  quiet_hours_end: clock,
  quiet_hours_tz: fc.constantFrom('UTC', 'Europe/Istanbul', 'America/St_Johns'),
  quiet_mode: fc.constantFrom('hold', 'drop'),
  emergency_severity: fc.option(fc.integer({ min: 60, max: 100 })),
})

/** Null in most cases. */
function seldom<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary })
}

const circle = fc.constantFrom(20, 50, 150).map((radius_km) => ({ radius_km }))
const polygon = fc.constantFrom(0.2, 0.6, 1.5).map((half) => ({
  polygon: {
    type: 'Polygon',
    coordinates: [
      [
        [29 - half, 41 - half],
        [29 + half, 41 - half],
        [29 + half, 41 + half],
        [29 - half, 41 + half],
        [29 - half, 41 - half],
      ],
    ],
  },
}))

const rest = {
  aftershocks: fc.constantFrom({ magnitude_gap: 0.5 }, { magnitude_gap: 2 }, null, null),
  min_severity: fc.integer({ min: 0, max: 60 }),
  severity_multiplier: fc.constantFrom(0.57, 1, 1, 1.5),
  dwell_minutes: fc.constantFrom(0, 0, 30, 180),
  match: fc.constantFrom('point', 'footprint'),
  sources: seldom(fc.constantFrom(['test', 'test-team'], ['other', 'test-owner'])),
  types: seldom(fc.constantFrom(['earthquake'], ['earthquake', 'vessel'], ['storm', 'vessel'])),
}

/** Around (41, 29): about 100 km are a degree, so offsets of 0.3, 1 and 4 degrees tell zones apart. */
const zoneOf: fc.Arbitrary<{ zone: object; has_limit: boolean }> = fc
  .record({
    shape: fc.oneof(circle, polygon),
    quiet: fc.option(quiet, { freq: 2 }),
    rest: fc.record(rest),
    max_alerts_per_hour: fc.constantFrom(1, 2, null, null),
    enabled: fc.oneof(
      { weight: 15, arbitrary: fc.constant(true) },
      { weight: 1, arbitrary: fc.constant(false) },
    ),
  })
  .map(({ shape, quiet, rest, ...more }) => ({
    zone: { label: 'Random', lat: 41, lon: 29, ...shape, ...quiet, ...rest, ...more },
    has_limit: more.max_alerts_per_hour !== null,
  }))

const patch: fc.Arbitrary<object> = fc.oneof(
  fc.record(rest, { requiredKeys: [] }),
  fc.record({ enabled: fc.boolean() }),
  circle,
  polygon,
  quiet,
  fc.constant({ quiet_hours_start: null, quiet_hours_end: null }),
)
const minutes = fc.integer({ min: 1, max: 2 * DAY_MINUTES })
const toggle = fc.constantFrom(
  'delete_or_restore' as const,
  'delete_or_restore' as const,
  'pay_or_not' as const,
  'pay_or_not' as const,
  'pay_or_not' as const,
  'pay_or_not' as const,
  'leave_or_join' as const,
  'share_or_not' as const,
)
const change = fc
  .oneof(
    patch.map((patch) => ({ what: 'edit' as const, patch })),
    minutes.map((minutes) => ({ what: 'snooze' as const, minutes })),
    minutes.map((minutes) => ({ what: 'ban' as const, minutes })),
    { weight: 4, arbitrary: toggle.map((what) => ({ what })) },
  )
  .map((made) => ({ kind: 'change' as const, ...made }))

const place = fc.record({
  lat: fc.constantFrom(41, 41, 41, 41.01, 41.05, 41.05, 41.3, 42, 45),
  lon: fc.constantFrom(29, 29, 29, 29.02, 29.02, 29.3, 28.2),
})
const severity = fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 60, max: 100 }))

const eventStory = fc.record({
  source: fc.constantFrom('test', 'test', 'other', 'test-owner', 'test-owner', 'test-team'),
  type: fc.constantFrom('earthquake' as const, 'storm' as const),
  revisions: fc.array(
    fc.record({
      // Now and then a lot happens at once.
      minutes_ago: fc.oneof(
        { weight: 3, arbitrary: fc.integer({ min: 1, max: 6 * DAY_MINUTES }) },
        { weight: 1, arbitrary: fc.integer({ min: 4000, max: 4060 }) },
      ),
      place,
      severity,
      magnitude: fc.constantFrom(3, 3, 4.5, 5.4, 5.5, 6.5, 7.5, null),
      status: fc.constantFrom(
        ...(['active', 'active', 'active', 'active', 'active', 'ended', 'retracted'] as const),
      ),
      has_footprint: fc.boolean(),
    }),
    { minLength: 1, maxLength: 5 },
  ),
})

/** An earthquake as several sources report it within hours; some are another one, half a minute later. */
const twinStory = fc.record({
  minutes_ago: fc.integer({ min: 5 * 60, max: 6 * DAY_MINUTES }),
  reports: fc.array(
    fc.record({
      source: fc.constantFrom(...TWINS),
      delay_minutes: fc.integer({ min: 0, max: 299 }),
      place: fc.record({
        lat: fc.constantFrom(41, 41, 41.05, 41.3),
        lon: fc.constantFrom(29, 29.02),
      }),
      severity: fc.integer({ min: 60, max: 100 }),
      seconds: fc.constantFrom(0, 0, 0, 2, 4, 40),
      status: fc.constantFrom(
        ...(['active', 'active', 'active', 'active', 'active', 'retracted'] as const),
      ),
    }),
    { minLength: 3, maxLength: 6, size: 'max' },
  ),
})

/** A large earthquake before most of the rest, near all of it. */
const mainshock: typeof eventStory = fc
  .integer({ min: 5 * DAY_MINUTES, max: 6 * DAY_MINUTES })
  .map((minutes_ago) => ({
    source: 'other',
    type: 'earthquake',
    revisions: [
      {
        ...{ minutes_ago, place: { lat: 41, lon: 29.02 }, severity: 80, magnitude: 6.5 },
        ...{ status: 'active', has_footprint: false },
      },
    ],
  }))

const track = fc.array(
  fc.record({
    minutes_ago: fc.integer({ min: 1, max: TRACK_MINUTES }),
    delay_minutes: fc.constantFrom(0, 1, 90),
    place,
    severity,
  }),
  { minLength: 2, maxLength: 12 },
)

type Given<A> = A extends fc.Arbitrary<infer T> ? T : never

function eventsOf(
  { source, type, revisions }: Given<typeof eventStory>,
  name: string,
  ago: (minutes: number) => string,
): SeenEvent[] {
  const oldest = Math.max(...revisions.map(({ minutes_ago }) => minutes_ago))
  return revisions.map(({ minutes_ago, place, severity, magnitude, status, has_footprint }) => ({
    id: `${source}:${name}`,
    source,
    type,
    title: `${type} ${name}`,
    ...place,
    ts: ago(oldest),
    severity,
    subject: null,
    status,
    magnitude,
    url: null,
    geometry: has_footprint ? squareAround(place) : null,
    ends_at: null,
    revised_at: null,
    aliases: [],
    first_seen_at: ago(minutes_ago),
  }))
}

function twinsOf(
  { minutes_ago, reports }: Given<typeof twinStory>,
  name: string,
  ago: (minutes: number) => string,
): SeenEvent[] {
  // Of two at the same minute one counts: which was first would be left to chance.
  const byTime = new Map(reports.map((report) => [report.delay_minutes, report]))
  return [...byTime.values()].map(
    ({ source, delay_minutes, place, severity, seconds, status }) => ({
      id: `${source}:${name}`,
      source,
      type: 'earthquake',
      title: `Earthquake ${name} by ${source}`,
      ...place,
      ts: ago(minutes_ago - seconds / 60),
      severity,
      subject: null,
      status,
      url: null,
      geometry: null,
      ends_at: null,
      revised_at: null,
      magnitude: 5,
      depth_km: 10,
      aliases: [],
      first_seen_at: ago(minutes_ago - delay_minutes),
    }),
  )
}

function squareAround({ lat, lon }: Given<typeof place>): NormalisedEvent['geometry'] {
  const corners = [
    [-0.5, -0.5],
    [0.5, -0.5],
    [0.5, 0.5],
    [-0.5, 0.5],
    [-0.5, -0.5],
  ]
  return { type: 'Polygon', coordinates: [corners.map(([x = 0, y = 0]) => [lon + x, lat + y])] }
}

function positionsOf(
  given: Given<typeof track>,
  name: string,
  index: number,
  ago: (minutes: number) => string,
): SeenEvent[] {
  // Two positions at the same time are one position.
  const byTime = new Map(given.map((position) => [position.minutes_ago, position]))
  return [...byTime.values()].map(({ minutes_ago, delay_minutes, place, severity }) => ({
    id: `test:ship-${name}-${minutes_ago}`,
    source: 'test',
    type: 'vessel',
    title: `Ship ${index}`,
    ...place,
    ts: ago(minutes_ago),
    severity,
    subject: `mmsi:${name}`,
    status: 'active',
    url: null,
    geometry: null,
    ends_at: null,
    revised_at: null,
    aliases: [],
    // Some arrive late and out of order.
    first_seen_at: ago(Math.max(0, minutes_ago - delay_minutes)),
  }))
}

/**
 * Cuts the events at changes and where `cuts` says, and so that a batch has one source and one state per event.
 */
function cut(
  events: SeenEvent[],
  changes: Change[],
  cuts: { size: number; drain: boolean }[],
): History['steps'] {
  const steps: History['steps'] = []
  const waiting = [...changes]
  let open: SeenEvent[] = []
  const close = () => {
    const { drain } = cuts[steps.length % cuts.length] ?? { drain: true }
    const [first] = open
    if (first) {
      // Batches of two sources are matched in any order.
      const isTwin = TWINS.some((source) => source === first.source)
      const at = first.first_seen_at
      steps.push({ kind: 'batch', at, events: open, drain: drain || isTwin })
    }
    open = []
  }
  for (const event of events) {
    const { size } = cuts[steps.length % cuts.length] ?? { size: 1 }
    const fits =
      open.length < size &&
      open.every(({ id, source }) => id !== event.id && source === event.source)
    const next = waiting.findIndex(({ at }) => at > event.first_seen_at)
    const due = waiting.splice(0, next < 0 ? waiting.length : next)
    if (!fits || due.length > 0) close()
    steps.push(...due)
    open.push(event)
  }
  close()
  return [...steps, ...waiting]
}
