import { expect, test } from 'vitest'
import { z } from 'zod'
import { parseAllowList } from '../../functions/channels/transport/target.ts'
import { generateKey } from '../../shared/key.ts'
import { type Person, parsed } from '../support/service.ts'
import { createStory } from '../support/story.ts'

// An operator permits plain http to their own network. A target elsewhere is refused when it is saved, not when an
// alert is lost.
const ADDRESSES: Record<string, string[]> = {
  'example.com': ['93.184.215.14'],
  'intranet.example.com': ['10.1.2.3'],
  'half.example.com': ['10.1.2.3', '93.184.215.14'],
}
const asked: string[] = []

let person: Person
const at = createStory({
  service: {
    allow: parseAllowList('10.0.0.0/8, 127.0.0.1/32, printer.example.com'),
    resolve: async (host) => {
      asked.push(host)
      const found = ADDRESSES[host]
      if (!found) throw new Error('ENOTFOUND')
      return found
    },
  },
  prepare: async ({ service }) => {
    person = await service.person()
  },
})

const Channel = z.object({ channel: z.object({ id: z.uuid() }) })
const save = (target: string, key?: string) =>
  at.service.request('POST', '/api/v1/channels', {
    ...(key ? { key } : {}),
    body: { kind: 'webhook', target },
  })
const REFUSED = {
  status: 422,
  body: {
    errors: [
      {
        path: 'target',
        code: 'plain_http',
        message: expect.stringMatching(
          /^Use https:\/\/\. Plain http is only for addresses that the operator permits in ALLOW_PRIVATE_TARGETS, and .* is at another one\.$/,
        ),
      },
    ],
  },
}

test.each(['http://example.com/', 'http://half.example.com/in', 'http://EXAMPLE.com:8080/in'])(
  '%s is refused at saving, with the reason and the way out',
  async (target) => {
    expect(await save(target, person.key)).toMatchObject(REFUSED)
  },
)

test.each([
  'https://example.com/',
  'http://intranet.example.com/in',
  'http://printer.example.com/in',
  'http://10.9.8.7/in',
  'http://localhost:9000/in',
  // Its name may exist tomorrow: it is judged again at every connection.
  'http://nowhere.example.com/in',
])('%s is saved', async (target) => {
  expect((await save(target, person.key)).status).toBe(201)
})

test('a change of the target is judged in the same way, a change of the label is not', async () => {
  const { channel } = parsed(await save('https://example.com/', person.key), 201, Channel)
  const change = (body: object) =>
    at.service.request('PATCH', `/api/v1/channels/${channel.id}`, { key: person.key, body })
  expect(await change({ target: 'http://example.com/' })).toMatchObject(REFUSED)
  const { length } = asked
  expect((await change({ label: 'On call' })).status).toBe(200)
  expect(asked).toHaveLength(length)
})

test('nobody without a key that works learns whether a name exists', async () => {
  const { length } = asked
  for (const key of [undefined, generateKey()]) {
    expect((await save('http://secret.example.com/', key)).status).toBe(401)
  }
  expect(asked).toHaveLength(length)
})
