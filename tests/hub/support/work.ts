/** A hub whose model answers as a test says, for the tests of the agents' work. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { startHub, type TestHub } from './hub.ts'
import { compose, makeProject, reach, type ShownMission } from './mission-help.ts'
import { type Script, type StubModel, startStubModel, useStub } from './stub-model.ts'

export const LIMIT_MS = 120_000
export let hub: TestHub
export let stub: StubModel

/** Has the tests of this file run on a hub of their own. */
export function useHub(): void {
  beforeAll(async () => {
    stub = await startStubModel()
    hub = await startHub({ start: true, config: { model_query_timeout_ms: 2000 } })
    await makeProject(hub)
    await makeProject(hub, 'other').catch(() => undefined)
    await useStub(hub, stub)
  }, LIMIT_MS)
  afterAll(async () => {
    await hub.close()
    await stub.close()
  })
}

export async function run(
  department: string,
  task: string,
  script: Script,
  input?: Record<string, unknown>,
): Promise<ShownMission> {
  stub.script(script)
  return reach(hub, await compose(hub, department, task, input))
}

export async function textOf(mission: ShownMission, at = 0): Promise<string> {
  const path = mission.result?.documents[at]?.path ?? ''
  return readFile(join(hub.paths.data_dir, 'projects/rota', path), 'utf8')
}

export const leads = () => hub.query<{ n: number }>('select count(*)::int as n from hub.leads')
