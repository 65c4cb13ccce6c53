import { createConnection, type Socket } from 'node:net'
import pg from 'pg'
import { type Database, inTransaction } from '../../functions/db.ts'
import { lookAhead } from '../../functions/jobs/match-ahead.ts'
import { loadZones } from '../../functions/jobs/zone-cache.ts'
import type { ZoneMirror } from '../../functions/jobs/zone-mirror.ts'
import { isInside } from '../../shared/decide/decide.ts'
import { decideLinked } from '../../shared/decide/decide-linked.ts'
import type { Sql } from '../../shared/sql.ts'
import { seconds } from './figure.ts'
import type { Place, Seed } from './ground.ts'

/** Places looked up among zones: how many seconds it took, and how many zones held one. */
export type LookedUp = { seconds: number; hits: number }

/** Looks up the events of batches and decides each with its zones, as matching does before it stores anything. */
export async function lookUpHere(
  db: Database,
  batchIds: string[],
  zones: ZoneMirror,
): Promise<LookedUp> {
  let hits = 0
  const time = await seconds(async () => {
    for (const id of batchIds) hits += await inTransaction(db, (sql) => decideBatch(sql, id, zones))
  })
  return { seconds: time, hits }
}

/**
 * Looks up the events of batches among zones that are in memory, without reading or deciding anything: what an engine for
 * look-ups does. The events are read beforehand.
 */
export async function lookUpAlone(
  db: Database,
  batchIds: string[],
  mirror: ZoneMirror,
): Promise<() => Promise<LookedUp>> {
  return inTransaction(db, async (sql) => {
    const index = await mirror.follow(sql)
    if (!index) throw new Error('the zones are not in memory')
    const found = await Promise.all(
      batchIds.map((id) => lookAhead(sql, { ids: [id], after: null }, PORTIONS, index)),
    )
    const events = found.flatMap(({ candidates }) => candidates)
    const { all } = await loadZones(sql, events, undefined, index)
    const zones = new Map(all.map((zone) => [zone.id, zone.prepared]))
    return async () => {
      let hits = 0
      const time = await seconds(async () => {
        for (const event of events) {
          for (const id of index.near(event)) {
            const zone = zones.get(id)
            if (zone && isInside(zone, event)) hits += 1
          }
        }
      })
      return { seconds: time, hits }
    }
  })
}

/** All that an event concerns at once. */
const PORTIONS = { at_once: 2e9, ahead: 2e9 }

async function decideBatch(sql: Sql, id: string, mirror: ZoneMirror): Promise<number> {
  const index = await mirror.follow(sql)
  const { candidates } = await lookAhead(sql, { ids: [id], after: null }, PORTIONS, index)
  const zones = await loadZones(sql, candidates, undefined, index)
  let hits = 0
  for (const event of candidates) {
    const at = new Date(event.first_seen_at)
    for (const zoneId of event.zone_ids) {
      const zone = zones.at(zoneId, at)
      if (!zone) continue
      const { outcome } = decideLinked(zone.prepared, event, () => null, at, { brief: true })
      if (outcome !== 'none') hits += 1
    }
  }
  return hits
}

/** A Tile38 with zones, of which the places are asked many at a time. */
export async function lookUpInTile38(
  url: string,
  zones: Seed[],
): Promise<{ lookUp: (places: Place[]) => Promise<LookedUp>; close: () => Promise<void> }> {
  const [first] = zones
  if (!first) throw new Error('there are no zones to look up')
  const { hostname, port } = new URL(url)
  const socket = createConnection({ host: hostname, port: Number(port || 9851) })
  await new Promise<void>((ready, fail) => {
    socket.once('connect', ready)
    socket.once('error', fail)
  })
  await ask(socket, [['DROP', 'bench']])
  const sets = zones.map((zone, nr) => ['SET', 'bench', String(nr), ...shapeOf(zone)])
  for (let from = 0; from < sets.length; from += 500)
    await ask(socket, sets.slice(from, from + 500))
  return {
    lookUp: async (places) => {
      let hits = 0
      const time = await seconds(async () => {
        for (let from = 0; from < places.length; from += 1000) {
          const some = places.slice(from, from + 1000)
          const counts = await ask(
            socket,
            some.map((place) => lookUpOf(first, place)),
          )
          for (const count of counts) hits += count
        }
      })
      return { seconds: time, hits }
    },
    close: async () => {
      await ask(socket, [['DROP', 'bench']])
      socket.destroy()
    },
  }
}

/** Of circles of one radius their centres are stored, and those within the radius are looked for. */
function shapeOf({ lat, lon, polygon }: Seed): string[] {
  if (polygon) return ['OBJECT', JSON.stringify(polygon)]
  return ['POINT', String(lat), String(lon)]
}

function lookUpOf({ radius_km, polygon }: Seed, { lat, lon }: Place): string[] {
  const asked = ['bench', 'LIMIT', '1000000', 'COUNT']
  if (!polygon) {
    return ['WITHIN', ...asked, 'CIRCLE', String(lat), String(lon), String(radius_km * 1000)]
  }
  const point = JSON.stringify({ type: 'Point', coordinates: [lon, lat] })
  return ['INTERSECTS', ...asked, 'OBJECT', point]
}

/** Sends commands at once and returns the number in each answer; 0 for one without a number. */
function ask(socket: Socket, commands: string[][]): Promise<number[]> {
  return new Promise((resolve, reject) => {
    const numbers: number[] = []
    let rest = ''
    const onData = (chunk: Buffer) => {
      const lines = (rest + chunk.toString('latin1')).split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line.startsWith('-')) return end(new Error(`Tile38 answered ${line.slice(1)}`))
        numbers.push(line.startsWith(':') ? Number(line.slice(1)) : 0)
      }
      if (numbers.length >= commands.length) end()
    }
    const end = (error?: Error) => {
      socket.off('data', onData)
      socket.off('error', end)
      if (error) reject(error)
      else resolve(numbers)
    }
    socket.on('data', onData)
    socket.once('error', end)
    socket.write(commands.map(encode).join(''))
  })
}

const encode = (words: string[]) =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`

/** A plain join of places and zones in a database with PostGIS; circles all have one radius. */
export async function lookUpInPostgis(
  url: string,
  zones: Seed[],
  places: Place[],
): Promise<{ lookUp: () => Promise<LookedUp>; close: () => Promise<void> }> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('create temp table bench_zones (centre geography, shape geometry)')
  await client.query('create temp table bench_places (place geography, point geometry)')
  for (let from = 0; from < zones.length; from += 2000) {
    await client.query(
      `insert into bench_zones
      select st_makepoint(lon, lat)::geography, st_setsrid(st_geomfromgeojson(polygon), 4326)
      from jsonb_to_recordset($1) as x (lat float8, lon float8, polygon jsonb)`,
      [JSON.stringify(zones.slice(from, from + 2000))],
    )
  }
  await client.query(
    `insert into bench_places
    select st_makepoint(lon, lat)::geography, st_setsrid(st_makepoint(lon, lat), 4326)
    from jsonb_to_recordset($1) as x (lat float8, lon float8)`,
    [JSON.stringify(places)],
  )
  await client.query('create index on bench_zones using gist (centre)')
  await client.query('create index on bench_zones using gist (shape)')
  await client.query('analyze bench_zones, bench_places')
  const [first] = zones
  const within = first?.polygon
    ? 'st_intersects(z.shape, p.point)'
    : `st_dwithin(z.centre, p.place, ${Number(first?.radius_km) * 1000}, false)`
  return {
    lookUp: async () => {
      let hits = 0
      const time = await seconds(async () => {
        const { rows } = await client.query<{ hits: number }>(
          `select count(*)::int as hits from bench_places p join bench_zones z on ${within}`,
        )
        hits = rows[0]?.hits ?? 0
      })
      return { seconds: time, hits }
    },
    close: () => client.end(),
  }
}
