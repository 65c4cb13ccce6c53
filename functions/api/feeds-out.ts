import { etag, RETAINED_304_HEADERS } from 'hono/etag'
import { z } from 'zod'
import { ApiError, problemAnswers } from '../../shared/problem.ts'
import { createRoute, resource } from '../../shared/route.ts'
import { FEED_FORMATS, type FeedFormat } from '../../shared/schemas/feed-link.ts'
import { tokenHash } from '../../shared/token.ts'
import { connect } from '../auth.ts'
import type { Ctx, Env } from '../context.ts'
import { translate } from '../errors.ts'
import { atomOf } from '../feeds-out/atom.ts'
import { geojsonOf } from '../feeds-out/geojson.ts'
import { icalendarOf } from '../feeds-out/icalendar.ts'
import { FeedAlert, type ZoneFeed } from '../feeds-out/zone-feed.ts'
import { Problem, STATUS_DESCRIPTIONS } from '../http.ts'
import { limitAddress } from './sources.ts'

/** The window of a feed, and the most alerts that it shows. */
const FEED_DAYS = 30
const FEED_LIMIT = 100
/**
 * What changed within the last minute is dated by its ETag alone: dates are in whole seconds, and a
 * transaction that began before may still commit.
 */
const SETTLED_MS = 60_000

const FORMATS: Record<FeedFormat, { type: string; render: (feed: ZoneFeed) => string }> = {
  atom: { type: 'application/atom+xml; charset=utf-8', render: atomOf },
  geojson: { type: 'application/geo+json', render: geojsonOf },
  ics: { type: 'text/calendar; charset=utf-8; method=PUBLISH', render: icalendarOf },
}
const FILE = new RegExp(`^([\\w-]{43})\\.(${FEED_FORMATS.join('|')})$`)

const Collection = z
  .looseObject({
    type: z.literal('FeatureCollection'),
    title: z.string(),
    description: z.string(),
    zone_id: z.uuid(),
    updated_at: z.iso.datetime(),
    truncated: z.boolean().meta({ description: 'Whether there are more alerts in the window.' }),
    features: z.array(z.looseObject({ type: z.literal('Feature'), id: z.uuid() })),
  })
  .meta({ id: 'ZoneFeed', description: 'The alerts of a zone as GeoJSON.' })

/** The feeds of zones, for whoever has a secret link. Public: the link stands for the key. */
export const feedsOut = resource<Env>()

feedsOut.openapi(
  createRoute({
    method: 'get',
    path: '/{file}',
    operationId: 'readFeed',
    tags: ['Feeds out'],
    summary: 'Read the alerts of a zone by a secret link, without a key',
    description:
      `The alerts of the last ${FEED_DAYS} days with their updates, newest first, at most ${FEED_LIMIT}; the feed says ` +
      'when there are more. Suppressed alerts are left out. `POST /zones/{id}/feed-links` makes a link. A link that is ' +
      'wrong, revoked or does not work any more is 404.',
    security: [],
    middleware: etag({ retainedHeaders: [...RETAINED_304_HEADERS, 'x-request-id'] }),
    request: {
      params: z.object({
        file: z.string().meta({
          description: 'The token of the link, a dot and the format: `atom`, `geojson` or `ics`.',
          example: '3q2-7wX9kQm1s5vTt0yYb2cDdEe4fFgGhH6iIjJkKlL.atom',
        }),
      }),
    },
    responses: {
      200: {
        description: 'The feed.',
        content: {
          'application/atom+xml': { schema: z.string() },
          'application/geo+json': { schema: Collection },
          'text/calendar': { schema: z.string() },
        },
      },
      304: { description: 'It is as the ETag or time in the request says.' },
      ...problemAnswers([404, 429, 500, 503], { schema: Problem, meanings: STATUS_DESCRIPTIONS }),
    },
  }),
  async (c) => {
    limitAddress(c)
    const [, token, format] = FILE.exec(c.req.valid('param').file) ?? []
    if (token === undefined || !isFormat(format)) throw noFeed()
    const row = await findFeed(c, await tokenHash(token))
    if (!row) throw noFeed()
    const { modified_at, alerts, ...zone } = row
    // Only the maker of the link may keep a copy, and must ask each time whether it still works.
    c.header('Cache-Control', 'private, no-cache')
    c.header('X-Robots-Tag', 'noindex')
    if (Date.now() - Date.parse(modified_at) > SETTLED_MS) {
      c.header('Last-Modified', new Date(modified_at).toUTCString())
      if (isUnmodified(c, modified_at)) return c.body(null, 304)
    }
    const { type, render } = FORMATS[format]
    const text = render({
      ...zone,
      alerts: alerts.slice(0, FEED_LIMIT),
      is_cut: alerts.length > FEED_LIMIT,
      days: FEED_DAYS,
      limit: FEED_LIMIT,
      public_url: c.get('deps').public_url,
    })
    return c.body(text, 200, { 'Content-Type': type }) as never // safe: one of the three types above
  },
)

const Row = z.object({
  zone_id: z.uuid(),
  label: z.string(),
  created_at: z.string(),
  modified_at: z.string(),
  alerts: z.array(FeedAlert),
})

/** The feed of a link, in one round trip, as the login role: nobody is signed in. */
async function findFeed(c: Ctx, hash: Uint8Array): Promise<z.infer<typeof Row> | undefined> {
  const connection = await connect(c)
  try {
    const { rows } = await connection.query('select * from private.feed_of($1, $2, $3)', [
      hash,
      FEED_DAYS,
      FEED_LIMIT,
    ])
    connection.release()
    return rows[0] && Row.parse(rows[0])
  } catch (error) {
    connection.release(true)
    throw translate(error)
  }
}

/** Whether the request has what was changed last; an If-None-Match decides by itself (RFC 9110, 13.1.3). */
function isUnmodified(c: Ctx, modified_at: string): boolean {
  const since = Date.parse(c.req.header('if-modified-since') ?? '')
  if (c.req.header('if-none-match') !== undefined || Number.isNaN(since)) return false
  return Math.floor(Date.parse(modified_at) / 1000) * 1000 <= since
}

const isFormat = (text: string | undefined): text is FeedFormat =>
  FEED_FORMATS.some((format) => format === text)

/** The same for every link that does not work, so that nobody learns why. */
function noFeed(): ApiError {
  return new ApiError(
    'not_found',
    'There is no feed at this address. Its link may have been revoked or replaced: ask whoever gave it to you for the current one.',
  )
}
