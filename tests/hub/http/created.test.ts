import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { compose, makeProject } from '../support/mission-help.ts'

let hub: TestHub
let lead_id: string
beforeAll(async () => {
  hub = await startHub()
  await makeProject(hub)
  const made = await hub.call('POST', 'lead/quick_add', { slug: 'rota', data: { name: 'Ada' } })
  lead_id = (await made.json()).lead.id
})
afterAll(() => hub.close())

/** A mission that nobody works on, in some state. */
async function mission(status: string): Promise<string> {
  const id = await compose(hub, 'sales', 'Write a plan')
  await hub.query(
    `update hub.missions set status = $2, finished_at = now(), result = '{"summary": "Done."}'
     where id = $1`,
    [id, status],
  )
  return id
}

type Made = { [thing: string]: { id: string } }
test.each<[path: string, body: () => object | Promise<object>, status: number, place: string]>([
  ['projects/create', () => ({ name: 'Two', slug: 'two' }), 402, ''],
  [
    'lead/quick_add',
    () => ({ slug: 'rota', data: { name: 'Bo' } }),
    201,
    'lead/get?lead_id={lead}',
  ],
  ['lead/note', () => ({ lead_id, text: 'Called' }), 201, 'lead/get?lead_id={lead_id}'],
  ['lead/task', () => ({ lead_id, title: 'Call' }), 201, 'lead/tasks?project=rota'],
  ['settings/keys', () => ({ name: 'Script', scope: 'read' }), 201, 'settings/keys'],
  [
    'settings/webhooks',
    () => ({ label: 'One', url: 'https://hooks.example', events: ['mail.replied'] }),
    201,
    'settings/webhooks',
  ],
  [
    'mission/compose',
    () => ({ project: 'rota', department: 'sales', task: 'Plan' }),
    202,
    'missions/{mission}',
  ],
  ['mission/cancel', async () => ({ id: await mission('queued') }), 202, 'missions/{mission}'],
  ['mission/retry', async () => ({ id: await mission('failed') }), 202, 'missions/{mission}'],
  [
    'mission/continue',
    async () => ({ id: await mission('done'), task: 'And shorter' }),
    202,
    'missions/{mission}',
  ],
])('what %s makes can be read where its answer says', async (path, body, status, place) => {
  const answer = await hub.call('POST', path, await body())
  const text = await answer.text()
  expect(answer.status, text).toBe(status)
  const made: Made = JSON.parse(text)
  const location = answer.headers.get('location')
  if (place === '') return expect(location).toBeNull()
  const filled = place
    .replace('{lead_id}', lead_id)
    .replace(/\{(\w+)\}/, (_, name) => made[name]?.id ?? '')
  expect(location).toBe(`/api/cockpit/${filled}`)
  expect((await hub.call('GET', filled)).status).toBe(200)
})

test('the first project is listed where the answer that made it says', async () => {
  await hub.query('delete from hub.projects')
  const answer = await hub.call('POST', 'projects/create', { name: 'New', slug: 'new' })
  expect(answer.headers.get('location')).toBe('/api/cockpit/projects/list')
  const { projects } = await (await hub.call('GET', 'projects/list')).json()
  expect(projects).toMatchObject([{ slug: 'new' }])
})
