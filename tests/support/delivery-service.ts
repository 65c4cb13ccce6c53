import { z } from 'zod'
import type { SendResult } from '../../functions/channels/transport/send.ts'
import { createTestJobs, quake, type TestJobs } from './jobs.ts'
import { createService, type Person, parsed, type Service, sendResult } from './service.ts'

export const CreatedChannel = z.object({
  channel: z.object({ id: z.uuid(), signing_secret: z.string() }),
})
export const CreatedZone = z.object({ zone: z.object({ id: z.uuid() }) })

type Place = { lat: number; lon: number }
/** An alert with one delivery that was tried once. */
export type TriedDelivery = {
  person: Person
  channel: string
  secret: string
  zone: string
  delivery: string
  here: Place
}
export type DeliveryService = Awaited<ReturnType<typeof createDeliveryService>>

/** Creates a service with its jobs, for tests of deliveries. */
export async function createDeliveryService(
  options: {
    service?: Parameters<typeof createService>[0]
    jobs?: Parameters<typeof createTestJobs>[1]
  } = {},
) {
  const service: Service = await createService(options.service)
  const jobs: TestJobs = await createTestJobs(service, options.jobs)
  const query = (statement: string, values: unknown[] = []) =>
    service.database.query<Record<string, unknown>>(statement, values)
  const ok = () => sendResult(200, 'ok')
  let places = 0

  async function make<S extends z.ZodType>(person: Person, path: string, body: object, schema: S) {
    const made = await service.request('POST', `/api/v1/${path}`, { key: person.key, body })
    return parsed(made, 201, schema)
  }

  async function channelOf(person: Person, fields: object = {}) {
    const body = { kind: 'webhook', target: 'https://hooks.example.com/in', ...fields }
    return (await make(person, 'channels', body, CreatedChannel)).channel
  }

  /** A place far from all others, so that no zone contains another test's event. */
  function place(): Place {
    places += 1
    return { lat: -60 + 2 * (places % 60), lon: -170 + 5 * Math.floor(places / 60) }
  }

  return {
    service,
    jobs,
    query,
    make,
    channelOf,
    place,
    /** Drops the jobs and requests that an earlier test left; call it before each test. */
    reset: async () => {
      await query(`delete from pgboss.job where name = 'deliver'`)
      service.receiver.requests.length = 0
      service.receiver.answer = ok
    },
    /** Raises one alert for the only channel of a new account; the receiver gives this answer. */
    deliverOnce: async (answer: () => SendResult): Promise<TriedDelivery> => {
      const person = await service.person()
      const { id: channel, signing_secret: secret } = await channelOf(person)
      const here = place()
      const { zone } = await make(person, 'zones', { label: 'A place', ...here }, CreatedZone)
      service.receiver.answer = answer
      await jobs.ingest(quake(here))
      await jobs.drain()
      const [row] = await query('select id from watchpost.deliveries where channel_id = $1', [
        channel,
      ])
      service.receiver.requests.length = 0
      service.receiver.answer = ok
      return { person, channel, secret, zone: zone.id, delivery: z.uuid().parse(row?.id), here }
    },
    /** Makes waiting deliveries due and runs them; ends the channel's pause unless `is_paused`. */
    retryNow: async ({ channel }: Pick<TriedDelivery, 'channel'>, { is_paused = false } = {}) => {
      if (!is_paused)
        await query('update watchpost.channels set paused_until = null where id = $1', [channel])
      await query(
        `update pgboss.job set start_after = now() where name = 'deliver' and state = 'created'`,
      )
      await jobs.drain()
    },
    deliveryOf: async ({ delivery }: Pick<TriedDelivery, 'delivery'>) => {
      const [row] = await query(
        `select d.status, d.attempts, d.last_error, a.status as alert
        from watchpost.deliveries d join watchpost.alerts a on a.id = d.alert_id where d.id = $1`,
        [delivery],
      )
      return row
    },
    close: async () => {
      await jobs.close()
      await service.close()
    },
  }
}
