import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Result } from '../../../hub/agents/agent.ts'
import { AGENT_NAMES } from '../../../hub/agents/names.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { compose, makeProject, reach, tell, until, useTinyModel } from '../support/mission-help.ts'

const LIMIT_MS = 900_000
let hub: TestHub
beforeAll(async () => {
  hub = await startHub({ start: true })
  await makeProject(hub)
  const data = { name: 'Ayşe Demir', company: 'Demir Lojistik', email: 'a@demir.example' }
  await hub.call('POST', 'lead/quick_add', { slug: 'rota', data })
}, LIMIT_MS)
afterAll(() => hub.close())

/** What each is asked; the answers are gibberish, what is done with them is not. */
const TASKS: Record<(typeof AGENT_NAMES)[number], string> = {
  research:
    'Find leads in this: Ayşe Demir of Demir Lojistik, ayse@demir2.example, runs 40 trucks.',
  web_research: 'Read https://127.0.0.1.invalid and make a profile',
  marketing: 'Write an email to Demir Lojistik',
  sales: 'Call script for Demir Lojistik',
  engineer: 'Write a script that renames files',
  engineer_system: 'Add a second phone number to leads in the hub',
  docs: 'Write a user guide',
  finance: 'Invoice for Demir, 12 hours at 80 euro plus 20 % VAT',
  legal: 'NDA für Demir Ltd, two years',
  data: 'How many leads are there per stage?',
  pm: '/gelistir',
  system: 'Health alert: the disk is full',
  ceo: 'Set OKRs for the next quarter',
}

describe('while there is no model', () => {
  test(
    'a mission waits and says so, and begins when there is one',
    async () => {
      const id = await compose(hub, 'docs', 'Write one page about returns')
      const waiting = await until(async () => {
        const mission = await tell(hub, id)
        return mission.waits_for === 'model' && mission
      })
      expect(waiting).toMatchObject({ status: 'queued', waits_for: 'model' })
      expect(waiting.reason).toContain('Settings > Models')
      await useTinyModel(hub)
      const ended = await reach(hub, id)
      expect(['done', 'failed']).toContain(ended.status)
      expect(ended.tokens).toBeGreaterThan(0)
    },
    LIMIT_MS,
  )
})

describe('thirteen missions at once on one model of random weights', () => {
  test(
    'each ends as done with a sound result, or as failed with a reason',
    async () => {
      await useTinyModel(hub)
      await hub.call('PUT', 'settings/agents', { web: 'allow', engineer_system: true })
      let peak = 0
      const pid = hub.deps.model.pid()
      const watch = setInterval(async () => {
        const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
        peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0))
      }, 200)
      const ids = new Map<string, string>()
      const started = performance.now()
      for (const agent of AGENT_NAMES) ids.set(agent, await compose(hub, agent, TASKS[agent]))
      const ended = await Promise.all(
        [...ids].map(async ([agent, id]) => [agent, await reach(hub, id)] as const),
      )
      clearInterval(watch)
      const figures = ended.map(([agent, mission]) => ({
        agent,
        status: mission.status,
        steps: mission.steps.length,
        tokens: mission.tokens,
        reason: mission.reason?.slice(0, 90),
      }))
      console.table(figures)
      const seconds = Math.round((performance.now() - started) / 1000)
      console.log(
        `13 missions: ${seconds} s; model process peak ${Math.round(peak / 1024)} MiB, one pid`,
      )
      expect(hub.deps.model.pid()).toBe(pid)
      for (const [agent, mission] of ended) {
        expect(['done', 'failed'], agent).toContain(mission.status)
        if (mission.status === 'failed') {
          expect(mission.reason, agent).toMatch(/\w.{15,}/)
          expect(mission.reason, agent).not.toContain('error in the hub')
          continue
        }
        const result = Result.parse(mission.result)
        expect(result.summary, agent).not.toBe('')
        for (const { path } of result.documents) {
          const file = join(hub.paths.data_dir, 'projects/rota', path)
          expect((await readFile(file, 'utf8')).length, path).toBeGreaterThan(40)
        }
      }
    },
    LIMIT_MS,
  )
})
