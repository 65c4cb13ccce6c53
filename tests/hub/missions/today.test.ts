import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { confirmMail, MAIL, MailSettings, pauseMail } from '../../../hub/mail/settings.ts'
import { writeSetting } from '../../../hub/ops/settings.ts'
import { startHub } from '../support/hub.ts'
import { startLicensedHub } from '../support/licensed.ts'
import { smtpSettings } from '../support/mail-help.ts'

let hub: Awaited<ReturnType<typeof startLicensedHub>>
beforeAll(async () => {
  hub = await startLicensedHub(['demir', 'baltic'])
})
afterAll(() => hub.close())

const get = async (path: string) => {
  const response = await hub.call('GET', path)
  return { status: response.status, body: await response.json() }
}
const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
type Action = {
  kind: string
  title: string
  name: string | null
  project: string | null
}
const actions = async (query = '', language = 'en'): Promise<Action[]> => {
  const headers = { 'Accept-Language': language }
  const answer = await hub.call('GET', `today_summary${query}`, undefined, headers)
  return (await answer.json()).next_actions
}

test('an empty hub says what comes first; with the public key that is the service key', async () => {
  const fresh = await startHub({ key: 'public' })
  try {
    const summary = await (await fresh.call('GET', 'today_summary')).json()
    expect(summary).toMatchObject({
      date: day(0),
      new_leads: 0,
      drafts_waiting: 0,
      approved: 0,
      sent: 0,
      missions: { done: 0, failed: 0 },
    })
    expect(summary.next_actions.map(({ kind }: Action) => kind)).toEqual([
      'add_service_key',
      'create_project',
      'choose_model',
      'set_up_mail',
    ])
  } finally {
    await fresh.close()
  }
})

test('the numbers of a project have every stage, state and day, zeros too', async () => {
  const { body } = await get('projects/kpi/baltic')
  expect(body).toMatchObject({
    slug: 'baltic',
    leads: { total: 0, by_stage: { new: 0, won: 0 } },
    drafts: { by_state: { draft: 0, unclear: 0 } },
    mail: { sent: 0, opened: 0, clicked: 0, bounced: 0, unsubscribed: 0 },
    missions: { processing: 0, done: 0, failed: 0 },
  })
  expect(body.by_day).toHaveLength(30)
  expect(body.by_day[0].day).toBe(day(29))
  expect(body.by_day[29]).toEqual({
    day: day(0),
    leads: 0,
    sent: 0,
    opened: 0,
    clicked: 0,
    replied: 0,
    missions: 0,
  })
  for (const slug of ['nobody', '..', 'UPPER']) {
    expect([slug, (await get(`projects/kpi/${slug}`)).status]).toEqual([slug, 404])
  }
})

test('what happens is counted in its project and on its day', async () => {
  await hub.query(
    `insert into hub.leads (project_id, name, stage, created_at) values
       ($1, 'a', 'new', now()), ($1, 'b', 'won', now() - interval '2 days'),
       ($1, 'c', 'new', now() - interval '29 days'), ($1, 'd', 'new', now() - interval '40 days'),
       ($2, 'e', 'new', now())`,
    [hub.ids.demir, hub.ids.baltic],
  )
  await hub.query(
    `with draft as (
       insert into hub.drafts (project_id, audience, state, subject)
       values ($1, '{"kind": "list"}', 'sent', 'Sent'), ($1, '{"kind": "list"}', 'rendered', 'Wait')
       returning id, subject
     )
     insert into hub.recipients (draft_id, project_id, email, state, sent_at, opened_at)
     select id, $1, mail, 'sent', at, opened
     from draft, (values
       ('1@x.example', now(), now()), ('2@x.example', now() - interval '1 day', null::timestamptz)
     ) as sent(mail, at, opened)
     where subject = 'Sent'`,
    [hub.ids.demir],
  )
  await hub.query(
    `insert into hub.missions (project_id, department, task, status, finished_at)
     values ($1, 'docs', 'ok', 'done', now()), ($1, 'docs', 'not ok', 'failed', now()),
       ($1, 'docs', 'later', 'queued', null)`,
    [hub.ids.demir],
  )
  const { body } = await get('projects/kpi/demir')
  expect(body.leads).toMatchObject({ total: 4, by_stage: { new: 3, won: 1, lost: 0 } })
  expect(body.drafts.by_state).toMatchObject({ sent: 1, rendered: 1, draft: 0 })
  expect(body.mail).toMatchObject({ sent: 2, opened: 1, clicked: 0 })
  expect(body.missions).toMatchObject({ queued: 1, processing: 0, done: 1, failed: 1 })
  expect(body.by_day[29]).toMatchObject({ leads: 1, sent: 1, opened: 1, missions: 1 })
  expect(body.by_day[28]).toMatchObject({ leads: 0, sent: 1, opened: 0 })
  expect(body.by_day[27].leads).toBe(1)
  expect(body.by_day[0].leads).toBe(1)
  const today = await get('today_summary')
  expect(today.body).toMatchObject({
    new_leads: 2,
    drafts_waiting: 1,
    sent: 1,
    missions: { done: 1, failed: 1 },
  })
  expect((await get('today_summary?project=demir')).body.new_leads).toBe(1)
  expect((await get('today_summary?project=nobody')).status).toBe(404)
  expect((await get('today_summary?day=x')).status).toBe(400)
})

test('an import that stopped or left rows is there until its file comes again', async () => {
  const bring = (file: string, status: string, refused: number, ago = '0 hours') =>
    hub.query<{ id: string }>(
      `insert into hub.imports (project_id, file, options, status, total, refused, finished_at)
       values ($1, $2, '{}', $3, 3, $4, now() - $5::interval) returning id`,
      [hub.ids.baltic, file, status, refused, ago],
    )
  const told = async (language: string) =>
    (await actions('?project=baltic', language))
      .filter(({ kind }) => kind.includes('import'))
      .map(({ title }) => title)
  await bring('gone.csv', 'failed', 0)
  const [left] = await bring('fair.csv', 'done', 2)
  expect(await told('en')).toEqual([
    'See why the import of gone.csv stopped',
    'Correct 2 rows in fair.csv and import them again',
  ])
  expect(await told('tr')).toEqual([
    'gone.csv dosyasının aktarımı neden durdu, bakın',
    'fair.csv dosyasındaki 2 satırı düzeltip yeniden aktarın',
  ])
  await bring('gone.csv', 'done', 0)
  await bring(`import-errors-${left?.id} (1).csv`, 'done', 0)
  expect(await told('en')).toEqual([])
  // After two days nobody looks for them here.
  await bring('old.csv', 'failed', 0, '49 hours')
  await bring('worn.csv', 'done', 2, '49 hours')
  expect(await told('en')).toEqual([])
  await bring('late.csv', 'failed', 0, '47 hours')
  await bring('tired.csv', 'done', 1, '47 hours')
  expect(await told('en')).toEqual([
    'See why the import of late.csv stopped',
    'Correct 1 row in tired.csv and import it again',
  ])
})

test('next actions are facts: each is there while it is to be done, and gone when it is', async () => {
  await hub.query('delete from hub.leads')
  await hub.query('delete from hub.drafts')
  await hub.query('delete from hub.missions')
  const kinds = async () => (await actions('?project=demir')).map(({ kind }) => kind)
  const always = ['describe_project', 'choose_model', 'set_up_mail']
  expect(await kinds()).toEqual(['add_leads', ...always])
  const made = await hub.call('POST', 'lead/quick_add', {
    slug: 'demir',
    data: { email: 'kim@x.example' },
  })
  const { lead } = await made.json()
  expect(await kinds()).toEqual(['write_to_leads', ...always])
  // Nobody can write to these two.
  await hub.query(
    `insert into hub.leads (project_id, email) values ($1, 'info@x.example'), ($1, 'no@x.example')`,
    [hub.ids.demir],
  )
  await hub.call('POST', 'suppression/add', { emails: ['no@x.example'] })
  expect(await actions('?project=demir')).toMatchObject([{ count: 1 }, {}, {}, {}])
  await hub.query('delete from hub.leads where id <> $1', [lead.id])

  const update = (body: object) => hub.call('POST', 'lead/update', { lead_id: lead.id, ...body })
  const task = async (due_on: string) =>
    (await hub.call('POST', 'lead/task', { lead_id: lead.id, title: 'Call', due_on })).json()
  await task(day(-1))
  const { task: due } = await task(day(1))
  await update({ stage: 'contacted' })
  expect(await actions('?project=demir')).toMatchObject([
    { kind: 'task_due', title: 'Call', name: 'Call', ref: { id: due.id }, lead_id: lead.id },
    {},
    {},
    {},
  ])
  await hub.call('POST', 'lead/task/update', { task_id: due.id, done: true })
  expect(await kinds()).toEqual(always)
  await hub.query(`update hub.activities set at = now() - interval '6 days'`)
  const [follow] = await actions('?project=demir')
  expect(follow).toMatchObject({
    kind: 'follow_up',
    title: 'Follow up with kim@x.example: no reply for 6 days',
    name: 'kim@x.example',
    ref: { kind: 'lead', id: lead.id },
  })
  await update({ stage: 'replied' })
  expect(await kinds()).toEqual(['answer_reply', ...always])
  await update({ stage: 'meeting' })

  const states = ['unclear', 'rendered', 'approved', 'draft', 'sent', 'rejected']
  for (const state of states) {
    await hub.query(
      `insert into hub.drafts (project_id, audience, state, subject)
       values ($1, '{"kind": "list"}', $2, $2)`,
      [hub.ids.demir, state],
    )
  }
  await hub.query(
    `insert into hub.approvals (project_id, kind, title, action, action_hash)
     values ($1, 'external', '{"en": "Read a website", "tr": "Bir siteyi oku"}', '{}', 'x')`,
    [hub.ids.demir],
  )
  await hub.query(
    `insert into hub.missions (project_id, department, task, status, finished_at)
     values ($1, 'docs', 'x', 'failed', now())`,
    [hub.ids.demir],
  )
  expect(await kinds()).toEqual([
    'check_unclear',
    'approve_draft',
    'decide_approval',
    'send_draft',
    'finish_draft',
    'look_at_failed_mission',
    'set_brand',
    ...always,
  ])
  expect((await actions()).map(({ project }) => project)).toContain('baltic')
  // Of sender and address, each alone is not enough.
  const brand = async (sender: string | null, address: string | null) => {
    await hub.query(
      `insert into hub.brands (project_id, sender_name, sender_email, postal_address)
       values ($1, $2, $2, $3) on conflict (project_id)
       do update set sender_name = $2, sender_email = $2, postal_address = $3`,
      [hub.ids.demir, sender, address],
    )
    return (await kinds()).includes('set_brand')
  }
  expect(await brand('a@demir.example', null)).toBe(true)
  expect(await brand(null, 'Street 1')).toBe(true)
  expect(await brand('a@demir.example', 'Street 1')).toBe(false)
  await hub.query('delete from hub.brands')
  const titles = async (language: string) =>
    (await actions('?project=demir', language)).map(({ title }) => title)
  expect(await titles('en')).toEqual([
    'Find out whether “unclear” was sent: the server never confirmed it',
    'Read and approve “rendered”',
    'Decide: Read a website',
    'Send the approved draft “approved”',
    'Finish 1 draft that has no design yet',
    'See why “x” failed',
    'Enter the sender and the postal address of Demir: nothing is sent without them',
    'Tell the agents about Demir: value proposition, tone of voice, proof points, offers still missing',
    'Choose a model: missions are waiting for one',
    'Set up mail: drafts can be written without it, but not sent',
  ])
  expect(await titles('tr')).toEqual([
    '“unclear” gönderildi mi, öğrenin: sunucu hiç doğrulamadı',
    'Okuyup onaylayın: “rendered”',
    'Karar verin: Bir siteyi oku',
    'Onaylanan “approved” taslağını gönderin',
    'Tasarımı olmayan 1 taslağı bitirin',
    '“x” neden başarısız oldu, bakın',
    'Demir projesinin göndereni ve posta adresini girin: onlarsız hiçbir şey gönderilmez',
    'Demir projesini ajanlara anlatın: eksik: değer önerisi, üslup, kanıtlar, teklifler',
    'Bir model seçin: görevler onu bekliyor',
    'E-postayı kurun: taslaklar onsuz da yazılır ama gönderilemez',
  ])
})

test('one server is enough for mail, a pause comes first, and a license that is refused is to be renewed', async () => {
  const kinds = async () => (await actions()).map(({ kind }) => kind)
  const set = async (more: object) => {
    await writeSetting(hub.paths, MAIL, MailSettings.parse(more))
    return (await kinds()).includes('set_up_mail')
  }
  const { smtp } = smtpSettings(25)
  const listmonk = { url: 'http://127.0.0.1:9', user: 'hub', token: 'secret' }
  expect([await set({ smtp }), await set({ listmonk })]).toEqual([false, false])
  expect(await set({})).toBe(true)
  await pauseMail(hub.paths, 'admin', null)
  expect((await actions())[0]).toMatchObject({ kind: 'confirm_mail', ref: { id: 'mail' } })
  await confirmMail(hub.paths)
  expect(await kinds()).not.toContain('confirm_mail')
  const file = join(hub.paths.config_dir, 'license.json')
  const license = await readFile(file, 'utf8')
  expect(await kinds()).not.toContain('renew_license')
  await writeFile(file, JSON.stringify({ license: 'x' }))
  const renew = (await actions()).find(({ kind }) => kind === 'renew_license')
  expect(renew).toMatchObject({ title: 'Renew the license', ref: { id: 'license' } })
  await writeFile(file, license)
})

test('what mails lack is asked for until it is said, in the file or on the page', async () => {
  const folder = join(hub.paths.data_dir, 'projects/demir')
  await mkdir(folder, { recursive: true })
  await writeFile(
    join(folder, 'CONTEXT.md'),
    '# Demir\n\n## Value proposition\n\nFast.\n\n## Tone of voice\n\nDry.\n',
  )
  const asked = async () =>
    (await actions('?project=demir')).find(({ kind }) => kind === 'describe_project')
  expect(await asked()).toMatchObject({
    title: 'Tell the agents about Demir: proof points, offers still missing',
    project: 'demir',
  })
  const said = { slug: 'demir', proof_points: '40 trucks run on it.', offers: 'A free trial.' }
  expect((await hub.call('POST', 'projects/update', said)).status).toBe(200)
  expect(await asked()).toBeUndefined()
  const own = () =>
    hub.query(`select fact from hub.evidence where source = 'CONTEXT.md' order by fact`)
  expect(await own()).toEqual([{ fact: '40 trucks run on it.' }, { fact: 'A free trial.' }])
  await hub.call('POST', 'projects/update', { slug: 'demir', offers: 'A free month.' })
  expect(await own()).toEqual([{ fact: '40 trucks run on it.' }, { fact: 'A free month.' }])
})
