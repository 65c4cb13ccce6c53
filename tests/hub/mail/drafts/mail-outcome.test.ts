import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { everywhere } from '../../../../hub/db/db.ts'
import { LOCK_SPACE, LOCKS } from '../../../../hub/db/locks.ts'
import { verbatim } from '../../../../hub/i18n/words.ts'
import {
  findMails,
  finishDraft,
  recordBounce,
  recordSent,
} from '../../../../hub/mail/drafts/outcome.ts'
import {
  type ClaimedMail,
  markFailed,
  markUnclear,
  putBack,
} from '../../../../hub/mail/drafts/state.ts'
import { keepOptOut } from '../../../../hub/mail/opt-outs.ts'
import { emailHash, readSalt, type Salt } from '../../../../hub/mail/suppression.ts'
import { startHub, type TestHub } from '../../support/hub.ts'

let hub: TestHub
let salt: Salt
beforeAll(async () => {
  hub = await startHub()
  salt = await readSalt(hub.paths)
  await hub.query(`insert into hub.projects (slug, name) values ('demir', 'Demir')`)
})
afterAll(() => hub.close())

let count = 0
let mail: ClaimedMail
/** A mail in the middle of its second attempt, to a lead that is new. */
beforeEach(async () => {
  count += 1
  const email = `p${count}@x.example`
  const [row] = await hub.query<{ draft_id: string; project_id: string; lead_id: string }>(
    `with lead as (
       insert into hub.leads (project_id, email) select id, $1 from hub.projects returning *
     ), draft as (
       insert into hub.drafts (project_id, audience, subject, state)
       select project_id, jsonb_build_object('kind', 'lead', 'lead_id', id), 'Freight', 'sending'
       from lead returning *
     )
     select draft.id as draft_id, lead.project_id, lead.id as lead_id from draft, lead`,
    [email],
  )
  if (!row) throw new Error('nothing was made')
  await hub.query(
    `insert into hub.recipients (draft_id, project_id, lead_id, email, state, attempts, claimed_at)
     values ($1, $2, $3, $4, 'sending', 2, now())`,
    [row.draft_id, row.project_id, row.lead_id, email],
  )
  mail = { ...row, email, subject: 'Freight', attempt: 2 }
})

const sql = <T>(work: Parameters<typeof everywhere<T>>[1]) => everywhere(hub.deps.db, work)
const why = verbatim('because')
const recipient = async () =>
  (await hub.query('select * from hub.recipients where draft_id = $1', [mail.draft_id]))[0]
const kinds = async () =>
  (
    await hub.query<{ kind: string }>('select kind from hub.activities where lead_id = $1', [
      mail.lead_id,
    ])
  ).map(({ kind }) => kind)
const stage = async () =>
  (await hub.query('select stage from hub.leads where id = $1', [mail.lead_id]))[0]?.stage
const isSuppressed = async () =>
  (
    await hub.query('select from hub.suppression where email_hash = $1', [
      emailHash(salt, mail.email),
    ])
  ).length > 0

describe('the answer to an attempt', () => {
  test('that is no longer the latest changes nothing', async () => {
    const before = await recipient()
    const old = { ...mail, attempt: 1 }
    await sql((s) => recordSent(s, old))
    await sql((s) => markUnclear(s, old, why))
    await sql((s) => markFailed(s, old, why))
    await sql((s) => putBack(s, old, { reason: why, wait_seconds: 1, was_tried: true }))
    expect(await recipient()).toEqual(before)
    expect(await kinds()).toEqual([])
  })

  test('that comes late makes clear what was unclear, and is told once', async () => {
    await sql((s) => markUnclear(s, mail, why))
    expect(await recipient()).toMatchObject({ state: 'unclear' })
    await sql((s) => recordSent(s, mail))
    await sql((s) => recordSent(s, mail))
    expect(await recipient()).toMatchObject({ state: 'sent', reason: null, attempts: 2 })
    expect((await kinds()).sort()).toEqual(['sent', 'stage'])
  })

  test('does not take back what the admin said meanwhile', async () => {
    await hub.query(`update hub.recipients set state = 'pushed' where draft_id = $1`, [
      mail.draft_id,
    ])
    for (const mark of [recordSent, markUnclear, markFailed]) await sql((s) => mark(s, mail, why))
    expect(await recipient()).toMatchObject({ state: 'pushed', sent_at: null })
  })

  test('that was a refusal gives its place under the daily cap back', async () => {
    await sql((s) => putBack(s, mail, { reason: why, wait_seconds: 60, was_tried: true }))
    expect(await recipient()).toMatchObject({
      state: 'pushed',
      claimed_at: null,
      retry_at: expect.any(Date),
    })
  })
})

describe('a lead', () => {
  test.each([
    ['new', 'contacted'],
    ['replied', 'replied'],
    ['meeting', 'meeting'],
    ['lost', 'lost'],
  ])('that is %s is %s behind a mail: it never goes back', async (from, to) => {
    await hub.query('update hub.leads set stage = $2 where id = $1', [mail.lead_id, from])
    await sql((s) => recordSent(s, mail))
    expect(await stage()).toBe(to)
  })
})

describe('a mail that comes back', () => {
  test('for a full mailbox is noted, and the address stays', async () => {
    await sql((s) => recordBounce(s, salt, mail, 'soft'))
    expect(await recipient()).toMatchObject({ bounce: 'soft' })
    expect(await isSuppressed()).toBe(false)
  })

  test('for good suppresses, also after it came back for a while, and stays so', async () => {
    await sql((s) => recordBounce(s, salt, mail, 'soft'))
    await sql((s) => recordBounce(s, salt, mail, 'hard'))
    await sql((s) => recordBounce(s, salt, mail, 'hard'))
    await sql((s) => recordBounce(s, salt, mail, 'soft'))
    expect(await recipient()).toMatchObject({ bounce: 'hard' })
    expect(await isSuppressed()).toBe(true)
    expect(await kinds()).toEqual(['bounced', 'bounced'])
  })

  test('as a complaint suppresses, and is told once', async () => {
    await sql((s) => recordBounce(s, salt, mail, 'complaint'))
    await sql((s) => recordBounce(s, salt, mail, 'complaint'))
    expect(await recipient()).toMatchObject({ bounce: null, complained_at: expect.any(Date) })
    expect(await isSuppressed()).toBe(true)
    expect(await kinds()).toEqual(['bounced'])
  })
})

describe('a draft', () => {
  const add = (...states: string[]) =>
    hub.query(
      `insert into hub.recipients (draft_id, project_id, email, state)
       select $1, $2, state || '@more.example', state from unnest($3::text[]) as state`,
      [mail.draft_id, mail.project_id, states],
    )
  const end = async () => {
    await sql((s) => finishDraft(s, mail.draft_id))
    const [draft] = await hub.query('select * from hub.drafts where id = $1', [mail.draft_id])
    return draft
  }

  test.each(['waiting', 'pushed', 'sending'])('goes on while somebody is %s', async (state) => {
    await sql((s) => recordSent(s, mail))
    await add(state)
    expect(await end()).toMatchObject({ state: 'sending' })
  })

  test.each([
    [['sent', 'unclear', 'failed', 'skipped'], 'unclear', '1 unclear, 1 failed, 1 skipped'],
    [['sent', 'failed', 'skipped'], 'sent', '1 failed, 1 skipped'],
    [['failed', 'skipped'], 'failed', '1 failed, 1 skipped'],
    [['skipped'], 'failed', '1 skipped'],
    [['sent'], 'sent', null],
  ])('of which mails are %s ends as %s', async (states, state, reason) => {
    await hub.query('delete from hub.recipients where draft_id = $1', [mail.draft_id])
    await add(...states)
    const draft = await end()
    expect(draft).toMatchObject({
      state,
      sent_at: states.includes('sent') ? expect.any(Date) : null,
    })
    expect(draft?.state_reason?.en ?? null).toBe(reason)
  })
})

test('what comes in is about the mail it names, or the newest to an address that went out', async () => {
  const of = async (message_ids: string[], email: string | null) =>
    (await sql((s) => findMails(s, { message_ids, email }))).map((found) => found.email)
  await hub.query(
    `insert into hub.recipients (draft_id, project_id, email, state, claimed_at, message_id)
     values ($1, $2, 'a@named.example', 'sent', now() - interval '2 days', '<a@x>'),
       ($1, $2, 'b@named.example', 'sent', now() - interval '1 day', '<b@x>'),
       ($1, $2, 'c@named.example', 'waiting', null, '<c@x>')`,
    [mail.draft_id, mail.project_id],
  )
  expect(await of(['<a@x>'], null)).toEqual(['a@named.example'])
  expect(await of(['<a@x>', '<b@x>'], null)).toEqual(['b@named.example', 'a@named.example'])
  expect(await of([], 'b@named.example')).toEqual(['b@named.example'])
  // What was never sent cannot be answered.
  expect(await of(['<c@x>'], null)).toEqual([])
  expect(await of([], 'c@named.example')).toEqual([])
  expect(await of(['<unknown@x>'], null)).toEqual([])
})

describe('a round of the mailer', () => {
  const draftState = async () =>
    (await hub.query('select state from hub.drafts where id = $1', [mail.draft_id]))[0]?.state
  const round = () => hub.deps.mailer.run()

  test('doubts what an ended process was sending, but nothing while another one sends', async () => {
    const pool = new pg.Pool({ connectionString: hub.owner_url, max: 1 })
    const other = await pool.connect()
    try {
      await other.query('begin')
      await other.query('select pg_advisory_xact_lock($1, $2)', [LOCK_SPACE, LOCKS.mailer])
      await round()
      expect(await recipient()).toMatchObject({ state: 'sending' })
    } finally {
      await other.query('rollback')
      other.release()
      await pool.end()
    }
    await round()
    expect(await recipient()).toMatchObject({ state: 'unclear' })
    expect(await draftState()).toBe('unclear')
  })

  test('leaves a draft alone until it is tried again', async () => {
    await sql((s) => recordSent(s, mail))
    const retry = (at: string) =>
      hub.query('update hub.drafts set retry_at = now() + $2::interval where id = $1', [
        mail.draft_id,
        at,
      ])
    await retry('1 hour')
    await round()
    expect(await draftState()).toBe('sending')
    await retry('-1 second')
    await round()
    expect(await draftState()).toBe('sent')
  })

  test('puts on the list who has opted out while the database was away', async () => {
    await keepOptOut(hub.paths, emailHash(salt, mail.email), 'token')
    expect(await isSuppressed()).toBe(false)
    await round()
    expect(await isSuppressed()).toBe(true)
  })
})
