import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startBackup, startRestore } from '../../../hub/backup/backup.ts'
import { listmonk } from '../../../hub/mail/listmonk/listmonk.ts'
import { emailHash, readSalt } from '../../../hub/mail/suppression.ts'
import { inListmonk } from '../../../hub/people/find.ts'
import { startListmonk } from '../mail/listmonk/listmonk-stand-in.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { apiOf } from '../support/mail-help.ts'
import { ask } from './people-help.ts'

const EMAIL = 'ayse.isik@example.com'
const NAME = 'Ayşe Işık'
const OTHER = 'ayse.isik@other.example'
const texts = `Wrote to ${NAME} <AYSE.ISIK@Example.com>; AYŞE IŞIK's profile: https://x.example/ayse-isik`

let hub: TestHub
let backup: string
beforeAll(async () => {
  hub = await startHub()
  await fill()
  backup = await (await startBackup(hub.config, 'manual')).done
})
afterAll(() => hub.close())

/** The person in every table and kind of column, and a namesake who must stay. */
async function fill() {
  const { query, paths } = hub
  const [project] = await query<{ id: string }>(
    `insert into hub.projects (slug, name, icp) values ('demir', 'Demir', $1) returning id`,
    [texts],
  )
  const own = project?.id
  const [lead] = await query<{ id: string }>(
    `insert into hub.leads (project_id, name, email, phone)
     values ($1, $2, 'Ayse.Isik@Example.com', '+90 212 555 01 01'), ($1, $2, $3, null) returning id`,
    [own, NAME, OTHER],
  )
  const [other] = await query<{ id: string }>('select id from hub.leads where email = $1', [OTHER])
  const of = [own, lead?.id]
  await query(`insert into hub.notes (project_id, lead_id, text) values ($1, $2, 'Likes tea')`, of)
  await query(`insert into hub.notes (project_id, lead_id, text) values ($1, $2, $3)`, [
    own,
    other?.id,
    texts,
  ])
  await query(`insert into hub.tasks (project_id, title) values ($1, $2)`, [own, texts])
  await query(
    `insert into hub.activities (project_id, lead_id, kind, details) values ($1, $2, 'edited', $3)`,
    [own, other?.id, { before: { text: texts } }],
  )
  await query(
    `insert into hub.evidence (project_id, fact, quote, source) values ($1, $2, $2, 'x')`,
    [own, texts],
  )
  const [mission] = await query<{ id: string }>(
    `insert into hub.missions (project_id, department, task, input, result, status)
     values ($1, 'sales', $2, $3, $4, 'done') returning id`,
    [
      own,
      texts,
      { [EMAIL]: texts },
      { summary: texts, leads: [{ email: EMAIL, title: 'CEO of tea', phone: '+90 212' }] },
    ],
  )
  await query(
    `insert into hub.mission_steps (mission_id, project_id, position, name, output, left_out)
     values ($1, $2, 1, 'read', $3, $3)`,
    [mission?.id, own, JSON.stringify([texts])],
  )
  await query(
    `insert into hub.mission_events (mission_id, project_id, kind, data) values ($1, $2, 'step', $3)`,
    [mission?.id, own, { texts }],
  )
  await query(
    `insert into hub.result_versions (mission_id, project_id, part, version, text, edited_by)
     values ($1, $2, 'docs/ayse-isik-1.md', 1, $3, 'agent')`,
    [mission?.id, own, texts],
  )
  await query(
    `insert into hub.approvals (project_id, title, action, action_hash, kind)
     values ($1, $2, $3, 'x', 'external')`,
    [own, { en: texts, tr: texts }, { do: 'read_web', url: texts }],
  )
  const drafts = await query<{ id: string }>(
    `insert into hub.drafts (project_id, audience, subject, text, html, state, first_text)
     values ($1, jsonb_build_object('kind', 'lead', 'lead_id', $2::uuid), 'Dear', 'Only for you', 'x', 'sent', 'Only for you'),
       ($1, jsonb_build_object('kind', 'lead', 'lead_id', $2::uuid), 'Next', 'Only for you', null, 'approved', null),
       ($1, '{"kind": "list", "filter": {}}', 'All', $3, $3, 'sent', null),
       ($1, jsonb_build_object('kind', 'lead', 'lead_id', $2::uuid), 'Perhaps', 'Only for you', null, 'unclear', null) returning id`,
    [own, lead?.id, texts],
  )
  for (const draft of [drafts[0], drafts[2]]) {
    await query(
      `insert into hub.recipients (draft_id, project_id, lead_id, email, name, company, state, sent_at)
       values ($1, $2, $3, $4, $5, 'Tea', 'sent', now())`,
      [draft?.id, own, lead?.id, EMAIL, NAME],
    )
  }
  const [mail] = await query<{ id: string }>(
    `insert into hub.inbox_mails (project_id, lead_id, draft_id, our_email, kind, matched_by, from_email,
       from_name, subject, text, whole)
     values ($1, $2, $3, $4, 'reply', 'message_id', $4, $5, $6, $6, $6),
       ($1, null, $3, 'x@example.com', 'reply', 'message_id', $4, $5, $6, $6, $6) returning id`,
    [own, lead?.id, drafts[0]?.id, EMAIL, NAME, texts],
  )
  await query(
    `insert into hub.answers (id, project_id, lead_id, inbox_mail_id, email, subject, text, message_id, state, written_by)
     values (gen_random_uuid(), $1, $2, $3, $4, 'Re', $5, '<answer@x>', 'sent', 'session')`,
    [own, lead?.id, mail?.id, EMAIL, texts],
  )
  await query(
    `insert into hub.stands (draft_id, basis, project_id, sentence, verdict, stood_by)
     values ($1, 'b', $2, $3, 'unsure', 'token')`,
    [drafts[2]?.id, own, texts],
  )
  await query('insert into hub.brands (project_id, signature) values ($1, $2)', [own, texts])
  const [sequence] = await query<{ id: string }>(
    `insert into hub.sequences (project_id, name, send_window) values ($1, $2, '{"days": ["mon"], "from": "09:00", "to": "17:00", "time_zone": "UTC"}') returning id`,
    [own, texts.slice(0, 120)],
  )
  await query(
    `insert into hub.sequence_recipients (sequence_id, project_id, lead_id, email, name, time_zones)
     values ($1, $2, $3, $4, $5, '{UTC}'), ($1, $2, $3, 'earlier@example.com', $5, '{UTC}')`,
    [sequence?.id, own, lead?.id, EMAIL, NAME],
  )
  await query(
    `insert into hub.opinions (project_id, key, model, verdict, quote) values ($1, 'k', 'm', 'supported', $2)`,
    [own, texts],
  )
  const [entry] = await query<{ id: string }>(
    `insert into hub.imports (project_id, file, options, total, status)
     values ($1, 'Ayşe Işık.csv', $2, 1, 'done') returning id`,
    [own, { mapping: { name: NAME } }],
  )
  await query(
    `insert into hub.import_errors (import_id, project_id, position, cells, mistakes)
     values ($1, $2, 2, $3, '[]')`,
    [entry?.id, own, [NAME, EMAIL, '+90 212 555 01 01']],
  )
  const [member] = await query<{ id: string }>(
    `insert into hub.members (email, name, role, removed_at) values ($1, $2, 'seller', now())
     returning id`,
    [EMAIL, NAME],
  )
  await query(
    `insert into hub.api_keys (name, scope, key_hash, hint) values ($1, 'read', repeat('0', 64), 'abcd')`,
    [`The script of ${NAME}`],
  )
  await query(`insert into hub.audit (actor, action, area) values ($1, 'addNote', 'Leads')`, [
    { kind: 'member', id: member?.id, name: NAME },
  ])
  await query(
    `insert into hub.deal_settings (project_id, lost_reasons) values ($1, array['Ask ' || $2])`,
    [own, NAME],
  )
  await query(
    `insert into hub.lead_fields (project_id, key, label, kind) values ($1, 'sponsor', $2, 'text')`,
    [own, `Knows ${NAME}`],
  )
  await query(
    `insert into hub.merges (project_id, lead_id, gone, kept, moved) values ($1, $2, $3, '{}', '{}')`,
    [own, other?.id, { name: NAME, email: EMAIL }],
  )
  const hash = emailHash(await readSalt(paths), EMAIL)
  await query("insert into hub.suppression (email_hash, reason) values ($1, 'manual')", [hash])
  await query('insert into hub.suppression_addresses (email_hash, email) values ($1, $2)', [
    hash,
    EMAIL,
  ])
  const [webhook] = await query<{ id: string }>(
    `insert into hub.webhooks (label, url, events, secret)
     values ($1, 'https://hooks.example', '{mail.replied}', 'x') returning id`,
    [`For ${NAME}`],
  )
  const [delivery] = await query<{ id: string }>(
    `insert into hub.webhook_deliveries (webhook_id, project_id, event, data, state)
     values ($1, $2, 'mail.replied', $3, 'succeeded') returning id`,
    [webhook?.id, own, { texts }],
  )
  await query(
    `insert into hub.webhook_attempts (delivery_id, position, status, answer, duration_ms)
     values ($1, 1, 200, $2, 5)`,
    [delivery?.id, texts],
  )
  const folder = join(paths.data_dir, 'projects/demir/docs')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'ayse-isik-1.md'), texts)
  await writeFile(join(folder, 'plan.md'), `# Plan\n\nMeet ayşe\n ışık. ${EMAIL}.\n`)
  await writeFile(join(folder, 'picture.bin'), Buffer.from([0xff, 0xfe, 0x00, 0xd8]))
  await writeFile(join(paths.prompts_dir, 'sales.md'), texts)
}

/** Every place that still has the words, in any case: all tables as text, and every file. */
async function search(words: RegExp): Promise<string[]> {
  const places: string[] = []
  const tables = await hub.query<{ table_name: string }>(
    `select table_name from information_schema.tables
     where table_schema = 'hub' and table_type = 'BASE TABLE'`,
  )
  expect(tables.length).toBeGreaterThan(15)
  for (const { table_name } of tables) {
    const rows = await hub.query<{ row: string }>(
      `select to_jsonb(t)::text as row from hub.${table_name} as t`,
    )
    for (const { row } of rows) if (words.test(row)) places.push(`${table_name}: ${row}`)
  }
  const entries = await readdir(hub.paths.data_dir, { recursive: true, withFileTypes: true })
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name)
    if (path.includes('/backups/')) continue
    if (words.test(entry.name) || words.test(await readFile(path, 'utf8'))) places.push(path)
  }
  return places
}
const ADDRESS = /ayse\.isik(@|%40)example\.com/i
/** Folded by hand, since the case of the four Turkish letters i differs between engines. */
const ANY_NAME = /a\s*y\s*[şŞ]\s*e\s+[ıIiİ][şŞ][ıIiİ]k|ayse-isik/i

/** The namesake's own row is all that may be called so. */
const others = (places: string[]) => places.filter((place) => !place.includes(OTHER))

describe('a person', () => {
  test('is found in every table and file, and nothing changes', async () => {
    const { status, body } = await ask(hub, 'find', { email: ' AYSE.Isik@example.com ' })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      email: EMAIL,
      names: [NAME],
      leads: 1,
      mails: 2,
      in_listmonk: null,
    })
    const tables = new Set(body.rows.map(({ table }) => table))
    const filled = await hub.query<{ name: string }>(
      `select table_name as name from information_schema.tables
       where table_schema = 'hub' and table_name not in ('campaigns', 'suppression')`,
    )
    expect([...tables].sort()).toEqual(filled.map(({ name }) => name).sort())
    expect(body.files.map(({ file }) => file).sort()).toEqual([
      'projects/demir/docs/ayse-isik-1.md',
      'projects/demir/docs/plan.md',
      'prompts/sales.md',
    ])
    expect(body.unsearched).toEqual(['projects/demir/docs/picture.bin'])
    expect(body.stays.join(' ')).toContain('1 backups')
    expect((await search(ADDRESS)).length).toBeGreaterThan(15)
  })

  test('is looked for by an address, and what is none is refused', async () => {
    for (const path of ['find', 'export', 'erase']) {
      const more = path === 'erase' ? { confirm: 'nobody', replace_in_texts: true } : {}
      const answer = await hub.call('POST', `people/${path}`, { email: 'nobody', ...more })
      expect(answer.status, path).toBe(422)
      expect((await answer.json()).errors).toMatchObject([
        { path: 'email', code: 'invalid', message: 'Not an e-mail address.' },
      ])
    }
  })

  test('gets a copy as JSON and as a page', async () => {
    const { body } = await ask(hub, 'export', { email: EMAIL })
    expect(body.records).toMatchObject({
      leads: [{ name: NAME, phone: '+90 212 555 01 01' }],
      notes: [{ text: 'Likes tea' }],
      recipients: [{ email: EMAIL }, { email: EMAIL }],
      import_errors: [{ cells: [NAME, EMAIL, '+90 212 555 01 01'] }],
    })
    const counts = Object.entries(body.records).map(([name, rows]) => `${name} ${rows.length}`)
    expect(counts.sort().join(', ')).toBe(
      'answers 1, audit 1, drafts 3, import_errors 1, inbox_mails 2, leads 1, members 1, merges 1, ' +
        'notes 1, recipients 2, sequence_recipients 2, suppression 1, suppression_addresses 1',
    )
    // What signs a member in is not theirs to send around.
    expect(body.records.members).toMatchObject([{ email: EMAIL, name: NAME }])
    const secrets = Object.keys(Object(body.records.members?.[0])).filter((key) => /hash/.test(key))
    expect(secrets).toEqual([])
    expect(body.page).toContain('Likes tea')
    expect(body.page).not.toContain('<h2>listmonk</h2>')
    for (const part of ['leads', 'rows', 'files']) expect(body.page).toContain(`<h2>${part}</h2>`)
    expect(body.page).toContain('&lt;AYSE.ISIK@Example.com&gt;')
  })

  test('is erased only when the address is typed again, and while nothing writes it anew', async () => {
    const given = { email: EMAIL, replace_in_texts: true }
    expect(await ask(hub, 'erase', { ...given, confirm: OTHER })).toMatchObject({ status: 409 })
    for (const [busy, idle] of [
      ["update hub.imports set status = 'processing'", "update hub.imports set status = 'done'"],
      ["update hub.missions set status = 'processing'", "update hub.missions set status = 'done'"],
      ["update hub.recipients set state = 'sending'", "update hub.recipients set state = 'sent'"],
      ["update hub.imports set status = 'queued'", "update hub.imports set status = 'done'"],
      ["update hub.answers set state = 'waiting'", "update hub.answers set state = 'sent'"],
      ["update hub.answers set state = 'sending'", "update hub.answers set state = 'sent'"],
      ['update hub.members set removed_at = null', 'update hub.members set removed_at = now()'],
    ] as const) {
      await hub.query(busy)
      expect(await ask(hub, 'erase', { ...given, confirm: EMAIL })).toMatchObject({ status: 409 })
      await hub.query(idle)
    }
    expect(await hub.query('select from hub.leads')).toHaveLength(2)
  })

  test('without a word about texts, loses what is theirs alone, and the rest is told', async () => {
    const given = {
      email: EMAIL,
      confirm: 'AYSE.ISIK@example.com',
      replace_in_texts: false,
      names: [NAME],
    }
    const { status, body } = await ask(hub, 'erase', given)
    expect(status).toBe(200)
    expect(body.erased).toEqual({
      leads: 1,
      drafts: 3,
      recipients: 2,
      import_rows: 1,
      texts: 0,
      files: 0,
      subscribers: 0,
    })
    expect(body.remaining.files).toHaveLength(3)
    expect(body.stays.join(' ')).toMatch(/\d+ places in texts and files still name/)
  })

  test('is nowhere afterwards, and everybody else is where they were', async () => {
    const given = { email: EMAIL, confirm: EMAIL, replace_in_texts: true, names: [NAME] }
    const { body } = await ask(hub, 'erase', given)
    expect(body.remaining).toEqual({ rows: [], files: [] })
    expect(await search(ADDRESS)).toEqual([])
    expect(others(await search(ANY_NAME))).toEqual([])
    expect(await search(/CEO of tea|Only for you|Likes tea/)).toEqual([])
    expect(await hub.query('select name, email from hub.leads')).toEqual([
      { name: NAME, email: OTHER },
    ])
    // What was sent, or may have been, stays as a number.
    const emptied = "select state from hub.drafts where subject = '[erased]' order by state"
    expect(await hub.query(emptied)).toEqual([{ state: 'sent' }, { state: 'unclear' }])
    const sent = await hub.query(
      "select from hub.recipients where sent_at is not null and state = 'sent'",
    )
    expect(sent).toHaveLength(2)
  })

  test('is never written to again, whatever the list said before', async () => {
    const hash = emailHash(await readSalt(hub.paths), EMAIL)
    const [entry] = await hub.query('select * from hub.suppression where email_hash = $1', [hash])
    expect(entry).toMatchObject({ reason: 'erased', erased_texts: true })
    expect(await hub.call('POST', 'suppression/release', { email: EMAIL })).toMatchObject({
      status: 409,
    })
  })

  test('does not come back with a backup from before', async () => {
    await (await startRestore(hub.config, backup, { secret: {} })).done
    expect(await hub.query("select from hub.recipients where state = 'sent'")).toHaveLength(2)
    expect(await search(ADDRESS)).toEqual([])
    expect(others(await search(ANY_NAME))).toEqual([])
    expect(await search(/CEO of tea|Only for you|Likes tea/)).toEqual([])
    expect(await hub.query('select name, email from hub.leads')).toEqual([
      { name: NAME, email: OTHER },
    ])
  })

  test('goes from listmonk too, and nothing is erased while it does not answer', async () => {
    const standIn = await startListmonk()
    const { url, user, token } = standIn
    const settings = { url, user, token }
    await apiOf(hub).put('settings/mail', { listmonk: settings })
    const client = listmonk(settings)
    const { id } = await client.ensureList({ name: 'Demir', tag: 'demir' })
    const member = {
      email: 'Other@other.example',
      name: 'Other One',
      list_id: id,
      attribs: { watchpost_1a2b3c4d_name: 'Other One' },
    }
    await client.subscribe(member)
    const { body } = await ask(hub, 'find', { email: member.email })
    expect(body.in_listmonk).toBe(true)
    const { body: copy } = await ask(hub, 'export', { email: member.email })
    expect(copy.listmonk).toMatchObject({ name: 'Other One' })
    expect(copy.page).toContain('<h2>listmonk</h2>')
    expect(copy.records).toEqual({})
    const ours = inListmonk(hub.paths, () => Promise.reject(new TypeError('a fault of ours')))
    await expect(ours).rejects.toThrow('a fault of ours')
    const given = { email: member.email, confirm: member.email, replace_in_texts: false }
    expect((await ask(hub, 'erase', given)).body.erased.subscribers).toBe(1)
    expect(await client.findSubscriber(member.email)).toBeNull()
    await standIn.close()
    const away = { email: OTHER, confirm: OTHER, replace_in_texts: true }
    expect((await hub.call('POST', 'people/erase', away)).status).toBe(503)
    expect(await hub.query('select from hub.leads where email = $1', [OTHER])).toHaveLength(1)
  })
})
