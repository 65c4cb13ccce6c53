import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { compose, makeProject, reach } from '../support/mission-help.ts'

/** A real chat model, which `npm run proof -- smollm2` fetches; npm test leaves this file out. */
const file = join(import.meta.dirname, '../../../.data/models/SmolLM2-135M-Instruct.Q4_1.gguf')
const LIMIT_MS = 900_000

describe('with SmolLM2-135M-Instruct', () => {
  let hub: TestHub
  beforeAll(async () => {
    hub = await startHub({ start: true })
    await makeProject(hub)
    await mkdir(join(hub.paths.data_dir, 'models'), { recursive: true })
    const local = join(hub.paths.data_dir, 'models/smollm2.gguf')
    await copyFile(file, local)
    await hub.deps.model.configure({ kind: 'local', file: local })
    await hub.deps.model.ready()
  }, LIMIT_MS)
  afterAll(() => hub?.close())

  /** The evidence that the draft of a mission cites. */
  async function citedBy(id: string): Promise<string[]> {
    const mission = await reach(hub, id)
    expect(mission, mission.reason ?? '').toMatchObject({ department: 'marketing', status: 'done' })
    const [draft] = await hub.query<{
      subject: string
      text: string
      state: string
      claims: { sentence: string; evidence_ids: string[] }[]
    }>('select subject, text, state, claims from hub.drafts where mission_id = $1', [id])
    console.log(draft?.subject, '\n', draft?.text, '\n', JSON.stringify(draft?.claims, null, 1))
    expect(draft?.state).toBe('rendered')
    return draft?.claims.flatMap(({ evidence_ids }) => evidence_ids) ?? []
  }

  test(
    'marketing writes a draft that cites evidence',
    async () => {
      const data = { name: 'Ayse Demir', email: 'ayse@demir.example', company: 'Demir Lojistik' }
      const { lead } = await (
        await hub.call('POST', 'lead/quick_add', { slug: 'rota', data })
      ).json()
      for (const fact of [
        'Demir Lojistik runs 40 refrigerated trucks from Bursa.',
        'Demir Lojistik delivers food to supermarkets every night.',
      ]) {
        await hub.query(
          `insert into hub.evidence (project_id, lead_id, fact, source)
         select id, $1, $2, 'fair.csv, row 2' from hub.projects`,
          [lead.id, fact],
        )
      }
      // So small a model draws a different letter each time, and not each is worth keeping.
      const task = 'Write a short email to Demir Lojistik about their refrigerated trucks'
      let cited: string[] = []
      for (let tries = 0; tries < 4 && cited.length === 0; tries += 1) {
        cited = await citedBy(await compose(hub, 'auto', task))
      }
      expect(cited.length).toBeGreaterThan(0)
      const known = await hub.query('select id from hub.evidence where id = any($1)', [cited])
      expect(known).toHaveLength(new Set(cited).size)
    },
    LIMIT_MS,
  )

  test(
    'chooses one of thirteen where the words do not tell',
    async () => {
      const mission = await reach(hub, await compose(hub, 'auto', 'Explain how the moon moves'))
      console.log(mission.department, mission.status, mission.reason)
      expect(mission.routed_by).toBe('model')
      expect(mission.department).not.toBe('auto')
      expect(['done', 'failed']).toContain(mission.status)
    },
    LIMIT_MS,
  )
})
