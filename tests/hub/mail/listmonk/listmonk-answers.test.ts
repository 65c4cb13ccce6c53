import { describe, expect, test } from 'vitest'
import {
  firstNameAttribute,
  listmonk,
  ownAttribute,
} from '../../../../hub/mail/listmonk/listmonk.ts'
import { ListmonkError, ListmonkSettings } from '../../../../hub/mail/listmonk/listmonk-call.ts'
import { checkListmonk } from '../../../../hub/mail/listmonk/listmonk-check.ts'
import {
  type Answer,
  answering,
  campaign,
  failed,
  input,
  PERMISSIONS,
  person,
  settings,
} from './listmonk-answering.ts'

describe('somebody who is put on a list', () => {
  const recipient = { email: 'Jo@client.example', name: 'Jo', list_id: 7, attribs: { a: 1 } }
  const exists = { status: 409, raw: '{"message": "exists"}' }
  const on = (id: number, subscription_status: string, tags: string[] | null = null) => ({
    id,
    name: 'L',
    tags,
    subscription_status,
  })
  const known = (more: object) => [{ results: [person(more)] }]

  test('is made there, enabled and confirmed', async () => {
    const server = answering([person()])
    const { kind } = await listmonk(settings, server.options).subscribe(recipient)
    expect(kind).toBe('added')
    expect(server.asked).toEqual([
      [
        'POST /subscribers',
        {
          email: 'Jo@client.example',
          name: 'Jo',
          status: 'enabled',
          lists: [7],
          attribs: { a: 1 },
          preconfirm_subscriptions: true,
        },
      ],
    ])
  })

  test('who is there already keeps name, lists and attributes', async () => {
    const there = { name: 'Josef', attribs: { a: 0, b: 2 }, lists: [on(6, 'unsubscribed')] }
    const server = answering(exists, known(there), [true], [person(there)])
    const { kind } = await listmonk(settings, server.options).subscribe(recipient)
    expect(kind).toBe('added')
    expect(server.asked.slice(2)).toEqual([
      [
        'PUT /subscribers/lists',
        { ids: [3], action: 'add', target_list_ids: [7], status: 'confirmed' },
      ],
      [
        'PUT /subscribers/3',
        {
          email: 'jo@client.example',
          name: 'Josef',
          status: 'enabled',
          lists: [6, 7],
          attribs: { a: 1, b: 2 },
          preconfirm_subscriptions: true,
        },
      ],
    ])
  })

  test.each([
    ['is blocked', { status: 'blocklisted' }, 'blocklisted'],
    ['is disabled', { status: 'disabled' }, 'blocklisted'],
    [
      'left this list',
      { lists: [on(6, 'confirmed'), on(7, 'unsubscribed'), on(8, 'unconfirmed')] },
      'unsubscribed',
    ],
    [
      'left another list of the hub',
      { lists: [on(6, 'unsubscribed', ['x', 'watchpost'])] },
      'unsubscribed',
    ],
  ])('and %s stays so', async (_, more, kind) => {
    const server = answering(exists, known(more))
    const client = listmonk(settings, server.options)
    expect((await client.subscribe(recipient)).kind).toBe(kind)
    expect(server.asked).toHaveLength(2)
  })

  test.each([
    ['is on this one', [on(7, 'confirmed', ['watchpost'])], [7]],
    ['left a list of others', [on(6, 'unsubscribed', ['x'])], [6, 7]],
    ['is on another one of the hub', [on(6, 'confirmed', ['watchpost'])], [6, 7]],
  ])('and %s is added', async (_, lists, after) => {
    const server = answering(exists, known({ lists }), [true], [person()])
    const client = listmonk(settings, server.options)
    expect((await client.subscribe(recipient)).kind).toBe('added')
    expect(server.asked[3]).toEqual([
      'PUT /subscribers/3',
      expect.objectContaining({ lists: after }),
    ])
  })

  test('is not looked for when listmonk refuses for another reason', async () => {
    const server = answering({ status: 400, raw: '{"message": "Invalid email"}' })
    const client = listmonk(settings, server.options)
    await expect(client.subscribe(recipient)).rejects.toThrow('Invalid email')
    expect(server.asked).toHaveLength(1)
  })
})

test('a campaign that is made in another state is unclear', async () => {
  const server = answering([campaign({ status: 'running' })])
  const made = listmonk(settings, server.options).createCampaign(input)
  await expect(made).rejects.toMatchObject({
    kind: 'unclear',
    message: 'POST /campaigns: listmonk created campaign 5 in state running instead of as a draft',
  })
})

test('the attributes of subscribers are told apart by project and draft', () => {
  expect(firstNameAttribute('demir-ve-ogullari')).toBe('watchpost_demir_ve_ogullari_first_name')
  expect(ownAttribute('01234567-89ab-cdef')).toBe('watchpost_01234567')
})

describe('a failed call', () => {
  test.each([
    ...[
      'ENOTFOUND',
      'EAI_AGAIN',
      'EAI_FAIL',
      'ECONNREFUSED',
      'EHOSTUNREACH',
      'ENETUNREACH',
      'UND_ERR_CONNECT_TIMEOUT',
      'ERR_TLS_CERT_ALTNAME_INVALID',
      'ERR_SSL_WRONG_VERSION_NUMBER',
      'CERT_HAS_EXPIRED',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'EPROTO',
    ].map((code) => [code, 'not_sent', `no connection to listmonk (${code})`]),
    ...['ECONNRESET', 'XENOTFOUND', 'EPROTOX', 'EPIPE'].map((code) => [
      code,
      'unclear',
      `no answer from listmonk (${code})`,
    ]),
    ['', 'unclear', 'no answer from listmonk (It failed.)'],
  ])('with %s is %s', async (code, kind, words) => {
    const { options } = answering({ error: failed(code) })
    const error = await listmonk(settings, options)
      .blocklist([1])
      .catch((thrown) => thrown)
    expect(error).toBeInstanceOf(ListmonkError)
    expect(error).toMatchObject({ kind, status: null, cause: expect.any(Error) })
    expect(error.message).toBe(`PUT /subscribers/blocklist: ${words}`)
    expect(error.words.tr).toContain('PUT /subscribers/blocklist: ')
  })

  test('at several addresses has the code of the first', async () => {
    const all = new AggregateError([failed('ECONNREFUSED'), failed('ECONNRESET')])
    const { options } = answering({ error: all })
    await expect(listmonk(settings, options).blocklist([1])).rejects.toThrow('(ECONNREFUSED)')
  })

  test('of something that is no error is told as it is', async () => {
    const { options } = answering({ error: 'thrown' })
    await expect(listmonk(settings, options).blocklist([1])).rejects.toThrow('(thrown)')
  })

  test('that is given up has no answer', async () => {
    const { options } = answering([true])
    const client = listmonk(settings, { ...options, signal: AbortSignal.abort() })
    await expect(client.blocklist([1])).rejects.toMatchObject({ kind: 'unclear', status: null })
  })

  test('has an answer that is far too long', async () => {
    const { options } = answering({ raw: 'x'.repeat(50_000_001) })
    await expect(listmonk(settings, options).blocklist([1])).rejects.toThrow('is longer than')
  })

  test.each([
    ['a write', 200, null],
    ['a write', 299, null],
    ['a write', 300, 'refused'],
    ['a write', 499, 'refused'],
    ['a write', 500, 'unclear'],
    ['a read', 500, 'refused'],
  ])('%s with the status %i is %s', async (what, status, kind) => {
    const client = listmonk(settings, answering({ status, data: true }).options)
    const call = what === 'a read' ? client.getList(7) : client.blocklist([1])
    if (kind) await expect(call).rejects.toMatchObject({ kind, status })
    else expect(await call).toBe(true)
  })

  test.each([
    [{ status: 404 }, 'listmonk answered 404: without a reason'],
    [{ status: 400, raw: '{"message": "No"}' }, 'listmonk answered 400: No'],
    [
      { status: 300, raw: '{"message": "No"}' },
      'listmonk answered 300: the address redirects; enter the one it redirects to',
    ],
    [
      { status: 399, raw: '{"message": "No"}' },
      'listmonk answered 399: the address redirects; enter the one it redirects to',
    ],
    [{ data: { id: 'x' } }, /^DELETE \/lists\/7: the answer does not look like .*\(data: \S/],
    [{ raw: 'true' }, /does not look like/],
  ])('tells what %o says', async (answer, words) => {
    const { options } = answering(answer)
    await expect(listmonk(settings, options).deleteList(7)).rejects.toThrow(words)
  })

  test('tells the path of what is wrong in it', async () => {
    const { options } = answering({ data: { results: [{ id: 1 }], total: 1 } })
    await expect(listmonk(settings, options).bounces()).rejects.toThrow(/\(results\.0\.\w+: /)
  })
})

test.each([
  ['https://lists.example', 'https://lists.example'],
  ['http://lists.example/', 'http://lists.example'],
  ['https://lists.example/a//', 'https://lists.example/a'],
  ['ftp://lists.example', null],
  ['xhttps://lists.example', null],
  ['httpsx://lists.example', null],
  ['lists.example', null],
])('the address %s is kept as %s', (url, kept) => {
  const read = ListmonkSettings.safeParse({ ...settings, url })
  expect(read.success ? read.data.url : null).toBe(kept)
})

describe('the test of the connection', () => {
  const about = { raw: '{"version": "v6.2.0"}' }
  const profile = (permissions: string[]) => [{ user_role: { permissions } }]
  const granted = Array.from({ length: 11 }, () => ({ status: 400 }))
  const PROBED = [
    ['GET /about'],
    ['POST /lists', {}],
    ['GET /subscribers?per_page=1'],
    ['GET /subscribers?per_page=1&query=false'],
    ['POST /subscribers', {}],
    ['GET /campaigns?per_page=1&no_body=true'],
    ['POST /campaigns', {}],
    ['PUT /campaigns/0/status', { status: 'paused' }],
    ['POST /tx', {}],
    ['GET /bounces?per_page=1'],
    ['GET /templates'],
    ['POST /templates', { name: 'probe', type: 'campaign', body: '' }],
    ['GET /profile'],
  ]

  test('asks for nothing that has an effect', async () => {
    const server = answering(about, ...granted, profile(['lists:get_all']))
    const check = await checkListmonk(settings, server.options)
    expect(check).toMatchObject({ ok: true, version: 'v6.2.0', missing: [] })
    expect(check.permissions[0]).toMatchObject({
      name: 'lists:get_all',
      granted: true,
      what_for: { en: 'to find the lists it has created' },
    })
    expect(server.asked).toEqual(PROBED)
  })

  test.each([
    ['without the permission', profile(['lists:get']), false],
    ['that is not shown', { status: 404 }, true],
  ])('believes a role %s', async (_, answer, isGranted) => {
    const server = answering(about, ...granted, answer)
    const { ok, missing } = await checkListmonk(settings, server.options)
    expect([ok, missing]).toEqual([isGranted, isGranted ? [] : ['lists:get_all']])
  })

  test('tells which permissions are missing, each with what it is for', async () => {
    const answers = granted.map((one, at) => ({ status: [200, 403, 500][at % 3] ?? one.status }))
    const server = answering(about, ...answers, profile(['lists:get_all']))
    const check = await checkListmonk(settings, server.options)
    expect(check.permissions.map(({ name }) => name)).toEqual(PERMISSIONS)
    for (const { what_for } of check.permissions) expect(what_for.en).toMatch(/^to /)
    const missing = PERMISSIONS.filter((_, at) => at % 3 === 2)
    expect(check.permissions.filter(({ granted }) => !granted).map(({ name }) => name)).toEqual(
      missing,
    )
    expect(check.message.en).toContain(`permissions: ${missing.join(', ')}. Add them`)
  })

  test.each(PROBED.slice(1, 12).map(([call], at) => [String(call), at]))(
    'is given up when %s is lost, unless that may have had an effect',
    async (call, at) => {
      const answers: Answer[] = [...granted]
      answers[at] = { error: failed('EPIPE') }
      const server = answering(about, ...answers, profile(['lists:get_all']))
      const check = await checkListmonk(settings, server.options)
      const isRead = call.startsWith('GET')
      expect(check.ok).toBe(!isRead)
      expect(check.version).toBe('v6.2.0')
      expect(check.permissions).toHaveLength(isRead ? at : 12)
      if (isRead) expect(check.message.en).toMatch(/^GET .*no answer from listmonk \(EPIPE\)$/)
    },
  )

  test('tells why there is no version', async () => {
    const of = async (answer: Answer) =>
      (await checkListmonk(settings, answering(answer).options)).message.en
    expect(await of({ status: 403 })).toContain('does not know this API user')
    expect(await of({ error: failed('EPIPE') })).toContain('no answer from listmonk (EPIPE)')
    expect(await of({ status: 404 })).toBe('GET /about: listmonk answered 404: without a reason')
    const check = await checkListmonk(settings, answering({ status: 500 }).options)
    expect(check).toMatchObject({ ok: false, version: null, permissions: [], missing: [] })
  })
})
