import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Listmonk,
  type ListmonkSettings,
  listmonk,
  sqlLiteral,
} from '../../../../hub/mail/listmonk/listmonk.ts'
import { checkListmonk } from '../../../../hub/mail/listmonk/listmonk-check.ts'
import { personalise, render } from '../../../../hub/mail/render/render.ts'
import { mail, until } from './listmonk-mail.ts'
import { type ListmonkStandIn, startListmonk } from './listmonk-stand-in.ts'

/** With LISTMONK_TEST_URL, _USER and _TOKEN the same suite runs against a real listmonk as well. */
const { LISTMONK_TEST_URL, LISTMONK_TEST_USER = '', LISTMONK_TEST_TOKEN = '' } = process.env

let standIn: ListmonkStandIn
beforeAll(async () => {
  standIn = await startListmonk()
})
afterAll(() => standIn.close())

const targets: [string, () => ListmonkSettings][] = [
  ['the stand-in', () => ({ url: standIn.url, user: standIn.user, token: standIn.token })],
]
if (LISTMONK_TEST_URL) {
  const url = LISTMONK_TEST_URL
  targets.push([
    'a real listmonk',
    () => ({ url, user: LISTMONK_TEST_USER, token: LISTMONK_TEST_TOKEN }),
  ])
}

describe.each(targets)('the client against %s', (_, settings) => {
  let client: Listmonk
  let list_id = 0
  const run = randomUUID().slice(0, 8)
  const address = (name: string) => `${name}.${run}@client.example`
  const campaign = async (name: string, lists: number[]) => ({
    name: `${name} ${run}`,
    list_ids: lists,
    from_email: 'Ayşe <ayse@demir.example>',
    rendered: await render(mail, { target: 'listmonk' }),
    template_id: await client.ensureTemplate('campaign'),
  })

  beforeAll(async () => {
    client = listmonk(settings())
    const list = await client.ensureList({ name: `Demir ${run}`, tag: `demir-${run}` })
    list_id = list.id
  })

  test('reads the version and finds every permission granted', async () => {
    expect(await client.about()).toHaveProperty('version')
    const check = await checkListmonk(settings())
    expect(check.permissions.filter((each) => !each.granted)).toEqual([])
    expect(check).toMatchObject({
      ok: true,
      missing: [],
      message: { en: 'Connected.', tr: 'Bağlandı.' },
    })
    expect(check.permissions).toHaveLength(12)
  })

  test('the permission test changes nothing', async () => {
    const before = await client.findCampaign('probe')
    await checkListmonk(settings())
    expect(await client.findCampaign('probe')).toEqual(before)
    const again = await client.ensureTemplate('campaign')
    expect(again).toBe(await client.ensureTemplate('campaign'))
  })

  test('a wrong token is refused with 403 and named', async () => {
    const wrong = { ...settings(), token: 'wrong' }
    await expect(listmonk(wrong).getList(list_id)).rejects.toMatchObject({
      kind: 'refused',
      status: 403,
    })
    const check = await checkListmonk(wrong)
    expect(check.ok).toBe(false)
    expect(check.message.en).toContain('does not know this API user')
  })

  test('a list is made once, private and single opt-in', async () => {
    const again = await client.ensureList({ name: 'Other name', tag: `demir-${run}` })
    expect(again).toMatchObject({
      id: list_id,
      name: `Demir ${run}`,
      type: 'private',
      optin: 'single',
    })
    expect(again.tags).toContain('watchpost')
    expect(await client.getList(list_id)).toMatchObject({ id: list_id })
  })

  test('a recipient is made once, and known ones keep what is theirs', async () => {
    const email = address("o'neil")
    const first = await client.subscribe({
      email,
      name: 'Al O’Neil',
      list_id,
      attribs: { other_x: 1 },
    })
    expect(first).toMatchObject({ kind: 'added', subscriber: { email, status: 'enabled' } })

    const second_list = await client.ensureList({ name: `Two ${run}`, tag: `two-${run}` })
    const second = await client.subscribe({
      email: email.toUpperCase(),
      name: 'Somebody else',
      list_id: second_list.id,
      attribs: { watchpost_demir_company: 'Client' },
    })
    expect(second.kind).toBe('added')
    expect(second.subscriber).toMatchObject({
      id: first.subscriber.id,
      name: 'Al O’Neil',
      attribs: { other_x: 1, watchpost_demir_company: 'Client' },
    })
    expect(second.subscriber.lists.map((list) => list.id).toSorted()).toEqual(
      [list_id, second_list.id].toSorted(),
    )
  })

  test('a search text cannot leave its quotes', async () => {
    expect(sqlLiteral("o'x")).toBe("'o''x'")
    expect(await client.findSubscriber(`x' or true or 'a'='a`)).toBeNull()
    expect(await client.findSubscriber(`x'); drop table lists; --`)).toBeNull()
    expect(await client.findSubscriber(`back\\'slash@client.example`)).toBeNull()
    expect(() => sqlLiteral('a\0b')).toThrow(RangeError)
  })

  test('an invalid address is refused with the reason', async () => {
    const recipient = { email: 'nobody', name: 'No', list_id, attribs: {} }
    await expect(client.subscribe(recipient)).rejects.toMatchObject({
      kind: 'refused',
      status: 400,
      message: expect.stringContaining('Invalid email'),
    })
  })

  test('a blocklisted recipient is not put on a list, and is polled', async () => {
    const email = address('blocked')
    const before = await client.countBlocklisted()
    const { subscriber } = await client.subscribe({ email, name: 'Bl', list_id, attribs: {} })
    await client.blocklist([subscriber.id])
    const again = await client.subscribe({ email, name: 'Bl', list_id, attribs: {} })
    expect(again.kind).toBe('blocklisted')
    expect(await client.countBlocklisted()).toBe(before + 1)
    const blocked = await client.blocklisted()
    expect(blocked.map((each) => each.email)).toContain(email)
  })

  test('members are listed over all pages and can be taken off', async () => {
    const list = await client.ensureList({ name: `Many ${run}`, tag: `many-${run}` })
    const people = await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        client.subscribe({ email: address(`many-${name}`), name, list_id: list.id, attribs: {} }),
      ),
    )
    const members = await client.listMembers(list.id)
    expect(members.map((each) => each.subscriber.email).toSorted()).toEqual(
      ['a', 'b', 'c'].map((name) => address(`many-${name}`)),
    )
    expect(members.every((each) => each.subscription === 'confirmed')).toBe(true)
    await client.removeFromList([people[0]?.subscriber.id ?? 0], list.id)
    expect(await client.listMembers(list.id)).toHaveLength(2)
    expect(await client.deleteList(list.id)).toBe(true)
  })

  test('a campaign is a draft, sends when started, and ends finished', async () => {
    const list = await client.ensureList({ name: `Send ${run}`, tag: `send-${run}` })
    await client.subscribe({
      email: address('reader'),
      name: "O'Neil",
      list_id: list.id,
      attribs: {},
    })
    const input = await campaign('Send', [list.id])
    const made = await client.createCampaign(input)
    expect(made).toMatchObject({ status: 'draft', sent: 0, name: `Send ${run}` })
    expect(await client.findCampaign(`Send ${run}`)).toMatchObject({ id: made.id })
    await client.updateCampaign(made.id, {
      ...input,
      rendered: { ...input.rendered, subject: 'Changed' },
    })
    expect((await client.getCampaign(made.id)).subject).toBe('Changed')

    expect(await client.setCampaignStatus(made.id, 'running')).toMatchObject({ status: 'running' })
    const done = await until(
      () => client.getCampaign(made.id),
      (now) => now.status === 'finished',
    )
    expect(done).toMatchObject({ sent: 1, to_send: 1 })
    await expect(client.setCampaignStatus(made.id, 'running')).rejects.toMatchObject({
      kind: 'refused',
      status: 400,
    })
  })

  test('what listmonk does not allow is refused with its reason', async () => {
    const made = await client.createCampaign(await campaign('States', [list_id]))
    await expect(client.setCampaignStatus(made.id, 'paused')).rejects.toThrow(/active campaigns/)
    await expect(client.setCampaignStatus(made.id, 'cancelled')).rejects.toMatchObject({
      kind: 'refused',
    })
    await expect(client.getCampaign(99_999_999)).rejects.toMatchObject({ kind: 'refused' })
    expect(await client.deleteCampaign(made.id)).toBe(true)
  })

  test('a body that is no template is refused when it is saved', async () => {
    const input = await campaign('Broken', [list_id])
    const rendered = { ...input.rendered, html: '<p>{{ nope }}</p>' }
    await expect(client.createCampaign({ ...input, rendered })).rejects.toMatchObject({
      kind: 'refused',
      status: 400,
      message: expect.stringContaining('nope'),
    })
  })

  test('a single mail goes out with what it says', async () => {
    const email = address('single')
    await client.subscribe({ email, name: 'Si Ngle', list_id, attribs: {} })
    const rendered = personalise(await render(mail), {
      first_name: 'Si {{ .Subscriber.Email }}',
      unsubscribe_url: 'https://hub.example/u/1',
    })
    const template_id = await client.ensureTemplate('tx')
    const sent = client.sendTransactional({
      email,
      from_email: 'Ayşe <ayse@demir.example>',
      rendered,
      headers: { 'X-Test': run },
      template_id,
    })
    expect(await sent).toBe(true)
    const stranger = {
      email: address('stranger'),
      from_email: 'a@b.example',
      rendered,
      template_id,
    }
    await expect(client.sendTransactional(stranger)).rejects.toMatchObject({ kind: 'refused' })
  })

  test('bounces are listed', async () => {
    expect(Array.isArray(await client.bounces())).toBe(true)
  })

  test('a cookie named session would hide the token, so none is sent', async () => {
    const { url, user, token } = settings()
    const answer = await fetch(`${url}/api/lists`, {
      headers: { authorization: `token ${user}:${token}`, cookie: 'session=1' },
    })
    expect(answer.status).toBe(403)
    expect(await client.getList(list_id)).toMatchObject({ id: list_id })
  })
})
