import { z } from 'zod'
import { ApiError, notFound } from '../../shared/problem.ts'
import {
  createRoute,
  jsonBody,
  jsonResponse,
  noBody,
  pathId,
  resource,
  respond,
} from '../../shared/route.ts'
import { FeedLink, FeedLinkCreate, ShownFeedLink } from '../../shared/schemas/feed-link.ts'
import { raw, type Sql } from '../../shared/sql.ts'
import { generateToken, tokenHash } from '../../shared/token.ts'
import { can } from '../auth.ts'
import type { Ctx, Env } from '../context.ts'
import { problems } from '../http.ts'
import { IdempotencyHeader, idempotent } from '../idempotency.ts'
import { read, write } from '../transaction.ts'
import { mayEdit, one } from './zones/zone-rows.ts'
import { ZoneId } from './zones.ts'

const LinkId = ZoneId.extend({ linkId: pathId('The id of a feed link.') })
const One = z.object({ feed_link: FeedLink })
const Shown = z.object({ feed_link: ShownFeedLink })
const List = z.object({ feed_links: z.array(FeedLink) })
const security = [{ key: [] }]

/** SQL: the columns of feed link `l`. */
export const linkColumns = raw('l.id, l.zone_id, l.owner_id, l.label, l.created_at, l.rotated_at')

/** The secret links to the feed of a zone; part of the zones' routes. */
export const feedLinks = resource<Env>()

feedLinks.openapi(
  createRoute({
    method: 'get',
    path: '/{id}/feed-links',
    operationId: 'listFeedLinks',
    tags: ['Feeds out'],
    summary: 'List the links to the feed of a zone, newest first',
    description:
      'Without their addresses, which are shown once. For whoever may change the zone. A zone has at most 20.',
    security,
    middleware: can('read'),
    request: { params: ZoneId },
    responses: { 200: jsonResponse(List, 'The links.'), ...problems(404) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const [zone, feed_links] = await read(c, (sql) =>
      Promise.all([
        findZone(sql, id),
        sql<FeedLink>`
          select ${linkColumns} from watchpost.feed_links l
          where l.zone_id = ${id}
          order by l.created_at desc, l.id desc`,
      ]),
    )
    requireEditor(zone)
    return respond(c, List, { feed_links }, 200)
  },
)

feedLinks.openapi(
  createRoute({
    method: 'post',
    path: '/{id}/feed-links',
    operationId: 'createFeedLink',
    tags: ['Feeds out'],
    summary: 'Make a secret link to the feed of a zone: Atom, GeoJSON and iCalendar',
    description:
      'Whoever has one of its addresses reads the alerts of the zone without a key, until the link is rotated or ' +
      'revoked, the zone is deleted or paused, or the maker may no longer change the zone. The addresses are shown once.',
    security,
    middleware: can('write'),
    request: { params: ZoneId, headers: IdempotencyHeader, body: jsonBody(FeedLinkCreate) },
    responses: {
      201: jsonResponse(Shown, 'The link with its addresses.'),
      ...problems(404, 409, 413, 415, 422),
    },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const { label = null } = c.req.valid('json')
    const token = generateToken()
    const hash = await tokenHash(token)
    const { thing, status, replayed } = await idempotent(c, {
      create: async (sql) => {
        // Sent together. A zone that is missing or may not be changed is reported before the policy's error.
        const [zone, made] = await Promise.allSettled([
          findZone(sql, id),
          sql<FeedLink>`
            insert into watchpost.feed_links as l (zone_id, label, token_hash)
            select z.id, ${label}::text, ${hash}
            from watchpost.zones z
            where z.id = ${id} and z.deleted_at is null and ${mayEdit}
            returning ${linkColumns}`,
        ])
        if (zone.status === 'rejected') throw zone.reason
        requireEditor(zone.value)
        if (made.status === 'rejected') throw made.reason
        return one(made.value)
      },
      replay: (sql, link) => findLink(sql, id, link),
    })
    const feed_link = { ...thing, urls: replayed ? null : urlsOf(c, token) }
    return respond(c, Shown, { feed_link }, status, {
      Location: `${new URL(c.req.url).pathname}/${thing.id}`,
    })
  },
)

feedLinks.openapi(
  createRoute({
    method: 'get',
    path: '/{id}/feed-links/{linkId}',
    operationId: 'getFeedLink',
    tags: ['Feeds out'],
    summary: 'Get a link to the feed of a zone, without its addresses',
    security,
    middleware: can('read'),
    request: { params: LinkId },
    responses: { 200: jsonResponse(One, 'The link.'), ...problems(404) },
  }),
  async (c) => {
    const { id, linkId } = c.req.valid('param')
    const [zone, feed_link] = await read(c, (sql) =>
      Promise.all([findZone(sql, id), findLink(sql, id, linkId)]),
    )
    requireEditor(zone)
    if (!feed_link) throw notFound('feed link')
    return respond(c, One, { feed_link }, 200)
  },
)

feedLinks.openapi(
  createRoute({
    method: 'post',
    path: '/{id}/feed-links/{linkId}/rotate',
    operationId: 'rotateFeedLink',
    tags: ['Feeds out'],
    summary: 'Replace the addresses of a link; the former ones stop working at once',
    security,
    middleware: can('write'),
    request: { params: LinkId, body: noBody },
    responses: {
      200: jsonResponse(Shown, 'The link with its new addresses.'),
      ...problems(404, 413, 415, 422),
    },
  }),
  async (c) => {
    const { id, linkId } = c.req.valid('param')
    const token = generateToken()
    const hash = await tokenHash(token)
    const link = await write(c, async (sql) => {
      const [zone, rows] = await Promise.all([
        findZone(sql, id),
        sql<FeedLink>`
          update watchpost.feed_links l set token_hash = ${hash}
          where l.id = ${linkId} and l.zone_id = ${id}
          returning ${linkColumns}`,
      ])
      requireEditor(zone)
      if (rows.length === 0) throw notFound('feed link')
      return one(rows)
    })
    return respond(c, Shown, { feed_link: { ...link, urls: urlsOf(c, token) } }, 200)
  },
)

feedLinks.openapi(
  createRoute({
    method: 'delete',
    path: '/{id}/feed-links/{linkId}',
    operationId: 'revokeFeedLink',
    tags: ['Feeds out'],
    summary: 'Revoke a link; its addresses are 404 from the next request on',
    security,
    middleware: can('write'),
    request: { params: LinkId },
    responses: { 204: { description: 'Revoked.' }, ...problems(404) },
  }),
  async (c) => {
    const { id, linkId } = c.req.valid('param')
    await write(c, async (sql) => {
      const [zone, rows] = await Promise.all([
        findZone(sql, id),
        sql`delete from watchpost.feed_links where id = ${linkId} and zone_id = ${id} returning id`,
      ])
      requireEditor(zone)
      if (rows.length === 0) throw notFound('feed link')
    })
    return c.body(null, 204)
  },
)

type Zone = { may_edit: boolean }

async function findZone(sql: Sql, id: string): Promise<Zone | undefined> {
  const [zone] = await sql<Zone>`
    select ${mayEdit} as may_edit from watchpost.zones z where z.id = ${id} and z.deleted_at is null`
  return zone
}

async function findLink(sql: Sql, zoneId: string, id: string): Promise<FeedLink | undefined> {
  const [link] = await sql<FeedLink>`
    select ${linkColumns} from watchpost.feed_links l where l.id = ${id} and l.zone_id = ${zoneId}`
  return link
}

function requireEditor(zone: Zone | undefined): void {
  if (!zone) throw notFound('zone')
  if (zone.may_edit) return
  throw new ApiError(
    'forbidden',
    'Only the owner of the zone or an admin of its organisation may see and change its feed links.',
  )
}

function urlsOf(c: Ctx, token: string) {
  const address = `${c.get('deps').public_url}/api/v1/feeds/${token}`
  return { atom: `${address}.atom`, geojson: `${address}.geojson`, ics: `${address}.ics` }
}
