import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { draftCalls } from '../support/draft-calls.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import {
  apiOf,
  type MailServer,
  setBrand,
  smtpSettings,
  startMailServer,
} from '../support/mail-help.ts'
import { standForAll } from '../support/stand.ts'
import { type ListmonkStandIn, startListmonk } from './listmonk/listmonk-stand-in.ts'
import { ALWAYS, passDays, sequenceCalls } from './sequences/sequence-help.ts'

let hub: TestHub
let smtp: MailServer
let standIn: ListmonkStandIn
let api: ReturnType<typeof apiOf>
const FIELDS = [
  { key: 'fleet', label: 'Trucks', kind: 'number', choices: [] },
  { key: 'nick', label: 'Nickname', kind: 'text', choices: [] },
]
beforeAll(async () => {
  smtp = await startMailServer()
  standIn = await startListmonk({ smtp: { host: '127.0.0.1', port: smtp.port } })
  hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
  api = apiOf(hub)
  await api.ok('projects/create', { slug: 'demir', name: 'Demir' })
  await api.put('leads/fields', { project: 'demir', fields: FIELDS })
  await setBrand(api)
})
afterAll(async () => {
  await hub.close()
  await standIn.close()
  await smtp.close()
})
beforeEach(async () => {
  smtp.mails.length = 0
  smtp.to().length = 0
  await api.put('settings/mail', { ...smtpSettings(smtp.port), listmonk: null })
})

const { addLead, create, get, of, recipientsOf, sendAll, steps } = draftCalls(() => hub)
const sequences = sequenceCalls(
  () => hub,
  () => api,
)
const SUBJECT = 'A word, {nick|friend}?'
const TEXT = 'Hello {first_name|there},\n\nwould you like to show us your {{ fleet }} trucks?'

/** Three leads with a tag: one with all fields, one with what is needed, one without. */
async function three(tag: string) {
  const custom = { fleet: 1200, nick: 'A & <B>' }
  return [
    await addLead({ name: 'Ada Öz', email: `ada@${tag}.example`, tags: [tag], custom }),
    await addLead({
      company: 'Bee',
      email: `bee@${tag}.example`,
      tags: [tag],
      custom: { fleet: 7 },
    }),
    await addLead({ name: 'Cem Öz', email: `cem@${tag}.example`, tags: [tag] }),
  ]
}
const gateOf = async (id: string, name = 'fields') => {
  const { gates } = (await api.get(`drafts/get?id=${id}&project=demir`)).body
  return gates.find((gate: { name: string }) => gate.name === name)
}
/** What each got: subject and text. */
const got = () =>
  Object.fromEntries(
    smtp.mails.map(({ to, subject, text }) => [
      [to]
        .flat()[0]
        ?.text.replace(/.*<|>.*/g, '')
        .split('@')[0],
      `${subject} ${text?.replace(/\s+/g, ' ')}`,
    ]),
  )

describe('a mail to many names fields of the project’s own', () => {
  test('and each reader gets their own, or what stands there instead', async () => {
    await three('smtp')
    const id = await create(
      { kind: 'list', filter: { tag: 'smtp' } },
      { subject: SUBJECT, text: TEXT },
    )
    await steps(id, 'render')
    expect(await gateOf(id)).toMatchObject({
      ok: false,
      blocks: false,
      detail: '“Trucks” is empty for Cem Öz. This recipient is left out.',
      way_out: expect.stringContaining('{field|text}'),
    })
    const { recipients } = (await api.get(`drafts/get?id=${id}&project=demir`)).body
    expect(recipients).toMatchObject({ total: 3, will_get_it: 2 })
    const preview = await (await hub.call('GET', `draft/preview/${id}`)).text()
    expect(preview).toContain('your 1,200 trucks')
    await sendAll(id)
    expect(got()).toEqual({
      ada: expect.stringMatching(/^A word, A & <B>\? .*Hello Ada, would .* your 1,200 trucks\?/),
      bee: expect.stringMatching(/^A word, friend\? .*Hello there, would .* your 7 trucks\?/),
    })
    expect(smtp.mails[0]?.html).not.toMatch(/\{(fleet|nick|first_name)/)
    expect((await recipientsOf(id)).map(({ state }: { state: string }) => state)).toEqual([
      'sent',
      'sent',
      'skipped',
    ])
  })

  test('with a text instead everybody gets it', async () => {
    await three('instead')
    const text = TEXT.replace('{{ fleet }}', '{fleet|many}')
    const id = await create(
      { kind: 'list', filter: { tag: 'instead' } },
      { subject: 'Trucks', text },
    )
    await steps(id, 'render')
    expect(await gateOf(id)).toMatchObject({ ok: true })
    await sendAll(id)
    expect(got().cem).toContain('your many trucks?')
  })

  test('another value voids the approval', async () => {
    const [ada] = await three('void')
    const id = await create(
      { kind: 'list', filter: { tag: 'void' } },
      { subject: 'Hello', text: 'Hello,\n\nYou have {fleet} trucks.' },
    )
    await steps(id, 'render', 'approve')
    await api.ok('lead/update', { lead_id: ada?.id, custom: { fleet: 1300 } })
    expect(await api.post('draft/push', of(id))).toMatchObject({
      status: 409,
      body: { code: 'audience_changed' },
    })
  })

  test('a sentence is judged with the value of each', async () => {
    await three('judge')
    const text = 'Hello,\n\nYou have {fleet} trucks.\n\nYou have {fleet} ships.'
    const id = await create({ kind: 'list', filter: { tag: 'judge' } }, { subject: 'Trucks', text })
    const { sentences } = (await api.get(`drafts/get?id=${id}&project=demir`)).body
    const about = (words: string) =>
      sentences.find(({ sentence }: { sentence: string }) => sentence.includes(words))
    expect(about('trucks')).toMatchObject({ verdict: 'supported', fails: 0 })
    expect(about('ships')).toMatchObject({ fails: 2 })
  })

  test.each([
    ['{flet}', 'unknown_placeholder', /no field \{flet\}.*\{first_name\}.*\{fleet\}, \{nick\}/],
    ['{fleet|<b>}', 'placeholder_text', /text in \{fleet\|…\}/],
  ])('%s is refused when it is rendered', async (token, code, message) => {
    const email = `${code.slice(0, 3)}@fault.example`
    const lead = await addLead({ name: 'One', email, tags: ['fault'] })
    const text = `Hello,\n\nyour ${token} trucks?`
    for (const audience of [
      { kind: 'lead', lead_id: lead.id },
      { kind: 'list', filter: { tag: 'fault' } },
    ]) {
      const id = await create(audience, { subject: 'Trucks', text })
      const refused = await api.post('draft/render', of(id))
      expect([refused.status, refused.body.errors]).toEqual([
        422,
        [{ path: 'text', code, message: expect.stringMatching(message) }],
      ])
    }
  })

  test('a field that is removed later closes the way', async () => {
    await three('gone')
    const fields = [...FIELDS, { key: 'size', label: 'Size', kind: 'text', choices: [] }]
    await api.put('leads/fields', { project: 'demir', fields })
    const text = 'Hello,\n\nwould you like {size|large} trucks?'
    const id = await create({ kind: 'list', filter: { tag: 'gone' } }, { subject: 'Trucks', text })
    await steps(id, 'render')
    await api.ok('leads/fields/remove', { project: 'demir', key: 'size', label: 'Size' })
    expect(await gateOf(id)).toMatchObject({
      ok: false,
      blocks: true,
      detail: 'The mail names fields that the project does not have: {size}.',
    })
    await standForAll(api, of(id))
    expect(await api.post('draft/approve', of(id))).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('{size}') },
    })
  })

  test('in a sequence whoever lacks one in any step is left out, and named', async () => {
    await three('steps')
    const texts = ['Hello {first_name},\n\nshall we talk?', 'Hello,\n\nyour {fleet} trucks?']
    const id = await sequences.create(
      { tag: 'steps' },
      {
        window: ALWAYS,
        steps: texts.map((text, at) => ({ wait_days: at, subject: SUBJECT, text })),
      },
    )
    expect((await sequences.gatesOf(id)).fields).toMatchObject({
      detail: expect.stringContaining('Cem Öz'),
    })
    await sequences.approve(id)
    await sequences.run()
    expect(smtp.to().sort()).toEqual(['ada@steps.example', 'bee@steps.example'])
    await passDays(hub, 2)
    await sequences.run()
    expect(got()).toEqual({
      ada: expect.stringContaining('your 1,200 trucks?'),
      bee: expect.stringContaining('your 7 trucks?'),
    })
    const unknown = await sequences.create(
      { tag: 'steps' },
      { steps: [{ wait_days: 0, subject: 'x', text: 'Your {flet}?' }] },
    )
    expect((await sequences.gatesOf(unknown)).fields).toMatchObject({
      ok: false,
      blocks: true,
      detail: expect.stringContaining('{flet}'),
    })
  })

  test('listmonk has the values as attributes of the draft', async () => {
    const { url, user, token } = standIn
    const listmonk = { url, user, token }
    await api.put('settings/mail', { listmonk, smtp: null, daily_cap: 10_000, ramp: null })
    await three('monk')
    const text = `${TEXT}\n\nSo {name|we} of {company|your firm} would see them.`
    const id = await create({ kind: 'list', filter: { tag: 'monk' } }, { subject: SUBJECT, text })
    await steps(id, 'render', 'approve', 'push')
    const subscribers = [...standIn.state.subscribers.values()]
    const ada = subscribers.find(({ email }) => email === 'ada@monk.example')
    expect(ada?.attribs).toMatchObject({
      [`watchpost_${id.slice(0, 8)}_fleet`]: '1,200',
      [`watchpost_${id.slice(0, 8)}_nick`]: 'A & <B>',
      [`watchpost_${id.slice(0, 8)}_name`]: 'Ada Öz',
      [`watchpost_${id.slice(0, 8)}_company`]: '',
    })
    await steps(id, 'send')
    await expect
      .poll(
        async () => {
          await hub.query('update hub.drafts set retry_at = null where id = $1', [id])
          await hub.deps.mailer.run()
          return (await get(id)).state
        },
        { timeout: 20_000 },
      )
      .toBe('sent')
    expect(got()).toEqual({
      ada: expect.stringMatching(
        /^A word, A & <B>\? .*Hello Ada, would .* your 1,200 trucks\? So Ada Öz of your firm would/,
      ),
      bee: expect.stringMatching(
        /^A word, friend\? .*Hello there, would .* your 7 trucks\? So we of Bee would/,
      ),
    })

    // One that names none of them writes none of them.
    const plain = await create(
      { kind: 'list', filter: { tag: 'monk' } },
      { subject: 'Hello, {company}', text: 'Hello,\n\nshall we talk?' },
    )
    await steps(plain, 'render', 'approve', 'push')
    const again = [...standIn.state.subscribers.values()]
    const names = Object.keys(
      again.find(({ email }) => email === 'bee@monk.example')?.attribs ?? {},
    )
    expect(names.filter((name) => name.startsWith(`watchpost_${plain.slice(0, 8)}`))).toEqual([
      `watchpost_${plain.slice(0, 8)}_company`,
    ])
  })
})
