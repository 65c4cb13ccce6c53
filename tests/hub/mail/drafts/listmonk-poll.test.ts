import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { createPoller, readPolls } from '../../../../hub/mail/imap/poll.ts'
import { startListmonk } from '../listmonk/listmonk-stand-in.ts'
import { newSubscriber } from '../listmonk/listmonk-state.ts'
import {
  add,
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

  test('another listmonk is read from its beginning, and at once', async () => {
    await sent()
    standIn.bounce(`jo@${tag}.example`, 'soft')
    await poll()
    const other = await startListmonk()
    const mail = await add({ name: 'Elsewhere', email: `else@${tag}.example` })
    try {
      const { url, user, token } = other
      await api.put('settings/mail', { listmonk: { url, user, token } })
      const { state } = other
      state.subscribers.set(1, newSubscriber(1, mail.email, 'Elsewhere'))
      other.bounce(mail.email, 'complaint')
      expect(state.bounces[0]?.id).toBeLessThan(standIn.state.bounces.at(-1)?.id ?? 0)
      await hub.deps.poller.run()
      expect(await suppression('else')).toMatchObject([{ reason: 'complained' }])
    } finally {
      await other.close()
    }
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

  test('who unsubscribes with the link of an old campaign is, within hours', async () => {
    const id = await sent()
    await poll()
    await hub.query(
      `update hub.campaigns set finished_at = now() - interval '90 days' where draft_id = $1`,
      [id],
    )
    const own = the(id).list_ids[0] ?? 0
    subscriber(`jo@${tag}.example`).subscriptions.set(own, 'unsubscribed')
    await poll()
    expect(await suppression('jo')).toEqual([])
    const file = join(hub.config.paths.data_dir, 'mail-polls.json')
    const polls = JSON.parse(await readFile(file, 'utf8'))
    polls.listmonk.cursor.blocklist_read_at = new Date(Date.now() - 7 * 3_600_000).toISOString()
    await writeFile(file, JSON.stringify(polls))
    await poll()
    expect(await suppression('jo')).toMatchObject([{ reason: 'unsubscribed' }])
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
    // A dead address may come back to life, which a wish of its owner's does not.
    const own = the(id).list_ids[0] ?? 0
    standIn.bounce(`nobody@${tag}.example`, 'hard', the(id).id)
    subscriber(`nobody@${tag}.example`).subscriptions.set(own, 'unsubscribed')
    await poll()
    expect(await suppression('nobody')).toMatchObject([{ reason: 'bounced' }])
    await api.ok('suppression/release', { email: `nobody@${tag}.example` })
    // Whoever then unsubscribes means it.
    subscriber(`nobody@${tag}.example`).status = 'enabled'
    await poll()
    expect(await suppression('nobody')).toMatchObject([{ reason: 'unsubscribed' }])
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

describe('when it is read', () => {
  const MINUTE = 60_000
  const lines: Record<string, unknown>[] = []
  const pollerOf = (more: object = {}) => {
    lines.length = 0
    const { config, db, model } = hub.deps
    return createPoller({ config, db, model, log: (line) => void lines.push(line), ...more })
  }
  const file = () => join(hub.config.paths.data_dir, 'mail-polls.json')
  const keep = (change: object) =>
    writeFile(
      file(),
      JSON.stringify({
        listmonk: { last_success_at: null, error: null, failures: 0, next_at: null, ...change },
      }),
    )
  const state = async () => (await readPolls(hub.deps)).listmonk
  const minutesOff = (at: string | null) => Math.round((Date.parse(at ?? '') - Date.now()) / MINUTE)
  const NEVER = { last_success_at: null, error: null, failures: 0, next_at: null, cursor: null }

  test.each([
    ['that was never read is read', null, true],
    ['whose minute is over is read', 0, true],
    ['whose minute is not over is left', 1, false],
  ])('a source %s', async (_, left_ms, isRead) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const next_at = left_ms === null ? null : new Date(Date.now() + left_ms).toISOString()
    await keep({ cursor: null, next_at })
    const poller = pollerOf()
    await poller.run()
    const now = await state()
    expect(now.last_success_at !== null).toBe(isRead)
    if (isRead) expect(Date.parse(now.next_at ?? '') - Date.now()).toBe(MINUTE)
    expect((await readPolls(hub.deps)).imap).toEqual(NEVER)
    await poller.run(true)
    vi.useRealTimers()
    expect(await state()).toMatchObject({ last_success_at: expect.any(String), error: null })
    expect(lines).toEqual([])
  })

  test.each([
    [0, 1],
    [1, 2],
    [2, 4],
    [9, 30],
  ])('after %i failures one more waits %i minutes', async (failures, minutes) => {
    const last_success_at = '2026-11-29T10:00:00.000Z'
    await keep({ last_success_at, failures, cursor: 'kept' })
    standIn.failNext('GET', '/bounces', 'error')
    await pollerOf().run()
    const now = await state()
    expect(now).toMatchObject({ last_success_at, failures: failures + 1, cursor: 'kept' })
    expect(now.error?.en).toContain('Internal Server Error')
    expect(minutesOff(now.next_at)).toBe(minutes)
    expect(lines).toEqual([
      {
        msg: 'polling mail',
        source: 'listmonk',
        error: expect.stringContaining('Internal Server Error'),
      },
    ])
  })

  test('a state that cannot be read counts as none', async () => {
    await writeFile(file(), '{"listmonk": {"failures": "many"}}')
    expect(await readPolls(hub.deps)).toEqual({ listmonk: NEVER, imap: NEVER })
    await pollerOf().run()
    expect(JSON.parse(await readFile(file(), 'utf8'))).toMatchObject({
      listmonk: { failures: 0, last_success_at: expect.any(String) },
    })
  })

  test('a mailbox that cannot be reached is told of in its words', async () => {
    const imap = { host: '127.0.0.1', port: 1, security: 'none', user: 'ayse', password: 'right' }
    await api.put('settings/mail', { imap })
    await pollerOf().run()
    await api.put('settings/mail', { imap: null })
    const { error, failures } = (await readPolls(hub.deps)).imap
    expect([error?.en, failures]).toEqual([expect.stringContaining('ECONNREFUSED'), 1])
    expect(lines).toEqual([expect.objectContaining({ source: 'imap', error: error?.en })])
  })

  test('every minute, until it is closed, though a round fails', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const state = vi.fn(async () => Promise.reject(new Error('no model')))
    const poller = pollerOf({ model: { state } })
    poller.start()
    poller.start()
    vi.advanceTimersByTime(MINUTE - 1)
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(1 + MINUTE)
    await poller.close()
    const left = vi.getTimerCount()
    vi.useRealTimers()
    expect(left).toBe(0)
    expect(state).toHaveBeenCalledTimes(2)
    const line = { msg: 'polling mail', error: 'Error: no model' }
    expect(lines).toEqual([line, line])
  })
})
