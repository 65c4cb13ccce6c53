import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NO_BRAND } from '../../../hub/mail/brand/brand.ts'
import { footerOf, lacksAddress, nameOf } from '../../../hub/mail/brand/brand-parts.ts'
import { adoptFirstBrand } from '../../../hub/mail/brand/first-brand.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { licenseHub } from '../support/licensed.ts'
import {
  apiOf,
  BRAND,
  draftsOf,
  LEAD,
  type MailServer,
  setBrand,
  smtpSettings,
  startMailServer,
} from '../support/mail-help.ts'
import { type ListmonkStandIn, startListmonk } from './listmonk/listmonk-stand-in.ts'

let hub: TestHub
let smtp: MailServer
let standIn: ListmonkStandIn
let api: ReturnType<typeof apiOf>
let lead_id: string
beforeAll(async () => {
  hub = await startHub({ config: { public_url: 'https://hub.example.com' } })
  await licenseHub(hub)
  api = apiOf(hub)
  smtp = await startMailServer()
  standIn = await startListmonk()
  for (const [slug, name] of [
    ['demir', 'Demir Lojistik'],
    ['veri', 'Veri Ltd'],
  ]) {
    await api.ok('projects/create', { slug, name })
  }
  await api.put('settings/mail', smtpSettings(smtp.port))
  const data = { name: 'Jo Öz', email: 'jo@client.example', company: 'Client', ...LEAD }
  lead_id = (await api.ok('lead/quick_add', { slug: 'demir', data })).lead.id
})
afterAll(async () => {
  await hub.close()
  await smtp.close()
  await standIn.close()
})
const { of, create, get } = draftsOf(() => ({ api, lead_id }))
const brandOf = async (slug: string) => (await api.get(`projects/brand?project=${slug}`)).body
const steps = async (id: string, ...names: string[]) => {
  for (const name of names) await api.ok(`draft/${name}`, of(id))
}

test('a project without a brand is named by itself, at most 80 characters of it', () => {
  const brand = NO_BRAND
  expect(nameOf(brand, { name: 'Demir Lojistik' })).toBe('Demir Lojistik')
  expect(nameOf(brand, { name: `${'x'.repeat(80)}y` })).toBe('x'.repeat(80))
  expect(nameOf({ ...brand, name: 'Demir' }, { name: 'Demir Lojistik' })).toBe('Demir')
})

describe('a brand', () => {
  test('belongs to one project alone', async () => {
    await setBrand(api)
    await setBrand(
      api,
      {
        sender_name: 'Veri',
        sender_email: 'biz@veri.example',
        signature: null,
        postal_address: 'Ankara',
      },
      'veri',
    )
    expect((await brandOf('demir')).brand).toMatchObject(BRAND)
    const { brand, name } = await brandOf('veri')
    expect(brand).toMatchObject({ sender_email: 'biz@veri.example', postal_address: 'Ankara' })
    expect(name).toBe('Veri Ltd')
    // Without a name, a project has none: the unbranded carries its own name, never the product's.
    const { preview } = await api.ok('projects/brand/preview', { slug: 'veri' })
    const { body: html } = await api.get(`projects/brand/preview/${preview.id}`)
    expect(html).toContain('Veri Ltd')
    expect(html).not.toMatch(/watchpost|Demir/i)
  })

  test('is in the preview before it is saved, in the language asked for', async () => {
    const change = { color: '#AA0000', signature: ' A \n\n B ', reason_tr: 'Fuarda tanıştık.' }
    const given = { slug: 'demir', language: 'tr', unsubscribe_tr: 'Yeter', ...change }
    const { preview } = await api.ok('projects/brand/preview', given)
    expect(preview.text).toContain('A\nB')
    expect(preview.text).toContain('Fuarda tanıştık.')
    expect(preview.text).toContain('Yeter')
    expect(preview.from).toMatchObject({ email: BRAND.sender_email })
    const shown = await hub.call('GET', `projects/brand/preview/${preview.id}`)
    expect(shown.headers.get('content-security-policy')).toMatch(/^sandbox;/)
    expect(await shown.text()).toContain('#aa0000')
    expect((await brandOf('demir')).brand.color).toBe('#1f5f99')
  })

  const SVG = `data:image/svg+xml;base64,${Buffer.from('<svg/>').toString('base64')}`
  const BIG = `data:image/png;base64,${Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(30_000)]).toString('base64')}`
  test.each([
    ['logo', SVG, 'PNG'],
    ['logo', 'https://demir.example/logo.png', 'PNG'],
    ['logo', BIG, '29 KB'],
    ['color', 'blue', '#rrggbb'],
    ['sender_email', 'nobody', ''],
    ['sender_name', null, 'or neither'],
    ['signature', Array(7).fill('x').join('\n'), '6 lines'],
    ['signature', 'x'.repeat(81), '80 characters'],
    ['postal_address', 'a\nb', 'single line'],
  ])('is refused for %s %s', async (path, value, why) => {
    const refused = await api.put('projects/brand', { slug: 'demir', [path]: value })
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ path }] } })
    expect(refused.body.errors[0].message).toContain(why)
  })

  test('is on the documents of its project', async () => {
    const file = join(hub.config.paths.data_dir, 'projects/veri/docs/offer.md')
    await writeFile(file, '# Offer\n\nText.\n')
    const path = 'documents/download?project=veri&path=docs/offer.md&format=pdf'
    const response = await hub.call('GET', path)
    // What a PDF says about itself is UTF-16.
    const pdf = Buffer.from(await response.arrayBuffer())
      .toString('latin1')
      .replaceAll('\0', '')
    expect(pdf).toContain('Veri Ltd')
    expect(pdf).not.toContain('Watchpost')
  })
})

test('what stands below every mail is told as far as it is set, in its language', async () => {
  const footer = (slug: string, language: 'en' | 'tr') =>
    footerOf({ config: hub.config, db: hub.deps.db }, slug, language)
  const row = { slug: 'footer', name: 'Footer Ltd' }
  await api.ok('projects/create', row)
  await hub.query(
    `insert into hub.brands (project_id) select id from hub.projects where slug = 'footer'
     on conflict (project_id) do update set postal_address = null, reason_en = null, reason_tr = null`,
  )
  expect(await footer('footer', 'en')).toEqual([
    expect.stringMatching(/because Footer Ltd .*unsub/),
  ])
  expect(await footer('footer', 'tr')).toEqual([expect.stringMatching(/Footer Ltd işinizle/)])
  await hub.query(
    `update hub.brands set postal_address = 'Liman 1, İzmir', reason_tr = 'Fuarda tanıştık.'
     where project_id = (select id from hub.projects where slug = 'footer')`,
  )
  expect(await footer('footer', 'tr')).toEqual(['Fuarda tanıştık.', 'Liman 1, İzmir'])
  expect(await footer('footer', 'en')).toEqual([
    expect.stringContaining('Footer Ltd'),
    'Liman 1, İzmir',
  ])
})

describe('the mails of a project', () => {
  test('are finished as they were approved while they are being sent', async () => {
    await setBrand(api, { reply_to: 'antwort@demir.example' })
    const id = await create()
    await steps(id, 'render', 'approve', 'push', 'send')
    await setBrand(api, { sender_email: 'else@demir.example', reply_to: null })
    expect((await get(id)).draft.state).toBe('sending')
    await hub.deps.mailer.run()
    const [mail] = smtp.mails.slice(-1)
    expect(mail?.from?.text).toContain(BRAND.sender_email)
    expect(mail?.replyTo?.text).toBe('antwort@demir.example')
    expect((await get(id)).draft.state).toBe('sent')
    await setBrand(api)
  })

  test('that no longer fit become text again and say why', async () => {
    const slots = {
      preheader: 'x',
      greeting: 'Hello',
      paragraphs: Array(6).fill('ğ'.repeat(900)),
      closing: 'Regards',
    }
    const id = await create({ slots: { ...slots, subject: 'x' } })
    await steps(id, 'render')
    // Room for the mail alone, as after a limit of a later release.
    await hub.query('update hub.drafts set slots = $2 where id = $1', [
      id,
      JSON.stringify({ ...slots, subject: 'x', paragraphs: ['x'.repeat(901)] }),
    ])
    await setBrand(api, { color: '#00aa00' })
    expect((await get(id)).draft).toMatchObject({
      state: 'draft',
      html: null,
      state_reason: expect.stringContaining('cannot be rendered with the new one'),
    })
    await setBrand(api)
  })

  test('go to listmonk with their sender and their reply address, and to a list of their project', async () => {
    const { url, user, token } = standIn
    await api.put('settings/mail', { smtp: null, listmonk: { url, user, token } })
    await setBrand(api, { reply_to: 'antwort@demir.example' })
    for (const name of ['one', 'two']) {
      const data = { name, email: `${name}@list.example`, tags: ['list'], ...LEAD }
      await api.ok('lead/quick_add', { slug: 'demir', data })
    }
    const id = await create({ audience: { kind: 'list', filter: { tag: 'list' } } })
    await steps(id, 'render', 'approve', 'push')
    const [campaign] = [...standIn.state.campaigns.values()].slice(-1)
    expect(campaign).toMatchObject({
      from_email: expect.stringContaining(BRAND.sender_email),
      headers: [{ 'Reply-To': 'antwort@demir.example' }],
    })
    const { list } = await brandOf('demir')
    const own = await api.put('projects/brand', { slug: 'veri', list_id: list.list_id })
    const refused = { status: 422, body: { errors: [{ path: 'list_id', code: 'not_found' }] } }
    expect(own).toMatchObject(refused)
    expect(own.body.errors[0].message).toContain('demir')
    const none = await api.put('projects/brand', { slug: 'veri', list_id: 999 })
    expect(none).toMatchObject(refused)
    expect(none.body.errors[0].message).toContain('no list 999')
    // Another list is another way to the recipients: what was approved for this one is void.
    const gone = await api.put('projects/brand', { slug: 'demir', list_id: null })
    expect(gone.body).toMatchObject({ list: null, drafts: expect.any(Number) })
    expect((await get(id)).draft.state).toBe('rendered')
    const back = await api.put('projects/brand', { slug: 'demir', list_id: list.list_id })
    expect(back.body.list).toEqual(list)
    await setBrand(api, { reply_to: null })
    await api.put('settings/mail', { ...smtpSettings(smtp.port), listmonk: null })
  })
})

describe('the sender that all projects had before', () => {
  const file = () => join(hub.config.paths.config_dir, 'mail.json')
  const OLD = {
    sender: {
      name: 'Old Sender',
      email: 'old@demir.example',
      title: 'Sales',
      phone: null,
      reply_to: 'answers@demir.example',
    },
    footer: { postal_address: 'Old Street 1', reason_en: 'Because.', reason_tr: null },
  }
  const ADOPTED = {
    sender_name: 'Old Sender',
    sender_email: 'old@demir.example',
    reply_to: 'answers@demir.example',
    signature: 'Old Sender\nSales',
    postal_address: 'Old Street 1',
    reason_en: 'Because.',
  }

  test('becomes the brand of each project that has none, and of no later one', async () => {
    const now = JSON.parse(await readFile(file(), 'utf8'))
    await writeFile(file(), JSON.stringify({ ...now, ...OLD }))
    await hub.query(`delete from hub.brands where project_id in
      (select id from hub.projects where slug = 'veri')`)
    // Even before it is adopted, as with the read-only key.
    expect((await brandOf('veri')).brand).toMatchObject(ADOPTED)
    await adoptFirstBrand(hub.config, hub.deps.db)
    await adoptFirstBrand(hub.config, hub.deps.db)
    expect((await brandOf('veri')).brand).toMatchObject(ADOPTED)
    expect((await brandOf('demir')).brand).toMatchObject(BRAND)
    const after = JSON.parse(await readFile(file(), 'utf8'))
    expect(after).toEqual(now)
    await api.ok('projects/create', { slug: 'later', name: 'Later' })
    expect((await brandOf('later')).brand).toMatchObject({
      sender_email: null,
      postal_address: null,
    })
    const refused = await api.put('settings/mail', { sender: OLD.sender })
    expect(refused.status).toBe(422)
  })
})

test('a mail without a postal address is known by its placeholder, also when a line breaks in it', () => {
  const broken = 'Hello,\n\n[postal\naddress: Project > Brand]'
  for (const text of [broken, '[posta adresi: Proje >\n  Marka]']) {
    expect(lacksAddress(text), text).toBe(true)
  }
  expect(lacksAddress('Hello,\n\nLiman Cad. 1, İzmir')).toBe(false)
})
