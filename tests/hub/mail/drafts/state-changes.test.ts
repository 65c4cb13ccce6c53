import { describe, expect, test } from 'vitest'
import { MAIL_STATES, STATES, type Step } from '../../../../hub/mail/drafts/flow.ts'
import * as portions from '../../../../hub/mail/drafts/portion-state.ts'
import * as state from '../../../../hub/mail/drafts/state.ts'
import type { Sql } from '../../../../shared/sql.ts'
import {
  addAll,
  addDraft,
  codeOf,
  HASH,
  hub,
  mailOf,
  mailsMoved,
  moved,
  project_id,
  useHub,
  WHY,
  write,
} from './state-scene.ts'

/*
 * Each change of a state, tried on drafts in every state with mails in every state: it changes what its
 * name says and nothing else, also not of another draft.
 */

useHub()

describe('a step of a draft', () => {
  const STEPS: [
    name: Step,
    take: (sql: Sql, id: string) => Promise<void>,
    from: string,
    to: string,
  ][] = [
    [
      'approve',
      (sql, id) => state.approveDraft(sql, id, { via: 'tx', hash: 'new', approved: { a: 1 } }),
      'rendered',
      'approved',
    ],
    ['push', (sql, id) => state.finishPush(sql, { id, approved_hash: HASH }), 'approved', 'pushed'],
    [
      'send',
      (sql, id) => state.beginSending(sql, { id, approved_hash: HASH }),
      'pushed',
      'sending',
    ],
  ]

  test.each(STEPS)('%s is refused from every other state', async (_, take, from, to) => {
    const drafts = await addAll()
    for (const [name, id] of Object.entries(drafts)) {
      const expected = name === from ? 'done' : 'wrong_state'
      expect(await codeOf(write((sql) => take(sql, id))), name).toBe(expected)
    }
    expect(await moved(drafts)).toEqual([`${from} → ${to}`])
    const absent = '00000000-0000-4000-8000-000000000000'
    expect(await codeOf(write((sql) => take(sql, absent)))).toBe('not_found')
  })

  test('push and send are refused for another approval than the one that was read', async () => {
    const drafts = await addAll()
    const draft = (name: string) => ({ id: drafts[name] ?? '', approved_hash: 'older' })
    expect(await codeOf(write((sql) => state.finishPush(sql, draft('approved'))))).toBe(
      'wrong_state',
    )
    expect(await codeOf(write((sql) => state.beginSending(sql, draft('pushed'))))).toBe(
      'wrong_state',
    )
    expect(await moved(drafts)).toEqual([])
  })

  test('push takes its waiting mails along, and no other draft’s', async () => {
    const [id, other] = [await addDraft('approved'), await addDraft('approved')]
    await write((sql) => state.finishPush(sql, { id, approved_hash: HASH }))
    expect(await mailsMoved(id)).toEqual(['waiting → pushed'])
    expect(await mailsMoved(other)).toEqual([])
  })

  test.each<[to: 'draft' | 'rendered' | 'rejected', step: Step, kept: string[]]>([
    ['draft', 'edit', ['sending', 'sent', 'unclear']],
    ['rendered', 'render', ['sending', 'sent', 'unclear']],
    ['rejected', 'reject', ['rejected', 'sending', 'sent', 'unclear']],
  ])('that voids the approval leads to %s', async (to, step, kept) => {
    const drafts = await addAll()
    for (const [name, id] of Object.entries(drafts)) {
      const done = await codeOf(
        write((sql) => state.voidApproval(sql, id, { step, to, reason: WHY })),
      )
      expect(done, name).toBe(kept.includes(name) ? 'wrong_state' : 'done')
    }
    const others = STATES.filter((name) => !kept.includes(name) && name !== to)
    expect(await moved(drafts)).toEqual(others.map((name) => `${name} → ${to}`))
    const rows = await hub.query<{ state: string }>(
      `select state, state_reason, approved_hash, approved_at, via, retries from hub.drafts where id = $1`,
      [drafts.approved],
    )
    expect(rows).toEqual([
      {
        state: to,
        state_reason: WHY,
        approved_hash: null,
        approved_at: null,
        via: null,
        retries: 0,
      },
    ])
    // Whoever has had it, or may have had it, stays recorded.
    expect(await mailsMoved(drafts.approved ?? '')).toEqual(
      ['waiting', 'pushed', 'skipped', 'failed'].map((name) => `${name} → gone`),
    )
    expect(await mailsMoved(drafts.sent ?? '')).toEqual([])
  })

  test('does not void an approval that is being pushed, but one whose push was killed', async () => {
    const [running, killed] = [
      await addDraft('approved', { pushing: '1 minute' }),
      await addDraft('approved', { pushing: '-1 second' }),
    ]
    const edit = (id: string) =>
      codeOf(write((sql) => state.voidApproval(sql, id, { step: 'edit', to: 'draft' })))
    expect(await edit(running)).toBe('conflict')
    expect(await edit(killed)).toBe('done')
  })

  test.each(['sent', 'unclear', 'failed'] as const)(
    'ends a draft as %s once nothing of it is on its way',
    async (to) => {
      const drafts = await addAll()
      const end = async () => {
        for (const id of Object.values(drafts)) {
          await write((sql) => state.endDraft(sql, id, { to, reason: null }))
        }
        return moved(drafts)
      }
      const open = ['waiting', 'pushed', 'sending']
      for (const name of open) {
        await hub.query('update hub.recipients set state = $1 where state = any($2)', [name, open])
        expect(await end(), name).toEqual([])
      }
      await hub.query('delete from hub.recipients where state = any($1)', [open])
      expect(await end()).toEqual([`sending → ${to}`])
      const [row] = await hub.query<{ sent_at: Date | null }>(
        'select sent_at from hub.drafts where id = $1',
        [drafts.sending],
      )
      expect(row?.sent_at).toBeInstanceOf(Date)
    },
  )

  test('that ends without a mail sent has no time of sending', async () => {
    const id = await addDraft('sending')
    await hub.query("delete from hub.recipients where state <> 'failed'")
    await write((sql) => state.endDraft(sql, id, { to: 'failed', reason: WHY }))
    const rows = await hub.query('select state, state_reason, sent_at from hub.drafts')
    expect(rows).toEqual([{ state: 'failed', state_reason: WHY, sent_at: null }])
  })
})

describe('a change of one mail', () => {
  const CHANGES: [string, (sql: Sql, mail: state.ClaimedMail) => Promise<unknown>, string[]][] = [
    ['markSent', state.markSent, ['sending → sent', 'unclear → sent']],
    ['markUnclear', (sql, mail) => state.markUnclear(sql, mail, WHY), ['sending → unclear']],
    ['markFailed', (sql, mail) => state.markFailed(sql, mail, WHY), ['sending → failed']],
    [
      'putBack',
      (sql, mail) => state.putBack(sql, mail, { reason: WHY, wait_seconds: 60, was_tried: true }),
      ['sending → pushed'],
    ],
  ]

  test.each(CHANGES)('%s changes only what its name says', async (_, change, expected) => {
    const [id, other] = [await addDraft('sending'), await addDraft('sending')]
    for (const name of MAIL_STATES) {
      await write((sql) => change(sql, mailOf(id, name, 2)))
      await write((sql) => change(sql, { ...mailOf(id, name), email: 'nobody@x.example' }))
    }
    expect(await mailsMoved(id), 'of another attempt or address').toEqual([])
    for (const name of MAIL_STATES) await write((sql) => change(sql, mailOf(id, name)))
    expect(await mailsMoved(id)).toEqual(expected)
    expect(await mailsMoved(other)).toEqual([])
  })

  test('skipMails skips those named that wait', async () => {
    const [id, other] = [await addDraft('sending'), await addDraft('sending')]
    const emails = MAIL_STATES.filter((name) => name !== 'waiting').map(
      (name) => `${name}@x.example`,
    )
    await write((sql) => state.skipMails(sql, { draft_id: id, emails }, WHY))
    expect(await mailsMoved(id)).toEqual(['pushed → skipped'])
    await write((sql) => state.skipMails(sql, { draft_id: id, emails: ['waiting@x.example'] }, WHY))
    expect(await mailsMoved(id)).toEqual(['waiting → skipped', 'pushed → skipped'])
    expect(await mailsMoved(other)).toEqual([])
  })

  test('claimMail takes a pushed mail of a draft that is being sent, as it was approved', async () => {
    const drafts = await addAll()
    const claim = (id: string, name: string, approved_hash = HASH, hashes = ['h']) =>
      write((sql) =>
        state.claimMail(
          sql,
          { id, approved_hash },
          {
            email: `${name}@x.example`,
            hashes,
            message_id: `<${id}@x>`,
            token_hash: id,
            sender: 'ada@demir.example',
          },
        ),
      )
    for (const id of Object.values(drafts)) {
      if (id === drafts.sending) continue
      expect(await claim(id, 'pushed')).toBeUndefined()
    }
    const id = drafts.sending ?? ''
    for (const name of MAIL_STATES.filter((one) => one !== 'pushed')) {
      expect(await claim(id, name), name).toBeUndefined()
    }
    expect(await claim(id, 'pushed', 'older')).toBeUndefined()
    await hub.query('update hub.drafts set paused_at = now()')
    expect(await claim(id, 'pushed')).toBeUndefined()
    await hub.query('update hub.drafts set paused_at = null')
    await asked('open')
    expect(await claim(id, 'pushed')).toBeUndefined()
    await asked('denied')
    await hub.query(`insert into hub.suppression (email_hash, reason) values ('gone', 'bounced')`)
    expect(await claim(id, 'pushed', HASH, ['h', 'gone'])).toBeUndefined()
    await hub.query('update hub.suppression set released_at = now()')
    expect(await claim(id, 'pushed', HASH, ['h', 'gone'])).toBe(2)
    expect(await mailsMoved(id)).toEqual(['pushed → sending'])
    await hub.query('delete from hub.suppression')
  })
})

/** Whether readers of mails that are ready to be sent may have asked for no more mail, by another one. */
const asked = (opt_out: 'open' | 'denied') =>
  hub.query(
    `update hub.recipients set opt_out = $1
     where email = 'pushed@x.example' and draft_id <> (select id from hub.drafts where state = 'sending' limit 1)`,
    [opt_out],
  )

describe('a change of a campaign', () => {
  const addCampaign = async (draft_id: string, name: string) => {
    const [row] = await hub.query<{ id: string }>(
      `insert into hub.campaigns (project_id, draft_id, portion, state, list_id, campaign_id)
       values ($1, $2, 1, $3, 1, 1) returning id`,
      [project_id, draft_id, name],
    )
    return row?.id ?? ''
  }

  test('claimPortion starts one that was made, of a draft that is being sent, once', async () => {
    const drafts = await addAll({ via: 'campaign' })
    const claim = async (id: string, campaign: string, approved_hash = HASH, portion = 1) =>
      write((sql) =>
        portions.claimPortion(
          sql,
          { id, approved_hash },
          { id: campaign, portion, sender: 'ada@demir.example' },
        ),
      )
    for (const [name, id] of Object.entries(drafts)) {
      if (name === 'sending') continue
      expect(await claim(id, await addCampaign(id, 'made')), name).toBe(false)
    }
    const id = drafts.sending ?? ''
    const campaign = await addCampaign(id, 'made')
    expect(await claim(id, campaign, 'older')).toBe(false)
    await hub.query('update hub.drafts set paused_at = now()')
    expect(await claim(id, campaign)).toBe(false)
    await hub.query('update hub.drafts set paused_at = null')
    expect(await mailsMoved(id)).toEqual([])
    await asked('open')
    expect(await claim(id, campaign)).toBe(false)
    await asked('denied')
    expect(await claim(id, campaign)).toBe(true)
    expect(await mailsMoved(id)).toEqual(['pushed → sending'])
    expect(await claim(id, campaign)).toBe(false)
  })

  test('its mails fail or end together, of its portion alone', async () => {
    const [id, other] = [await addDraft('sending'), await addDraft('sending')]
    await write((sql) => portions.failPortion(sql, id, 2, WHY))
    await write((sql) => portions.endPortion(sql, id, 2, { to: 'sent', reason: null }))
    expect(await mailsMoved(id)).toEqual([])
    await write((sql) => portions.failPortion(sql, id, 1, WHY))
    expect(await mailsMoved(id)).toEqual(['pushed → failed'])
    const whose = await write((sql) =>
      portions.endPortion(sql, id, 1, { to: 'sent', reason: null }),
    )
    expect(whose).toHaveLength(1)
    expect(await mailsMoved(id)).toEqual(['pushed → failed', 'sending → sent'])
    const times = () =>
      hub.query<{ email: string }>(
        `select email from hub.recipients where draft_id = $1 and sent_at is not null`,
        [id],
      )
    expect(await times()).toEqual([{ email: 'sending@x.example' }])
    await write((sql) => portions.endPortion(sql, other, 1, { to: 'unclear', reason: WHY }))
    expect(await mailsMoved(other)).toEqual(['sending → unclear'])
  })
})

describe('after an interruption', () => {
  test('giveUpClaims makes unclear what was claimed, unless listmonk goes on with it', async () => {
    const [smtp, campaign] = [
      await addDraft('sending'),
      await addDraft('sending', { via: 'campaign' }),
    ]
    expect(await write((sql) => state.giveUpClaims(sql, WHY))).toBe(1)
    expect(await mailsMoved(smtp)).toEqual(['sending → unclear'])
    expect(await mailsMoved(campaign)).toEqual([])
  })

  test.each([
    ['smtp', 'pushed', 'pushed'],
    ['campaign', 'waiting', 'approved'],
  ])('clearMails sends what did not arrive by %s again', async (via, back, to) => {
    const id = await addDraft('unclear', { via })
    // Of the others only those that have ended.
    await hub.query("delete from hub.recipients where state in ('waiting', 'pushed', 'sending')")
    const clear = (email: string | null, is_sent: boolean) =>
      write((sql) => state.clearMails(sql, { id, via }, { is_sent, email }))
    expect(await clear('nobody@x.example', false)).toEqual([])
    expect(await clear('sent@x.example', false)).toEqual([])
    expect(await moved({ unclear: id })).toEqual([])
    expect(await clear(null, false)).toHaveLength(1)
    const [mail] = await hub.query(
      `select state, claimed_at, portion, sent_at from hub.recipients where email = 'unclear@x.example'`,
    )
    expect(mail).toEqual({ state: back, claimed_at: null, portion: null, sent_at: null })
    expect(await moved({ unclear: id })).toEqual([`unclear → ${to}`])
    expect(await clear(null, true)).toEqual([])
  })

  test('clearMails takes the admin’s word that a mail arrived, as of when it was claimed', async () => {
    const id = await addDraft('unclear')
    await hub.query("delete from hub.recipients where state in ('waiting', 'pushed', 'sending')")
    await hub.query(
      `insert into hub.recipients (draft_id, project_id, email, state) values ($1, $2, 'another@x.example', 'unclear')`,
      [id, project_id],
    )
    const clear = (email: string) =>
      write((sql) => state.clearMails(sql, { id, via: 'smtp' }, { is_sent: true, email }))
    await clear('another@x.example')
    expect(await moved({ unclear: id })).toEqual([])
    await clear('unclear@x.example')
    const [mail] = await hub.query(
      `select state, portion, claimed_at = sent_at as same from hub.recipients where email = 'unclear@x.example'`,
    )
    expect(mail).toEqual({ state: 'sent', portion: 1, same: true })
    expect(await moved({ unclear: id })).toEqual(['unclear → sent'])
  })

  test('doubtRestored voids every approval and makes unclear what may have gone out', async () => {
    const drafts = await addAll({ pushing: '1 minute' })
    const done = await addDraft('sending')
    await hub.query(
      `delete from hub.recipients where draft_id = $1 and state in ('waiting', 'pushed', 'sending', 'unclear')`,
      [done],
    )
    // Either trace of an approval is enough.
    await hub.query('update hub.drafts set approved_hash = null where id = $1', [drafts.draft])
    await hub.query('update hub.drafts set pushing_until = null where id = $1', [drafts.rendered])
    await write((sql) => state.doubtRestored(sql, WHY))
    expect(await moved({ ...drafts, sending: drafts.sending ?? '' })).toEqual([
      'approved → unclear',
      'pushed → unclear',
      'sending → unclear',
    ])
    expect(await moved({ sending: done })).toEqual(['sending → sent'])
    for (const name of ['approved', 'pushed', 'sending']) {
      expect(await mailsMoved(drafts[name] ?? ''), name).toEqual(
        ['waiting', 'pushed', 'sending'].map((before) => `${before} → unclear`),
      )
    }
    for (const name of ['draft', 'rendered', 'sent', 'unclear', 'rejected', 'failed']) {
      expect(await mailsMoved(drafts[name] ?? ''), name).toEqual([])
    }
    const approved = await hub.query<{ state: string }>(
      'select state from hub.drafts where approved_hash is not null or (pushing_until is not null) order by state',
    )
    expect(approved).toEqual([{ state: 'sent' }, { state: 'sent' }])
  })

  test('unrenderRestored keeps only what was sent as another hub rendered it', async () => {
    const drafts = await addAll()
    await write(state.unrenderRestored)
    expect(await moved(drafts)).toEqual(['rendered → draft'])
    const rows = await hub.query('select state from hub.drafts where html is not null')
    expect(rows).toEqual([{ state: 'sent' }])
  })
})
