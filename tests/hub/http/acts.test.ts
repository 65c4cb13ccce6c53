import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Act } from '../../../hub/audit/audit.ts'
import { noteChange } from '../../../hub/audit/changes.ts'
import { operationOf, recordActs } from '../../../hub/http/acts.ts'
import type { Env } from '../../../hub/http/http.ts'
import { createRoute, resource } from '../../../shared/route.ts'

const BASE = '/api/cockpit'
const ACTOR = { kind: 'member', id: 'm', name: 'Ece', role: 'seller' }

/** An application whose routes answer what a request asks for, and the acts that it wrote down. */
function recording(actor: object | null = ACTOR) {
  const acts: Act[] = []
  const app = resource<Env>()
  const routes = resource<Env>()
  app.use(async (c, next) => {
    // safe: these are all that is read of them
    c.set('deps', {
      key_role: 'hub_ro',
      root_db: { as: () => ({}) },
      audit: { add: async (act: Act) => void acts.push(act) },
    } as unknown as Env['Variables']['deps'])
    if (actor) c.set('actor', actor as unknown as NonNullable<Env['Variables']['actor']>) // safe: as above
    await next()
  })
  app.use(recordActs(app, BASE))
  const add = (
    method: 'get' | 'post' | 'put',
    path: string,
    operationId?: string,
    tags?: string[],
  ) =>
    routes.openapi(
      createRoute({
        ...{ method, path, ...(operationId ? { operationId } : {}), ...(tags ? { tags } : {}) },
        request: { query: z.looseObject({}) },
        responses: {
          200: { description: 'Done.', content: { 'text/plain': { schema: z.string() } } },
        },
      }),
      async (c) => {
        if (c.req.query('fails')) return c.text('', 400 as 200) // safe: the answer is not checked
        if (c.req.query('changes')) noteChange('mail.json', {}, { daily_cap: 1 })
        return c.text('')
      },
    )
  routes.openAPIRegistry.registerComponent('securitySchemes', 'any', {
    type: 'http',
    scheme: 'bearer',
  })
  add('put', '/things/{id}', 'putThing', ['Things'])
  add('put', '/things/all', 'putThings', ['Things', 'More'])
  add('post', '/do', 'doIt')
  add('post', '/unnamed')
  for (const path of ['leads/export', 'backup/download', 'documents/download', 'leads/list']) {
    add('get', `/${path}`, `get ${path}`)
  }
  for (const path of LOOKS) add('post', `/${path}`, `post ${path}`)
  for (const path of ['leads/import', 'backup/upload']) add('post', `/${path}`, `post ${path}`)
  app.route(BASE, routes)
  return { app, acts }
}
const LOOKS = [
  ...['leads/import_preview', 'mission/route', 'mission/recipients', 'settings/prompts/x/try'],
  ...['projects/select', 'projects/brand/preview', 'model/test', 'mcp'],
  ...['my/model/test', 'mcp/more', 'settings/prompts/x/y/try'],
]
const ALL_LOOKS = 8

async function actsOf(method: string, path: string, body?: unknown, type = 'application/json') {
  const { app, acts } = recording()
  const init =
    body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
  await app.request(`${BASE}/${path}`, { method, headers: { 'content-type': type }, ...init })
  return acts
}

describe('an act', () => {
  test('has the name and area of its route, who did it, and from where', async () => {
    expect(await actsOf('PUT', 'things/all', { note: 'Very secret' })).toEqual([
      {
        ...{ actor: ACTOR, action: 'putThings', area: 'Things', project: null, target: null },
        ...{ fields: ['note'], outcome: 'done', count: 1, address: 'unknown' },
      },
    ])
    expect(await actsOf('PUT', 'things/7')).toMatchObject([{ action: 'putThing', target: '7' }])
    expect(await actsOf('POST', 'do')).toMatchObject([{ action: 'doIt', area: 'System' }])
  })

  test.each<[string, object, string | null]>([
    ['do', { project: 'demir' }, 'demir'],
    ['do', { slug: 'demir' }, 'demir'],
    ['do', { project: 'rota', slug: 'demir' }, 'rota'],
    ['do?project=demir', {}, 'demir'],
    ['do?project=demir', { project: 'rota' }, 'rota'],
    ['do', { project: '1a' }, '1a'],
    ['do', { project: 'a'.repeat(41) }, 'a'.repeat(41)],
    ...['a', 'a'.repeat(42), '-a', 'A1', 'demir!', '!demir', 'my demir', 7, null].map(
      (project): [string, object, null] => ['do', { project }, null],
    ),
  ])('at %s with %j is in the project %j', async (path, body, project) => {
    expect(await actsOf('POST', path, body)).toMatchObject([{ project }])
  })

  test.each<[string, object, string | null]>([
    ['do', { id: 'a', draft_id: 'b', lead_id: 'c', mission_id: 'd' }, 'a'],
    ['do', { draft_id: 'b', lead_id: 'c', mission_id: 'd' }, 'b'],
    ['do', { lead_id: 'c', mission_id: 'd' }, 'c'],
    ['do', { mission_id: 'd' }, 'd'],
    ['do', { id: 7, mission_id: 'd' }, 'd'],
    ['do', { id: '', mission_id: 'd' }, 'd'],
    ['do', { id: 'x'.repeat(200) }, 'x'.repeat(200)],
    ['do', { id: 'x'.repeat(201) }, null],
    ['do?name=a.tar.gz', {}, 'a.tar.gz'],
    ['do?name=a.tar.gz', { id: 'a' }, 'a'],
  ])('at %s with %j is about %j', async (path, body, target) => {
    expect(await actsOf('POST', path, body)).toMatchObject([{ target }])
  })

  test('names the fields that are not said elsewhere, and the settings that it changed', async () => {
    const said = { id: 1, lead_id: 1, mission_id: 1, draft_id: 1, project: 1, slug: 1, secret: 1 }
    expect(await actsOf('POST', 'do?changes=1', { ...said, name: 'x', text: 'y' })).toMatchObject([
      { fields: ['name', 'text', 'mail.daily_cap'] },
    ])
  })

  test.each<[body: unknown, type: string, fields: string[]]>([
    [{ name: 1 }, 'application/json; charset=utf-8', ['name']],
    [{ name: 1 }, 'Application/JSON', ['name']],
    [{ name: 1 }, 'text/plain', []],
    [{ name: 1 }, 'x-application/json', []],
    [{ name: 1 }, 'application/jsonx', []],
    ['{"name"', 'application/json', []],
    [['name'], 'application/json', []],
  ])('with the body %j of the type %s has the fields %j', async (body, type, fields) => {
    expect(await actsOf('POST', 'do', body, type)).toMatchObject([{ fields }])
  })

  test('with a file has no fields, whatever its type', async () => {
    for (const path of ['leads/import', 'backup/upload']) {
      expect(await actsOf('POST', path, { name: 1 })).toMatchObject([{ fields: [] }])
    }
  })

  test('is what takes data out of the hub, and what writes, but not what is only looked at', async () => {
    const names = async (method: string, path: string) =>
      (await actsOf(method, path)).map(({ action }) => action)
    for (const path of ['leads/export', 'backup/download', 'documents/download']) {
      expect(await names('GET', path)).toEqual([`get ${path}`])
    }
    expect(await names('HEAD', 'leads/export')).toEqual(['get leads/export'])
    expect(await names('GET', 'leads/list')).toEqual([])
    for (const [nth, path] of LOOKS.entries()) {
      expect(await names('POST', path)).toEqual(nth < ALL_LOOKS ? [] : [`post ${path}`])
    }
    expect(await names('POST', 'unnamed')).toEqual([])
  })

  test('that fails, or is nobody’s, is not recorded', async () => {
    expect(await actsOf('POST', 'do?fails=1')).toEqual([])
    const { app, acts } = recording(null)
    expect((await app.request(`${BASE}/do`, { method: 'POST' })).status).toBe(200)
    expect(acts).toEqual([])
  })
})

test('an operation is found by its method and whole path, a fixed one before one with a name in it', () => {
  const { app } = recording()
  const found = (method: string, path: string) => {
    const one = operationOf(app, method, path)
    return one && [one.name, one.target]
  }
  expect(found('PUT', `${BASE}/things/all`)).toEqual(['putThings', null])
  expect(found('PUT', `${BASE}/things/7`)).toEqual(['putThing', '7'])
  expect(found('HEAD', `${BASE}/leads/list`)).toEqual(['get leads/list', null])
  for (const path of [`${BASE}/things/`, `${BASE}/things/7/8`, `/x${BASE}/things/7`, '/']) {
    expect([path, found('PUT', path)]).toEqual([path, undefined])
  }
  expect(found('POST', `${BASE}/things/7`)).toBeUndefined()
})
