import { describe, expect, test } from 'vitest'
import { everywhere } from '../../../../hub/db/db.ts'
import { finishPush } from '../../../../hub/mail/drafts/state.ts'
import { sendCampaigns } from '../../../../hub/mail/listmonk/campaigns.ts'
import { BRAND, setBrand } from '../../support/mail-help.ts'
import {
  api,
  campaign,
  campaigns,
  get,
  hub,
  look,
  of,
  recipients,
  rowOf,
  sentTo,
  standIn,
  steps,
  subscriber,
  tag,
  the,
  useListmonk,
} from './listmonk-scene.ts'

useListmonk()

describe('a push', () => {
  test('gives listmonk each person with name, company and first name, on two lists', async () => {
    const id = await campaign('render', 'approve', 'push')
    const { list } = await api.ok('projects/listmonk_list', { slug: 'demir' })
    const own = the(id).list_ids[0] ?? 0
    expect(subscriber(`jo@${tag}.example`)).toMatchObject({
      name: 'Jo Öz',
      status: 'enabled',
      attribs: { watchpost_demir: { company: 'Client' }, watchpost_demir_first_name: 'Jo' },
    })
    expect(subscriber(`nobody@${tag}.example`)).toMatchObject({
      name: `nobody@${tag}.example`,
      attribs: { watchpost_demir: { company: null } },
    })
    for (const name of ['jo', 'nobody']) {
      const { subscriptions } = subscriber(`${name}@${tag}.example`)
      expect([...subscriptions.keys()].sort()).toEqual([list.list_id, own].sort())
    }
  })

  test('makes a campaign of exactly what was approved, on a list that is named after it', async () => {
    const id = await campaign('render', 'approve', 'push')
    const { campaign: rendered } = await rowOf(id)
    const made = the(id)
    expect(made).toMatchObject({
      subject: rendered?.subject,
      body: rendered?.html,
      altbody: rendered?.text,
      from_email: `=?UTF-8?Q?Ay=C5=9Fe_Demir?= <${BRAND.sender_email}>`,
      status: 'draft',
    })
    expect(made.list_ids).toHaveLength(1)
    expect(standIn.state.lists.get(made.list_ids[0] ?? 0)?.name).toBe(
      'Demir Lojistik: A short question (1)',
    )
    expect(standIn.state.templates.get(made.template_id ?? 0)).toMatchObject({ type: 'campaign' })
    expect(await recipients(id)).toMatchObject([{ state: 'pushed' }, { state: 'pushed' }])
  })

  test('that broke off goes on with the list and people it has made, and takes others off', async () => {
    const id = await campaign('render', 'approve')
    standIn.failNext('POST', '/campaigns', 'drop_before')
    expect((await api.post('draft/push', of(id))).status).toBe(503)
    const lists = standIn.state.lists.size
    const people = standIn.state.subscribers.size
    const left = [...standIn.state.lists.values()].at(-1)?.id ?? 0
    // Somebody of a portion that was cut otherwise.
    const stranger = subscriber(`jo@t1.example`)
    stranger.subscriptions.set(left, 'confirmed')
    await steps(id, 'push')
    expect(the(id).list_ids).toEqual([left])
    expect(standIn.state.lists.size).toBe(lists)
    expect(standIn.state.subscribers.size).toBe(people)
    expect(stranger.subscriptions.has(left)).toBe(tag === 't1')
    expect(
      [...standIn.state.subscribers.values()].filter((one) => one.subscriptions.has(left)).length,
    ).toBe(2)
  })

  test('leaves out and suppresses whom listmonk has blocked', async () => {
    const before = await campaign('render', 'approve', 'push')
    expect(campaigns(before)).toHaveLength(1)
    const email = `jo@${tag}.example`
    subscriber(email).status = 'blocklisted'
    const id = await campaign('render', 'approve', 'push')
    const [jo, nobody] = await recipients(id)
    expect(jo).toMatchObject({ email, state: 'skipped', reason: expect.any(String) })
    expect(nobody).toMatchObject({ state: 'pushed' })
    expect((await api.get(`suppression?email=${email}`)).body.suppression).toMatchObject([
      { reason: 'unsubscribed' },
    ])
    expect(subscriber(email).subscriptions.has(the(id).list_ids[0] ?? 0)).toBe(false)
  })

  test('that fails at one person names the address', async () => {
    await hub.query(`delete from hub.leads where email = $1`, [`nobody@${tag}.example`])
    const id = await campaign('render', 'approve')
    standIn.failNext('POST', '/subscribers', 'error')
    const { body } = await api.post('draft/push', of(id))
    expect(body.detail).toContain(`jo@${tag}.example: POST /subscribers: `)
    await steps(id, 'push')
  })

  test('does not run beside another one, and frees its place when it fails', async () => {
    const id = await campaign('render', 'approve')
    await hub.query(
      `update hub.drafts set pushing_until = now() + interval '1 minute' where id = $1`,
      [id],
    )
    expect(await api.post('draft/push', of(id))).toMatchObject({ status: 409 })
    expect(campaigns(id)).toEqual([])
    await hub.query(`update hub.drafts set pushing_until = null where id = $1`, [id])
    standIn.failNext('GET', '/templates', 'error')
    expect((await api.post('draft/push', of(id))).status).toBe(409)
    expect(await rowOf(id)).toMatchObject({ state: 'approved', pushing_until: null })
  })

  test('of what was approved anew meanwhile does not end as pushed', async () => {
    const id = await campaign('render', 'approve')
    const end = (approved_hash: string | null) =>
      everywhere(hub.deps.db, (sql) => finishPush(sql, { id, approved_hash }))
    await expect(end('of something else')).rejects.toMatchObject({ code: 'wrong_state' })
    expect(await get(id)).toMatchObject({ state: 'approved' })
    expect(await recipients(id)).toMatchObject([{ state: 'waiting' }, { state: 'waiting' }])
    await end((await rowOf(id)).approved_hash)
    expect(await recipients(id)).toMatchObject([{ state: 'pushed' }, { state: 'pushed' }])
  })
})

describe('a campaign does not start', () => {
  const isLeftAlone = async (id: string) => {
    await look(2)
    expect(the(id).status).toBe('draft')
    expect(await recipients(id)).toMatchObject([{ state: 'pushed' }, { state: 'pushed' }])
    expect(sentTo(id)).toEqual([])
  }

  test('before it is sent', async () => {
    await isLeftAlone(await campaign('render', 'approve', 'push'))
  })

  test('while it is paused; then it does, once', async () => {
    const id = await campaign('render', 'approve', 'push', 'send', 'pause')
    await isLeftAlone(id)
    await steps(id, 'resume')
    await look(3)
    expect(sentTo(id).sort()).toEqual([`jo@${tag}.example`, `nobody@${tag}.example`])
    expect((await get(id)).state).toBe('sent')
  })

  test('while all mail is paused', async () => {
    const id = await campaign('render', 'approve', 'push', 'send')
    await api.ok('settings/mail/pause')
    await isLeftAlone(id)
    await api.ok('settings/mail/confirm')
    await look(3)
    expect(sentTo(id)).toHaveLength(2)
  })

  test('when it was paused, approved anew or taken back since it was read', async () => {
    const id = await campaign('render', 'approve', 'push', 'send')
    const read = await rowOf(id)
    await hub.query(`update hub.drafts set approved_hash = 'of something else' where id = $1`, [id])
    await sendCampaigns(hub.deps, read)
    expect(the(id).status).toBe('draft')
    await hub.query('update hub.drafts set approved_hash = $2, paused_at = now() where id = $1', [
      id,
      read.approved_hash,
    ])
    await sendCampaigns(hub.deps, read)
    expect(the(id).status).toBe('draft')
    await hub.query(`update hub.drafts set paused_at = null, state = 'rejected' where id = $1`, [
      id,
    ])
    await sendCampaigns(hub.deps, read)
    expect(the(id).status).toBe('draft')
    expect(await recipients(id)).toMatchObject([{ state: 'pushed' }, { state: 'pushed' }])
    await hub.query(`update hub.drafts set state = 'sending' where id = $1`, [id])
    await sendCampaigns(hub.deps, read)
    expect(the(id).status).not.toBe('draft')
  })

  test('for more people than the day has left, and says why', async () => {
    await api.put('settings/mail', { daily_cap: 10_000 })
    await campaign('render', 'approve', 'push', 'send')
    await look(3)
    const id = await campaign('render', 'approve', 'push', 'send')
    const [used = 0] = (
      await hub.query<{ n: number }>(
        `select count(*)::int as n from hub.recipients where claimed_at >= date_trunc('day', now(), 'UTC')`,
      )
    ).map(({ n }) => n)
    const whyNot = async (settings: object) => {
      await api.put('settings/mail', settings)
      await isLeftAlone(id)
      return (await get(id)).state_reason
    }
    const limit = (most: number) =>
      `Today’s limit of ${most} mails is reached. Sending continues tomorrow.`
    expect(used).toBeGreaterThanOrEqual(2)
    expect(await whyNot({ daily_cap: 1 })).toBe(
      'This campaign goes to 2 people, but the daily limit is 1. Raise it in Settings > Mail.',
    )
    expect(await whyNot({ daily_cap: 2 })).toBe(limit(2))
    expect(await whyNot({ daily_cap: used + 1 })).toBe(limit(used + 1))
    expect(await whyNot({ daily_cap: 10_000, ramp: { start: used + 1, step: 1 } })).toBe(
      `This campaign goes to 2 people, and ${BRAND.sender_email} may send 1 more mails today. It starts on the day that has room for it.`,
    )
    // Where both stand in the way, it is the limit, which no day raises.
    expect(await whyNot({ daily_cap: used + 1 })).toBe(limit(used + 1))
    await api.put('settings/mail', { daily_cap: used + 2, ramp: null })
    await look(3)
    expect(await get(id)).toMatchObject({ state: 'sent', state_reason: null })
    await api.put('settings/mail', { daily_cap: 10_000 })
  })
})

describe('a campaign that runs', () => {
  /** One that listmonk is busy with, and will be until it is told otherwise. */
  async function running(status = 'running'): Promise<string> {
    const id = await campaign('render', 'approve', 'push', 'send')
    await hub.query(`update hub.campaigns set state = 'started' where draft_id = $1`, [id])
    await hub.query(
      `update hub.recipients set state = 'sending', claimed_at = now() where draft_id = $1`,
      [id],
    )
    the(id).status = status
    if (status === 'finished') the(id).sent = 2
    return id
  }

  test('is waited for, and not started again', async () => {
    const id = await running()
    await look(2)
    expect(the(id).status).toBe('running')
    expect(sentTo(id)).toEqual([])
    expect(await recipients(id)).toMatchObject([{ state: 'sending' }, { state: 'sending' }])
    expect((await get(id)).state).toBe('sending')
  })

  test.each([
    ['the draft', (id: string) => api.ok('draft/pause', of(id))],
    ['all mail', () => api.ok('settings/mail/pause')],
  ])('is paused there with %s, and goes on with it', async (_, pause) => {
    const id = await running()
    // Also while the hub waits, because listmonk did not answer.
    await hub.query(`update hub.drafts set retry_at = now() + interval '1 hour' where id = $1`, [
      id,
    ])
    await pause(id)
    await look(2)
    expect(the(id).status).toBe('paused')
    // It is not started again by a later look.
    await look()
    expect(the(id).status).toBe('paused')
    expect((await get(id)).state).toBe('sending')
    await api.ok('draft/resume', of(id))
    await api.ok('settings/mail/confirm')
    await look(3)
    expect(await get(id)).toMatchObject({ state: 'sent', progress: { sent: 2 } })
    expect(sentTo(id)).toHaveLength(2)
  })

  test('that is finished makes its mails sent and its leads contacted, once', async () => {
    const id = await running('finished')
    await look(2)
    expect(await get(id)).toMatchObject({ state: 'sent', sent_at: expect.any(String) })
    const told = await hub.query<{ kind: string; stage: string }>(
      `select a.kind, lead.stage from hub.activities as a join hub.leads as lead on lead.id = a.lead_id
       where $1 = any(lead.tags) and a.kind in ('sent', 'stage') order by a.kind`,
      [tag],
    )
    expect(told).toEqual(
      ['sent', 'sent', 'stage', 'stage'].map((kind) => ({ kind, stage: 'contacted' })),
    )
  })

  test.each([
    ['nobody', 0],
    ['one of them', 1],
  ])(
    'that is finished and counts %s leaves all unclear, because nobody knows which',
    async (_, sent) => {
      const id = await running('finished')
      the(id).sent = sent
      await look(2)
      expect(await get(id)).toMatchObject({ state: 'unclear', progress: { sent: 0, unclear: 2 } })
      const [one] = await recipients(id)
      expect(one.reason).toContain(`listmonk counts ${sent} of 2 mails as sent`)
    },
  )

  test('that listmonk paused is left to people there, and says so', async () => {
    const id = await running('paused')
    await look(2)
    expect(the(id).status).toBe('paused')
    expect((await get(id)).state_reason).toContain('listmonk paused this campaign after 0 of 0')
    the(id).status = 'running'
    await look()
    the(id).status = 'finished'
    the(id).sent = 2
    await look(2)
    expect(await get(id)).toMatchObject({ state: 'sent', state_reason: null })
  })

  test('that listmonk pauses after a pause of the hub that did not arrive is left to people too', async () => {
    const id = await running()
    standIn.failNext('PUT', `/campaigns/${the(id).id}/status`, 'drop_before')
    await api.ok('draft/pause', of(id))
    await look()
    expect(the(id).status).toBe('running')
    await api.ok('draft/resume', of(id))
    await look()
    the(id).status = 'paused'
    await look(2)
    expect(the(id).status).toBe('paused')
    expect((await get(id)).state_reason).toContain('listmonk paused this campaign')
    the(id).status = 'finished'
    the(id).sent = 2
    await look(2)
  })

  test('from a sender whose name has a comma leaves, and is counted', async () => {
    await setBrand(api, { sender_name: 'Demir, Ltd.: sales' })
    const id = await campaign('render', 'approve', 'push', 'send')
    await look(3)
    expect(the(id).from_email).toBe(`"Demir, Ltd.: sales" <${BRAND.sender_email}>`)
    expect(await get(id)).toMatchObject({ state: 'sent', progress: { sent: 2 } })
    expect(sentTo(id)).toHaveLength(2)
  })

  test('that is gone there leaves its mails unclear', async () => {
    const id = await running()
    standIn.state.campaigns.delete(the(id).id)
    await look(2)
    expect(await get(id)).toMatchObject({ state: 'unclear', progress: { unclear: 2 } })
  })
})
