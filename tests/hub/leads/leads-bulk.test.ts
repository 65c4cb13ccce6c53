import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fieldText } from '../../../hub/i18n/problem.text.ts'
import { leadCalls } from '../support/lead-calls.ts'
import { startLicensedHub } from '../support/licensed.ts'

let hub: Awaited<ReturnType<typeof startLicensedHub>>
beforeAll(async () => {
  hub = await startLicensedHub(['demir', 'baltic', 'old'])
})
afterAll(() => hub.close())

const { get, post, add } = leadCalls(() => hub)

describe('in bulk', () => {
  test('stages and tags change, each with its activity, and foreign ids are missing', async () => {
    const mine = [await add({ name: 'B1', tags: ['a'] }), await add({ name: 'B2' })]
    const foreign = await add({ name: 'Foreign' }, 'baltic')
    const ids = [...mine, foreign].map(({ id }) => id)
    const done = await post('leads/bulk', {
      project: 'demir',
      ids,
      stage: 'contacted',
      add_tags: ['b'],
      remove_tags: ['a'],
    })
    expect(done.body.missing).toEqual([foreign.id])
    expect(done.body.changed.toSorted()).toEqual(ids.slice(0, 2).toSorted())
    for (const { id } of mine) {
      const { lead } = (await get(`lead/get?lead_id=${id}`)).body
      expect(lead).toMatchObject({ stage: 'contacted', tags: ['b'] })
    }
    expect((await get(`lead/get?lead_id=${foreign.id}`)).body.lead.stage).toBe('new')
    const gone = await post('leads/bulk', { project: 'demir', ids, delete: true })
    expect(gone.body.changed).toHaveLength(2)
    expect((await get(`lead/get?lead_id=${foreign.id}`)).status).toBe(200)
    const both = [{ stage: 'won' }, { add_tags: ['a'] }, { remove_tags: ['a'] }]
    for (const wrong of [{}, ...both.map((change) => ({ ...change, delete: true }))]) {
      const { status, body } = await post('leads/bulk', { project: 'demir', ids, ...wrong })
      expect(status).toBe(422)
      expect(body.errors).toMatchObject([{ path: 'ids', message: fieldText.en.no_change }])
    }
    const more = { project: 'demir', ids: mine.map(({ id }) => id) }
    const none = { changed: [], missing: more.ids.toSorted(), busy: [], full: [] }
    for (const one of [{ remove_tags: ['b'] }, { delete: true }]) {
      expect((await post('leads/bulk', { ...more, ...one })).body).toEqual(none)
    }
  })
})

test('a lead that has as many tags as it can have is left as it is, and named', async () => {
  const tags = Array.from({ length: 50 }, (_, nth) => `tag ${nth}`)
  const [full, other] = [await add({ name: 'Full', tags }), await add({ name: 'Other' })]
  const change = (more: object) =>
    post('leads/bulk', { project: 'demir', ids: [full.id, other.id], ...more })
  const tagged = await change({ add_tags: ['one more'], stage: 'contacted' })
  expect(tagged.body).toMatchObject({ changed: [other.id], full: [full.id] })
  expect((await get(`lead/get?lead_id=${full.id}`)).body.lead).toMatchObject({ tags, stage: 'new' })
  // A tag that it has, or one in the place of another, is no more than it can have.
  const swapped = await change({ add_tags: ['one more'], remove_tags: ['tag 7'] })
  expect(swapped.body).toMatchObject({ full: [] })
  expect((await get(`lead/get?lead_id=${full.id}`)).body.lead.tags).toHaveLength(50)
})

describe('duplicates', () => {
  test('share a domain in the project or an e-mail across projects; mail providers say nothing', async () => {
    await add({ name: 'A', email: 'a@dup.example.com' }, 'old')
    await add({ name: 'B', website: 'www.example.com' }, 'old')
    await add({ name: 'C', email: 'c@gmail.com' }, 'old')
    await add({ name: 'D', email: 'd@gmail.com' }, 'old')
    await add({ name: 'E', email: 'SAME@elsewhere.example' }, 'old')
    await add({ name: 'F', email: 'same@elsewhere.example' }, 'baltic')
    const { body } = await get('leads/duplicates?project=old')
    const told = body.duplicates.map(
      (group: { kind: string; value: string; leads: { name: string; project: string }[] }) => [
        group.kind,
        group.value,
        group.leads.map(({ name, project }) => `${name} in ${project}`),
      ],
    )
    expect(told).toContainEqual(['domain', 'example.com', ['A in old', 'B in old']])
    expect(told).toContainEqual(['email', 'same@elsewhere.example', ['E in old', 'F in baltic']])
    expect(JSON.stringify(told)).not.toContain('gmail')
    const first = (await get('leads/duplicates?project=old&limit=1')).body
    const second = (await get(`leads/duplicates?project=old&limit=1&cursor=${first.next_cursor}`))
      .body
    expect(second.duplicates[0].value).not.toBe(first.duplicates[0].value)
  })

  test('are those of one phone or name first, however they are written, the oldest lead first', async () => {
    const twins = [
      { name: 'Şükrü  Işık', phone: '+90 (212) 555 01 01', website: 'twins.example' },
      { name: 'ŞÜKRÜ IŞIK', phone: '0212 5550101', website: 'www.twins.example' },
      { name: 'Short', phone: '555 01' },
      { name: 'Shorter', phone: '55501' },
    ]
    for (const twin of twins) await add(twin, 'baltic')
    await add({ name: 'Şükrü Işık' }, 'demir')
    const groups = (await get('leads/duplicates?project=baltic')).body.duplicates.filter(
      ({ kind }: { kind: string }) => kind !== 'email',
    )
    const told = groups.map(
      ({ kind, value, count, leads }: Record<string, string | number | { name: string }[]>) =>
        [kind, value, count, (leads as { name: string }[]).map(({ name }) => name)] as const,
    )
    const names = ['Şükrü Işık', 'ŞÜKRÜ IŞIK']
    expect(told).toEqual([
      ['phone', '2125550101', 2, names],
      ['name', 'sukru isik', 2, names],
      ['domain', 'twins.example', 2, names],
    ])
    expect(groups[0].leads[0]).toEqual({
      ...{ id: expect.any(String), project: 'baltic', name: 'Şükrü Işık', email: null },
      ...{ company: null, stage: 'new' },
    })
  })
})

describe('what is done to one lead', () => {
  /** A lead whose mail was answered, with a draft, a note and a task. */
  async function busy(name: string, slug = 'demir') {
    const { id } = await add({ name, stage: 'replied' }, slug)
    await hub.query(
      `with draft as (
         insert into hub.drafts (project_id, audience, state, subject)
         select project_id, jsonb_build_object('kind', 'lead', 'lead_id', id), state, name
         from hub.leads, unnest('{draft,sent}'::text[]) as state where id = $1
         returning id, project_id, state
       )
       insert into hub.recipients (draft_id, project_id, lead_id, email, state, replied_at, opt_out)
       select id, project_id, $1, 'a@x.example', 'sent', now(), 'open' from draft where state = 'sent'`,
      [id],
    )
    await hub.query(
      `insert into hub.inbox_mails (project_id, lead_id, our_email, kind, matched_by)
       select project_id, id, 'us@x.example', kind, 'address'
       from hub.leads, unnest('{reply,out_of_office}'::text[]) as kind where id = $1`,
      [id],
    )
    const { note } = (await post('lead/note', { lead_id: id, text: 'Tea' })).body
    const { task } = (await post('lead/task', { lead_id: id, title: 'Call' })).body
    return { id, note_id: note.id, task_id: task.id }
  }
  const TABLES = ['recipients', 'inbox_mails', 'notes', 'tasks', 'activities']
  const rowsOf = (ids: string[]) =>
    hub.query<{ row: Record<string, unknown> }>(
      `${TABLES.map((table) => `select to_jsonb(t) as row from hub.${table} as t where lead_id = any($1)`).join(' union all ')}
       union all select to_jsonb(t) from hub.leads as t where id = any($1)
       union all select to_jsonb(t) from hub.drafts as t where audience ->> 'lead_id' = any($1::text[])
       order by row`,
      [ids],
    )
  const kinds = async (id: string) =>
    (await rowsOf([id])).map(({ row }) => row.kind).filter((kind) => kind !== undefined)

  test('is done to no other', async () => {
    const one = await busy('One')
    const others = [(await busy('Two')).id, (await busy('Three', 'baltic')).id]
    const before = await rowsOf(others)
    expect(before).toHaveLength(22)
    const lead_id = one.id
    const taken = await post('lead/not_replied', { lead_id })
    expect(taken.body.lead).toMatchObject({ stage: 'contacted' })
    const [recipient] = await hub.query(
      'select replied_at, opt_out from hub.recipients where lead_id = $1',
      [lead_id],
    )
    expect(recipient).toEqual({ replied_at: null, opt_out: 'denied' })
    expect((await kinds(lead_id)).toSorted()).toEqual(
      ['created', 'note', 'out_of_office', 'stage', 'task', 'unrelated'].toSorted(),
    )
    for (const [path, body] of [
      ['lead/task/delete', { task_id: one.task_id }],
      ['lead/note/delete', { note_id: one.note_id }],
    ] as const) {
      expect((await post(path, body)).status, path).toBe(200)
    }
    expect((await kinds(lead_id)).toSorted()).toEqual(
      ['created', 'out_of_office', 'stage', 'unrelated'].toSorted(),
    )
    expect((await post('lead/not_replied', { lead_id })).body.lead.stage).toBe('contacted')
    expect((await post('lead/tag_project', { lead_id, slug: 'old' })).status).toBe(200)
    expect((await post('lead/delete', { lead_id })).status).toBe(200)
    expect(await rowsOf(others)).toEqual(before)
    // What was sent to it stays.
    const drafts = await hub.query("select state from hub.drafts where subject = 'One'")
    expect(drafts).toEqual([{ state: 'sent' }])
  })
})

test('a field of a project is removed with its values and facts, and no other with it', async () => {
  const field = (key: string) => ({ key, label: key, kind: 'number', choices: [] })
  const put = (project: string, keys: string[]) =>
    hub.call('PUT', 'leads/fields', { project, fields: keys.map(field) })
  await put('demir', ['fleet', 'size'])
  await put('baltic', ['fleet'])
  const ids = [
    (await add({ name: 'Fields 1', custom: { fleet: 4, size: 2 } })).id,
    (await add({ name: 'Fields 2', custom: { fleet: 5 } }, 'baltic')).id,
  ]
  const removed = await post('leads/fields/remove', {
    ...{ project: 'demir', key: 'fleet', label: 'fleet' },
  })
  expect(removed.body).toMatchObject({ values: 1, fields: [{ key: 'size' }] })
  const left = await hub.query(
    `select custom, array(select field_key from hub.evidence where lead_id = lead.id) as facts
     from hub.leads as lead where id = any($1) order by name`,
    [ids],
  )
  expect(left).toEqual([
    { custom: { size: 2 }, facts: ['size'] },
    { custom: { fleet: 5 }, facts: ['fleet'] },
  ])
  expect(await hub.query('select key from hub.lead_fields order by key')).toEqual([
    { key: 'fleet' },
    { key: 'size' },
  ])
})
