import { describe, expect, test } from 'vitest'
import { MAIL_STATES } from '../../../../hub/mail/drafts/flow.ts'
import * as portions from '../../../../hub/mail/drafts/portion-state.ts'
import * as state from '../../../../hub/mail/drafts/state.ts'
import { addDraft, HASH, hub, mailsMoved, project_id, useHub, WHY, write } from './state-scene.ts'

useHub()

describe('the recipients of an approval', () => {
  const PERSON = { name: null, company: null, own: {} }
  const lead = async (email: string) => {
    const [row] = await hub.query<{ id: string }>(
      `insert into hub.leads (project_id, email) values ($1, $2)
      on conflict (project_id, email_key) do update set email = excluded.email returning id`,
      [project_id, email],
    )
    return row?.id ?? ''
  }

  test('leave out who has had the mail, or may have, at whatever address', async () => {
    const id = await addDraft('approved')
    const people: Parameters<typeof state.addRecipients>[2] = []
    for (const name of MAIL_STATES) {
      const lead_id = await lead(`${name}@moved.example`)
      await hub.query('update hub.recipients set lead_id = $2 where draft_id = $1 and state = $3', [
        id,
        lead_id,
        name,
      ])
      people.push({ ...PERSON, lead_id, email: `${name}@moved.example`, reason: null })
    }
    await write((sql) => state.addRecipients(sql, { id, project_id }, people))
    const added = await hub.query<{ email: string }>(
      "select email from hub.recipients where email like '%@moved.example' order by email",
    )
    expect(added.map(({ email }) => email.split('@')[0])).toEqual(
      MAIL_STATES.filter((name) => !['sending', 'sent', 'unclear'].includes(name)).toSorted(),
    )
  })

  test('wait, or are left out with the reason', async () => {
    const id = await addDraft('approved')
    const person = async (email: string, reason: typeof WHY | null) => ({
      ...PERSON,
      lead_id: await lead(email),
      email,
      reason,
    })
    const people = [await person('in@new.example', null), await person('out@new.example', WHY)]
    await write((sql) => state.addRecipients(sql, { id, project_id }, people))
    await write((sql) => state.addRecipients(sql, { id, project_id }, people))
    expect(
      await hub.query(
        "select email, state, reason from hub.recipients where email like '%@new.example' order by 1",
      ),
    ).toEqual([
      { email: 'in@new.example', state: 'waiting', reason: null },
      { email: 'out@new.example', state: 'skipped', reason: WHY },
    ])
  })

  test('are forgotten with it, but for whose mail came back', async () => {
    const id = await addDraft('approved')
    await hub.query(
      "update hub.recipients set bounced_at = now() where state in ('failed', 'sent')",
    )
    await write((sql) => state.forgetApproved(sql, [id]))
    expect(await mailsMoved(id)).toEqual(
      ['waiting', 'pushed', 'skipped'].map((name) => `${name} → gone`),
    )
  })
})

describe('a mail of a step', () => {
  const claim = (id: string, due_at: string | null, due_until: string | null) =>
    write(async (sql) => {
      await sql`
        update hub.recipients set due_at = now() + ${due_at}::interval, due_until = now() + ${due_until}::interval
        where draft_id = ${id} and state = 'pushed'`
      const mail = { hashes: [], message_id: '<x>', token_hash: 'x', sender: 'x' }
      return state.claimMail(
        sql,
        { id, approved_hash: HASH },
        { ...mail, email: 'pushed@x.example' },
      )
    })

  test.each([
    ['without hours', null, null, 2],
    ['in its hours', '-1 hour', '1 hour', 2],
    ['from their beginning on', '0', '1 hour', 2],
    ['before them', '1 second', '1 hour', undefined],
    ['at their end', '-1 hour', '0', undefined],
    ['after them', '-2 hours', '-1 hour', undefined],
  ])('is claimed %s', async (_, due_at, due_until, attempt) => {
    const id = await addDraft('sending')
    expect(await claim(id, due_at, due_until)).toBe(attempt)
  })

  test('that is put back counts as none of today’s, and waits', async () => {
    const id = await addDraft('sending')
    expect(await claim(id, null, null)).toBe(2)
    const mail = { draft_id: id, project_id, email: 'pushed@x.example', lead_id: null, subject: '' }
    await write((sql) =>
      state.putBack(
        sql,
        { ...mail, attempt: 2 },
        { reason: WHY, wait_seconds: 60, was_tried: true },
      ),
    )
    const [row] = await hub.query(
      `select state, claimed_at, round(extract(epoch from retry_at - now()) / 10)::int as tens
      from hub.recipients where draft_id = $1 and email = $2`,
      [id, mail.email],
    )
    expect(row).toEqual({ state: 'pushed', claimed_at: null, tens: 6 })
  })
})

test('a campaign asks for the mails of its portion alone, and claims no other', async () => {
  const [id, other] = [await addDraft('sending', { via: 'campaign' }), await addDraft('sent')]
  await hub.query(
    `insert into hub.recipients (draft_id, project_id, email, state, portion)
     values ($1, $2, 'second@x.example', 'pushed', 2)`,
    [id, project_id],
  )
  const [campaign] = await hub.query<{ id: string }>(
    `insert into hub.campaigns (project_id, draft_id, portion, state, list_id, campaign_id)
     values ($1, $2, 2, 'made', 1, 1) returning id`,
    [project_id, id],
  )
  const claim = async (portion: number) =>
    write((sql) =>
      portions.claimPortion(
        sql,
        { id, approved_hash: HASH },
        { id: campaign?.id ?? '', portion, sender: 'ada@demir.example' },
      ),
    )
  // Of the first portion somebody may have asked for no more mail.
  await hub.query(
    "update hub.recipients set opt_out = 'open' where draft_id = $1 and email = 'pushed@x.example'",
    [other],
  )
  expect(await claim(1)).toBe(false)
  expect(await claim(2)).toBe(true)
  expect(
    await hub.query(
      `select email, sender from hub.recipients where draft_id = $1 and attempts > 0
       and state = 'sending' and email <> 'sending@x.example'`,
      [id],
    ),
  ).toEqual([{ email: 'second@x.example', sender: 'ada@demir.example' }])
})
