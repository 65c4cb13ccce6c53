import { describe, expect, test } from 'vitest'
import { readPolls } from '../../../../hub/mail/imap/poll.ts'
import {
  api,
  campaign,
  get,
  hub,
  look,
  recipients,
  sentTo,
  standIn,
  subscriber,
  tag,
  the,
  useListmonk,
} from './listmonk-scene.ts'

useListmonk()

describe('what is read from listmonk', () => {
  const suppression = async (name: string) =>
    (await api.get(`suppression?email=${name}@${tag}.example`)).body.suppression
  const poll = () => hub.deps.poller.run(true)
  async function sent(): Promise<string> {
    const id = await campaign('render', 'approve', 'push', 'send')
    await look(3)
    expect((await get(id)).state).toBe('sent')
    return id
  }

  test('a bounce counts once: what was read is not read again', async () => {
    const id = await sent()
    standIn.bounce(`jo@${tag}.example`, 'hard', the(id).id)
    await poll()
    expect(await suppression('jo')).toHaveLength(1)
    expect((await recipients(id))[0].bounced_at).toEqual(expect.any(String))
    await hub.query('delete from hub.suppression')
    await hub.query('update hub.recipients set bounced_at = null, bounce = null')
    subscriber(`jo@${tag}.example`).status = 'enabled'
    await poll()
    // listmonk took the address off its lists as well, and that is read each time.
    expect((await suppression('jo')).map((one: { reason: string }) => one.reason)).not.toContain(
      'bounced',
    )
    expect(await recipients(id)).toMatchObject([{ bounced_at: null }, { bounced_at: null }])
    // The next one does.
    standIn.bounce(`nobody@${tag}.example`, 'hard', the(id).id)
    await poll()
    expect(await suppression('nobody')).toHaveLength(1)
  })

  test('a soft bounce is noted and suppresses nobody', async () => {
    const id = await sent()
    standIn.bounce(`jo@${tag}.example`, 'soft', the(id).id)
    await poll()
    expect(await recipients(id)).toMatchObject([
      { bounced_at: expect.any(String) },
      { bounced_at: null },
    ])
    expect(await suppression('jo')).toEqual([])
  })

  test('a bounce belongs to the campaign it came of', async () => {
    const first = await sent()
    const second = await sent()
    standIn.bounce(`jo@${tag}.example`, 'hard', the(first).id)
    await poll()
    expect((await recipients(first))[0].bounced_at).toEqual(expect.any(String))
    expect((await recipients(second))[0].bounced_at).toBeNull()
  })

  test('who was blocked there is suppressed, though listmonk keeps no time of it', async () => {
    await sent()
    await poll()
    const nobody = subscriber(`nobody@${tag}.example`)
    nobody.status = 'blocklisted'
    nobody.updated_at = new Date(Date.now() - 3_600_000).toISOString()
    await poll()
    expect(await suppression('nobody')).toMatchObject([{ reason: 'unsubscribed' }])
    expect(await suppression('jo')).toEqual([])
    // The blocklist is read again only when its size changes.
    await hub.query('delete from hub.suppression')
    await poll()
    expect(await suppression('nobody')).toEqual([])
  })

  test('who unsubscribed from the project’s list is, though no campaign tells of it', async () => {
    await sent()
    const { list } = await api.ok('projects/listmonk_list', { slug: 'demir' })
    subscriber(`nobody@${tag}.example`).subscriptions.set(list.list_id, 'unsubscribed')
    await poll()
    expect(await suppression('nobody')).toMatchObject([{ reason: 'unsubscribed' }])
    const lead = await hub.query(
      `select from hub.activities as a join hub.leads as lead on lead.id = a.lead_id
       where $1 = any(lead.tags) and a.kind = 'unsubscribed'`,
      [tag],
    )
    expect(lead).toHaveLength(1)
  })

  test('a look that fails is repeated from where the last one ended', async () => {
    const id = await sent()
    await poll()
    const cursor = async () => (await readPolls(hub.deps)).listmonk
    const before = (await cursor()).cursor
    standIn.bounce(`jo@${tag}.example`, 'hard', the(id).id)
    standIn.failNext('GET', '/bounces', 'error')
    await poll()
    expect(await cursor()).toMatchObject({ failures: 1, cursor: before })
    expect((await recipients(id))[0].bounced_at).toBeNull()
    await poll()
    expect((await recipients(id))[0].bounced_at).toEqual(expect.any(String))
    expect((await cursor()).failures).toBe(0)
  })

  test('who bounced is suppressed for that, not for the block that followed', async () => {
    const id = await sent()
    standIn.bounce(`jo@${tag}.example`, 'complaint', the(id).id)
    await poll()
    expect(await suppression('jo')).toMatchObject([{ reason: 'complained' }])
  })

  test('who deleted themself there is suppressed here', async () => {
    await sent()
    const { uuid } = subscriber(`jo@${tag}.example`)
    await fetch(`${standIn.url}/subscription/wipe/${uuid}`, { method: 'POST' })
    await poll()
    expect(await suppression('jo')).toMatchObject([{ reason: 'unsubscribed' }])
    expect(await suppression('nobody')).toEqual([])
  })

  test('who deleted themself there is not made anew by the next push', async () => {
    await sent()
    const { uuid } = subscriber(`jo@${tag}.example`)
    await fetch(`${standIn.url}/subscription/wipe/${uuid}`, { method: 'POST' })
    const next = await campaign('render', 'approve', 'push', 'send')
    await look(3)
    expect(standIn.state.byEmail(`jo@${tag}.example`)).toBeUndefined()
    expect(sentTo(next)).toEqual([`nobody@${tag}.example`])
    expect(await suppression('jo')).toMatchObject([{ reason: 'unsubscribed' }])
  })

  test('a listmonk that lost everything gets the project’s list anew, and suppresses nobody', async () => {
    await sent()
    const { list } = await api.ok('projects/listmonk_list', { slug: 'demir' })
    for (const id of standIn.state.lists.keys()) standIn.state.deleteList(id)
    standIn.state.subscribers.clear()
    await poll()
    const next = await campaign('render', 'approve', 'push', 'send')
    await look(3)
    expect(sentTo(next)).toHaveLength(2)
    expect((await api.ok('projects/listmonk_list', { slug: 'demir' })).list.list_id).not.toBe(
      list.list_id,
    )
  })
})
