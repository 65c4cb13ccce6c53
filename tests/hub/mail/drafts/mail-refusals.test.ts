import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../../support/hub.ts'
import {
  apiOf,
  draftsOf,
  LEAD,
  type MailServer,
  setBrand,
  smtpSettings,
  startMailServer,
} from '../../support/mail-help.ts'
import { startListmonk } from '../listmonk/listmonk-stand-in.ts'

type Stage = 'sender' | 'recipient' | 'data'

let hub: TestHub
let api: ReturnType<typeof apiOf>
let smtp: MailServer
/** What the server answers, and when; undefined takes everything. */
let answer: { at: Stage; code: number; text: string } | undefined
/** What happens while it takes a mail. */
let meanwhile = async () => {}
beforeAll(async () => {
  const refusal = (at: Stage) =>
    answer?.at === at
      ? Object.assign(new Error(answer.text), { responseCode: answer.code })
      : undefined
  smtp = await startMailServer({
    onMailFrom: (_address, _session, callback) => callback(refusal('sender')),
    onRcptTo: (_address, _session, callback) => callback(refusal('recipient')),
    onData(stream, session, callback) {
      stream.resume()
      stream.on('end', async () => {
        await meanwhile()
        const refused = refusal('data')
        if (!refused) smtp.to().push(...session.envelope.rcptTo.map(({ address }) => address))
        callback(refused)
      })
    },
  })
  hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
  api = apiOf(hub)
  await api.ok('projects/create', { slug: 'demir', name: 'Demir Lojistik' })
  await setBrand(api)
  await api.put('settings/mail', smtpSettings(smtp.port))
})
afterAll(async () => {
  await hub.close()
  await smtp.close()
})

let count = 0
let lead_id = ''
let email = ''
beforeEach(async () => {
  answer = undefined
  meanwhile = async () => {}
  smtp.to().length = 0
  // Dead addresses of the tests before are forgiven, or mail would pause.
  await api.ok('settings/mail/confirm')
  count += 1
  email = `p${count}@refused.example`
  const data = { name: 'Jo Öz', email, ...LEAD }
  lead_id = (await api.ok('lead/quick_add', { slug: 'demir', data })).lead.id
})

const { of, create, get } = draftsOf(() => ({ api, lead_id }))
async function send(): Promise<string> {
  const id = await create()
  for (const step of ['render', 'approve', 'push', 'send']) await api.ok(`draft/${step}`, of(id))
  await hub.deps.mailer.run()
  return id
}
const recipientOf = async (id: string) =>
  (await api.get(`drafts/recipients?id=${id}&project=demir`)).body.recipients[0]
const isSuppressed = async () =>
  (await api.get(`suppression?email=${email}`)).body.suppression.length > 0
/** As if the wait before the next attempt were over. */
async function later(id: string) {
  await hub.query('update hub.recipients set retry_at = now() where draft_id = $1', [id])
  await hub.query('update hub.drafts set retry_at = now() where id = $1', [id])
  await hub.deps.mailer.run()
}

describe('a refusal for good', () => {
  test.each<[why: string, at: Stage, code: number, text: string]>([
    ['no such mailbox', 'recipient', 550, '5.1.1 no such user'],
    ['no such domain', 'recipient', 550, '5.1.2 bad destination system'],
    ['a mailbox that was switched off', 'recipient', 550, '5.2.1 mailbox disabled'],
    ['550 without a reason', 'recipient', 550, 'no such user here'],
    ['551 without a reason', 'recipient', 551, 'user not local'],
    ['553 without a reason', 'recipient', 553, 'mailbox name not allowed'],
  ])('by %s ends the address: it is never written to again', async (_, at, code, text) => {
    answer = { at, code, text }
    const id = await send()
    expect(await recipientOf(id)).toMatchObject({
      state: 'failed',
      bounced_at: expect.any(String),
    })
    expect(await isSuppressed()).toBe(true)
  })

  test.each<[why: string, at: Stage, code: number, text: string]>([
    ['a policy', 'recipient', 550, '5.7.1 blocked by policy'],
    ['a full mailbox', 'recipient', 552, '5.2.2 mailbox full'],
    ['what our address is', 'recipient', 550, '5.1.8 <a@b>: Sender address rejected: not found'],
    ['how our address is written', 'recipient', 553, '5.1.7 bad sender address syntax'],
    ['a server that relays nothing', 'recipient', 550, 'relay not permitted'],
    ['550 for a spam list', 'recipient', 550, 'Your IP is blocked by our blacklist'],
    ['552 without a reason', 'recipient', 552, 'exceeded storage allocation'],
    ['554 without a reason', 'recipient', 554, 'transaction failed'],
    ['500, which names no mailbox', 'recipient', 500, 'command unrecognised'],
    ['what the mail says', 'data', 554, '5.7.1 looks like spam'],
    ['a server that looks for the mailbox too late', 'data', 550, '5.1.1 no such user'],
  ])('by %s is of this mail alone: the address stays', async (_, at, code, text) => {
    answer = { at, code, text }
    const id = await send()
    expect(await recipientOf(id)).toMatchObject({ state: 'failed', bounced_at: null })
    expect(await isSuppressed()).toBe(false)
    answer = undefined
    await later(id)
    expect(smtp.to()).toEqual([])
    await send()
    expect(smtp.to()).toEqual([email])
  })
})

describe('a refusal for now', () => {
  test.each<Stage>(['recipient', 'data'])(
    'at %s is tried five times, each later than the last, and the address stays',
    async (at) => {
      answer = { at, code: 451, text: '4.7.1 try again later' }
      const id = await send()
      const waits: number[] = []
      for (let attempt = 1; attempt < 5; attempt += 1) {
        const [row] = await hub.query<{ state: string; attempts: number; wait: number }>(
          `select state, attempts, extract(epoch from retry_at - now())::int as wait
           from hub.recipients where draft_id = $1`,
          [id],
        )
        expect(row).toMatchObject({ state: 'pushed', attempts: attempt })
        waits.push(row?.wait ?? 0)
        await hub.deps.mailer.run()
        await later(id)
      }
      expect(waits).toEqual([...waits].sort((a, b) => a - b))
      expect(waits[0]).toBeGreaterThan(60)
      expect(new Set(waits).size).toBe(4)
      expect(await recipientOf(id)).toMatchObject({ state: 'failed', bounced_at: null })
      expect(await isSuppressed()).toBe(false)
    },
  )

  test('of a server that took no mail at all uses up no attempt of a mail', async () => {
    answer = { at: 'sender', code: 451, text: '4.3.2 not now' }
    const id = await send()
    for (let round = 0; round < 5; round += 1) await later(id)
    answer = { at: 'recipient', code: 450, text: '4.2.0 greylisted' }
    await later(id)
    expect(await recipientOf(id)).toMatchObject({ state: 'pushed' })
    expect(
      await hub.query('select attempts from hub.recipients where draft_id = $1', [id]),
    ).toEqual([{ attempts: 1 }])
    answer = undefined
    await later(id)
    expect(smtp.to()).toEqual([email])
  })

  test('counts neither as sent nor against the day’s cap', async () => {
    const used = async () => (await api.get('settings/mail')).body.state.used_today
    const before = await used()
    answer = { at: 'recipient', code: 451, text: '4.7.1 try again later' }
    const id = await send()
    expect(await used()).toBe(before)
    answer = undefined
    await later(id)
    expect(await used()).toBe(before + 1)
  })
})

describe('of a draft to several', () => {
  const [A, B] = ['a', 'b']
  /** Sends to two, who are a@ and b@ of a domain of their own. */
  async function sendToBoth(): Promise<string> {
    const tag = `both${count}`
    for (const name of [A, B]) {
      const data = { name, email: `${name}@${tag}.example`, tags: [tag], ...LEAD }
      await api.ok('lead/quick_add', { slug: 'demir', data })
    }
    const id = await create({ audience: { kind: 'list', filter: { tag } } })
    for (const step of ['render', 'approve', 'push', 'send']) await api.ok(`draft/${step}`, of(id))
    return id
  }
  const rowOf = async (id: string) => {
    const [row] = await hub.query<{ wait: number | null; retries: number; reason: object | null }>(
      `select round(extract(epoch from retry_at - now()))::int as wait, retries,
         state_reason as reason from hub.drafts where id = $1`,
      [id],
    )
    return row
  }
  const gotIt = () => smtp.to().map((address) => address.split('@')[0])

  test('a server that takes none makes the draft wait, twice as long each time, and no mail', async () => {
    const id = await sendToBoth()
    answer = { at: 'sender', code: 451, text: '4.3.2 not now' }
    const waits: number[] = []
    await hub.deps.mailer.run()
    for (let nth = 0; nth < 3; nth += 1) {
      // The step that is nearest above: a busy machine looks late.
      waits.push(30 * 2 ** Math.ceil(Math.log2(((await rowOf(id))?.wait ?? 0) / 30)))
      await later(id)
    }
    expect(waits).toEqual([30, 60, 120])
    const tried = await hub.query(
      'select state, retry_at <= now() as is_free from hub.recipients where draft_id = $1 order by email',
      [id],
    )
    expect(tried).toEqual([
      { state: 'pushed', is_free: true },
      { state: 'pushed', is_free: true },
    ])
    expect((await rowOf(id))?.reason).not.toBeNull()
    answer = undefined
    let between: Awaited<ReturnType<typeof rowOf>>
    meanwhile = async () => {
      if (gotIt().length === 1) between = await rowOf(id)
    }
    await later(id)
    expect(gotIt()).toEqual([A, B])
    // After the first mail nothing is left of the fault.
    expect(between).toEqual({ wait: null, retries: 0, reason: null })
  })

  test.each<Stage>(['recipient', 'data'])(
    'a server that closes with 421 at %s is asked for no other, and uses up no attempt',
    async (at) => {
      const id = await sendToBoth()
      answer = { at, code: 421, text: '4.7.0 too many mails, try later' }
      await hub.deps.mailer.run()
      const tried = await hub.query<{ n: number }>(
        'select count(*)::int as n from hub.recipients where draft_id = $1 and message_id is not null',
        [id],
      )
      expect(tried).toEqual([{ n: 1 }])
      expect((await rowOf(id))?.reason).not.toBeNull()
      for (let round = 0; round < 5; round += 1) await later(id)
      answer = undefined
      await later(id)
      expect(gotIt()?.toSorted()).toEqual([A, B])
    },
  )

  test('who has had no attempt goes before who was refused for now', async () => {
    const id = await sendToBoth()
    await hub.query(
      "update hub.recipients set retry_at = now() where draft_id = $1 and email like 'a@%'",
      [id],
    )
    await hub.deps.mailer.run()
    expect(gotIt()).toEqual([B, A])
  })
})

test('a mail that cannot be written is skipped with the reason, and holds up no other', async () => {
  const tag = `whole${count}`
  const add = (name: string, more: object) =>
    api.ok('lead/quick_add', {
      slug: 'demir',
      data: { name, email: `${name}@${tag}.example`, tags: [tag], ...LEAD, ...more },
    })
  await add('a', {})
  await add('b', { company: 'Client' })
  await add('c', { company: 'L'.repeat(200) })
  const id = await create({
    audience: { kind: 'list', filter: { tag } },
    subject: '{company}{company}{company}',
  })
  for (const step of ['render', 'approve', 'push', 'send']) await api.ok(`draft/${step}`, of(id))
  const other = await send()
  await hub.deps.mailer.run()
  expect(smtp.to()).toEqual([`b@${tag}.example`, email])
  const { recipients } = (await api.get(`drafts/recipients?id=${id}&project=demir`)).body
  const reason = expect.stringContaining('Its subject is empty or too long')
  expect(recipients).toMatchObject([
    { state: 'skipped', reason },
    { state: 'sent', reason: null },
    { state: 'skipped', reason },
  ])
  expect((await get(id)).draft).toMatchObject({ state: 'sent' })
  expect((await get(other)).draft).toMatchObject({ state: 'sent' })
})

test('what the hub itself cannot do is told in the draft, and tried again', async () => {
  const file = join(hub.paths.config_dir, 'dkim.json')
  const id = await create()
  for (const step of ['render', 'approve', 'push', 'send']) await api.ok(`draft/${step}`, of(id))
  await writeFile(file, '{"keys": {"demir.example": {"selector": "x"}}}')
  await hub.deps.mailer.run()
  await rm(file)
  const { draft } = await get(id)
  expect(draft).toMatchObject({ state: 'sending', progress: { waiting: 1 } })
  expect(draft.state_reason).toMatch(/keeps trying: .*dkim\.json/)
  await later(id)
  expect(smtp.to()).toEqual([email])
})

test('a listmonk that refuses its template fails nobody: the draft waits', async () => {
  const permissions = [
    ...['lists:get_all', 'lists:manage_all', 'subscribers:get_all', 'subscribers:manage'],
    ...['campaigns:get_all', 'campaigns:manage_all', 'campaigns:send', 'subscribers:sql_query'],
    ...['tx:send', 'bounces:get', 'templates:get', 'templates:manage'],
  ]
  const standIn = await startListmonk({ permissions })
  const { url, user, token } = standIn
  await api.put('settings/mail', { smtp: null, listmonk: { url, user, token } })
  try {
    const id = await create()
    for (const step of ['render', 'approve', 'push', 'send']) await api.ok(`draft/${step}`, of(id))
    permissions.splice(permissions.indexOf('templates:get'), 1)
    await hub.deps.mailer.run()
    expect(await recipientOf(id)).toMatchObject({ state: 'pushed' })
    expect((await get(id)).draft).toMatchObject({ state: 'sending', progress: { waiting: 1 } })
  } finally {
    await api.put('settings/mail', { listmonk: null, ...smtpSettings(smtp.port) })
    await standIn.close()
  }
})

test('a server that does not take our sender fails nobody: the draft waits', async () => {
  answer = { at: 'sender', code: 550, text: '5.7.1 sender rejected' }
  const id = await send()
  expect(await recipientOf(id)).toMatchObject({ state: 'pushed' })
  const { draft } = await get(id)
  expect(draft).toMatchObject({ state: 'sending', progress: { waiting: 1 } })
  expect(draft.state_reason).toContain('is not accepting mail')
  answer = undefined
  await later(id)
  expect(smtp.to()).toEqual([email])
})
