import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MissionFailure } from '../../../hub/agents/agent.ts'
import { Task } from '../../../hub/api/missions/missions.ts'
import { stored, verbatim } from '../../../hub/i18n/words.ts'
import { createMissions, type Missions } from '../../../hub/missions/missions.ts'
import { ModelError } from '../../../hub/model/model.ts'
import { ApiError } from '../../../shared/problem.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { makeProject, until } from '../support/mission-help.ts'

const SWEEP_MS = 200
let hub: TestHub
let missions: Missions
/** Calls of the model that wait for an answer. */
let calls: { give: (value: unknown) => void; fail: (error: Error) => void }[]

beforeAll(async () => {
  hub = await startHub()
  await makeProject(hub)
})
afterAll(() => hub.close())

beforeEach(async () => {
  await hub.query('delete from hub.missions')
  calls = []
})

/** What works on the rows, with a model whose answers the test gives. */
function open(sweep_ms = SWEEP_MS): Missions {
  const complete = async ({ signal }: { signal?: AbortSignal }) =>
    new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason))
      calls.push({
        give: (value) => resolve({ value, tokens: { prompt: 1, completion: 1 } }),
        fail: reject,
      })
    })
  const { config, db, log, actions } = hub.deps
  return createMissions({
    config,
    db,
    log,
    actions,
    sweep_ms,
    model: {
      // safe: what these tests need of a model
      complete: complete as never,
      fit: async (_: unknown, parts: string[]) => ({ parts, tokens: 0 }) as never, // safe: the same
      state: async () => ({ state: 'ready' }) as never, // safe: the same
    },
    reader: { isThere: async () => false, read: async () => Promise.reject(new Error('no web')) },
  })
}

async function add(task: string, more: { routed_by?: string; waits_for?: string } = {}) {
  const [row] = await hub.query<{ id: string }>(
    `insert into hub.missions (project_id, department, task, routed_by, waits_for, reason)
     select id, 'docs', $1, $2, $3, $4 from hub.projects returning id`,
    [task, more.routed_by ?? 'given', more.waits_for ?? null, stored(verbatim('x'))],
  )
  return row?.id ?? ''
}

const tasksIn = async (status: string) =>
  (
    await hub.query<{ task: string }>(
      'select task from hub.missions where status = $1 order by task',
      [status],
    )
  ).map(({ task }) => task)

test('a task is taken without its blank ends and without what no text of PostgreSQL has', () => {
  expect(Task.parse('  write\0 a mail \n')).toBe('write a mail')
  expect(Task.parse('x'.repeat(20_000))).toHaveLength(20_000)
  for (const task of ['', '  ', '\0', 'x'.repeat(20_001)]) {
    expect(Task.safeParse(task).success).toBe(false)
  }
})

test('three run at once: composed ones first, scheduled ones last', async () => {
  await add('5 of the schedule', { routed_by: 'schedule' })
  for (const task of ['1', '2', '3', '4']) await add(task)
  missions = open()
  await missions.start()
  await until(async () => calls.length === 3)
  missions.wake()
  await new Promise((resolve) => setTimeout(resolve, 2 * SWEEP_MS))
  expect(await tasksIn('processing')).toEqual(['1', '2', '3'])
  expect(calls).toHaveLength(3)
  // One that ends makes room at once.
  calls[0]?.fail(new ModelError('invalid_output', verbatim('no')))
  await until(async () => calls.length === 4)
  expect(await tasksIn('processing')).toContain('4')
  expect(await tasksIn('queued')).toEqual(['5 of the schedule'])
  await missions.stop()
})

test('what worked when the hub is stopped is queued again, and begins again in the next one', async () => {
  const id = await add('a guide')
  missions = open()
  await missions.start()
  await until(async () => calls.length === 1)
  await missions.stop()
  expect(await tasksIn('queued')).toEqual(['a guide'])
  missions.wake()
  missions = open()
  await missions.start()
  await until(async () => calls.length === 2)
  const [row] = await hub.query('select status, interruptions from hub.missions where id = $1', [
    id,
  ])
  expect(row).toEqual({ status: 'processing', interruptions: 0 })
  await missions.stop()
})

test('a mission whose model goes away is looked at once a sweep, not without a pause', async () => {
  await add('a guide')
  missions = open()
  await missions.start()
  const began = performance.now()
  while (performance.now() - began < 5 * SWEEP_MS) {
    for (const call of calls) call.fail(new ModelError('unreachable', verbatim('away')))
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await missions.stop()
  expect(calls.length).toBeGreaterThan(1)
  expect(calls.length).toBeLessThanOrEqual(7)
})

test('a mission that waits for approval does not begin, however often the queue is swept', async () => {
  await add('asks', { waits_for: 'approval' })
  await add('begins', { waits_for: 'model' })
  missions = open()
  await missions.start()
  await until(async () => calls.length === 1)
  missions.wake()
  await new Promise((resolve) => setTimeout(resolve, 2 * SWEEP_MS))
  expect(await tasksIn('queued')).toEqual(['asks'])
  expect(calls).toHaveLength(1)
  await missions.stop()
})

describe('a run that ends badly', () => {
  const words = { en: 'Because.', tr: 'Öyle.' }
  const failed = { status: 'failed', waits_for: null }
  const waits = { status: 'queued', waits_for: 'model' }

  test.each<[string, Error, object, string]>([
    ['an answer of no use', new ModelError('invalid_output', words), failed, 'failed'],
    ['too long a text', new ModelError('too_long', words), failed, 'failed'],
    ['no model', new ModelError('no_model', words), waits, 'queued'],
    ['a model that starts', new ModelError('starting', words), waits, 'queued'],
    ['a model far away', new ModelError('unreachable', words), waits, 'queued'],
    ['a crash', new ModelError('crashed', words), { ...waits, interruptions: 1 }, 'interrupted'],
    ['an error of ours', new ApiError('conflict', words), failed, 'failed'],
    ['what the agent says', new MissionFailure(words), failed, 'failed'],
  ])('by %s is stored with its reason, and logged in one line', async (_, error, row, outcome) => {
    const id = await add('a guide')
    const line = await endOf(id, error)
    const [stored] = await hub.query(
      `select status, waits_for, reason ->> 'en' as reason, interruptions from hub.missions where id = $1`,
      [id],
    )
    expect(stored).toEqual({ interruptions: 0, reason: 'Because.', ...row })
    expect(line).toEqual({
      msg: 'mission',
      mission_id: id,
      project: 'rota',
      department: 'docs',
      outcome,
      reason: 'Because.',
      duration_ms: expect.any(Number),
    })
  })

  test('by a fault of the hub says no more than that, and its log has the place', async () => {
    const id = await add('a guide')
    const line = await endOf(id, new TypeError('x is not a function'))
    expect(line).toMatchObject({
      outcome: 'failed',
      error: expect.stringMatching(/^TypeError: x is not a function\n +at /),
    })
    const [row] = await hub.query(
      `select status, reason ->> 'en' as reason from hub.missions where id = $1`,
      [id],
    )
    expect(row).toEqual({ status: 'failed', reason: expect.stringMatching(/^An error in the hub/) })
  })

  test('without a database stays as it is, and is logged as unsettled', async () => {
    const id = await add('a guide')
    const line = await endOf(id, new ApiError('unavailable', words))
    expect(line).toMatchObject({ outcome: 'unsettled', error: expect.any(String) })
    expect(await tasksIn('processing')).toEqual(['a guide'])
  })

  test('without a database is no end: the mission continues at the next sweep', async () => {
    const id = await add('a guide')
    missions = open()
    await missions.start()
    await until(async () => calls.length === 1)
    calls[0]?.fail(new ApiError('unavailable', words))
    await until(async () => calls.length === 2)
    expect(await tasksIn('processing')).toEqual(['a guide'])
    const states = await hub.query<{ status: string }>(
      `select data ->> 'status' as status from hub.mission_events
       where mission_id = $1 and kind = 'state' order by id`,
      [id],
    )
    expect(states.map(({ status }) => status)).toEqual(['processing', 'queued', 'processing'])
    await missions.stop()
  })

  /** Ends the run of a mission by an error of its model; answers its line of the log. */
  async function endOf(id: string, error: Error) {
    missions = open(60_000)
    await missions.start()
    await until(async () => calls.length === 1)
    calls[0]?.fail(error)
    const line = await until(async () => hub.lines.find((one) => one.mission_id === id))
    await missions.stop()
    return line
  }
})
