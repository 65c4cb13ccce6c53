import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { CreatedZone } from '../support/delivery-service.ts'
import { quake } from '../support/jobs.ts'
import { type Person, parsed, sendResult } from '../support/service.ts'
import { createStory } from '../support/story.ts'

// A colleague leaves the team. Their private channel goes with them; the team goes on hearing of the zone.
const at = createStory({
  // Its source is polled, though not in this test.
  prepare: ({ query }) =>
    query(`update watchpost.sources set enabled = true, next_poll_at = now() + interval '1 year'`),
})

const Removed = z.object({
  passed_on: z.object({ zones: z.int(), channels: z.int() }),
  warnings: z.array(z.string()).optional(),
})
const Warned = z.object({
  zone: z.object({ owner_id: z.uuid(), channel_ids: z.array(z.uuid()).nullable() }),
  warnings: z.array(z.string()).optional(),
})

const urls = () => at.service.receiver.requests.map(({ url }) => url)
const channelAt = (person: Person, name: string, fields: object = {}) =>
  at.channelOf(person, { target: `https://${name}.example.com/in`, label: name, ...fields })

/** An owner, a colleague, and a zone that the colleague shares and that goes to these channels. */
async function team() {
  const [owner, colleague] = [await at.service.person(), await at.service.person()]
  const org = await at.service.organisation(owner, [colleague, 'admin'])
  const here = at.place()
  const share = async (channel_ids: string[] | null, fields: object = {}) => {
    const body = { label: 'Harbour', ...here, org_id: org, channel_ids, ...fields }
    return (await at.make(colleague, 'zones', body, CreatedZone)).zone.id
  }
  const shake = async (severity = 60) => {
    const event = quake({ ...here, severity })
    await at.jobs.ingest(event)
    await at.jobs.drain()
    return event
  }
  const remove = async () => {
    const path = `orgs/${org}/members/${colleague.user_id}`
    return parsed(await at.ask(owner, 'DELETE', path), 200, Removed)
  }
  return { owner, colleague, org, share, shake, remove }
}

describe('a zone whose only channel was the colleague’s own', () => {
  test('goes to the channels of the owner and the team, and everybody is told', async () => {
    const { owner, colleague, org, share, shake, remove } = await team()
    const mine = await channelAt(colleague, 'colleague')
    const zone = await share([mine.id])
    await channelAt(owner, 'owner')
    await channelAt(owner, 'team', { org_id: org })
    await shake()
    expect(urls()).toEqual(['https://colleague.example.com/in'])
    await at.reset()

    const { passed_on, warnings } = await remove()
    expect(passed_on).toEqual({ zones: 1, channels: 0 })
    expect(warnings).toEqual([expect.stringMatching(/^Zone "Harbour": No channel .* is left/)])
    const read = parsed(await at.ask(owner, 'GET', `zones/${zone}`), 200, Warned)
    expect(read.warnings).toEqual([expect.stringMatching(/^No channel in channel_ids is left/)])
    const audit = await at.ask(owner, 'GET', 'audit')
    expect(audit.body).toMatchObject({
      audit: expect.arrayContaining([
        expect.objectContaining({
          action: 'zone.channels_lost',
          target_id: zone,
          details: expect.objectContaining({ label: 'Harbour', channel_ids: [mine.id] }),
        }),
      ]),
    })

    await shake()
    expect(urls().sort()).toEqual(['https://owner.example.com/in', 'https://team.example.com/in'])
    expect((await at.alertsOf(owner)).map(({ status }) => status)).toEqual([
      'dispatched',
      'dispatched',
    ])

    // Reading it and sending it back as it is works, and so does choosing anew.
    const body = { channel_ids: read.zone.channel_ids }
    expect((await at.ask(owner, 'PATCH', `zones/${zone}`, body)).status).toBe(200)
    const again = parsed(
      await at.ask(owner, 'PATCH', `zones/${zone}`, { channel_ids: null }),
      200,
      Warned,
    )
    expect(again.warnings).toBeUndefined()
  })

  test('also with what was on its way', async () => {
    const { owner, colleague, share, shake, remove } = await team()
    const { id: channel } = await channelAt(colleague, 'colleague')
    await share([channel])
    await channelAt(owner, 'owner')
    at.service.receiver.answer = () => sendResult(503)
    await shake()
    at.service.receiver.answer = () => sendResult(200)
    at.service.receiver.requests.length = 0
    await remove()
    await at.retryNow({ channel })
    await at.jobs.drain()
    expect(urls()).toEqual(['https://owner.example.com/in'])
    expect(await at.alertsOf(owner)).toMatchObject([{ status: 'dispatched' }])
  })

  test('also with what was held for the morning, or gets worse', async () => {
    const clock = (minutes: number) =>
      new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16)
    const { owner, colleague, share, shake, remove } = await team()
    const { id } = await channelAt(colleague, 'colleague')
    const zone = await share([id])
    await channelAt(owner, 'owner')
    const told = await shake(45)
    const quiet = { quiet_hours_start: clock(-60), quiet_hours_end: clock(60) }
    await at.ask(colleague, 'PATCH', `zones/${zone}`, quiet)
    await shake(50)
    await at.reset()
    await remove()

    const loud = { quiet_hours_start: null, quiet_hours_end: null }
    expect((await at.ask(owner, 'PATCH', `zones/${zone}`, loud)).status).toBe(200)
    await at.jobs.drain()
    expect(urls()).toEqual(['https://owner.example.com/in'])
    const [digest] = at.service.receiver.requests
    expect(JSON.parse(digest?.body ?? '{}')).toMatchObject({ type: 'alert.digest' })
    expect((await at.alertsOf(owner)).map(({ status }) => status)).toEqual([
      'dispatched',
      'dispatched',
    ])

    await at.reset()
    await at.jobs.ingest({ ...told, severity: 90 })
    await at.jobs.drain()
    const [news] = at.service.receiver.requests
    expect(urls()).toEqual(['https://owner.example.com/in'])
    expect(JSON.parse(news?.body ?? '{}')).toMatchObject({ type: 'alert.escalated' })
  })

  test('reaches nobody when there is no other, and says so', async () => {
    const { owner, colleague, share, shake, remove } = await team()
    const zone = await share([(await channelAt(colleague, 'colleague')).id])
    const { warnings } = await remove()
    expect(warnings).toContainEqual(expect.stringMatching(/recorded but not sent/))
    await shake()
    expect(urls()).toEqual([])
    expect(await at.alertsOf(owner)).toMatchObject([{ status: 'recorded' }])
    const { warnings: told } = parsed(await at.ask(owner, 'GET', `zones/${zone}`), 200, Warned)
    expect(told).toContainEqual(expect.stringMatching(/recorded but not sent/))
  })
})

describe('a zone that chose several channels', () => {
  test('goes on with those that are left, and to no others', async () => {
    const { owner, colleague, org, share, shake, remove } = await team()
    const mine = await channelAt(colleague, 'colleague')
    const ours = await channelAt(owner, 'team', { org_id: org })
    await channelAt(owner, 'owner')
    await share([mine.id, ours.id])
    const { warnings } = await remove()
    expect(warnings).toEqual([expect.stringMatching(/^Zone "Harbour": 1 of 2 channels/)])
    await shake()
    expect(urls()).toEqual(['https://team.example.com/in'])
  })

  test('and none on purpose stays silent', async () => {
    const { owner, share, shake, remove } = await team()
    await channelAt(owner, 'owner')
    await share([])
    await remove()
    await shake()
    expect(urls()).toEqual([])
  })
})

describe('a channel that was deleted', () => {
  const setUp = async () => {
    const person = await at.service.person()
    const [chosen, other] = [await channelAt(person, 'chosen'), await channelAt(person, 'other')]
    const here = at.place()
    const body = { label: 'Harbour', ...here, channel_ids: [chosen.id] }
    const { zone } = await at.make(person, 'zones', body, CreatedZone)
    const shake = async ({ fails = false } = {}) => {
      if (!fails) await at.reset()
      await at.jobs.ingest(quake(here))
      await at.jobs.drain()
      return urls()
    }
    const channelIds = async () =>
      parsed(await at.ask(person, 'GET', `zones/${zone.id}`), 200, Warned).zone.channel_ids
    return { person, chosen, other, shake, channelIds }
  }

  test('is skipped, and comes back with its restoring', async () => {
    const { person, chosen, shake, channelIds } = await setUp()
    await at.ask(person, 'DELETE', `channels/${chosen.id}`)
    expect(await shake()).toEqual(['https://other.example.com/in'])
    expect(await channelIds()).toEqual([chosen.id])
    await at.ask(person, 'POST', `channels/${chosen.id}/restore`)
    expect(await shake()).toEqual(['https://chosen.example.com/in'])
  })

  test('leaves what was on its way to the others', async () => {
    const { person, chosen, shake } = await setUp()
    at.service.receiver.answer = ({ url }) => sendResult(url.includes('chosen') ? 503 : 200)
    expect(await shake({ fails: true })).toEqual(['https://chosen.example.com/in'])
    at.service.receiver.requests.length = 0
    await at.ask(person, 'DELETE', `channels/${chosen.id}`)
    await at.jobs.drain()
    expect(urls()).toEqual(['https://other.example.com/in'])
    expect(await at.alertsOf(person)).toMatchObject([{ status: 'dispatched' }])
  })

  test('leaves its zones when nobody can restore it any more', async () => {
    const { person, chosen, shake, channelIds } = await setUp()
    await shake()
    await at.ask(person, 'DELETE', `channels/${chosen.id}`)
    await at.query(
      `update watchpost.channels set deleted_at = now() - interval '31 days' where id = $1`,
      [chosen.id],
    )
    await at.query('select private.purge()')
    expect(await channelIds()).toBeNull()
    expect(await shake()).toEqual(['https://other.example.com/in'])
  })

  test('is told from one that is switched off, which diverts nothing', async () => {
    const { person, chosen, shake } = await setUp()
    await at.ask(person, 'PATCH', `channels/${chosen.id}`, { enabled: false })
    expect(await shake()).toEqual([])
  })

  test('leaves the zones of others when the account it belonged to is erased', async () => {
    const { owner, colleague, org, share, shake } = await team()
    const mine = await channelAt(colleague, 'colleague')
    const zone = await share([mine.id])
    await channelAt(owner, 'team', { org_id: org })
    await at.query('select private.erase_account($1)', [colleague.user_id])
    const read = parsed(await at.ask(owner, 'GET', `zones/${zone}`), 200, Warned)
    expect(read.zone).toEqual({ owner_id: owner.user_id, channel_ids: null })
    await shake()
    expect(urls()).toEqual(['https://team.example.com/in'])
  })
})
