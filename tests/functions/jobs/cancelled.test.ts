import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { quake } from '../../support/jobs.ts'
import { answered } from '../../support/service.ts'
import { createTelling, MadeZone, type Telling, type Told } from '../../support/telling.ts'

let telling: Telling
beforeAll(async () => {
  telling = await createTelling()
})
afterAll(() => telling?.close())
beforeEach(() => telling.reset())

const query = (statement: string, values: unknown[] = []) => telling.query(statement, values)
const broken = () => answered(500, 'broken')

describe('nothing is sent any more', () => {
  const cases: [string, (told: Told) => Promise<unknown>, string][] = [
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
        telling.service.request('PATCH', `/api/v1/channels/${channel}`, {
          key: person.key,
          body: { enabled: false },
        }),
      'switched off',
    ],
    [
      'to a channel that was deleted',
      ({ person, channel }) =>
        telling.service.request('DELETE', `/api/v1/channels/${channel}`, person),
      'The channel was deleted.',
    ],
    [
      'about a zone that was deleted',
      ({ person, zone }) => telling.service.request('DELETE', `/api/v1/zones/${zone}`, person),
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
        const { user_id } = await telling.service.person()
        await behind(`update watchpost.channels set owner_id = '${user_id}' where id = $1`, channel)
      },
      'no longer sees this channel',
    ],
  ]

  /** Without the triggers that follow a change. */
  async function behind(statement: string, id: string) {
    const transaction = await telling.service.transaction()
    await transaction.query('set local session_replication_role = replica', [])
    await transaction.query(statement, [id])
    await transaction.commit()
  }

  test.each(cases)('%s', async (_, change, why) => {
    const told = await telling.tell(broken)
    await change(told)
    await telling.again(told)
    expect(telling.service.receiver.requests).toEqual([])
    expect(await telling.deliveryOf(told)).toEqual({
      status: 'cancelled',
      attempts: 1,
      last_error: expect.stringContaining(why),
      alert: 'failed',
    })
  })

  test('to a channel of an organisation that the zone’s owner has left', async () => {
    const [owner, member] = [await telling.service.person(), await telling.service.person()]
    const org = await telling.service.organisation(owner, [member, 'member'])
    const { id: channel } = await telling.channelOf(owner, { org_id: org })
    const here = telling.place()
    const fields = { label: 'Mine', ...here, channel_ids: [channel] }
    const { zone } = await telling.make(member, 'zones', fields, MadeZone)
    telling.service.receiver.answer = broken
    await telling.jobs.ingest(quake(here))
    await telling.jobs.drain()
    const [row] = await query(
      `select d.id, d.status from watchpost.deliveries d join watchpost.alerts a on a.id = d.alert_id
      where a.zone_id = $1`,
      [zone.id],
    )
    expect(row).toMatchObject({ status: 'queued' })
    telling.service.receiver.requests.length = 0
    const path = `/api/v1/orgs/${org}/members/${member.user_id}`
    expect((await telling.service.request('DELETE', path, owner)).status).toBe(200)
    await telling.again({ channel })
    expect(telling.service.receiver.requests).toEqual([])
    expect(await telling.deliveryOf({ delivery: z.uuid().parse(row?.id) })).toMatchObject({
      status: 'cancelled',
      last_error: expect.stringContaining('no longer sees this channel'),
    })
  })

  test('once the other channel got it, what is cancelled here fails no alert', async () => {
    const told = await telling.tell(broken)
    const other = await telling.channelOf(told.person)
    await query(
      `insert into watchpost.deliveries (alert_id, channel_id, type, status)
      select alert_id, $2, type, 'succeeded' from watchpost.deliveries where id = $1`,
      [told.delivery, other.id],
    )
    await telling.service.request('DELETE', `/api/v1/channels/${told.channel}`, told.person)
    await query(`update watchpost.deliveries set status = 'queued' where id = $1`, [told.delivery])
    await telling.again(told)
    expect(await telling.deliveryOf(told)).toMatchObject({ status: 'cancelled', alert: 'pending' })
  })
})
