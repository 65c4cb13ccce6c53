import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { startLicensedHub } from '../support/licensed.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.close())

const create = (body: object) => hub.call('POST', 'projects/create', body)
const contextOf = (slug: string) => join(hub.paths.data_dir, 'projects', slug, 'CONTEXT.md')

test('a project has a row, a folder tree and a CONTEXT.md with its sections in order', async () => {
  const made = await create({
    slug: 'demir',
    name: 'Demir Lojistik',
    industry: 'Freight',
    icp: 'Exporters in Marmara\n# with a heading',
    tone: 'Warm',
  })
  expect(made.status).toBe(201)
  expect((await made.json()).project).toMatchObject({
    slug: 'demir',
    active: true,
    leads: 0,
    sent: 0,
  })
  for (const folder of ['leads', 'drafts', 'docs']) {
    expect(existsSync(join(hub.paths.data_dir, 'projects/demir', folder))).toBe(true)
  }
  expect(await readFile(contextOf('demir'), 'utf8')).toBe(
    '# Demir Lojistik\n\n## Description\n\nDemir Lojistik, Freight.\n\n## ICP\n\nExporters in Marmara\n### with a heading\n\n## Value proposition\n\n\n\n## Tone of voice\n\nWarm\n\n## Proof points\n\n\n\n## Offers\n\n\n',
  )
})

test('what a new project says of itself is evidence at once, and what its file says after an edit', async () => {
  const licensed = await startLicensedHub([])
  try {
    const given = { slug: 'facts', name: 'Facts', proof_points: 'We have 40 trucks.' }
    expect((await licensed.call('POST', 'projects/create', given)).status).toBe(201)
    const facts = async () => {
      const rows = await licensed.query<{ fact: string }>('select fact from hub.evidence')
      return rows.map(({ fact }) => fact)
    }
    expect(await facts()).toEqual(['We have 40 trucks.'])
    const file = { project: 'facts', path: 'CONTEXT.md' }
    const read = await licensed.call('GET', `documents/get?${new URLSearchParams(file)}`)
    const { text, modified_at } = (await read.json()).document
    const edit = { ...file, text: text.replace('40', '50'), modified_at }
    expect((await licensed.call('POST', 'documents/save', edit)).status).toBe(200)
    expect(await facts()).toEqual(['We have 50 trucks.'])
  } finally {
    await licensed.close()
  }
})

test('an edit of CONTEXT.md by hand counts at once, and an update keeps the rest of it', async () => {
  const text = await readFile(contextOf('demir'), 'utf8')
  await writeFile(
    contextOf('demir'),
    `${text.replace('Warm', 'Short and warm')}\n## Our own notes\n\nKeep $& this.\n`,
  )
  const active = await (await hub.call('GET', 'projects/active')).json()
  expect(active.project.tone).toBe('Short and warm')
  const changed = await hub.call('POST', 'projects/update', {
    slug: 'demir',
    name: 'Demir Group',
    value_proposition: 'Cheap $1 freight',
  })
  expect((await changed.json()).project).toMatchObject({
    name: 'Demir Group',
    tone: 'Short and warm',
    value_proposition: 'Cheap $1 freight',
    industry: 'Freight',
  })
  const now = await readFile(contextOf('demir'), 'utf8')
  expect(now).toContain('# Demir Group\n')
  expect(now).toContain('## Our own notes\n\nKeep $& this.')
})

test('each field is changed by itself, cleared where it may be, and answered as it is kept', async () => {
  const slug = 'demir'
  const update = async (change: object) =>
    (await (await hub.call('POST', 'projects/update', { slug, ...change })).json()).project
  const before = await update({})
  for (const [field, value, kept] of [
    ['name', '  Demir AŞ ', 'Demir AŞ'],
    ['website', 'https://demir.example/', 'https://demir.example/'],
    ['industry', ' Ports ', 'Ports'],
    ['icp', ' Importers ', 'Importers'],
    ['description', ' Carries. ', 'Carries.'],
    ['value_proposition', ' Fast. ', 'Fast.'],
    ['tone', ' Dry. ', 'Dry.'],
    ['proof_points', ' 12 ports. ', '12 ports.'],
    ['offers', ' A trial. ', 'A trial.'],
    ['website', null, null],
    ['industry', null, null],
    ['icp', null, null],
  ] as const) {
    const changed = await update({ [field]: value })
    const missing = before.missing.filter((section: string) => section !== field)
    expect(changed, field).toEqual({ ...before, [field]: kept, missing })
    expect((await (await hub.call('GET', 'projects/active')).json()).project).toEqual(changed)
    Object.assign(before, { [field]: kept, missing })
  }
  const text = await readFile(contextOf(slug), 'utf8')
  expect(text).toMatch(/^# Demir AŞ\n/)
  expect(text).toMatch(
    /## ICP\n\n\n\n## Value proposition\n\nFast\.\n\n## Tone of voice\n\nDry\.\n/,
  )
  await update({ name: 'Demir Group' })
})

test('each limit of a field is told at the field', async () => {
  const paths = async (change: object) => {
    const refused = await hub.call('POST', 'projects/update', { slug: 'demir', ...change })
    if (refused.status === 200) return []
    expect(refused.status).toBe(422)
    return (await refused.json()).errors.map(({ path }: { path: string }) => path)
  }
  const now = (await (await hub.call('GET', 'projects/active')).json()).project
  const limits = {
    name: 120,
    industry: 200,
    icp: 4000,
    description: 500,
    value_proposition: 4000,
    tone: 2000,
    proof_points: 4000,
    offers: 4000,
  }
  for (const [field, most] of Object.entries(limits)) {
    expect(await paths({ [field]: 'x'.repeat(most) }), field).toEqual([])
    expect(await paths({ [field]: 'x'.repeat(most + 1) }), field).toEqual([field])
  }
  for (const name of ['', '  ', null]) expect(await paths({ name })).toEqual(['name'])
  for (const website of [
    'ftp://x.example',
    'demir.example',
    `https://x.example/${'x'.repeat(500)}`,
  ]) {
    expect(await paths({ website }), website).toEqual(['website'])
  }
  expect(await paths({ owner: 'x' })).not.toEqual([])
  const { name, industry, icp, description, value_proposition, tone } = now
  const again = { name, industry, icp, description, value_proposition, tone }
  expect(await paths(again)).toEqual([])
})

test.each(['../etc', 'a', 'Demir', '-x', 'a/b', 'x'.repeat(42)])(
  'the slug %s is refused',
  async (slug) => {
    const refused = await create({ slug, name: 'x' })
    expect(refused.status).toBe(422)
    expect((await refused.json()).errors[0].path).toBe('slug')
  },
)

test('Free refuses the second project with the way out, and nothing is made', async () => {
  const refused = await create({ slug: 'second', name: 'Second' })
  expect(refused.status).toBe(402)
  expect(await refused.json()).toMatchObject({
    code: 'license_limit',
    detail: expect.stringContaining('Settings > License'),
  })
  expect(existsSync(join(hub.paths.data_dir, 'projects/second'))).toBe(false)
})

test('a slug that is taken is refused, and said so in the language that is asked for', async () => {
  const licensed = await startLicensedHub(['demir'])
  try {
    const body = { slug: 'demir', name: 'Demir' }
    const call = (language: string) =>
      licensed.call('POST', 'projects/create', body, { 'Accept-Language': language })
    expect(await (await call('en')).json()).toMatchObject({
      code: 'conflict',
      detail: 'A project with the short name “demir” already exists. Choose another one.',
    })
    expect((await (await call('tr')).json()).detail).toBe(
      '“demir” kısa adlı bir proje zaten var. Başka bir kısa ad seçin.',
    )
  } finally {
    await licensed.close()
  }
})

test.each([
  [{ name: 'Çelik' }, 'Çelik.'],
  [{ name: 'Çelik A.Ş.' }, 'Çelik A.Ş.'],
  [{ name: 'Çelik', industry: 'Steel' }, 'Çelik, Steel.'],
  [{ name: 'Çelik', website: 'https://c.example' }, 'Çelik (https://c.example).'],
  [
    { name: 'Çelik', industry: 'Steel', website: 'https://c.example' },
    'Çelik, Steel (https://c.example).',
  ],
  [{ name: 'Çelik', description: 'Rolls steel' }, 'Rolls steel'],
])('a project made of %j describes itself as “%s”', async (fields, description) => {
  const licensed = await startLicensedHub([])
  try {
    const made = await licensed.call('POST', 'projects/create', { slug: 'celik', ...fields })
    expect(made.status).toBe(201)
    const active = await (await licensed.call('GET', 'projects/active')).json()
    expect(active.project).toMatchObject({
      ...fields,
      description,
      tone: '',
      value_proposition: '',
    })
  } finally {
    await licensed.close()
  }
})

test('leads, drafts and sent drafts are counted of each project by itself', async () => {
  const licensed = await startLicensedHub(['one', 'two'])
  try {
    await licensed.query(
      `insert into hub.leads (project_id, email) select id, n || '@x.example'
       from hub.projects, generate_series(1, 3) as n where slug = 'two'`,
    )
    await licensed.query(
      `insert into hub.drafts (project_id, audience, state) select id, '{}', state
       from hub.projects, unnest('{draft,sent,sent,failed}'::text[]) as state where slug = 'two'`,
    )
    // The steps of a sequence are none of these drafts, and neither is what was sent of them.
    await licensed.query(
      `with made as (
         insert into hub.sequences (project_id, name, state, send_window)
         select id, 'x', 'done', '{}' from hub.projects where slug = 'two' returning id, project_id
       )
       insert into hub.drafts (project_id, audience, state, sequence_id, step, wait_days)
       select project_id, '{"kind": "list", "filter": {}}', state, id, step, step - 1
       from made, unnest('{draft,sent}'::text[]) with ordinality as one (state, step)`,
    )
    const { projects } = await (await licensed.call('GET', 'projects/list')).json()
    expect(projects).toMatchObject([
      { slug: 'one', leads: 0, drafts: 0, sent: 0, active: true, read_only: false },
      { slug: 'two', leads: 3, drafts: 4, sent: 2, active: false, read_only: false },
    ])
    const chosen = await licensed.call('POST', 'projects/select', { slug: 'two' })
    expect((await chosen.json()).project).toMatchObject({ slug: 'two', active: true })
    const after = (await (await licensed.call('GET', 'projects/list')).json()).projects
    expect(after.map(({ active }: { active: boolean }) => active)).toEqual([false, true])
  } finally {
    await licensed.close()
  }
})

test('what stands in the way is said in the language that is asked for', async () => {
  const post = async (path: string, body: object) => {
    const answer = await hub.call('POST', `projects/${path}`, body, { 'Accept-Language': 'tr' })
    return answer.json()
  }
  const { detail } = await post('create', { slug: 'second', name: 'Second' })
  expect(detail).toContain('Ayarlar > Lisans')
  const slug = 'demir'
  expect((await post('delete', { slug, name: 'x' })).errors).toEqual([
    { path: 'name', code: 'mismatch', message: 'Silmek için projenin adını yazın.' },
  ])
  await hub.query(
    `insert into hub.missions (project_id, department, task, status)
     select id, 'docs', 'x', 'processing' from hub.projects`,
  )
  const busy = await post('delete', { slug, name: 'Demir Group' })
  expect(busy.detail).toBe('Bir görev sürüyor. İptal edin ya da bitmesini bekleyin.')
  await hub.query('delete from hub.missions')
  // Its file would stay on disk, and its rows would come in after the project is back.
  for (const status of ['queued', 'processing']) {
    await hub.query(
      `insert into hub.imports (project_id, file, options, total, status)
       select id, 'x.csv', '{}', 1, $1 from hub.projects`,
      [status],
    )
    const importing = await post('delete', { slug, name: 'Demir Group' })
    expect(importing.detail).toBe('Bir liste içe aktarılıyor. Bitmesini bekleyin.')
    await hub.query('delete from hub.imports')
  }
})

test('nothing is deleted while a mail of it is being sent', async () => {
  await hub.query(
    `insert into hub.drafts (project_id, audience, state) select id, '{}', 'sending' from hub.projects`,
  )
  const body = { slug: 'demir', name: 'Demir Group' }
  const busy = await hub.call('POST', 'projects/delete', body)
  expect(busy.status).toBe(409)
  expect((await busy.json()).detail).toMatch(/mail/)
  await hub.query('delete from hub.drafts')
})

test('a project whose archive cannot be written stays, and no copy of its rows lies about', async () => {
  const folder = join(hub.paths.data_dir, 'archive')
  const before = await readdir(join(hub.paths.data_dir, 'projects/demir'))
  await writeFile(folder, 'in the way')
  const body = { slug: 'demir', name: 'Demir Group' }
  expect((await hub.call('POST', 'projects/delete', body)).status).toBe(500)
  await rm(folder)
  expect(await readdir(join(hub.paths.data_dir, 'projects/demir'))).toEqual(before)
  expect((await (await hub.call('GET', 'projects/list')).json()).projects).toHaveLength(1)
})

test('deleting asks for the name and leaves an archive of rows and folder', async () => {
  const wrong = await hub.call('POST', 'projects/delete', { slug: 'demir', name: 'demir' })
  expect(wrong.status).toBe(422)
  expect((await wrong.json()).errors).toMatchObject([{ path: 'name', code: 'mismatch' }])
  const gone = await hub.call('POST', 'projects/delete', { slug: 'demir', name: ' Demir Group ' })
  expect(gone.status).toBe(200)
  const { archive } = await gone.json()
  const names = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }).split('\n')
  expect(names).toEqual(expect.arrayContaining(['demir/CONTEXT.md', 'demir/.rows/projects.jsonl']))
  expect(existsSync(join(hub.paths.data_dir, 'projects/demir'))).toBe(false)
  expect((await (await hub.call('GET', 'projects/list')).json()).projects).toEqual([])
  const none = await hub.call('GET', 'projects/active', undefined, { 'Accept-Language': 'tr' })
  expect(none.status).toBe(404)
  expect((await none.json()).detail).toBe('Henüz proje yok. Bir proje oluşturun.')
})

test('an archive brings back the rows of its project, and none of tables that belong to no project', async () => {
  await create({ slug: 'ege', name: 'Ege' })
  const gone = await hub.call('POST', 'projects/delete', { slug: 'ege', name: 'Ege' })
  const { archive } = await gone.json()
  const folder = await mkdtemp(join(tmpdir(), 'archive-'))
  try {
    execFileSync('tar', ['-xzf', archive, '-C', folder])
    const member = { id: crypto.randomUUID(), email: 'eve@attacker.example', role: 'admin' }
    const row = { ...member, session_epoch: 1, created_at: '2026-01-01T00:00:00Z' }
    await writeFile(join(folder, 'ege/.rows/members.jsonl'), `${JSON.stringify(row)}\n`)
    execFileSync('tar', ['-czf', archive, '-C', folder, 'ege'])
  } finally {
    await rm(folder, { recursive: true })
  }
  const back = await hub.call('POST', 'projects/restore', { archive: basename(archive) })
  expect(back.status).toBe(201)
  expect((await back.json()).project).toMatchObject({ slug: 'ege', name: 'Ege' })
  expect(await hub.query('select from hub.members')).toEqual([])
})
