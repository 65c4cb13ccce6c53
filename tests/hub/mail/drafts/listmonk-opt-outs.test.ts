import { describe, expect, test } from 'vitest'
import { newSubscriber } from '../listmonk/listmonk-state.ts'
import {
  api,
  campaign,
  get,
  hub,
  look,
  of,
  recipients,
  sentTo,
  standIn,
  steps,
  subscriber,
  tag,
  the,
  useListmonk,
} from './listmonk-scene.ts'

useListmonk()

/** One that the hub has started, and that listmonk has come so far with. */
async function started(status: 'draft' | 'running' | 'paused'): Promise<string> {
  const id = await campaign('render', 'approve', 'push', 'send')
  await hub.query(`update hub.campaigns set state = 'started' where draft_id = $1`, [id])
  await hub.query(
    `update hub.recipients set state = 'sending', claimed_at = now() where draft_id = $1`,
    [id],
  )
  the(id).status = status
  return id
}
const jo = () => `jo@${tag}.example`
const nobody = () => `nobody@${tag}.example`
const optOut = (email: string) => api.ok('suppression/add', { emails: [email] })
const isOnList = (id: string, email: string) =>
  subscriber(email).subscriptions.has(the(id).list_ids[0] ?? 0)

describe('whoever opts out at the hub', () => {
  test('while a campaign is paused does not get it when it goes on', async () => {
    const id = await started('running')
    await steps(id, 'pause')
    await look()
    expect(the(id).status).toBe('paused')
    await optOut(jo())
    await steps(id, 'resume')
    await look(3)
    expect(sentTo(id)).toEqual([nobody()])
    expect(await recipients(id)).toMatchObject([
      { email: jo(), state: 'skipped', reason: expect.stringContaining('suppression list') },
      { email: nobody(), state: 'sent' },
    ])
    expect(await get(id)).toMatchObject({ state: 'sent', progress: { sent: 1, skipped: 1 } })
    const [claim] = await hub.query(
      'select claimed_at from hub.recipients where draft_id = $1 and email = $2',
      [id, jo()],
    )
    expect(claim).toEqual({ claimed_at: null })
  })

  test('before the hub could start a campaign does not get it, nor does a stranger', async () => {
    const id = await started('draft')
    await optOut(nobody())
    const stranger = newSubscriber(standIn.state.nextId(), 'x@stranger.example', 'X')
    stranger.subscriptions.set(the(id).list_ids[0] ?? 0, 'confirmed')
    standIn.state.subscribers.set(stranger.id, stranger)
    await look(3)
    expect(sentTo(id)).toEqual([jo()])
    expect(await recipients(id)).toMatchObject([{ state: 'sent' }, { state: 'skipped' }])
  })

  test.each(['running', 'paused'] as const)(
    'while it is %s in listmonk leaves its list; whether the mail had left is unclear',
    async (status) => {
      const id = await started(status)
      the(id).sent = 1
      await optOut(jo())
      await look()
      expect(isOnList(id, jo())).toBe(false)
      expect(isOnList(id, nobody())).toBe(true)
      expect(await recipients(id)).toMatchObject([
        { state: 'unclear', reason: expect.stringContaining('whether the mail had left') },
        { state: 'sending' },
      ])
      expect(the(id).status).toBe(status)
      the(id).status = 'finished'
      await look(2)
      expect(await get(id)).toMatchObject({ state: 'unclear', progress: { sent: 1, unclear: 1 } })
      await api.ok('draft/clear', { ...of(id), outcome: 'sent' })
    },
  )
})

describe('whoever deletes themself in listmonk after the push', () => {
  test('is skipped and suppressed, and the others get the campaign', async () => {
    const id = await campaign('render', 'approve', 'push')
    const { uuid } = subscriber(jo())
    await fetch(`${standIn.url}/subscription/wipe/${uuid}`, { method: 'POST' })
    await steps(id, 'send')
    await look(3)
    expect(sentTo(id)).toEqual([nobody()])
    expect(await recipients(id)).toMatchObject([{ state: 'skipped' }, { state: 'sent' }])
    expect((await api.get(`suppression?email=${jo()}`)).body.suppression).toMatchObject([
      { reason: 'unsubscribed' },
    ])
  })

  test('is told from one who was only taken off the list, or whose list is gone', async () => {
    const id = await campaign('render', 'approve', 'push')
    subscriber(jo()).subscriptions.clear()
    await steps(id, 'send')
    await look(2)
    expect((await get(id)).state).toBe('failed')
    expect((await recipients(id))[0].reason).toContain('lacks 1 of the approved people')
    const other = await campaign('render', 'approve', 'push')
    standIn.state.deleteList(the(other).list_ids[0] ?? 0)
    standIn.state.subscribers.delete(subscriber(nobody()).id)
    await steps(other, 'send')
    await look(2)
    expect((await get(other)).state).toBe('failed')
    expect([...sentTo(id), ...sentTo(other)]).toEqual([])
    for (const email of [jo(), nobody()]) {
      expect((await api.get(`suppression?email=${email}`)).body.suppression).toEqual([])
    }
  })
})
