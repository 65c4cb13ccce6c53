import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  CreatedZone,
  createDeliveryService,
  type DeliveryService,
  type TriedDelivery,
} from '../../../support/delivery-service.ts'
import { quake } from '../../../support/jobs.ts'
import { sendResult } from '../../../support/service.ts'

let fixture: DeliveryService
beforeAll(async () => {
  fixture = await createDeliveryService()
})
afterAll(() => fixture?.close())
beforeEach(() => fixture.reset())

const query = (statement: string, values: unknown[] = []) => fixture.query(statement, values)
const broken = () => sendResult(500, 'broken')

describe('nothing is sent any more', () => {
  const cases: [string, (told: TriedDelivery) => Promise<unknown>, string][] = [
    [
      'for an account that fell below Pro',
      ({ person }) =>
        query(`update watchpost.accounts set plan = 'free' where user_id = $1`, [person.user_id]),
      'below the Pro plan',
    ],
    [
      'for somebody who was banned',
      ({ person }) =>
        query(`update auth.users set banned_until = 'infinity' where id = $1`, [person.user_id]),
      'The account is banned',
    ],
    [
      'to a channel that was switched off',
      ({ person, channel }) =>
        fixture.service.request('PATCH', `/api/v1/channels/${channel}`, {
          key: person.key,
          body: { enabled: false },
        }),
      'switched off',
    ],
    [
      'to a channel that was deleted',
      ({ person, channel }) =>
        fixture.service.request('DELETE', `/api/v1/channels/${channel}`, person),
      'The channel was deleted.',
    ],
    [
      'about a zone that was deleted',
      ({ person, zone }) => fixture.service.request('DELETE', `/api/v1/zones/${zone}`, person),
      'The zone was deleted.',
    ],
    // As if the deletion were committed after the delivery was made and before it is taken up.
    [
      'to a channel that is deleted, though nobody cancelled',
      ({ channel }) =>
        behind(`update watchpost.channels set deleted_at = now() where id = $1`, channel),
      'The channel was deleted.',
    ],
    [
      'about a zone that is deleted, though nobody cancelled',
      ({ zone }) => behind(`update watchpost.zones set deleted_at = now() where id = $1`, zone),
      'The zone was deleted.',
    ],
    [
      'to a channel that belongs to somebody else by now',
      async ({ channel }) => {
        const { user_id } = await fixture.service.person()
        await behind(`update watchpost.channels set owner_id = '${user_id}' where id = $1`, channel)
      },
      'no longer sees this channel',
    ],
  ]

  /** Without the triggers that follow a change. */
  async function behind(statement: string, id: string) {
    const transaction = await fixture.service.transaction()
    await transaction.query('set local session_replication_role = replica', [])
    await transaction.query(statement, [id])
    await transaction.commit()
  }

  test.each(cases)('%s', async (_, change, why) => {
    const told = await fixture.deliverOnce(broken)
    await change(told)
    await fixture.retryNow(told)
    expect(fixture.service.receiver.requests).toEqual([])
    expect(await fixture.deliveryOf(told)).toEqual({
      status: 'cancelled',
      attempts: 1,
      last_error: expect.stringContaining(why),
      alert: 'failed',
    })
  })

  test('to a channel of an organisation that the zone’s owner has left', async () => {
    const [owner, member] = [await fixture.service.person(), await fixture.service.person()]
    const org = await fixture.service.organisation(owner, [member, 'member'])
    const { id: channel } = await fixture.channelOf(owner, { org_id: org })
    const here = fixture.place()
    const fields = { label: 'Mine', ...here, channel_ids: [channel] }
    const { zone } = await fixture.make(member, 'zones', fields, CreatedZone)
    fixture.service.receiver.answer = broken
    await fixture.jobs.ingest(quake(here))
    await fixture.jobs.drain()
    const [row] = await query(
      `select d.id, d.status from watchpost.deliveries d join watchpost.alerts a on a.id = d.alert_id
      where a.zone_id = $1`,
      [zone.id],
    )
    expect(row).toMatchObject({ status: 'queued' })
    fixture.service.receiver.requests.length = 0
    const path = `/api/v1/orgs/${org}/members/${member.user_id}`
    expect((await fixture.service.request('DELETE', path, owner)).status).toBe(200)
    await fixture.retryNow({ channel })
    expect(fixture.service.receiver.requests).toEqual([])
    expect(await fixture.deliveryOf({ delivery: z.uuid().parse(row?.id) })).toMatchObject({
      status: 'cancelled',
      last_error: expect.stringContaining('no longer sees this channel'),
    })
  })

  test('once the other channel got it, what is cancelled here fails no alert', async () => {
    const told = await fixture.deliverOnce(broken)
    const other = await fixture.channelOf(told.person)
    await query(
      `insert into watchpost.deliveries (alert_id, channel_id, type, status)
      select alert_id, $2, type, 'succeeded' from watchpost.deliveries where id = $1`,
      [told.delivery, other.id],
    )
    await fixture.service.request('DELETE', `/api/v1/channels/${told.channel}`, told.person)
    await query(`update watchpost.deliveries set status = 'queued' where id = $1`, [told.delivery])
    await fixture.retryNow(told)
    expect(await fixture.deliveryOf(told)).toMatchObject({ status: 'cancelled', alert: 'pending' })
  })
})
