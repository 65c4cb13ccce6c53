import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type ApprovalRequest, MissionFailure } from '../../../../hub/agents/agent.ts'
import {
  createContext,
  type MissionRow,
  MissionTaken,
  type RunDeps,
} from '../../../../hub/agents/run/run.ts'
import type { Project } from '../../../../hub/db/db.ts'
import { verbatim } from '../../../../hub/i18n/words.ts'
import { ModelError } from '../../../../hub/model/model.ts'
import { startHub, type TestHub } from '../../support/hub.ts'
import { makeProject } from '../../support/mission-help.ts'

let hub: TestHub
let project: Project
beforeAll(async () => {
  hub = await startHub()
  await makeProject(hub)
  const [made] = await hub.query<Project>('select * from hub.projects')
  if (!made) throw new Error('no project was made')
  project = made
})
afterAll(() => hub.close())

const Answer = z.object({ a: z.number() })
type Given = { steps?: number; tokens?: number; routed_by?: string; answers?: unknown[] }

/** A run of a new mission, with a model that gives these answers, for 15 tokens each. */
async function begin(given: Given = {}) {
  const { steps = 99, tokens = 999, routed_by = 'given', answers = [] } = given
  const run = randomUUID()
  const [mission] = await hub.query<MissionRow>(
    `insert into hub.missions (project_id, department, task, status, run, routed_by, created_at)
    values ($1, 'docs', 'Write.', 'processing', $2, $3, '2026-03-04 12:00Z')
    returning id, department, task, input, routed_by, created_at::text, tokens, continues`,
    [project.id, run, routed_by],
  )
  if (!mission) throw new Error('no mission was made')
  const asked: { task: string; priority: string }[] = []
  const read: unknown[] = []
  const complete = async (call: { task: string; priority: string }) => {
    asked.push(call)
    const value = answers.shift()
    if (value instanceof Error) throw value
    return { value, tokens: { prompt: 10, completion: 5 } }
  }
  const controller = new AbortController()
  const spent = { tokens: 0 }
  const context = await createContext(
    {
      config: hub.config,
      db: hub.deps.db,
      model: { complete, fit: async (_: unknown, parts: string[]) => ({ parts }) },
      reader: { read: async (...sent: unknown[]) => read.push(sent[2]) },
    } as unknown as RunDeps, // safe: all that these steps need
    { name: 'docs', variables: {}, prompt: 'You write.', budget: { steps, tokens } },
    {
      ...{ mission, project, run, spent, signal: controller.signal },
      on_event: () => {},
      on_token: () => {},
    },
  )
  const row = async () =>
    (await hub.query('select progress, tokens from hub.missions where id = $1', [mission.id]))[0]
  const kept = async () =>
    (
      await hub.query<{ name: string }>(
        'select name from hub.mission_steps where mission_id = $1 order by position',
        [mission.id],
      )
    ).map(({ name }) => name)
  return { context, asked, read, controller, spent, id: mission.id, row, kept }
}

describe('a step', () => {
  test('moves the progress on, never back, and never to the end', async () => {
    const { context, row } = await begin()
    const progress = async () => Number((await row())?.progress).toFixed(2)
    context.expect(2)
    await context.step('plan', async () => 1)
    expect(await progress()).toBe('0.50')
    context.expect(10)
    await context.step('outline', async () => 1)
    expect(await progress()).toBe('0.50')
    for (let nth = 3; nth <= 22; nth += 1) await context.step(`section ${nth}`, async () => 1)
    expect(await progress()).toBe('0.95')
  })

  test('is one of as many as the budget has, but when it is done already or a summary', async () => {
    const { context, kept } = await begin({ steps: 2 })
    await context.step('plan', async () => 'first')
    await context.step('summary 1', async () => 1)
    await context.step('outline', async () => 1)
    expect(await context.step('plan', async () => 'second')).toBe('first')
    await context.step('summary 2', async () => 1)
    await expect(context.step('section 1', async () => 1)).rejects.toThrow(MissionFailure)
    expect(await kept()).toEqual(['plan', 'summary 1', 'outline', 'summary 2'])
  })

  test('during which the mission was cancelled is not kept', async () => {
    const { context, controller, kept } = await begin()
    await expect(
      context.outside('search plan', async () => controller.abort(new Error('cancelled'))),
    ).rejects.toThrow('cancelled')
    expect(await kept()).toEqual([])
  })
})

test('a text that ends within an emoji, or has a NUL, is kept without it', async () => {
  const { context, kept } = await begin()
  const page = { title: 'Fleets \u{1F69A}'.slice(0, -1), text: ['a\0b'] }
  expect(await context.outside('search plan', async () => page)).toEqual({
    title: 'Fleets \uFFFD',
    text: ['ab'],
  })
  expect(await kept()).toEqual(['search plan'])
})

describe('a call of the model', () => {
  const isOne = ({ a }: { a: number }) => (a === 1 ? verbatim('One is wrong.') : undefined)
  const call = { schema: Answer, task: 'Count.', check: isOne }

  test('whose answer is objected to is made once more, with the objection', async () => {
    const { context, asked, spent, row } = await begin({ answers: [{ a: 1 }, { a: 2 }] })
    expect(await context.complete('plan', call)).toEqual({ a: 2 })
    expect(asked.map(({ task }) => task.includes('One is wrong.'))).toEqual([false, true])
    expect(asked[0]?.task).toContain('2026-03-04')
    expect([spent.tokens, (await row())?.tokens]).toEqual([30, 30])
  })

  test('fails when the second answer is wrong too, unless code repairs it', async () => {
    const { context } = await begin({ answers: [{ a: 1 }, { a: 1 }, { a: 1 }, { a: 1 }] })
    await expect(context.complete('plan', call)).rejects.toThrow('One is wrong.')
    expect(await context.complete('plan', { ...call, if_wrong: 'keep' })).toEqual({ a: 1 })
  })

  test('is not made when the budget is used up, also by one that failed', async () => {
    const error = new ModelError('invalid_output', verbatim('no'))
    error.tokens = { prompt: 7, completion: 1 }
    const { context, asked, spent } = await begin({ tokens: 23, answers: [error, { a: 3 }] })
    await expect(context.complete('plan', call)).rejects.toThrow(error)
    expect(spent.tokens).toBe(8)
    await context.complete('plan', call)
    expect(spent.tokens).toBe(23)
    await expect(context.complete('outline', call)).rejects.toThrow(MissionFailure)
    expect(asked).toHaveLength(2)
  })

  test.each([
    ['schedule', 'background'],
    ['given', 'mission'],
  ])('of a mission that was %s is one of the %s', async (routed_by, priority) => {
    const { context, asked } = await begin({ routed_by, answers: [{ a: 3 }] })
    await context.complete('plan', call)
    expect(asked).toMatchObject([{ priority }])
  })
})

test('what a run may read of the web counts over all its pages', async () => {
  const { context, read, controller } = await begin()
  await context.reader.read('https://a.example', controller.signal)
  await context.reader.read('https://b.example', controller.signal)
  expect(read).toEqual([{ bytes: 0 }, { bytes: 0 }])
  expect(read[1]).toBe(read[0])
})

describe('an approval', () => {
  const request = (title: string): ApprovalRequest => ({
    kind: 'external',
    title: verbatim(title),
    action: { do: 'search', title },
  })
  const change = (id: string, fields: string) =>
    hub.query(`update hub.approvals set ${fields} where mission_id = $1`, [id])

  test('is asked for once, in a sentence', async () => {
    const { context, id } = await begin()
    const ask = (title: string) => context.ask('searching the web', request(title))
    await expect(ask('Search it')).rejects.toThrow('Search it.')
    await expect(ask('Search it')).rejects.toThrow('Search it.')
    await expect(ask('Search it?')).rejects.toThrow(/Search it\?$/)
    const rows = await hub.query('select status from hub.approvals where mission_id = $1', [id])
    expect(rows).toEqual([{ status: 'waiting' }, { status: 'waiting' }])
  })

  test('of a mission that was cancelled meanwhile is not asked for', async () => {
    const { context, id } = await begin()
    await hub.query("update hub.missions set status = 'cancelled', run = null where id = $1", [id])
    const asked = context.ask('searching the web', request('Search it'))
    await expect(asked).rejects.toThrow(MissionTaken)
    expect(await hub.query('select from hub.approvals where mission_id = $1', [id])).toEqual([])
  })

  test('that was rejected ends the mission with the reason, unless a newer one was given', async () => {
    const { context, id, kept } = await begin()
    const ask = () => context.ask('searching the web', request('Search it'))
    await expect(ask()).rejects.toThrow('Search it.')
    await change(id, `status = 'rejected', outcome = '{"en": "Too dear.", "tr": "Pahalı."}'`)
    await expect(ask()).rejects.toThrow('Too dear.')
    await hub.query(
      `insert into hub.approvals (project_id, mission_id, kind, title, action, action_hash, status, created_at)
      select project_id, mission_id, kind, title, action, action_hash, 'approved', created_at + interval '1 second'
      from hub.approvals where mission_id = $1`,
      [id],
    )
    await ask()
    expect(await kept()).toEqual(['searching the web'])
    const rows = await hub.query(
      'select status from hub.approvals where mission_id = $1 order by created_at',
      [id],
    )
    expect(rows).toEqual([{ status: 'rejected' }, { status: 'done' }])
  })
})
