import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { importCalls } from '../support/import-calls.ts'
import { leadCalls } from '../support/lead-calls.ts'

let hub: TestHub
const { get, post, add } = leadCalls(() => hub)
const { bring, leadsOf } = importCalls(() => hub)
beforeAll(async () => {
  hub = await startHub({ start: true })
  await post('projects/create', { slug: 'demir', name: 'Demir' })
})
afterAll(() => hub.close())

test('undoing an import deletes only leads on which nothing was built, and says what stays', async () => {
  await add({ name: 'Known', email: 'known@x.example' })
  const rows = ['untouched', 'noted', 'mailed', 'found', 'edited', 'chosen', 'listed', 'known']
  const csv = `Name,Email,Note,City\n${rows.map((n) => `${n},${n}@x.example,Hi,Ankara`).join('\n')}`
  const { id } = await bring(csv, { project: 'demir', duplicates: 'merge' })
  const idOf = async (name: string) => (await leadsOf('demir', `&q=${name}@x.example`))[0].id
  await post('lead/note', { lead_id: await idOf('noted'), text: 'Called' })
  await post('lead/update', { lead_id: await idOf('edited'), title: 'Boss' })
  await hub.query(
    `insert into hub.drafts (project_id, audience)
     select project_id, jsonb_build_object('kind', 'lead', 'lead_id', id) from hub.leads
     where name = 'mailed'`,
  )
  await hub.query(
    `insert into hub.drafts (project_id, audience)
     select project_id, jsonb_build_object('kind', 'list', 'filter', jsonb_build_object('lead_ids', array[id]))
     from hub.leads where name = 'chosen'`,
  )
  await hub.query(
    `insert into hub.sequences (project_id, name, filter, send_window)
     select project_id, 'Fair', jsonb_build_object('lead_ids', array[id]), '{"days": ["mon"], "from": "09:00", "to": "17:00", "time_zone": "UTC"}'
     from hub.leads where name = 'listed'`,
  )
  await hub.query(
    `insert into hub.evidence (project_id, lead_id, fact, source)
     select project_id, id, 'Ships tea', 'https://x.example' from hub.leads where name = 'found'`,
  )
  const undone = await post(`leads/imports/${id}/undo`, {})
  expect(undone.status, JSON.stringify(undone.body)).toBe(200)
  expect(undone.body).toMatchObject({ import: { removed: 1 }, kept: 6, completed: 1 })
  expect(undone.body.import.undone_at).toMatch(/Z$/)
  const left = (await leadsOf('demir')).map(({ name }: { name: string }) => name)
  const built = ['chosen', 'edited', 'found', 'listed', 'mailed', 'noted']
  expect(left.toSorted()).toEqual(['Known', ...built])
  expect((await post(`leads/imports/${id}/undo`, {})).status).toBe(409)
  const none = await post(`leads/imports/${crypto.randomUUID()}/undo`, {})
  expect([none.status, none.body.detail]).toEqual([404, 'There is no such import.'])
})

test('an import that waits is not undone; fields of one’s own that it brought go with their leads', async () => {
  const [waiting] = await hub.query<{ id: string }>(
    `insert into hub.imports (project_id, file, options, total, status)
     select id, 'x.csv', '{}', 1, 'failed' from hub.projects where slug = 'demir' returning id`,
  )
  for (const [status, answer] of [
    ['queued', 409],
    ['failed', 200],
  ] as const) {
    await hub.query('update hub.imports set status = $2 where id = $1', [waiting?.id, status])
    const undone = await post(`leads/imports/${waiting?.id}/undo`, {})
    expect(undone.status, status).toBe(answer)
  }
  const fields = [{ key: 'fleet', label: 'Fleet', kind: 'number', choices: [] }]
  await hub.call('PUT', 'leads/fields', { project: 'demir', fields })
  const { id } = await bring('Name,Email,Fleet\nOwn,fleet@x.example,3', { project: 'demir' })
  expect(await leadsOf('demir', '&q=fleet@x.example')).toMatchObject([{ custom: { fleet: 3 } }])
  const undone = await post(`leads/imports/${id}/undo`, {})
  expect(undone.body).toMatchObject({ import: { removed: 1 }, kept: 0 })
})

describe('a deleted project', () => {
  test('comes back from its archive with its rows and files, its approvals void, the erased gone', async () => {
    const created = await post('projects/delete', { slug: 'demir', name: 'Demir' })
    expect(created.status).toBe(200)
    await post('projects/create', { slug: 'tea', name: 'Tea' })
    const fields = [{ key: 'size', label: 'Size', kind: 'number', choices: [] }]
    await hub.call('PUT', 'leads/fields', { project: 'tea', fields })
    await hub.call('PUT', 'deals/settings', { project: 'tea', lost_reasons: ['Price'] })
    const data = { name: 'Ayşe Işık', email: 'ayse@x.example', custom: { size: 3 }, tags: ['a'] }
    const { id } = await add(data, 'tea')
    await add({ name: 'Mehmet', email: 'mehmet@x.example' }, 'tea')
    await post('lead/note', { lead_id: id, text: 'Likes tea' })
    await hub.query(
      `insert into hub.drafts (project_id, audience, state, subject, approved_hash, approved_at)
       select id, '{"kind": "list", "filter": {}}', 'approved', 'Waits', 'x', now() from hub.projects`,
    )
    await hub.query(
      `insert into hub.recipients (draft_id, project_id, lead_id, email)
       select d.id, d.project_id, $1, 'ayse@x.example' from hub.drafts d`,
      [id],
    )
    await hub.query(
      "insert into hub.missions (project_id, department, task, status) select id, 'docs', 'Write', 'done' from hub.projects",
    )
    await hub.query('update hub.evidence set mission_id = (select id from hub.missions)')
    const file = join(hub.paths.data_dir, 'projects/tea/docs/plan.md')
    await writeFile(file, 'Meet mehmet@x.example')
    const before = await hub.query('select to_jsonb(l) as row from hub.leads l where id = $1', [id])
    await post('projects/delete', { slug: 'tea', name: 'Tea' })
    expect(existsSync(file)).toBe(false)
    await post('people/erase', {
      email: 'mehmet@x.example',
      confirm: 'mehmet@x.example',
      replace_in_texts: true,
    })

    const { archives } = (await get('projects/archives')).body
    const archive = archives.find(({ slug }: { slug: string }) => slug === 'tea')?.archive
    const back = () => post('projects/restore', { archive })
    await post('projects/create', { slug: 'room', name: 'Room' })
    const full = await back()
    expect([full.status, full.body.code]).toEqual([402, 'license_limit'])
    await post('projects/delete', { slug: 'room', name: 'Room' })

    const restored = await back()
    expect(restored.status, JSON.stringify(hub.lines.at(-1))).toBe(201)
    expect(restored.headers.get('location')).toBe('/api/cockpit/projects/list')
    expect(restored.body.project).toMatchObject({ slug: 'tea', name: 'Tea', leads: 1 })
    expect(await hub.query('select to_jsonb(l) as row from hub.leads l')).toEqual(before)
    expect((await get(`lead/get?lead_id=${id}`)).body.lead).toMatchObject({
      notes: [{ text: 'Likes tea' }],
      evidence: [{ fact: 'Size: 3' }],
    })
    const [draft] = await hub.query('select state, approved_hash from hub.drafts')
    expect(draft).toEqual({ state: 'unclear', approved_hash: null })
    const document = await get('documents/get?project=tea&path=docs/plan.md')
    expect(document.body.document.text).not.toContain('mehmet')
    expect(existsSync(join(hub.paths.data_dir, 'projects/tea/.rows'))).toBe(false)
    expect((await back()).status).toBe(402)
    for (const name of ['../../etc/passwd', 'tea-20260101000000.tar.gz']) {
      expect((await post('projects/restore', { archive: name })).status).toBe(404)
    }
    const unlike = await post('projects/archives/delete', { archive, confirm: 'x' })
    expect(unlike.status).toBe(422)
    expect(unlike.body.errors).toMatchObject([{ path: 'confirm', code: 'mismatch' }])
    const gone = await post('projects/archives/delete', { archive, confirm: ` ${archive} ` })
    expect(gone.status).toBe(200)
    expect(JSON.stringify(gone.body)).not.toContain(archive)
    expect((await back()).status).toBe(404)
  })
})
