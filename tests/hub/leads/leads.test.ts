import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BASE } from '../../../hub/app.ts'
import { startHub } from '../support/hub.ts'
import { leadCalls } from '../support/lead-calls.ts'
import { startLicensedHub } from '../support/licensed.ts'

let hub: Awaited<ReturnType<typeof startLicensedHub>>
beforeAll(async () => {
  hub = await startLicensedHub(['demir', 'baltic', 'old'])
})
afterAll(() => hub.close())

const { get, post, add } = leadCalls(() => hub)
const TURKISH = { 'Accept-Language': 'tr' }

describe('quick_add', () => {
  test('makes a lead of the trimmed fields, and the address of the answer reads it', async () => {
    const made = await post('lead/quick_add', {
      slug: 'demir',
      data: {
        name: '  Ayşe\n Demir ',
        email: 'Ayse@Demir.com.tr',
        company: '',
        website: 'demir.com.tr',
        language: 'tr-TR',
        tags: ['fair', 'fair', 'vip'],
        score: 70,
      },
    })
    expect(made.status).toBe(201)
    expect(made.body.lead).toMatchObject({
      project: 'demir',
      name: 'Ayşe Demir',
      email: 'Ayse@Demir.com.tr',
      company: null,
      website: 'https://demir.com.tr',
      language: 'tr',
      tags: ['fair', 'vip'],
      stage: 'new',
      notes: [],
      open_tasks: 0,
    })
    const location = made.headers.get('location') ?? ''
    const read = await get(location.replace(`${BASE}/`, ''))
    expect(read.body.lead).toMatchObject({ id: made.body.lead.id, tasks: [], evidence: [] })
  })

  test('the same e-mail in any case answers 409 with the lead that has it', async () => {
    const known = await add({ email: 'one@x.example' })
    const again = await post('lead/quick_add', { slug: 'demir', data: { email: 'ONE@X.example' } })
    expect(again.status).toBe(409)
    expect(again.body).toMatchObject({
      code: 'conflict',
      detail: 'one@x.example in “demir” already has this e-mail. Change that lead instead.',
      lead: { id: known.id, email: 'one@x.example' },
    })
    const body = { slug: 'demir', data: { email: 'one@x.example' } }
    const turkish = await post('lead/quick_add', body, TURKISH)
    expect(turkish.body).toMatchObject({
      detail:
        'Bu e-posta “demir” projesinde kayıtlı: one@x.example. Onun yerine o adayı değiştirin.',
      lead: { id: known.id },
    })
    expect(turkish.headers.get('content-language')).toBe('tr')
  })

  test('of two at once one is 201 and the other 409', async () => {
    for (let round = 0; round < 5; round += 1) {
      const body = { slug: 'demir', data: { email: `race${round}@x.example` } }
      const both = await Promise.all([post('lead/quick_add', body), post('lead/quick_add', body)])
      expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
      expect(both[0].body.lead.id).toBe(both[1].body.lead.id)
    }
  })

  test.each([
    [{}, 'data.name'],
    [{ name: '  ' }, 'data.name'],
    [{ email: 'not an address' }, 'data.email'],
    [{ name: 'x', website: 'javascript:alert(1)' }, 'data.website'],
    [{ name: 'x', website: 'xhttp://a.example' }, 'data.website'],
    [{ name: 'x', website: 'httpx://a.example' }, 'data.website'],
    [{ name: 'x', language: 'Turkish' }, 'data.language'],
    [{ name: 'x', score: 101 }, 'data.score'],
    [{ name: 'x', stage: 'dreaming' }, 'data.stage'],
    [{ name: 'x', tags: ['a,b'] }, 'data.tags.0'],
    [{ name: 'x'.repeat(201) }, 'data.name'],
    [{ name: 'x', nmae: 'y' }, 'data.nmae'],
  ])('%j is refused and %s named', async (data, path) => {
    const refused = await post('lead/quick_add', { slug: 'demir', data })
    expect(refused.status).toBe(422)
    expect(refused.body.errors[0].path).toBe(path)
  })

  test.each([
    `'; drop table hub.leads; --`,
    '$1 $2 %s %n \\',
    '<script>alert(1)</script>',
    '{{ .Secret }}',
    '=HYPERLINK("http://x")',
    '\u202Ereversed ｆｕｌｌ 🦀',
  ])('%s stays what it is in every field', async (text) => {
    const data = {
      name: text,
      company: text,
      title: text,
      phone: text,
      country: text,
      source: text,
    }
    const lead = await add(data)
    expect(lead).toMatchObject(data)
    const found = await get(`leads/list?project=demir&q=${encodeURIComponent(text)}`)
    expect(found.status).toBe(200)
    expect((await get(`search?q=${encodeURIComponent(text)}`)).status).toBe(200)
    expect((await post('lead/note', { lead_id: lead.id, text })).body.note.text).toBe(text)
    await post('lead/delete', { lead_id: lead.id })
  })

  test('a NUL is taken out, for Postgres has none', async () => {
    const lead = await add({ name: 'a\u0000b' })
    expect(lead.name).toBe('a b')
    const note = await post('lead/note', { lead_id: lead.id, text: 'x\u0000y' })
    expect(note.body.note.text).toBe('xy')
  })

  test('an unknown project is 404, and one beyond the license 402', async () => {
    expect((await post('lead/quick_add', { slug: 'nobody', data: { name: 'x' } })).status).toBe(404)
    const free = await startHub()
    try {
      await free.query(`insert into hub.projects (slug, name, created_at)
        values ('one', 'One', now() - interval '1 day'), ('two', 'Two', now())`)
      const add = async (slug: string) =>
        (await free.call('POST', 'lead/quick_add', { slug, data: { name: 'x' } })).json()
      const { lead } = await add('one')
      expect((await add('two')).code).toBe('license_limit')
      const move = { lead_id: lead.id, slug: 'two' }
      expect((await free.call('POST', 'lead/tag_project', move)).status).toBe(402)
    } finally {
      await free.close()
    }
  })
})

describe('with only the public key', () => {
  test('leads, tasks and previews are read', async () => {
    const reader = await startHub({ key: 'public' })
    try {
      await reader.query(`insert into hub.projects (slug, name) values ('demir', 'Demir')`)
      for (const path of [
        'leads/list',
        'leads/duplicates',
        'leads/imports',
        'lead/tasks',
        'leads/export',
      ]) {
        expect([path, (await reader.call('GET', path)).status]).toEqual([path, 200])
      }
      const headers = { 'content-type': 'text/csv' }
      const preview = await reader.call('POST', 'leads/import_preview', 'Name\nA', headers)
      expect(preview.status).toBe(200)
    } finally {
      await reader.close()
    }
  })
})

describe('a list', () => {
  test('pages through all leads once, also those of the same instant', async () => {
    await hub.query(
      `insert into hub.leads (project_id, name)
       select id, 'Page ' || n from hub.projects, generate_series(1, 25) as n where slug = 'old'`,
    )
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page = await get(`leads/list?project=old&limit=7${cursor && `&cursor=${cursor}`}`)
      seen.push(...page.body.leads.map(({ id }: { id: string }) => id))
      cursor = page.body.next_cursor
    }
    expect(new Set(seen).size).toBe(25)
    expect(seen).toHaveLength(25)
  })

  test('filters by stage, tag and words, and refuses what it does not know', async () => {
    await add({ name: 'Tagged', tags: ['only-here'], stage: 'won' })
    const names = async (query: string) =>
      (await get(`leads/list?project=demir&${query}`)).body.leads.map(
        (l: { name: string }) => l.name,
      )
    expect(await names('tag=only-here')).toEqual(['Tagged'])
    expect(await names('stage=won')).toEqual(['Tagged'])
    expect(await names('q=AYSE')).toEqual(['Ayşe Demir'])
    expect(await names('q=nothing-like-it')).toEqual([])
    expect((await get('leads/list?project=demir&stgae=won')).status).toBe(400)
    expect((await get('leads/list?project=demir&stage=dreaming')).status).toBe(400)
    expect((await get('leads/list?project=nobody')).status).toBe(404)
    expect((await get('leads/list?project=demir&cursor=xyz')).body.code).toBe('invalid_cursor')
  })

  test('without a project it is the active one', async () => {
    await hub.call('POST', 'projects/select', { slug: 'old' })
    expect((await get('leads/list?limit=1')).body.leads[0].project).toBe('old')
    await hub.call('POST', 'projects/select', { slug: 'demir' })
  })
})

describe('a lead', () => {
  test('is changed by the fields given; null clears; the stage is told in the timeline', async () => {
    const lead = await add({ name: 'Kim', company: 'K', title: 'CEO' })
    const changed = await post('lead/update', { lead_id: lead.id, title: null, stage: 'meeting' })
    expect(changed.body.lead).toMatchObject({ name: 'Kim', title: null, stage: 'meeting' })
    const { body } = await get(`lead/timeline?lead_id=${lead.id}`)
    expect(body.activities.map((a: { kind: string }) => a.kind).sort()).toEqual([
      'created',
      'edited',
      'stage',
    ])
    const stage = body.activities.find((a: { kind: string }) => a.kind === 'stage')
    expect(stage.details).toEqual({ from: 'new', to: 'meeting' })
    // A change of the stage or of the tags alone is told as that.
    await post('lead/update', { lead_id: lead.id, stage: 'won' })
    await post('lead/update', { lead_id: lead.id, tags: ['fair'] })
    const then = (await get(`lead/timeline?lead_id=${lead.id}`)).body.activities
    expect(then.map((a: { kind: string }) => a.kind).sort()).toEqual([
      ...['created', 'edited', 'stage', 'stage', 'tagged'],
    ])
    const nameless = await post('lead/update', { lead_id: lead.id, name: null, company: null })
    expect(nameless.status).toBe(422)
    const none = { lead_id: lead.id, name: null, company: null }
    expect((await post('lead/update', none, TURKISH)).body).toMatchObject({
      detail: 'Bazı alanlar geçerli değil.',
      errors: [{ path: 'name', message: 'Ad, e-posta ve firmadan en az biri kalmalı.' }],
    })
  })

  test('cannot take the e-mail of another one', async () => {
    const first = await add({ email: 'first@x.example' })
    const second = await add({ email: 'second@x.example' })
    const taken = await post('lead/update', { lead_id: second.id, email: 'FIRST@x.example' })
    expect(taken.status).toBe(409)
    expect(taken.body.lead.id).toBe(first.id)
    const own = await post('lead/update', { lead_id: second.id, email: 'Second@x.example' })
    expect(own.body.lead.email).toBe('Second@x.example')
  })

  test('has notes and tasks; deleting one takes it out of the timeline', async () => {
    const lead = await add({ name: 'Noted' })
    const note = await post('lead/note', { lead_id: lead.id, text: ' Call back \n' })
    expect(note.status).toBe(201)
    const task = await post('lead/task', { lead_id: lead.id, title: 'Call', due_on: '2030-02-28' })
    expect(task.body.task).toMatchObject({ due_on: '2030-02-28', done_at: null, project: 'demir' })
    const task_id = task.body.task.id
    expect((await get(`lead/get?lead_id=${lead.id}`)).body.lead).toMatchObject({
      notes: [{ text: 'Call back' }],
      tasks: [{ title: 'Call' }],
      open_tasks: 1,
    })
    const done = await post('lead/task/update', { task_id, done: true })
    expect(done.body.task.done_at).not.toBeNull()
    expect((await post('lead/task/update', { task_id, title: 'Rang' })).body.task).toMatchObject({
      title: 'Rang',
      due_on: '2030-02-28',
      done_at: done.body.task.done_at,
    })
    expect((await get(`lead/tasks?lead_id=${lead.id}&done=false`)).body.tasks).toEqual([])
    await post('lead/note/delete', { note_id: note.body.note.id })
    await post('lead/task/delete', { task_id })
    const { body } = await get(`lead/timeline?lead_id=${lead.id}`)
    expect(body.activities.map((a: { kind: string }) => a.kind)).toEqual(['created'])
    const both = await post('lead/task', { lead_id: lead.id, slug: 'demir', title: 'x' })
    expect(both.status).toBe(422)
  })

  test('that nobody has is 404 everywhere', async () => {
    const lead_id = randomUUID()
    const asks = [
      post('lead/update', { lead_id, name: 'x' }),
      post('lead/delete', { lead_id }),
      post('lead/tag_project', { lead_id, slug: 'old' }),
      post('lead/note', { lead_id, text: 'x' }),
      post('lead/task', { lead_id, title: 'x' }),
      post('lead/note/delete', { note_id: lead_id }),
      post('lead/task/delete', { task_id: lead_id }),
      get(`lead/get?lead_id=${lead_id}`),
      get('lead/get?lead_id=malformed'),
      get(`lead/timeline?lead_id=${lead_id}`),
    ]
    for (const { status } of await Promise.all(asks)) expect(status).toBe(404)
  })
})

describe('tag_project', () => {
  test('copies the lead with its facts, and links both', async () => {
    const lead = await add({
      email: 'copied@x.example',
      company: 'Copy',
      language: 'tr',
      tags: ['a'],
    })
    await post('lead/update', { lead_id: lead.id, stage: 'meeting' })
    await post('lead/note', { lead_id: lead.id, text: 'note' })
    await hub.query(
      `insert into hub.evidence (project_id, lead_id, fact, source)
       select project_id, id, 'fact', 'source' from hub.leads where id = $1`,
      [lead.id],
    )
    const copied = await post('lead/tag_project', { lead_id: lead.id, slug: 'old' })
    expect(copied.status).toBe(200)
    const copy = copied.body.lead
    expect(copy).toMatchObject({
      project: 'old',
      email: 'copied@x.example',
      language: 'tr',
      tags: ['a'],
      stage: 'new',
      notes: [],
    })
    expect(copy.id).not.toBe(lead.id)
    const first = (await get(`lead/get?lead_id=${lead.id}`)).body.lead
    const second = (await get(`lead/get?lead_id=${copy.id}`)).body.lead
    expect(first).toMatchObject({ project: 'demir', stage: 'meeting', notes: [{ text: 'note' }] })
    expect(first.copies).toEqual([{ id: copy.id, project: 'old', stage: 'new' }])
    expect(second.copies).toEqual([{ id: lead.id, project: 'demir', stage: 'meeting' }])
    expect(second.evidence).toMatchObject([{ fact: 'fact', source: 'source' }])
    for (const id of [lead.id, copy.id]) {
      const { body } = await get(`lead/timeline?lead_id=${id}&limit=1`)
      expect(body.activities[0]).toMatchObject({
        kind: 'copied',
        details: { from: 'demir', to: 'old' },
      })
    }
    const again = await post('lead/tag_project', { lead_id: lead.id, slug: 'old' })
    expect(again.status).toBe(409)
    expect(again.body.lead.id).toBe(copy.id)
    // A copy whose address was changed is the same person.
    await post('lead/update', { lead_id: copy.id, email: null, name: 'No address' })
    expect((await post('lead/tag_project', { lead_id: lead.id, slug: 'old' })).status).toBe(409)
    const found = await post('people/find', { email: 'copied@x.example' })
    expect(found.body.leads).toBe(2)
  })

  test('is refused where the e-mail is already, and where there is no such project', async () => {
    const there = await add({ email: 'mover@x.example' }, 'old')
    const other = await add({ email: 'MOVER@x.example' })
    const taken = await post('lead/tag_project', { lead_id: other.id, slug: 'old' })
    expect(taken.status).toBe(409)
    expect(taken.body.lead).toMatchObject({ id: there.id, project: 'old' })
    const nowhere = await post('lead/tag_project', { lead_id: other.id, slug: 'nobody' })
    expect(nowhere.status).toBe(404)
  })

  test('does not wait for a mail that is on its way, as deletion does', async () => {
    const lead = await add({ name: 'Busy' })
    await hub.query(
      `insert into hub.drafts (project_id, audience, state)
       values ($1, jsonb_build_object('kind', 'lead', 'lead_id', $2::text), 'sending')`,
      [hub.ids.demir, lead.id],
    )
    expect((await post('lead/tag_project', { lead_id: lead.id, slug: 'old' })).status).toBe(200)
    const kept = await post('lead/delete', { lead_id: lead.id }, TURKISH)
    expect(kept.status).toBe(409)
    expect(kept.body.detail).toBe('Bu adaya bir e-posta gönderiliyor. Bitmesini bekleyin.')
    const bulk = await post('leads/bulk', { project: 'demir', ids: [lead.id], delete: true })
    expect(bulk.body).toEqual({ changed: [], missing: [], busy: [lead.id], full: [] })
  })
})
