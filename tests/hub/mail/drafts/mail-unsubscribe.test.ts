import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { applyOptOuts, keepOptOut } from '../../../../hub/mail/opt-outs.ts'
import { emailHash, readSalt } from '../../../../hub/mail/suppression.ts'
import { draftCalls } from '../../support/draft-calls.ts'
import { startHub, type TestHub } from '../../support/hub.ts'
import {
  apiOf,
  type MailServer,
  setBrand,
  smtpSettings,
  startMailServer,
} from '../../support/mail-help.ts'
import { standForAll } from '../../support/stand.ts'

let hub: TestHub
let smtp: MailServer
let api: ReturnType<typeof apiOf>
beforeAll(async () => {
  smtp = await startMailServer()
  hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
  api = apiOf(hub)
  await api.ok('projects/create', { slug: 'demir', name: 'Demir Lojistik' })
  await setBrand(api)
  await api.put('settings/mail', smtpSettings(smtp.port))
})
afterAll(async () => {
  await hub.close()
  await smtp.close()
})
beforeEach(() => {
  smtp.mails.length = 0
  smtp.to().length = 0
})

const { addLead, addTagged, create, get, of, recipientsOf, sendAll, steps } = draftCalls(() => hub)

describe('unsubscribing', () => {
  async function linkTo(email: string) {
    const lead = await addLead({ name: 'Ece Su', email })
    await sendAll(
      await create({ kind: 'lead', lead_id: lead.id }, { language: 'tr', text: 'Merhaba' }),
    )
    const list = smtp.mails[0]?.headerLines.find(({ key }) => key === 'list-unsubscribe')?.line
    const path = new URL(/<(.*)>/.exec(list ?? '')?.[1] ?? '').pathname
    return { lead, path }
  }
  const asked = (path: string, method: string, headers: Record<string, string> = {}) =>
    hub.app.request(path, {
      method,
      headers: { host: 'hub.demir.example', ...headers },
      ...(method === 'POST' ? { body: 'List-Unsubscribe=One-Click' } : {}),
    })
  const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

  test('opening the page changes nothing; one click unsubscribes from every project', async () => {
    const { lead, path } = await linkTo('ece@client.example')
    const page = await asked(path, 'GET')
    expect(page.status).toBe(200)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    const html = await page.text()
    expect(html).toContain('e…@client.example adresine')
    expect(html).toContain('<form method="post">')
    const before = (await api.get('suppression?email=ECE@client.example')).body
    expect(before.suppression).toEqual([])

    const done = await asked(path, 'POST', FORM)
    expect(done.status).toBe(200)
    expect(await done.text()).toContain('göndermeyeceğiz')
    const after = (await api.get('suppression?email=ECE@client.example')).body
    expect(after.suppression).toMatchObject([{ reason: 'unsubscribed', project: 'demir' }])
    const { activities: entries } = (await api.get(`lead/timeline?lead_id=${lead.id}`)).body
    expect(entries.filter((one: { kind: string }) => one.kind === 'unsubscribed')).toHaveLength(1)
    // Again, from the page's own form, which browsers send with `Origin: null`.
    expect((await asked(path, 'POST', { ...FORM, origin: 'null' })).status).toBe(200)
    const next = await create({ kind: 'lead', lead_id: lead.id })
    await api.ok('draft/render', of(next))
    await standForAll(api, of(next))
    expect((await api.post('draft/approve', of(next))).body.detail).toContain('unsubscribed')
  })

  test('ends the sequences of every project, once, at the time of the click', async () => {
    const { lead, path } = await linkTo('deniz@client.example')
    const [sequence] = await hub.query<{ id: string }>(
      `with project as (insert into hub.projects (slug, name) values ('tea', 'Tea') returning id)
       insert into hub.sequences (project_id, name, send_window, state)
       select id, 'Tea', '{}', 'running' from project returning id`,
    )
    await hub.query(
      `insert into hub.sequence_recipients (sequence_id, project_id, email, time_zones)
       select id, project_id, 'deniz@client.example', '{UTC}' from hub.sequences where id = $1`,
      [sequence?.id],
    )
    // As if the database had been away for a day.
    const salt = await readSalt(hub.paths)
    await keepOptOut(
      hub.paths,
      emailHash(salt, 'deniz@client.example'),
      path.split('/').at(-1) ?? '',
    )
    const folder = join(hub.paths.data_dir, 'unsubscribed')
    const [name = ''] = await readdir(folder)
    const at = new Date(Date.now() - 86_400_000).toISOString()
    await writeFile(join(folder, name), JSON.stringify({ at }))
    await applyOptOuts(hub.deps)
    expect(await readdir(folder)).toEqual([])
    expect(
      await hub.query(
        'select state, stop_reason from hub.sequence_recipients where sequence_id = $1',
        [sequence?.id],
      ),
    ).toEqual([{ state: 'stopped', stop_reason: 'opted_out' }])
    const [mail] = await hub.query<{ unsubscribed_at: Date }>(
      "select unsubscribed_at from hub.recipients where email = 'deniz@client.example'",
    )
    expect(mail?.unsubscribed_at.toISOString()).toBe(at)

    await asked(path, 'POST', FORM)
    const { activities } = (await api.get(`lead/timeline?lead_id=${lead.id}`)).body
    expect(activities.filter(({ kind }: { kind: string }) => kind === 'unsubscribed')).toHaveLength(
      1,
    )
    await hub.query("delete from hub.projects where slug = 'tea'")
  })

  test('a made-up, cut or altered token is 404 and suppresses nobody', async () => {
    const { path } = await linkTo('can@client.example')
    const { total } = (await api.get('suppression')).body
    const altered = path.slice(0, -1) + (path.endsWith('A') ? 'B' : 'A')
    for (const wrong of [altered, path.slice(0, -3), '/api/cockpit/u/x', `${path}x`]) {
      expect((await asked(wrong, 'GET')).status, wrong).toBe(404)
      expect((await asked(wrong, 'POST', FORM)).status, wrong).toBe(404)
    }
    expect((await api.get('suppression')).body.total).toBe(total)
  })

  test('works when the mail’s row is gone, as after a restore; the host has to be ours', async () => {
    const { path } = await linkTo('old@client.example')
    await hub.query(`delete from hub.recipients where email = 'old@client.example'`)
    expect(
      (await hub.app.request(path, { method: 'POST', headers: { host: 'evil.example' } })).status,
    ).toBe(403)
    expect((await asked(path, 'POST', FORM)).status).toBe(200)
    const found = (await api.get('suppression?email=old@client.example')).body
    expect(found.suppression).toHaveLength(1)
  })

  test('stores no token and no address; the salt is readable by its owner only', async () => {
    const { path } = await linkTo('secret@client.example')
    const token = path.split('/').at(-1) ?? ''
    const rows = await hub.query<{ row: string }>(
      'select to_jsonb(r)::text as row from hub.recipients r union all select to_jsonb(s)::text from hub.suppression s',
    )
    expect(rows.filter(({ row }) => row.includes(token))).toEqual([])
    const suppression = await hub.query<{ row: string }>(
      'select to_jsonb(s)::text as row from hub.suppression s',
    )
    expect(suppression.filter(({ row }) => row.includes('@'))).toEqual([])
    const file = await stat(join(hub.paths.config_dir, 'suppression.salt'))
    expect(file.mode & 0o777).toBe(0o600)
    expect(JSON.stringify(hub.lines)).not.toContain(token)
  })
})

describe('the suppression list', () => {
  test('takes addresses in any form, counts what is new, and nothing takes one off', async () => {
    const added = await api.ok('suppression/add', {
      emails: ['A@X.example', 'a@x.example', 'no address'],
    })
    expect(added).toEqual({ added: 1, known: 0, invalid: ['no address'] })
    const text = 'Name;E-Mail\nB;"b@x.example"\nA;A@x.EXAMPLE\n'
    expect(await api.ok('suppression/import', { text })).toEqual({
      added: 1,
      known: 1,
      invalid: [],
    })
    expect((await api.put('suppression', { emails: ['c@x.example'] })).body.added).toBe(1)
    for (const method of ['DELETE', 'PATCH']) {
      expect((await hub.call(method, 'suppression', {})).status).toBe(405)
    }
    // safe: a transaction of the hub's own role
    await expect(
      hub.deps.db.transaction('*', (sql) => sql`delete from hub.suppression`),
    ).rejects.toMatchObject({ code: 'read_only_key' })
  })

  test('somebody suppressed after the approval gets nothing, the others do', async () => {
    await addTagged('late', 3)
    const id = await create({ kind: 'list', filter: { tag: 'late' } })
    await steps(id, 'render', 'approve', 'push')
    await api.ok('suppression/add', { emails: ['P1@late.example'] })
    await steps(id, 'send')
    await hub.deps.mailer.run()
    expect(smtp.to().sort()).toEqual(['p0@late.example', 'p2@late.example'])
    expect(await recipientsOf(id)).toMatchObject([
      { state: 'sent' },
      { state: 'skipped', reason: expect.stringContaining('suppression list') },
      { state: 'sent' },
    ])
    expect(await get(id)).toMatchObject({ state: 'sent', state_reason: '1 skipped' })
  })
})
