import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBackup, startRestore } from '../../../hub/backup/backup.ts'
import { everywhere } from '../../../hub/db/db.ts'
import { matcherOf } from '../../../hub/people/redact.ts'
import { allTexts, findRows, redactRows, textTables } from '../../../hub/people/rows.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { leadCalls } from '../support/lead-calls.ts'
import { ask } from './people-help.ts'

let hub: TestHub
const { post, add } = leadCalls(() => hub)
beforeAll(async () => {
  hub = await startHub()
  await post('projects/create', { slug: 'demir', name: 'Demir' })
  await hub.query(
    `insert into hub.lead_fields (project_id, key, label, kind)
     select id, 'nick', 'Nickname', 'text' from hub.projects
     union all select id, 'size', 'Size', 'number' from hub.projects`,
  )
})
afterAll(() => hub.close())

/** Two leads that are merged; the one that goes has a note, a letter and a mail that was sent. */
async function merged(name: string, choices = {}) {
  const kept = await add({
    name: `Kept ${name}`,
    email: `kept@${name}.example`,
    title: 'CTO',
    custom: { size: 4 },
  })
  const gone = await add({
    name: `Gone ${name}`,
    email: `gone@${name}.example`,
    phone: `555 ${name}`,
    language: 'de',
    title: 'CEO',
    custom: { nick: `Nick ${name}`, size: 5 },
  })
  await post('lead/note', { lead_id: kept.id, text: `Tea for kept ${name}` })
  await post('lead/note', { lead_id: gone.id, text: `Tea for gone ${name}` })
  const [draft] = await hub.query<{ id: string }>(
    `insert into hub.drafts (project_id, audience, subject, text, state)
     select project_id, jsonb_build_object('kind', 'lead', 'lead_id', id), 'Dear', $2, 'draft'
     from hub.leads where id = $1 returning id`,
    [gone.id, `Only for gone ${name}`],
  )
  await hub.query(
    `insert into hub.recipients (draft_id, project_id, lead_id, email, state, sent_at)
     select $2, project_id, id, email, 'sent', now() from hub.leads where id = $1`,
    [gone.id, draft?.id],
  )
  const { body } = await post('lead/merge', { kept_id: kept.id, gone_id: gone.id, choices })
  return { kept, gone, merge_id: body.merge.id as string } // safe: the tests below fail otherwise
}

/** Every row of every table with these words. */
async function search(words: RegExp): Promise<string[]> {
  const places: string[] = []
  const tables = await hub.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'hub' and table_type = 'BASE TABLE'`,
  )
  for (const { name } of tables) {
    const rows = await hub.query<{ row: string }>(
      `select to_jsonb(t)::text as row from hub.${name} as t`,
    )
    places.push(...rows.flatMap(({ row }) => (words.test(row) ? [`${name}: ${row}`] : [])))
  }
  return places
}

test('a lead that went into another one is found and copied by its own address', async () => {
  const { merge_id } = await merged('copy')
  const { body: found } = await ask(hub, 'find', { email: 'gone@copy.example' })
  expect(found.names).toEqual(['Gone copy'])
  expect(found.rows.map(({ table }) => table)).toContain('merges')
  const { body } = await ask(hub, 'export', { email: 'gone@copy.example' })
  expect(body.records.merges).toMatchObject([{ id: merge_id, gone: { phone: '555 copy' } }])
})

test('whoever is erased is nowhere afterwards, and the merge has no way back', async () => {
  const { kept, merge_id } = await merged('erase', { title: 'gone', 'custom.size': 'gone' })
  const backup = await (await startBackup(hub.config, 'manual')).done
  const email = 'gone@erase.example'
  const given = { email, confirm: email, replace_in_texts: true }
  expect((await search(/gone@erase\.example|gone erase/i)).length).toBeGreaterThan(2)
  expect((await ask(hub, 'erase', given)).body.remaining).toEqual({ rows: [], files: [] })
  const gone = /gone@erase\.example|gone erase|555 erase|nick erase/i
  expect(await search(gone)).toEqual([])
  expect(
    await hub.query('select name, title, language, custom from hub.leads where id = $1', [kept.id]),
  ).toEqual([{ name: 'Kept erase', title: 'CTO', language: null, custom: { size: 4 } }])
  expect(await hub.query('select text from hub.notes where lead_id = $1', [kept.id])).toEqual([
    { text: 'Tea for kept erase' },
  ])
  const refused = await post(`leads/merges/${merge_id}/undo`, {})
  expect([refused.status, refused.body.detail]).toEqual([
    404,
    expect.stringContaining('one of its people was erased'),
  ])
  await (await startRestore(hub.config, backup, { secret: {} })).done
  expect(await search(gone)).toEqual([])
  expect(await hub.query('select from hub.merges where id = $1', [merge_id])).toEqual([])
})

test('without texts, what came with them and the record go all the same', async () => {
  const { kept } = await merged('plain')
  const email = 'gone@plain.example'
  await ask(hub, 'erase', { email, confirm: email, replace_in_texts: false })
  expect(await search(/gone@plain\.example|(Tea|Only) for gone plain/)).toEqual([])
  expect(await hub.query('select email from hub.leads where id = $1', [kept.id])).toEqual([
    { email: 'kept@plain.example' },
  ])
})

test('a lead that a merge gave another address is erased by the one that it had', async () => {
  const { kept } = await merged('moved', { email: 'gone' })
  const email = 'kept@moved.example'
  const { body } = await ask(hub, 'erase', { email, confirm: email, replace_in_texts: true })
  expect(body.erased.leads).toBe(1)
  expect(await hub.query('select from hub.leads where id = $1', [kept.id])).toEqual([])
  expect(await search(/kept@moved\.example|kept moved/i)).toEqual([])
})

test('hashes, secrets and what names a folder are neither searched nor replaced', async () => {
  const tables = await everywhere(hub.deps.root_db, (_, client) => textTables(client))
  const searched = tables.flatMap(({ name, columns }) =>
    columns.map((one) => `${name}.${one.name}`),
  )
  const fixed =
    /^((suppression|suppression_addresses|members|api_keys|webhooks)\..*(hash|secret|erased_names)|projects\.slug|lead_fields\.key|evidence\.field_key)$/
  expect(searched.filter((column) => fixed.test(column))).toEqual([])
  expect(searched).toEqual(
    expect.arrayContaining(['leads.name', 'leads.custom', 'leads.tags', 'api_keys.name']),
  )
})

/** Leads, mails and a membership of somebody with this address. */
async function fill(email: string, [lead, mail, member]: [string, string, string]) {
  await hub.query(
    'insert into hub.leads (project_id, name, email) select id, $1, $2 from hub.projects',
    [lead, email],
  )
  await hub.query(
    `insert into hub.drafts (project_id, audience, subject, text, state)
     select project_id, jsonb_build_object('kind', 'lead', 'lead_id', id), email, 'Letter', state
     from hub.leads, unnest('{draft,sent,unclear}'::text[]) as state where email = $1`,
    [email],
  )
  await hub.query(
    `with draft as (
       insert into hub.drafts (project_id, audience, subject, text, state)
       select id, '{"kind": "list", "filter": {}}', state, 'Dear', 'sent' from hub.projects,
         unnest('{waiting,pushed,skipped,failed,sent,unclear}'::text[]) as state
       returning id, project_id, subject
     )
     insert into hub.recipients (draft_id, project_id, email, name, state)
     select id, project_id, upper($1), $2, subject from draft`,
    [email, mail],
  )
  await hub.query(
    `insert into hub.members (email, name, role, password_hash, removed_at)
     values ($1, $2, 'reader', 'x', now())`,
    [email, member],
  )
  await hub.query(
    `insert into hub.inbox_mails (project_id, our_email, kind, matched_by, from_email)
     select id, 'us@x.example', 'reply', 'address', $1 from hub.projects
     union all select id, $1, 'reply', 'address', null from hub.projects`,
    [email],
  )
  await hub.query(
    `with import as (
       insert into hub.imports (project_id, file, options, total, status)
       select id, 'a.csv', '{}', 1, 'done' from hub.projects returning id, project_id
     )
     insert into hub.import_errors (import_id, project_id, position, cells, mistakes)
     select id, project_id, 2, array['x', $1], '[]' from import`,
    [email],
  )
}

test('whoever stands in the inbox or in a sequence alone is known by the name there', async () => {
  const email = 'no.lead@inbox.example'
  await hub.query(
    `insert into hub.inbox_mails (project_id, our_email, kind, matched_by, from_email, from_name)
     select id, 'us@x.example', 'unrelated', 'address', $1, 'Inge Sender' from hub.projects`,
    [email],
  )
  await hub.query(
    `with sequence as (
       insert into hub.sequences (project_id, name, send_window)
       select id, 'Left', '{"days": ["mon"], "from": "09:00", "to": "17:00", "time_zone": "UTC"}'
       from hub.projects returning id, project_id
     )
     insert into hub.sequence_recipients (sequence_id, project_id, email, name, time_zones)
     select id, project_id, $1, 'Inge Reader', '{UTC}' from sequence`,
    [email],
  )
  await hub.query(
    `insert into hub.tasks (project_id, title)
     select id, 'Call Inge Sender or Inge Reader' from hub.projects`,
  )
  const { body: found } = await ask(hub, 'find', { email })
  expect(found.names.toSorted()).toEqual(['Inge Reader', 'Inge Sender'])
  await ask(hub, 'erase', { email, confirm: email, replace_in_texts: true })
  expect(await search(/Inge/)).toEqual([])
})

test('somebody whose address only looks alike is neither found nor erased', async () => {
  const [email, alike] = ['celik@alike.example', 'çelik@alike.example']
  await fill(email, ['  Celik One ', 'Bo', 'Can'])
  await fill(alike, ['Celik Two', 'Dee', 'Efe'])
  // Both are in a sequence whose lead is gone.
  await hub.query(
    `with sequence as (
       insert into hub.sequences (project_id, name, send_window)
       select id, 'Fair', '{"days": ["mon"], "from": "09:00", "to": "17:00", "time_zone": "UTC"}'
       from hub.projects returning id, project_id
     )
     insert into hub.sequence_recipients (sequence_id, project_id, email, time_zones)
     select id, project_id, unnest(array[$1, $2]), '{UTC}' from sequence`,
    [email, alike],
  )
  const { body: found } = await ask(hub, 'find', { email })
  // A name of two letters would be found in every second text.
  expect(found.names).toEqual(['Celik One', 'Can'])
  expect([found.leads, found.mails]).toEqual([1, 6])
  const { body: copy } = await ask(hub, 'export', { email })
  expect(copy.records).toMatchObject({
    members: [{ name: 'Can' }],
    inbox_mails: [{ from_email: email }, { our_email: email }],
    import_errors: [{ cells: ['x', email] }],
    sequence_recipients: [{ email, lead_id: null }],
  })
  expect(copy.page).not.toContain(alike)
  const given = { email, confirm: email, replace_in_texts: false }
  const { body } = await ask(hub, 'erase', given)
  expect(body.erased).toMatchObject({ leads: 1, drafts: 3, recipients: 6, import_rows: 1 })
  const letters = await hub.query<{ said: string }>(
    `select concat_ws(' ', state, subject, text) as said from hub.drafts
     where text in ('Letter', '[erased]')`,
  )
  expect(letters.map(({ said }) => said).toSorted()).toEqual([
    `draft ${alike} Letter`,
    ...['sent [erased] [erased]', `sent ${alike} Letter`],
    ...['unclear [erased] [erased]', `unclear ${alike} Letter`],
  ])
  // Their texts stay, so no name is kept by which a backup would be cleaned.
  const erasures = await hub.query(
    `select erased_texts, cardinality(erased_names) as names, erased_by, note
     from hub.suppression where erased_at is not null order by erased_at desc limit 1`,
  )
  expect(erasures).toEqual([{ erased_texts: false, names: 0, erased_by: 'api', note: null }])
  const { erasures: listed } = await (await hub.call('GET', 'people/erasures?limit=1')).json()
  expect(listed).toMatchObject([{ erased_by: 'api', texts: false }])
  // Of what was sent, or may have been, a number stays.
  const states = async (condition: string) => {
    const asked = `select state from hub.recipients where ${condition} order by state`
    return (await hub.query<{ state: string }>(asked)).map(({ state }) => state)
  }
  expect(
    await states(
      "email ~ '^erased-' and draft_id in (select id from hub.drafts where text = 'Dear')",
    ),
  ).toEqual(['sent', 'unclear'])
  expect(await states("name = 'Dee'")).toHaveLength(6)
  const left = await hub.query<{ name: string }>(
    `select name from hub.members where email ~ 'alike' union all
     select name from hub.leads where email ~ 'alike' union all
     select from_email from hub.inbox_mails union all select our_email from hub.inbox_mails
     union all select cells[2] from hub.import_errors`,
  )
  expect(left.map(({ name }) => name)).toEqual([
    'Efe',
    'Celik Two',
    alike,
    null,
    'us@x.example',
    alike,
    alike,
  ])
})

test('a namesake keeps the name wherever another address stands beside it', async () => {
  const name = 'Zeynep 100%_Kaya'
  const [email, other] = ['zeynep@namesake.example', 'kaya@namesake.example']
  await fill(email, [name, name, name])
  await fill(other, [name, name, name])
  await hub.query(
    `with sequence as (
       insert into hub.sequences (project_id, name, send_window)
       select id, 'Three', '{"days": ["mon"], "from": "09:00", "to": "17:00", "time_zone": "UTC"}'
       from hub.projects returning id, project_id
     )
     insert into hub.sequence_recipients (sequence_id, project_id, email, name, time_zones)
     select id, project_id, unnest(array[$1, $2]), $3, '{UTC}' from sequence`,
    [email, other, name],
  )
  await hub.query(
    `insert into hub.tasks (project_id, title)
     select id, unnest(array[$1, 'Zeynep 100x-Kaya']) from hub.projects`,
    [`${name}, `.repeat(7)],
  )
  await hub.query("insert into hub.audit (actor, action, area) values ($1, 'a', 'b')", [{ name }])
  const matcher = matcherOf({ email, names: [name] })
  const all = <T>(work: (client: Parameters<typeof findRows>[0]) => Promise<T>) =>
    everywhere(hub.deps.root_db, (_, client) => work(client))
  const found = async () =>
    (await all((client) => findRows(client, matcher))).map(({ table, column, excerpts }) =>
      [table, column, excerpts.length].join(' '),
    )
  const places = await found()
  expect(places.filter((place) => /^(leads|members|sequence|tasks)/.test(place)).sort()).toEqual([
    ...['leads email 1', 'leads name 1', 'members email 1', 'members name 1'],
    ...['sequence_recipients email 1', 'sequence_recipients name 1', 'tasks title 5'],
  ])
  expect(await all((client) => redactRows(client, matcher))).toBe(16)
  // In the audit nobody changes a row; its own function takes a name out.
  expect(await found()).toEqual(['audit actor 1'])
  const named = await hub.query<{ at: string }>(
    `select 'lead ' || email as at from hub.leads where name = $1
     union all select 'mail ' || email from hub.recipients where name = $1
     union all select 'step ' || email from hub.sequence_recipients where name = $1
     union all select 'member ' || email from hub.members where name = $1
     union all select 'task ' || title from hub.tasks where title ~ 'Zeynep' order by 1`,
    [name],
  )
  expect([...new Set(named.map(({ at }) => at))]).toEqual([
    `lead ${other}`,
    `mail ${other.toUpperCase()}`,
    `member ${other}`,
    `step ${other}`,
    'task Zeynep 100x-Kaya',
  ])
  const nobody = matcherOf({ email: null, names: [' '] })
  expect(await all((client) => findRows(client, nobody))).toEqual([])
  expect(await all((client) => redactRows(client, nobody))).toBe(0)
  const texts: string[] = []
  await all(async (client) => {
    for await (const text of allTexts(client)) texts.push(text)
  })
  expect(texts).toContainEqual(expect.stringContaining(`name\n${name}\n`))
})

test('a member with the name of whoever is erased keeps it where they did something', async () => {
  const name = 'Deniz Arslan'
  const [email, other] = ['deniz@acts.example', 'arslan@acts.example']
  await hub.query(
    `insert into hub.members (email, name, role, removed_at)
     select unnest(array[$1, $2]), $3, 'reader', now()`,
    [email, other, name],
  )
  await hub.query(
    `insert into hub.members (email, role, invited_by)
     select 'by-' || email, 'reader', jsonb_build_object('kind', 'member', 'id', id, 'name', name)
     from hub.members where name = $1
     union all select 'by-key@acts.example', 'reader', jsonb_build_object('kind', 'key', 'id', 'k', 'name', $1)`,
    [name],
  )
  await ask(hub, 'erase', { email, confirm: email, replace_in_texts: true })
  const invited = () =>
    hub.query<{ email: string; by: string }>(
      `select email, invited_by ->> 'name' as by from hub.members where email ~ '^by-' order by email`,
    )
  expect((await invited()).map(({ by }) => by)).toEqual([name, null, '[erased]'])
  const { body } = await ask(hub, 'find', { email, names: [name] })
  expect(body.rows).toEqual([])
  // As a row that comes back from an archive, where only the name is known.
  const comesBack = `update hub.members set invited_by = invited_by || jsonb_build_object('name', $1::text)
    where email ~ '^by-deniz' and invited_by ->> 'name' is null`
  await hub.query(comesBack, [name])
  const matcher = matcherOf({ email: null, names: [name] })
  await everywhere(hub.deps.root_db, (_, client) => redactRows(client, matcher))
  expect((await invited()).map(({ by }) => by)).toEqual([name, '[erased]', '[erased]'])
})
