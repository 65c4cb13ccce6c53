import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { CreatedZone } from '../support/delivery-service.ts'
import { quake } from '../support/jobs.ts'
import { parsed, sendResult } from '../support/service.ts'
import { createStory } from '../support/story.ts'

// A script reads a thing, changes one field and sends the whole of it back.
const at = createStory()

const Thing = z.record(z.string(), z.unknown())
type Thing = z.infer<typeof Thing>
const Document = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  components: z.object({
    schemas: z.record(z.string(), z.object({ properties: z.record(z.string(), Thing).optional() })),
  }),
})
const Body = z.object({
  requestBody: z.object({
    content: z.object({ 'application/json': z.object({ schema: z.object({ $ref: z.string() }) }) }),
  }),
})

/** Something of every kind, in a state that has something to lose, and a change of it. */
type Case = { name: string; change: Thing; make: () => Promise<{ key: string; path: string }> }

const CASES: Record<string, Case> = {
  '/api/v1/zones/{id}': {
    name: 'zone',
    change: { label: 'The other coast' },
    make: async () => {
      const person = await at.service.person()
      const body = { label: 'The coast', ...at.place(), snoozed_until: '2030-01-01T00:00:00Z' }
      const { zone } = await at.make(person, 'zones', body, CreatedZone)
      return { key: person.key, path: `zones/${zone.id}` }
    },
  },
  '/api/v1/alerts/{id}': {
    name: 'alert',
    change: { note: 'Somebody is on their way.' },
    make: async () => {
      const person = await at.service.person()
      await at.channelOf(person)
      const here = at.place()
      await at.make(person, 'zones', { label: 'The coast', ...here }, CreatedZone)
      const event = quake(here)
      await at.jobs.ingest(event)
      await at.jobs.drain()
      await at.jobs.ingest({ ...event, severity: 99 })
      await at.jobs.drain()
      const { id } = await at.alertOf(person)
      const body = { resolved: true, note: 'Seen.' }
      expect((await at.ask(person, 'PATCH', `alerts/${id}`, body)).status).toBe(200)
      return { key: person.key, path: `alerts/${id}` }
    },
  },
  '/api/v1/channels/{id}': {
    name: 'channel',
    change: { label: 'Night shift' },
    make: async () => {
      const { key, id } = await failing()
      return { key, path: `channels/${id}` }
    },
  },
  '/api/v1/account/orgs/{id}': {
    name: 'org',
    change: { name: 'Coast guard' },
    make: async () => {
      const owner = await at.service.person()
      const org = await at.service.organisation(owner)
      return { key: await at.service.session(owner), path: `account/orgs/${org}` }
    },
  },
  '/api/v1/orgs/{id}/members/{userId}': {
    name: 'member',
    change: { role: 'admin' },
    make: async () => {
      const [owner, member] = [await at.service.person(), await at.service.person()]
      const org = await at.service.organisation(owner, [member, 'member'])
      return { key: owner.key, path: `orgs/${org}/members/${member.user_id}` }
    },
  },
}

/** A channel whose receiver has been failing for a while. */
async function failing() {
  const person = await at.service.person()
  const config = { headers: { 'X-Team': 'night', 'X-Token': 'hush' } }
  const made = await at.channelOf(person, { label: 'On call', config })
  const here = at.place()
  await at.make(person, 'zones', { label: 'The coast', ...here }, CreatedZone)
  at.service.receiver.answer = () => sendResult(503)
  await at.jobs.ingest(quake(here))
  await at.jobs.drain()
  return { ...person, id: made.id, secret: made.signing_secret }
}

async function read(key: string, path: string, name: string): Promise<Thing> {
  return Thing.parse((await at.get({ key }, path, Thing))[name])
}
async function patch(key: string, path: string, body: Thing, name: string): Promise<Thing> {
  return Thing.parse(parsed(await at.ask({ key }, 'PATCH', path, body), 200, Thing)[name])
}

/** What the document says only the service sets. */
async function readOnlyFields(path: string): Promise<string[]> {
  const { paths, components } = await at.get({ key: '' }, 'openapi.json', Document)
  const { requestBody } = Body.parse(paths[path]?.patch)
  const name = requestBody.content['application/json'].schema.$ref.split('/').at(-1) ?? ''
  const fields = Object.entries(components.schemas[name]?.properties ?? {})
  return fields.flatMap(([field, schema]) => (schema.readOnly === true ? [field] : []))
}

/** What a program in Python makes of it: other offsets, another order. */
function pythons(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/^(\d{4}-\d\d-\d\dT.+)Z$/, '$1+00:00')
  if (Array.isArray(value)) return value.map(pythons)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, inner]) => [name, pythons(inner)] as const)
      .reverse(),
  )
}

/** Another value of the same kind. */
function other(value: unknown): unknown {
  if (typeof value === 'number') return value + 1
  if (Array.isArray(value)) return [...value, 'more']
  if (typeof value === 'object' && value !== null) return { ...value, more: true }
  return `${value ?? ''}x`
}

const MOVES = { updated_at: expect.any(String) }
const known = (thing: Thing) => ('version' in thing ? { version: expect.any(Number) } : {})

test('whatever can be read and changed at one address is told about here', async () => {
  const { paths } = await at.get({ key: '' }, 'openapi.json', Document)
  const both = Object.entries(paths).filter(([, methods]) => 'get' in methods && 'patch' in methods)
  expect(both.map(([path]) => path).sort()).toEqual(Object.keys(CASES).sort())
})

describe.each(Object.entries(CASES))('%s', (address, { name, change, make }) => {
  test('comes back whole, with one change', async () => {
    const { key, path } = await make()
    const thing = await read(key, path, name)
    const moves = 'updated_at' in thing ? MOVES : {}
    expect(await patch(key, path, thing, name)).toEqual({ ...thing, ...moves, ...known(thing) })

    const again = Thing.parse(pythons(await read(key, path, name)))
    const changed = await patch(key, path, { ...again, ...change }, name)
    expect(changed).toEqual({ ...thing, ...change, ...moves, ...known(thing) })
    expect(await read(key, path, name)).toEqual(changed)
  })

  test('keeps what only the service sets, and says so', async () => {
    const { key, path } = await make()
    const before = await read(key, path, name)
    const fixed = (await readOnlyFields(address)).filter((field) => field !== 'coverage')
    expect(fixed).toContain('id')
    const wrong = Object.fromEntries(fixed.map((field) => [field, other(before[field])]))
    const refused = await at.ask({ key }, 'PATCH', path, { ...change, ...wrong })
    expect(refused).toMatchObject({ status: 422, body: { code: 'invalid' } })
    const errors = z
      .object({ errors: z.array(z.object({ path: z.string(), code: z.string() })) })
      .parse(refused.body).errors
    expect(errors.map(({ path }) => path).sort()).toEqual([...fixed].sort())
    expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(['read_only']))
    expect(await read(key, path, name)).toEqual(before)
    // Nothing that is answered is unknown when it comes back.
    const { status } = await at.ask({ key }, 'PATCH', path, { ...before, never_heard_of: 1 })
    expect(status).toBe(422)
  })
})

test('the refusal says what it is, and the way out', async () => {
  const { key, path } = await make('/api/v1/alerts/{id}')
  const refused = await at.ask({ key }, 'PATCH', path, { status: 'pending' })
  expect(refused.body).toMatchObject({
    errors: [
      {
        path: 'status',
        message:
          'status is read-only: it is "dispatched", not "pending". Leave it out, or read it again.',
      },
    ],
  })
})

function make(address: string) {
  const found = CASES[address]
  if (!found) throw new Error(`there is no case for ${address}`)
  return found.make()
}

describe('a channel that is failing', () => {
  const stored = async (id: string) => {
    const [row] = await at.query(
      `select target_sealed, config_sealed, signing_secret_sealed, former_secrets_sealed, messages,
        failures, failing_reason, failing_since, paused_until, status, enabled
      from watchpost.channels where id = $1`,
      [id],
    )
    return row
  }

  test('goes on failing when it is sent back, and nothing of it is sealed anew', async () => {
    const { key, id } = await failing()
    const before = await stored(id)
    expect(before).toMatchObject({ status: 'failing', failures: 1, enabled: true, messages: null })
    const channel = await read(key, `channels/${id}`, 'channel')
    await patch(key, `channels/${id}`, { ...channel, label: 'Renamed' }, 'channel')
    await patch(key, `channels/${id}`, { enabled: true, target: channel.target }, 'channel')
    expect(await stored(id)).toEqual(before)
  })

  test('has not failed yet at another address, or after it was off', async () => {
    const { key, id } = await failing()
    const path = `channels/${id}`
    const elsewhere = { target: 'https://hooks.example.com/other' }
    expect(await patch(key, path, elsewhere, 'channel')).toMatchObject({ status: 'ok' })
    expect(await stored(id)).toMatchObject({ failures: 0, failing_since: null, paused_until: null })
    await at.query(`update watchpost.channels set status = 'failing', failures = 3 where id = $1`, [
      id,
    ])
    expect(await patch(key, path, { enabled: false }, 'channel')).toMatchObject({
      status: 'disabled',
    })
    expect(await patch(key, path, { enabled: true }, 'channel')).toMatchObject({ status: 'ok' })
    expect(await stored(id)).toMatchObject({ failures: 0 })
  })

  test('keeps its address and headers when they come back as the export shows them', async () => {
    const { key, id, ...person } = await failing()
    const path = `channels/${id}`
    const session = await at.service.session(person)
    const exported = await at.get({ key: session }, 'account/export', Thing)
    const masked = Thing.parse(z.array(Thing).parse(exported.channels)[0])
    expect(masked).toMatchObject({
      target: 'https://hooks.example.com/…',
      config: { headers: { 'X-Team': '…', 'X-Token': '…' } },
    })
    const { target, config } = masked
    const before = await stored(id)
    await patch(key, path, { target, config }, 'channel')
    expect(await stored(id)).toEqual(before)

    const more = { headers: { 'X-Token': '…', 'X-Shift': 'late' } }
    expect(await patch(key, path, { config: more }, 'channel')).toMatchObject({
      target: 'https://hooks.example.com/in',
      config: { headers: { 'X-Token': 'hush', 'X-Shift': 'late' } },
    })
    const unknown = { config: { headers: { 'X-Other': '…' } } }
    expect(await at.ask({ key }, 'PATCH', path, unknown)).toMatchObject({
      status: 422,
      body: { errors: [{ path: 'config.headers.X-Other' }] },
    })
  })

  test('a masked address is no address', async () => {
    const { key, id } = await failing()
    const refused = {
      status: 422,
      body: {
        errors: [
          {
            path: 'target',
            code: 'masked',
            message: 'This target is masked. Send the whole of it, as its owner knows it.',
          },
        ],
      },
    }
    const target = 'https://elsewhere.example.com/…'
    expect(await at.ask({ key }, 'PATCH', `channels/${id}`, { target })).toMatchObject(refused)
    expect(await at.ask({ key }, 'POST', 'channels', { kind: 'webhook', target })).toMatchObject(
      refused,
    )
  })

  test('takes back the secret that it was made with, and no other', async () => {
    const { key, id, secret } = await failing()
    const path = `channels/${id}`
    const channel = await read(key, path, 'channel')
    await patch(key, path, { ...channel, signing_secret: secret }, 'channel')
    const wrong = `${secret.slice(0, -4)}AAA=`
    const now = await read(key, path, 'channel')
    const refused = await at.ask({ key }, 'PATCH', path, { ...now, signing_secret: wrong })
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ path: 'signing_secret' }] } })
    expect(refused.text).not.toContain('whsec_')
  })
})

describe('the owner of an organisation', () => {
  test('comes back unchanged, stays the owner, and is nobody else', async () => {
    const [owner, member] = [await at.service.person(), await at.service.person()]
    const org = await at.service.organisation(owner, [member, 'member'])
    const path = (person: { user_id: string }) => `orgs/${org}/members/${person.user_id}`
    const row = await read(owner.key, path(owner), 'member')
    expect(await patch(owner.key, path(owner), row, 'member')).toEqual(row)
    const demoted = await at.ask(owner, 'PATCH', path(owner), { ...row, role: 'member' })
    expect(demoted).toMatchObject({ status: 409, body: { code: 'owner_protected' } })
    const promoted = await at.ask(owner, 'PATCH', path(member), { role: 'owner' })
    expect(promoted).toMatchObject({
      status: 422,
      body: {
        errors: [
          {
            path: 'role',
            message: 'Ownership moves only by POST /account/orgs/{id}/transfer.',
          },
        ],
      },
    })
  })
})
