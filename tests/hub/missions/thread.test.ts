import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { reach, type ShownMission, tell, until } from '../support/mission-help.ts'
import type { Script } from '../support/stub-model.ts'
import { hub, LIMIT_MS, run, stub, textOf, useHub } from '../support/work.ts'

useHub()

const MAIL: Script = ({ name }) =>
  /write/.test(name)
    ? {
        subject: 'A question',
        sentences: [
          { text: 'Would a short call next week suit you?', cites: ['none'] },
          { text: 'How do you plan your routes today?', cites: ['none'] },
        ],
      }
    : { template: 'letter', preheader: 'A question', headline: 'A question', highlight: [] }
const DOCUMENT: Script = ({ name }) =>
  name === 'outline'
    ? { title: 'Return guide', headings: ['Steps', 'More'] }
    : { paragraphs: ['Close the box.'], points: [] }

async function goOn(id: string, task: string, more: object = {}) {
  const answer = await hub.call('POST', 'mission/continue', { id, task, ...more })
  return { status: answer.status, body: await answer.json() }
}

async function follow(before: ShownMission, task: string, more: object = {}) {
  const { status, body } = await goOn(before.id, task, more)
  expect(status, body.detail).toBe(202)
  return reach(hub, body.mission.id)
}

const addLead = async (name: string) => {
  const email = `${name.toLowerCase()}@${name.toLowerCase()}.example`
  const data = { name, company: `${name} Ltd`, email }
  const made = await hub.call('POST', 'lead/quick_add', { slug: 'rota', data })
  return (await made.json()).lead.id as string
}
const draftsOf = (mission: ShownMission) =>
  hub.query<{ lead: string; state: string; subject: string; language: string }>(
    `select audience ->> 'lead_id' as lead, state, subject, language from hub.drafts
     where mission_id = $1 order by created_at, id`,
    [mission.id],
  )

describe('a mission that goes on from a mail', () => {
  test(
    'is for the same reader, sees the mail, and replaces it; “the other two” are the rest',
    async () => {
      const [ada, bo, cy] = [await addLead('Ada'), await addLead('Bo'), await addLead('Cy')]
      const first = await run('marketing', 'Write a letter to Ada about our routes', MAIL)
      expect(first.status, first.reason ?? '').toBe('done')
      expect(first).toMatchObject({ continues: null, thread: first.id })

      const shorter = await follow(first, 'shorter')
      expect(shorter).toMatchObject({
        status: 'done',
        department: 'marketing',
        continues: first.id,
        thread: first.id,
        routed_because: 'It goes on from that agent’s result.',
      })
      const [asked] = stub.asked.filter(({ name }) => name === 'write_1').slice(-1)
      expect(asked?.task).toMatch(
        /your earlier letter to this reader\nA question\n\n[\s\S]*Write a letter to Ada about our routes\nshorter\n[\s\S]*goes on from your earlier work/,
      )
      expect(await draftsOf(shorter)).toMatchObject([{ lead: ada, state: 'rendered' }])
      expect(await draftsOf(first)).toMatchObject([{ lead: ada, state: 'rejected' }])

      const others = await follow(shorter, 'for the other two as well')
      expect(others.status, others.reason ?? '').toBe('done')
      expect((await draftsOf(others)).map(({ lead }) => lead).sort()).toEqual([bo, cy].sort())
      expect(await draftsOf(shorter)).toMatchObject([{ lead: ada, state: 'rendered' }])
      expect(stub.asked.findLast(({ name }) => name === 'write_1')?.task).toContain(
        'another reader',
      )

      const turkish = await follow(shorter, 'in Turkish')
      expect(await draftsOf(turkish)).toMatchObject([{ lead: ada, language: 'tr' }])
      const beside = await follow(turkish, 'write another version, warmer')
      expect(await draftsOf(beside)).toMatchObject([{ lead: ada, language: 'tr' }])
      expect(await draftsOf(turkish)).toMatchObject([{ state: 'rendered' }])

      const shown = await tell(hub, first.id)
      expect(shown.conversation.map(({ task }) => task)).toEqual([
        'Write a letter to Ada about our routes',
        'shorter',
        'for the other two as well',
        'in Turkish',
        'write another version, warmer',
      ])
      expect(shown.conversation.map(({ continues }) => continues)).toEqual([
        null,
        first.id,
        shorter.id,
        shorter.id,
        turkish.id,
      ])
      const approved = 'update hub.drafts set state = $2 where mission_id = $1'
      await hub.query(approved, [beside.id, 'approved'])
      await follow(beside, 'shorter')
      expect(await draftsOf(beside)).toMatchObject([{ state: 'approved' }])
    },
    LIMIT_MS,
  )

  test(
    'asks where “the others” are not as many, and shows it before',
    async () => {
      const first = await run('marketing', 'Write a letter to Ada', MAIL)
      const preview = async (task: string) =>
        (
          await (
            await hub.call('POST', 'mission/recipients', {
              task,
              project: 'rota',
              continues: first.id,
            })
          ).json()
        ).recipients
      expect(await preview('shorter')).toMatchObject({ kind: 'leads', total: 1 })
      expect(await preview('for Bo too')).toMatchObject({
        kind: 'leads',
        leads: [{ name: 'Bo' }],
      })
      expect(await preview('diğer ikisi için de')).toMatchObject({ kind: 'leads', total: 2 })
      expect(await preview('for the other three')).toMatchObject({
        kind: 'unclear',
        because: expect.stringContaining('2 leads'),
        leads: [{}, {}],
      })
      const unclear = await follow(first, 'for the other three as well')
      expect(unclear).toMatchObject({ status: 'failed', reason: expect.stringMatching(/Bo Ltd/) })
    },
    LIMIT_MS,
  )

  test(
    'never takes somebody else for a reader who is gone',
    async () => {
      const gone = await addLead('Dee')
      const first = await run('marketing', 'Write a letter to Dee', MAIL)
      await hub.query('delete from hub.leads where id = $1', [gone])
      const next = await follow(first, 'shorter')
      expect(next).toMatchObject({ status: 'failed', reason: expect.stringMatching(/no longer/) })
    },
    LIMIT_MS,
  )
})

describe('a mission that goes on', () => {
  test(
    'goes to the agent that its words name, and is given the result with its documents',
    async () => {
      const first = await run('docs', 'İade için kılavuz yaz', DOCUMENT, { text: 'Box rules.' })
      stub.script((asked) => (asked.name === 'script' ? SCRIPT : DOCUMENT(asked, 1)))
      const same = await follow(first, 'shorter, please')
      expect(same).toMatchObject({ department: 'docs', routed_by: 'given' })
      const asked = stub.asked.at(-1)?.task ?? ''
      expect(asked).toContain('Close the box.')
      expect(asked).toContain('Box rules.')
      // The language of the conversation, not that of two English words.
      expect(asked).toContain('Write in Turkish.')
      const named = await follow(first, '/sales make a call script of it')
      expect(named).toMatchObject({ department: 'sales', routed_by: 'phrase' })
      const given = await follow(first, 'shorter', { department: 'sales' })
      expect(given).toMatchObject({ department: 'sales', routed_by: 'given' })
    },
    LIMIT_MS,
  )

  test(
    'says what of a long result was left out',
    async () => {
      const first = await run('docs', 'a guide', DOCUMENT)
      const path = first.result?.documents[0]?.path ?? ''
      const file = join(hub.paths.data_dir, 'projects/rota', path)
      await writeFile(file, `# Guide\n\n${'Close the box. '.repeat(400)}`)
      const next = await follow(first, 'shorter')
      expect(next.left_out.join()).toMatch(
        /The earlier result: the first 4000 of 60\d\d characters/,
      )
      expect(first.left_out).toEqual([])
    },
    LIMIT_MS,
  )

  test(
    'is refused while the one before is not done, and says what to do',
    async () => {
      stub.script(DOCUMENT)
      stub.hold(true)
      const made = await hub.call('POST', 'mission/compose', {
        department: 'docs',
        task: 'a guide',
        project: 'rota',
      })
      const { id } = (await made.json()).mission
      await until(async () => stub.asked.length > 0)
      expect(await goOn(id, 'shorter')).toMatchObject({
        status: 409,
        body: { detail: expect.stringContaining('Wait until it is done') },
      })
      await hub.call('POST', 'mission/cancel', { id })
      stub.hold(false)
      expect(await goOn(id, 'shorter')).toMatchObject({
        status: 409,
        body: { detail: expect.stringContaining('Try it again first') },
      })
      await hub.query(`update hub.missions set status = 'failed' where id = $1`, [id])
      expect(await goOn(id, 'shorter')).toMatchObject({
        status: 409,
        body: { code: 'wrong_state' },
      })
      const recipients = { task: 'x', project: 'rota', continues: id }
      expect((await hub.call('POST', 'mission/recipients', recipients)).status).toBe(409)
    },
    LIMIT_MS,
  )

  test(
    'keeps its place in the conversation when it is retried',
    async () => {
      const first = await run('docs', 'a guide', DOCUMENT)
      stub.script(() => ({ nonsense: true }))
      const failed = await follow(first, 'shorter')
      expect(failed.status).toBe('failed')
      stub.script(DOCUMENT)
      const { mission } = await (await hub.call('POST', 'mission/retry', { id: failed.id })).json()
      expect(mission).toMatchObject({ continues: first.id, thread: first.id, retry_of: failed.id })
      expect(await reach(hub, mission.id)).toMatchObject({ status: 'done' })
    },
    LIMIT_MS,
  )
})

const SCRIPT = {
  opening: 'Hello.',
  questions: ['How many trucks?', 'Who plans?'],
  objections: [],
  closing: 'Goodbye.',
}

describe('a result', () => {
  const edit = async (id: string, body: object, headers = {}) => {
    const answer = await hub.call('POST', 'mission/edit', { id, ...body }, headers)
    return { status: answer.status, body: await answer.json() }
  }
  const versions = async (id: string, part: string) =>
    (
      await (
        await hub.call('GET', `missions/${id}/versions?part=${encodeURIComponent(part)}`)
      ).json()
    ).versions

  test(
    'is edited in place, and every version before is kept with who and when',
    async () => {
      const made = await run('docs', 'a guide', DOCUMENT)
      const part = made.result?.documents[0]?.path ?? ''
      const original = await textOf(made)
      expect(await versions(made.id, part)).toEqual([
        { version: 1, text: original, edited_by: 'agent', edited_at: expect.any(String) },
      ])
      const mine = '# Mine\n\nClose it well.\n'
      const { body } = await edit(made.id, { part, version: 1, text: mine })
      expect(body.versions.map((one: { edited_by: string }) => one.edited_by)).toEqual([
        'agent',
        'token',
      ])
      expect(await textOf(made)).toBe(mine)
      const late = await edit(made.id, { part, version: 1, text: 'late' })
      expect(late).toMatchObject({ status: 409, body: { code: 'conflict' } })
      expect(await textOf(made)).toBe(mine)

      // Somebody edits the file in its folder: that is a version too, and nothing of it is lost.
      const file = join(hub.paths.data_dir, 'projects/rota', part)
      await writeFile(file, 'by hand')
      expect((await edit(made.id, { part, version: 2, text: 'late' })).status).toBe(409)
      expect((await edit(made.id, { part, version: 3, text: original })).status).toBe(200)
      expect(await readFile(file, 'utf8')).toBe(original)
      const all = await versions(made.id, part)
      expect(all.map(({ text, edited_by }: never) => [text, edited_by])).toEqual([
        [original, 'agent'],
        [mine, 'token'],
        ['by hand', 'file'],
        [original, 'token'],
      ])
    },
    LIMIT_MS,
  )

  test(
    'has words that are edited too, and a mission that goes on sees them',
    async () => {
      const made = await run('docs', 'a guide', DOCUMENT)
      const { body } = await edit(made.id, { version: 1, text: 'Our guide for returns' })
      expect(body.versions).toHaveLength(2)
      const shown = await tell(hub, made.id)
      expect(shown.result).toMatchObject({
        summary: 'Our guide for returns',
        documents: made.result?.documents,
      })
      // The same text again is no new version.
      const same = await edit(made.id, { version: 2, text: 'Our guide for returns' })
      expect(same.body.versions).toHaveLength(2)
      stub.script(DOCUMENT)
      await follow(made, 'shorter')
      expect(stub.asked.at(-1)?.task).toContain('Our guide for returns')
    },
    LIMIT_MS,
  )

  test(
    'is edited only where there is one, in words, and up to a length that is said',
    async () => {
      const made = await run('docs', 'a guide', DOCUMENT)
      const at = { version: 1, text: 'x' }
      expect((await edit(made.id, { ...at, part: 'docs/../../x.md' })).status).toBe(404)
      expect((await edit(made.id, { ...at, part: 'docs/other.md' })).status).toBe(404)
      expect(await edit(made.id, { version: 1, text: 'x'.repeat(4001) })).toMatchObject({
        status: 422,
        body: { errors: [{ path: 'text', message: 'At most 4000 characters.' }] },
      })
      const open = `update hub.missions set result = jsonb_set(result, '{documents}', '[{"path":"code/a.patch","title":"a"}]') where id = $1`
      await hub.query(open, [made.id])
      expect((await edit(made.id, { ...at, part: 'code/a.patch' })).status).toBe(422)
      await hub.query(`update hub.missions set status = 'failed', result = null where id = $1`, [
        made.id,
      ])
      expect((await edit(made.id, at)).status).toBe(404)
    },
    LIMIT_MS,
  )
})
