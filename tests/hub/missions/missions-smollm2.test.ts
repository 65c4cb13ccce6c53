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

  /** What the judge says of each sentence of a mission's draft. */
  async function judgedOf(id: string): Promise<string[]> {
    const mission = await reach(hub, id)
    expect(mission, mission.reason ?? '').toMatchObject({ department: 'marketing', status: 'done' })
    const [draft] = await hub.query<{ id: string; subject: string; text: string; state: string }>(
      'select id, subject, text, state from hub.drafts where mission_id = $1',
      [id],
    )
    expect(draft?.state).toBe('rendered')
    const read = await hub.call('GET', `drafts/get?project=rota&id=${draft?.id}`)
    const { sentences }: { sentences: { verdict: string }[] } = await read.json()
    console.log(draft?.subject, '\n', draft?.text, '\n', JSON.stringify(sentences, null, 1))
    return sentences.map(({ verdict }) => verdict)
  }

  test(
    'marketing writes a draft, and each of its sentences is judged',
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
      const task = 'Write a short email to Demir Lojistik about their refrigerated trucks'
      const verdicts = await judgedOf(await compose(hub, 'auto', task))
      expect(verdicts.length).toBeGreaterThan(2)
      expect(verdicts).toContain('harmless')
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
