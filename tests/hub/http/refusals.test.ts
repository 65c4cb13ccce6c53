import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BASE } from '../../../hub/app.ts'
import { readText } from '../../../hub/files.ts'
import { startHub, type TestHub } from '../support/hub.ts'

/** What nobody has to sign in for. */
const PUBLIC = [
  'get health',
  'post setup',
  'post login',
  'post invitation/look',
  'post invitation/accept',
  'get branding',
  'get u/x',
  'post u/x',
]
/** What a hub with the public key still writes: files of its own, and nothing of a project. */
const WITHOUT_SERVICE_KEY = [
  'post setup',
  'post login',
  'post invitation/look',
  'post invitation/accept',
  'post logout',
  'post logout/everywhere',
  'post password',
  'post projects/select',
  'post leads/import_preview',
  'put license',
  'delete license',
  'post settings/service_key',
  'post projects/brand/preview',
  'post mcp',
  'post people/find',
  'post people/export',
  'post backup/run',
  'post backup/upload',
  'post backup/check',
  'post backup/delete',
  'put settings/system',
  'post settings/backup_server',
  'put settings/branding',
  'put settings/models',
  'post model/download',
  'post model/download/cancel',
  'post model/test',
  'post settings/prompts/x/try',
  'post mission/recipients',
  'post mission/route',
  'post u/x',
]

type Route = { name: string; method: string; path: string }
let hub: TestHub
let routes: Route[] = []
let paths: Record<string, Record<string, { security?: unknown[] }>> = {}
beforeAll(async () => {
  hub = await startHub({ key: 'public' })
  token = (await readText(join(hub.paths.config_dir, 'hub.token')))?.trim() ?? ''
  paths = (await (await hub.call('GET', 'spec')).json()).paths
  routes = Object.entries(paths).flatMap(([full, operations]) =>
    Object.keys(operations).map((method) => {
      const path = full.slice(BASE.length + 1).replaceAll(/\{\w+\}/g, 'x')
      return { name: `${method} ${path}`, method: method.toUpperCase(), path }
    }),
  )
})
afterAll(() => hub.close())

let token = ''
let asked = 0
/** The answers of routes to a body that none of them takes, as `name status code`. */
async function answersOf(routes: Route[], more: Record<string, string> = {}): Promise<string[]> {
  const answers: string[] = []
  for (const { name, method, path } of routes) {
    asked += 1
    const headers = { host: 'localhost', authorization: `Bearer ${token}`, ...JSON_BODY, ...more }
    // An address of its own each: who shows wrong tokens again and again has to wait.
    const remoteAddress = `10.0.${asked >> 8}.${asked & 255}`
    const body = method === 'GET' ? {} : { body: '{"nonsense":true}' }
    const answer = await hub.app.request(
      `${BASE}/${path}`,
      { method, headers, ...body },
      { incoming: { socket: { remoteAddress } } },
    )
    const isProblem = answer.headers.get('content-type')?.startsWith('application/problem+json')
    const code = isProblem ? (await answer.json()).code : 'no problem'
    answers.push(`${name} ${answer.status} ${code}`)
  }
  return answers
}
const JSON_BODY = { 'content-type': 'application/json' }
const named = (names: string[]) => routes.filter(({ name }) => names.includes(name))
const others = (names: string[]) => routes.filter(({ name }) => !names.includes(name))
const all = (asked: Route[], status: number, code: string) =>
  asked.map(({ name }) => `${name} ${status} ${code}`)

test('the document describes every route there is, and no other', () => {
  const documented = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map(
      (method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    ),
  )
  const there = hub.app.routes
    .filter(({ method, path }) => method !== 'ALL' && path.startsWith(BASE))
    .map(({ method, path }) => `${method} ${path}`)
  expect(documented.length).toBeGreaterThan(80)
  expect([...new Set(there)].sort()).toEqual([...new Set(documented)].sort())
})

describe('every route but the public ones', () => {
  test.each<[who: string, headers: Record<string, string>]>([
    ['nobody', { authorization: '' }],
    ['a wrong token', { authorization: 'Bearer wph_local_x' }],
    ['another scheme', { authorization: 'Basic YWRtaW46YWRtaW4=' }],
    ['a made-up session', { authorization: '', cookie: 'hub_session=eyJhbGciOiJub25lIn0.e30.' }],
  ])('answers %s 401 unauthenticated', async (_, headers) => {
    const asked = others(PUBLIC)
    expect(await answersOf(asked, headers)).toEqual(all(asked, 401, 'unauthenticated'))
    const open = await answersOf(named(PUBLIC), headers)
    expect(open).toHaveLength(PUBLIC.length)
    expect(open.filter((answer) => / 401 /.test(answer))).toEqual([])
  })

  test('says so in the document, and only those', () => {
    const open = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([, { security }]) => security?.length === 0)
        .map(([method]) => `${method} ${path.slice(BASE.length + 1).replaceAll(/\{\w+\}/g, 'x')}`),
    )
    expect(open.sort()).toEqual([...PUBLIC].sort())
  })
})

describe('every route', () => {
  test.each([['evil.example'], ['localhost.evil.example:8770'], ['169.254.169.254'], ['']])(
    'answers under the name "%s" 403',
    async (host) => {
      expect(await answersOf(routes, { host })).toEqual(all(routes, 403, 'forbidden'))
    },
  )

  test.each([['https://evil.example'], ['http://localhost:3000'], ['https://localhost'], ['null']])(
    'answers a page of %s 403, but where a mail program unsubscribes',
    async (origin) => {
      const asked = others(['get u/x', 'post u/x'])
      const headers = { host: 'localhost:8770', origin }
      expect(await answersOf(asked, headers)).toEqual(all(asked, 403, 'forbidden'))
      expect(await answersOf(named(['get u/x', 'post u/x']), headers)).toEqual(
        all(named(['get u/x', 'post u/x']), 404, 'no problem'),
      )
    },
  )
})

describe('with only the public key', () => {
  const isWrite = ({ method }: Route) => method !== 'GET'

  test('every write of a project’s data is 401 read_only_key, before its body is looked at', async () => {
    const asked = others(WITHOUT_SERVICE_KEY).filter(isWrite)
    expect(asked.length).toBeGreaterThan(40)
    expect(await answersOf(asked)).toEqual(all(asked, 401, 'read_only_key'))
  })

  test('the rest is read and written as ever', async () => {
    expect(named(WITHOUT_SERVICE_KEY)).toHaveLength(WITHOUT_SERVICE_KEY.length)
    const asked = [...named(WITHOUT_SERVICE_KEY), ...routes.filter((one) => !isWrite(one))]
    // Ends what the others need.
    const answers = await answersOf(asked.filter(({ name }) => name !== 'post backup/run'))
    expect(
      answers.filter((answer) => /read_only_key|unauthenticated|internal/.test(answer)),
    ).toEqual([])
  })
})
