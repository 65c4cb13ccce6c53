import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import {
  compose,
  DOCUMENT,
  makeProject,
  putFile,
  reach,
  tell,
  until,
} from '../support/mission-help.ts'
import { type StubModel, startStubModel, useStub } from '../support/stub-model.ts'

const LIMIT_MS = 120_000
let hub: TestHub
let stub: StubModel
beforeAll(async () => {
  stub = await startStubModel()
  hub = await startHub({ start: true })
  await makeProject(hub)
  await useStub(hub, stub)
}, LIMIT_MS)
afterAll(async () => {
  await hub.close()
  await stub.close()
})

describe('composing', () => {
  test(
    'answers 202 with the mission and the agent it was routed to, and why',
    async () => {
      stub.script(DOCUMENT)
      const answer = await hub.call('POST', 'mission/compose', {
        department: 'auto',
        task: 'iade için kullanım kılavuzu yaz',
        project: 'rota',
      })
      expect(answer.status).toBe(202)
      const { mission, routed } = await answer.json()
      expect(mission).toMatchObject({
        department: 'docs',
        project: 'rota',
        status: 'queued',
        task: 'iade için kullanım kılavuzu yaz',
      })
      expect(routed).toMatchObject({
        agent: 'docs',
        decided_by: 'phrases',
        reason: expect.stringContaining('“kılavuzu”'),
      })
      expect(answer.headers.get('location')).toBe(`/api/cockpit/missions/${mission.id}`)
      const done = await reach(hub, mission.id)
      expect(done.status, done.reason ?? '').toBe('done')
      expect(done.steps.map(({ name }) => name)).toEqual([
        'outline',
        'section 1',
        'section 2',
        'document',
      ])
      expect(done).toMatchObject({ progress: 1, tokens: 360 })
    },
    LIMIT_MS,
  )

  test(
    'leaves to the model what the words do not tell',
    async () => {
      stub.script((asked) => {
        if (asked.name === 'who_does_it') return { agent: 'docs' }
        return DOCUMENT(asked)
      })
      const preview = await hub.call('POST', 'mission/route', { task: 'hmm, mavi olsun' })
      expect((await preview.json()).routed).toMatchObject({ agent: null, decided_by: 'model' })
      const done = await reach(hub, await compose(hub, 'auto', 'hmm, mavi olsun'))
      expect(done).toMatchObject({ status: 'done', department: 'docs', routed_by: 'model' })
      const asked = stub.asked.find(({ name }) => name === 'who_does_it')
      expect(asked?.system).toMatch(/^You hand out the work of/)
      const schema = JSON.stringify(asked?.schema)
      expect(schema.match(/"(research|ceo|pm|engineer_system)"/g)).toHaveLength(4)
    },
    LIMIT_MS,
  )

  test.each([
    [{ department: 'sales', task: 'x', project: 'nobody' }, 404],
    [{ department: 'janitor', task: 'x', project: 'rota' }, 422],
    [{ department: 'sales', task: '  ', project: 'rota' }, 422],
    [{ department: 'sales', project: 'rota' }, 422],
    [{ department: 'sales', task: 'x', project: 'rota', tsak: 1 }, 422],
    [{ department: 'sales', task: 'x', project: '../rota' }, 422],
    [
      { department: 'sales', task: 'x', project: 'rota', input: { urls: ['file:///etc/passwd'] } },
      422,
    ],
  ])('%j answers %i', async (body, status) => {
    expect((await hub.call('POST', 'mission/compose', body)).status).toBe(status)
  })

  test('pages through missions and filters them', async () => {
    const first = await (await hub.call('GET', 'missions/list?project=rota&limit=1')).json()
    expect(first.missions).toHaveLength(1)
    const second = await (
      await hub.call('GET', `missions/list?project=rota&limit=1&cursor=${first.next_cursor}`)
    ).json()
    expect(second.missions[0].id).not.toBe(first.missions[0].id)
    const none = await (await hub.call('GET', 'missions/list?status=cancelled')).json()
    expect(none).toEqual({ missions: [], next_cursor: null })
    const { missions } = await (await hub.call('GET', 'missions/list')).json()
    for (const field of ['status', 'department'] as const) {
      const value = missions[0][field]
      const found = await (await hub.call('GET', `missions/list?${field}=${value}`)).json()
      expect(found.missions).toEqual(
        missions.filter((one: Record<typeof field, string>) => one[field] === value),
      )
    }
    expect((await hub.call('GET', 'missions/list?project=nobody')).status).toBe(404)
    expect((await hub.call('GET', 'missions/no-uuid')).status).toBe(404)
    const { agents } = await (await hub.call('GET', 'missions/agents')).json()
    expect(agents).toHaveLength(13)
  })
})

describe('a mission that works', () => {
  test(
    'is cancelled at once, its call of the model too, and writes nothing more',
    async () => {
      stub.script(DOCUMENT)
      stub.hold(true)
      const id = await compose(hub, 'docs', 'a guide to cancel')
      await until(async () => stub.asked.length > 0)
      const before = stub.dropped()
      const cancelled = await hub.call('POST', 'mission/cancel', { id })
      expect(cancelled.status).toBe(202)
      await until(async () => stub.dropped() > before)
      stub.hold(false)
      expect(await tell(hub, id)).toMatchObject({
        status: 'cancelled',
        reason: 'You cancelled it.',
        steps: [],
      })
      expect((await hub.call('POST', 'mission/cancel', { id })).status).toBe(409)

      const retried = await hub.call('POST', 'mission/retry', { id })
      const { mission } = await retried.json()
      expect(mission).toMatchObject({ retry_of: id, task: 'a guide to cancel' })
      expect((await reach(hub, mission.id)).status).toBe('done')
      expect((await hub.call('POST', 'mission/retry', { id: mission.id })).status).toBe(409)
    },
    LIMIT_MS,
  )

  test(
    'waits while the model is away, and goes on behind its finished steps',
    async () => {
      stub.script((asked) => {
        if (asked.name === 'outline') stub.hold(true)
        return DOCUMENT(asked)
      })
      const id = await compose(hub, 'docs', 'a guide in two parts')
      await until(async () => stub.asked.some(({ name }) => name === 'section_1'))
      await hub.deps.model.configure({
        kind: 'endpoint',
        url: 'http://127.0.0.1:9/v1',
        model: 'stub',
      })
      const waiting = await until(async () => {
        const mission = await tell(hub, id)
        return mission.waits_for === 'model' && mission
      })
      expect(waiting).toMatchObject({ status: 'queued', reason: expect.stringMatching(/.{20,}/) })
      expect(waiting.steps.map(({ name }) => name)).toEqual(['outline'])
      stub.hold(false)
      await useStub(hub, stub)
      const done = await reach(hub, id)
      expect(done.status, done.reason ?? '').toBe('done')
      expect(done.steps).toHaveLength(4)
      expect(stub.asked.filter(({ name }) => name === 'outline')).toHaveLength(1)
    },
    LIMIT_MS,
  )

  test(
    'fails with the reason when the model cannot keep to the form',
    async () => {
      stub.script(() => ({ nonsense: true }))
      const failed = await reach(hub, await compose(hub, 'sales', 'call script for nobody'))
      expect(failed).toMatchObject({
        status: 'failed',
        reason: expect.stringContaining('required format'),
      })
    },
    LIMIT_MS,
  )
})

describe('what is said of a mission', () => {
  const turkish = { 'accept-language': 'tr' }
  const inTurkish = async (id: string) =>
    (await (await hub.call('GET', `missions/${id}`, undefined, turkish)).json()).mission

  test(
    'is in the language of who reads it, whoever made it',
    async () => {
      stub.script(DOCUMENT)
      const made = await hub.call(
        'POST',
        'mission/compose',
        { department: 'auto', task: 'iade için kullanım kılavuzu yaz', project: 'rota' },
        turkish,
      )
      const { mission, routed } = await made.json()
      expect(routed.reason).toBe(
        'Belgeler ajanı şu sözlere göre seçildi: “kullanım”, “kılavuzu”, “yaz”.',
      )
      const [{ input } = {}] = await hub.query<{ input: object }>(
        'select input from hub.missions where id = $1',
        [mission.id],
      )
      expect(input).toEqual({ language: 'tr' })
      const done = await reach(hub, mission.id)
      expect(done.routed_because).toBe(
        'Documents was chosen because of “kullanım”, “kılavuzu”, “yaz”.',
      )
      const titles = ({ steps }: typeof done) => steps.map(({ title }) => title)
      expect(titles(done)).toEqual(['Outline', 'Section 1', 'Section 2', 'Document'])
      const read = await inTurkish(mission.id)
      expect(titles(read)).toEqual(['Ana hatlar', 'Bölüm 1', 'Bölüm 2', 'Belge'])
      expect(read.routed_because).toBe(routed.reason)
      const refused = await hub.call('POST', 'mission/cancel', { id: mission.id }, turkish)
      expect((await refused.json()).detail).toBe('Görev bitti. Artık iptal edilemez.')
    },
    LIMIT_MS,
  )

  test(
    'names in both languages the step that failed and a file that is not there',
    async () => {
      stub.script(() => ({ title: 'x.py', summary: 'x', change: ['none'], create: ['../x'] }))
      const wrong = await reach(hub, await compose(hub, 'engineer', 'write a script'))
      expect(wrong.reason).toContain(
        'The model failed at the step "Plan": "../x" is not a valid name',
      )
      expect((await inTurkish(wrong.id)).reason).toContain('Model “Plan” adımını yapamadı: “../x”')
      const files = ['../../x']
      const away = await reach(hub, await compose(hub, 'docs', 'sum it up', { files }))
      expect(away.reason).toBe('"../../x" is not a valid file path in this project.')
      const { reason } = await inTurkish(away.id)
      expect(reason).toBe('“../../x” bu projede geçerli bir dosya yolu değil.')
    },
    LIMIT_MS,
  )
})

test(
  'a queued mission of a project that became read-only waits for the license and says so',
  async () => {
    stub.script(DOCUMENT)
    const [row] = await hub.query<{ id: string }>(
      `with surplus as (insert into hub.projects (slug, name) values ('fazla', 'Fazla') returning id)
       insert into hub.missions (project_id, department, task)
       select id, 'docs', 'a guide' from surplus returning id`,
    )
    const id = row?.id ?? ''
    await putFile(hub, 'CONTEXT.md', '# Fazla', 'fazla')
    hub.deps.missions.wake()
    const waiting = await until(async () => {
      const mission = await tell(hub, id)
      return mission.waits_for === 'license' && mission
    })
    expect(waiting).toMatchObject({ status: 'queued', steps: [], tokens: 0 })
    expect(waiting.reason).toContain('"Fazla" is read-only')
    expect(stub.asked).toEqual([])
    // The oldest project is the one that Free allows.
    await hub.query(
      "update hub.projects set created_at = now() - interval '9 days' where slug = 'fazla'",
    )
    expect(await reach(hub, id)).toMatchObject({ status: 'done', waits_for: null, reason: null })
    await hub.query("delete from hub.projects where slug = 'fazla'")
  },
  LIMIT_MS,
)

describe('documents', () => {
  test(
    'are listed, read, and downloaded as Markdown and PDF; HTML in them is text',
    async () => {
      const { documents } = await (await hub.call('GET', 'documents/list?project=rota')).json()
      const path = documents.find((one: { path: string }) =>
        one.path.includes('iade-kilavuzu'),
      )?.path
      const { document } = await (
        await hub.call('GET', `documents/get?project=rota&path=${path}`)
      ).json()
      expect(document).toMatchObject({
        title: 'İade kılavuzu',
        text: expect.stringContaining('\\<b\\>şöyle\\</b\\>'),
      })
      const file = await hub.call('GET', `documents/download?project=rota&path=${path}`)
      expect(file.headers.get('content-disposition')).toContain('attachment')
      expect(file.headers.get('content-type')).toContain('text/plain')
      const pdf = await hub.call('GET', `documents/download?project=rota&path=${path}&format=pdf`)
      expect(pdf.headers.get('content-type')).toBe('application/pdf')
      const bytes = Buffer.from(await pdf.arrayBuffer())
      expect(bytes.subarray(0, 5).toString()).toBe('%PDF-')
    },
    LIMIT_MS,
  )

  test('never leave their project', async () => {
    const outside = join(hub.paths.config_dir, 'hub.token')
    await putFile(hub, 'docs/good.md', '# Good')
    const folder = join(hub.paths.data_dir, 'projects/rota/docs')
    await symlink(outside, join(folder, 'link.md'))
    await symlink(hub.paths.config_dir, join(folder, 'way'))
    expect((await hub.call('GET', 'documents/get?project=rota&path=docs/good.md')).status).toBe(200)
    for (const path of [
      '../../hub.token',
      'docs/../../../hub.token',
      '/etc/passwd',
      'docs/link.md',
      'docs/way/hub.token',
      'docs/%2e%2e/%2e%2e/x',
      'docs\\..\\x',
      'docs/good.md\0.txt',
      'docs',
      '.',
      '',
      'docs/.hidden',
    ]) {
      for (const what of ['get', 'download']) {
        const answer = await hub.call(
          'GET',
          `documents/${what}?project=rota&path=${encodeURIComponent(path)}`,
        )
        expect(answer.status, `${what} ${path}`).toBe(404)
      }
    }
  })
})

test(
  'with the read-only key missions can be read and routed',
  async () => {
    const readOnly = await startHub({ key: 'public', start: true })
    expect((await readOnly.call('GET', 'missions/list')).status).toBe(200)
    expect((await readOnly.call('POST', 'mission/route', { task: 'NDA' })).status).toBe(200)
    await readOnly.close()
  },
  LIMIT_MS,
)
