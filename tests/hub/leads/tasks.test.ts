import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { leadCalls } from '../support/lead-calls.ts'
import { startLicensedHub } from '../support/licensed.ts'

let hub: Awaited<ReturnType<typeof startLicensedHub>>
let lead_id: string
const { get, post, add } = leadCalls(() => hub)
beforeAll(async () => {
  hub = await startLicensedHub(['demir', 'baltic', 'full'])
  lead_id = (await add({ name: 'Ada' })).id
})
afterAll(() => hub.close())

const kinds = async () =>
  (await get(`lead/timeline?lead_id=${lead_id}`)).body.activities.map(
    ({ kind, details }: { kind: string; details: object }) => ({ kind, details }),
  )

describe('a note', () => {
  test('stands in the timeline with its beginning, until it is deleted', async () => {
    const made = await post('lead/note', { lead_id, text: ` ${'long '.repeat(100)}` })
    expect(made.status).toBe(201)
    expect(made.headers.get('location')).toBe(`/api/cockpit/lead/get?lead_id=${lead_id}`)
    const { id } = made.body.note
    expect(await kinds()).toContainEqual({
      kind: 'note',
      details: { note_id: id, text: 'long '.repeat(60) },
    })
    const other = (await post('lead/note', { lead_id, text: 'Stays' })).body.note
    expect((await post('lead/note/delete', { note_id: id })).body.note).toEqual(made.body.note)
    expect((await kinds()).filter(({ kind }: { kind: string }) => kind === 'note')).toEqual([
      { kind: 'note', details: { note_id: other.id, text: 'Stays' } },
    ])
    const gone = await post('lead/note/delete', { note_id: id })
    expect([gone.status, gone.body.detail]).toEqual([404, 'There is no such note.'])
  })

  test.each([
    [' \u0000\n', 422],
    ['x'.repeat(10_001), 422],
    [` ${'x'.repeat(10_000)} `, 201],
  ])('of %j is answered %i', async (text, status) => {
    expect((await post('lead/note', { lead_id, text })).status).toBe(status)
  })
})

describe('a task', () => {
  test('belongs to a lead or to a project, and never to both or neither', async () => {
    const own = await post('lead/task', { slug: 'demir', title: ' Call \u0000\n back ' })
    expect(own.status).toBe(201)
    expect(own.body.task).toMatchObject({ lead_id: null, project: 'demir', title: 'Call back' })
    expect(own.body.task).toMatchObject({ due_on: null, done_at: null })
    expect(own.headers.get('location')).toBe('/api/cockpit/lead/tasks?project=demir')
    const of = await post('lead/task', { lead_id, title: 'Write', due_on: '2030-02-28' })
    expect(of.body.task).toMatchObject({ lead_id, project: 'demir', due_on: '2030-02-28' })
    expect(await kinds()).toContainEqual({
      kind: 'task',
      details: { task_id: of.body.task.id, title: 'Write', due_on: '2030-02-28' },
    })
    for (const wrong of [{}, { lead_id, slug: 'demir' }]) {
      const { status, body } = await post('lead/task', { title: 'x', ...wrong })
      expect(status).toBe(422)
      expect(body.errors).toMatchObject([
        { path: 'lead_id', message: 'Give either lead_id or slug.' },
      ])
    }
    expect((await post('lead/task', { slug: 'nobody', title: 'x' })).status).toBe(404)
    expect((await post('lead/task', { slug: 'demir', title: ' \n' })).status).toBe(422)
    expect((await post('lead/task', { slug: 'demir', title: 'x'.repeat(501) })).status).toBe(422)
    expect((await post('lead/task', { slug: 'demir', title: 'x'.repeat(500) })).status).toBe(201)
  })

  test('is told as done once, keeps what is not changed, and can be open again', async () => {
    const { task } = (await post('lead/task', { lead_id, title: 'Send', due_on: '2030-01-01' }))
      .body
    const update = async (change: object) =>
      (await post('lead/task/update', { task_id: task.id, ...change })).body.task
    const told = async () =>
      (await kinds()).filter(
        ({ kind, details }: { kind: string; details: { task_id?: string } }) =>
          kind === 'task_done' && details.task_id === task.id,
      )
    expect(await update({ due_on: null })).toMatchObject({ title: 'Send', due_on: null })
    expect(await told()).toEqual([])
    const done = await update({ done: true, title: 'Sent' })
    expect(done.done_at).not.toBeNull()
    const once = [{ kind: 'task_done', details: { task_id: task.id, title: 'Sent' } }]
    expect(await told()).toEqual(once)
    expect(await update({ done: true })).toEqual(done)
    expect(await update({ due_on: '2030-01-02' })).toEqual({ ...done, due_on: '2030-01-02' })
    expect(await told()).toEqual(once)
    expect(await update({ done: false })).toMatchObject({ title: 'Sent', done_at: null })
  })

  test('of a project is in no timeline, and is deleted as it was', async () => {
    const { task } = (await post('lead/task', { slug: 'demir', title: 'Own' })).body
    const done = (await post('lead/task/update', { task_id: task.id, done: true })).body.task
    expect(done.done_at).not.toBeNull()
    expect(JSON.stringify(await kinds())).not.toContain(task.id)
    expect((await post('lead/task/delete', { task_id: task.id })).body.task).toEqual(done)
    const gone = await post('lead/task/delete', { task_id: task.id })
    expect([gone.status, gone.body.detail]).toEqual([404, 'There is no such task.'])
  })
})

test('tasks are listed newest first, page by page, by project, lead and what is done', async () => {
  const lead = (await add({ name: 'Busy' }, 'full')).id
  await hub.query(
    `insert into hub.tasks (project_id, lead_id, title, done_at, created_at)
     select project_id, case when n > 2 then id end, 'T' || n, case when n % 2 = 0 then now() end,
       now() + make_interval(secs => greatest(n, 2))
     from hub.leads, generate_series(1, 5) as n where id = $1`,
    [lead],
  )
  await post('lead/task', { slug: 'baltic', title: 'Elsewhere' })
  const list = async (query: string) => {
    const { tasks, next_cursor } = (await get(`lead/tasks?${query}`)).body
    return { titles: tasks.map(({ title }: { title: string }) => title), next_cursor }
  }
  expect((await list(`lead_id=${lead}`)).titles).toEqual(['T5', 'T4', 'T3'])
  expect((await list('project=full&done=true')).titles.toSorted()).toEqual(['T2', 'T4'])
  expect((await list('project=full&done=false')).titles.toSorted()).toEqual(['T1', 'T3', 'T5'])
  expect((await list('project=baltic')).titles).toEqual(['Elsewhere'])
  const all = (await list('limit=500')).titles
  expect(all).toEqual(expect.arrayContaining(['T1', 'T5', 'Elsewhere', 'Call back']))
  const seen: string[] = []
  let pages = 0
  for (let cursor: string | null = ''; cursor !== null; pages += 1) {
    const page = await list(`project=full&limit=2${cursor && `&cursor=${cursor}`}`)
    seen.push(...page.titles)
    cursor = page.next_cursor
  }
  // Of one moment, the id decides.
  expect(pages).toBe(3)
  expect([...seen.slice(0, 3), ...seen.slice(3).toSorted()]).toEqual(['T5', 'T4', 'T3', 'T1', 'T2'])
  expect((await get('lead/tasks?project=nobody')).status).toBe(404)
  expect((await list(`lead_id=${randomUUID()}`)).titles).toEqual([])
})
