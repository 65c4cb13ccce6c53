import { afterAll, beforeAll, expect, test } from 'vitest'
import { BASE } from '../../../hub/app.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
const ids: Record<string, string> = {}
/** Beyond the one project that Free allows. */
const project = 'surplus'

beforeAll(async () => {
  hub = await startHub()
  const insert = async (name: string, sql: string) => {
    const [row] = await hub.query<{ id: string }>(`${sql} returning id`, [ids.project])
    ids[name] = row?.id ?? ''
  }
  const [row] = await hub
    .query<{ id: string }>(
      `insert into hub.projects (slug, name, created_at)
     values ('first', 'First', now() - interval '1 day'), ('surplus', 'Surplus', now())
     returning id, slug`,
    )
    .then((rows) => rows.slice(1))
  ids.project = row?.id ?? ''
  await insert('lead', "insert into hub.leads (project_id, name) values ($1, 'Ali')")
  const lead = `'${ids.lead}'`
  await insert(
    'note',
    `insert into hub.notes (project_id, lead_id, text) values ($1, ${lead}, 'x')`,
  )
  await insert(
    'task',
    `insert into hub.tasks (project_id, lead_id, title) values ($1, ${lead}, 'x')`,
  )
  await insert(
    'mission',
    "insert into hub.missions (project_id, department, task) values ($1, 'sales', 'Call')",
  )
  await insert(
    'failed',
    `insert into hub.missions (project_id, department, task, status, finished_at)
     values ($1, 'sales', 'Call', 'failed', now())`,
  )
  await insert(
    'draft',
    `insert into hub.drafts (project_id, audience, subject, text)
     values ($1, '{"kind": "lead", "lead_id": ${JSON.stringify(ids.lead)}}', 'Hello', 'Hello')`,
  )
  await insert(
    'inbox',
    `insert into hub.inbox_mails (project_id, draft_id, our_email, kind, matched_by)
     values ($1, '${ids.draft}', 'a@x.example', 'reply', 'message_id')`,
  )
  await insert(
    'approval',
    `insert into hub.approvals (project_id, kind, title, action, action_hash)
     values ($1, 'external', '{"en": "Read a page", "tr": "Bir sayfa oku"}', '{"do": "read_web"}', 'x')`,
  )
  await insert(
    'import',
    `insert into hub.imports (project_id, file, options, status, total)
     values ($1, 'a.csv', '{}', 'done', 1)`,
  )
  await insert(
    'merge',
    `insert into hub.merges (project_id, lead_id, gone, kept, moved)
     select $1, id, '{}', '{}', '{}' from hub.leads where project_id = $1 limit 1`,
  )
  await insert(
    'sequence',
    `insert into hub.sequences (project_id, name, state, send_window)
     values ($1, 'Offer', 'running', '{"days": ["mon"], "from": "09:00", "to": "17:00", "time_zone": "UTC"}')`,
  )
})
afterAll(() => hub.close())

/** Every route that writes into a project, and how it is called there. */
const INTO_PROJECT: Record<string, () => [body: unknown, query?: string, type?: string]> = {
  'post projects/update': () => [{ slug: project, name: 'Other' }],
  'post projects/listmonk_list': () => [{ slug: project }],
  'post leads/bulk': () => [{ project, ids: [ids.lead], stage: 'won' }],
  'post leads/import': () => ['name\nAli\n', `?project=${project}&file_name=a.csv`],
  'post lead/quick_add': () => [{ slug: project, data: { name: 'Ali' } }],
  'post lead/update': () => [{ lead_id: ids.lead, name: 'Veli' }],
  'post lead/tag_project': () => [{ lead_id: ids.lead, slug: 'first' }],
  'post lead/not_replied': () => [{ lead_id: ids.lead }],
  'post lead/opt_out': () => [{ lead_id: ids.lead, refuses: true }],
  'post inbox/sort': () => [{ id: ids.inbox, is_reply: true }],
  'post inbox/assign': () => [{ id: ids.inbox }],
  'post inbox/opt_out': () => [{ id: ids.inbox, refuses: true }],
  'post inbox/back': () => [{ id: ids.inbox }],
  'post inbox/answer': () => [{ id: ids.inbox, answer_id: ids.lead, text: 'x' }],
  'post lead/delete': () => [{ lead_id: ids.lead }],
  'post lead/note': () => [{ lead_id: ids.lead, text: 'x' }],
  'post lead/note/delete': () => [{ note_id: ids.note }],
  'post lead/task': () => [{ slug: project, title: 'x' }],
  'post lead/task/update': () => [{ task_id: ids.task, title: 'y' }],
  'post lead/task/delete': () => [{ task_id: ids.task }],
  'post mission/compose': () => [{ department: 'sales', task: 'Call them', project }],
  'post mission/retry': () => [{ id: ids.failed }],
  'post mission/continue': () => [{ id: ids.failed, task: 'shorter' }],
  'post mission/edit': () => [{ id: ids.failed, version: 1, text: 'x' }],
  'post approvals/approve': () => [{ id: ids.approval, hash: '0'.repeat(64) }],
  'post draft/create': () => [
    { project, audience: { kind: 'lead', lead_id: ids.lead }, subject: 'x', text: 'y' },
  ],
  'put projects/brand': () => [{ slug: project, name: 'x' }],
  'post projects/dkim/make': () => [{ slug: project }],
  'post projects/dkim/check': () => [{ slug: project }],
  'post projects/dkim/remove': () => [{ slug: project }],
  'put projects/rules': () => [{ slug: project, agent: 'sales', text: '- x' }],
  'post draft/edit': () => [{ id: ids.draft, project, subject: 'x' }],
  'post draft/render': () => [{ id: ids.draft, project }],
  'post draft/redesign': () => [{ id: ids.draft, project }],
  'post draft/approve': () => [{ id: ids.draft, project, hash: '0'.repeat(64) }],
  'post draft/stand': () => [{ id: ids.draft, project, sentence: 'x' }],
  'post draft/judge': () => [{ id: ids.draft, project }],
  'post evidence/add': () => [{ project, fact: 'We carry freight.', source: 'x' }],
  'post evidence/delete': () => [{ project, id: ids.draft }],
  'post queue/approve': () => [
    { project, drafts: [{ id: ids.draft, hash: '0'.repeat(64) }], send: true },
  ],
  'post documents/save': () => [{ project, path: 'a.md', text: 'x', modified_at: 'x' }],
  'post documents/delete': () => [{ project, path: 'a.md', confirm: 'a.md' }],
  'post documents/upload': () => [
    '------------------------------x0\r\ncontent-disposition: form-data; name="file"; filename="a.py"\r\n\r\nx\r\n------------------------------x0--\r\n',
    `?project=${project}`,
    'multipart/form-data; boundary=----------------------------x0',
  ],
  'post lead/merge': () => [{ kept_id: ids.lead, gone_id: ids.draft }],
  'put leads/fields': () => [{ project, fields: [] }],
  'post leads/fields/remove': () => [{ project, key: 'trucks', label: 'Trucks' }],
  'post leads/imports/{id}/undo': () => [{}],
  'post leads/merges/{id}/undo': () => [{}],
  'post leads/lawful_basis': () => [{ project, ids: [ids.lead], lawful_basis: 'consent' }],
  'put deals/settings': () => [{ project, won_reasons: ['Price'] }],
  'post sequence/create': () => [{ project, name: 'x', steps: [{ wait_days: 0, text: 'x' }] }],
  'post sequence/edit': () => [{ project, id: ids.sequence, name: 'y' }],
  'post sequence/approve': () => [{ project, id: ids.sequence }],
  'post sequence/resume': () => [{ project, id: ids.sequence }],
  // What went out may be said; only sending it again is refused.
  'post sequence/clear': () => [{ project, id: ids.sequence, outcome: 'not_sent' }],
  'post sequence/delete': () => [{ project, id: ids.sequence }],
  'post sequence/stand': () => [{ project, id: ids.sequence, step_id: ids.draft, sentence: 'x' }],
  'post draft/push': () => [{ id: ids.draft, project }],
  'post draft/send': () => [{ id: ids.draft, project }],
}

/** Routes that write elsewhere, or that only stop what a project does: they stay open. */
const ELSEWHERE = [
  'post setup',
  'post login',
  'post logout',
  'post logout/everywhere',
  'post password',
  'post u/{token}',
  'post projects/select',
  'post projects/brand/preview',
  // Refused by the number of projects, not by one of them.
  'post projects/create',
  'post projects/restore',
  // What is too much may always be deleted.
  'post projects/delete',
  'post projects/archives/delete',
  'post leads/import_preview',
  // Marks change nothing of a project, and a test goes to oneself.
  'post inbox/mark',
  'post draft/test',
  // Calls the other routes, each of which decides.
  'post mcp',
  'post invitation/look',
  'post invitation/accept',
  'post settings/keys',
  'post settings/keys/revoke',
  'post settings/members',
  'post settings/members/change',
  'post settings/members/link',
  'post settings/members/remove',
  'post settings/members/withdraw',
  'post settings/webhooks',
  'post settings/webhooks/change',
  'post settings/webhooks/delete',
  'post settings/webhooks/redeliver',
  'post settings/webhooks/rotate',
  'post settings/webhooks/test',
  'put license',
  'delete license',
  'post settings/service_key',
  'put settings/branding',
  'put settings/system',
  'post settings/backup_server',
  'put settings/models',
  'put settings/agents',
  'put settings/prompts/{agent}',
  'delete settings/prompts/{agent}',
  'post settings/prompts/{agent}/restore',
  'post settings/prompts/{agent}/seen',
  'post settings/prompts/{agent}/try',
  'put settings/mail',
  'post settings/mail/test',
  'post settings/mail/pause',
  'post settings/mail/confirm',
  'post model/download',
  'post model/download/cancel',
  'post model/test',
  'post backup/run',
  'post backup/upload',
  'post backup/check',
  'post backup/restore',
  'post backup/delete',
  'post people/find',
  'post people/export',
  'post people/erase',
  'put suppression',
  'post suppression/add',
  'post suppression/import',
  'post suppression/release',
  'post mission/recipients',
  'post mission/route',
  'post mission/cancel',
  'post approvals/reject',
  'post sequence/pause',
  'post sequence/stop',
  'post sequence/take_out',
  'post draft/reject',
  'post draft/pause',
  'post draft/resume',
  'post draft/clear',
]

test('every route that writes is known: into a project, or elsewhere', async () => {
  const { paths } = await (await hub.call('GET', 'spec')).json()
  const writing = Object.entries<object>(paths).flatMap(([path, operations]) =>
    Object.keys(operations)
      .filter((method) => method !== 'get')
      .map((method) => `${method} ${path.slice(BASE.length + 1)}`),
  )
  expect(writing.sort()).toEqual([...Object.keys(INTO_PROJECT), ...ELSEWHERE].sort())
})

test.each(Object.keys(INTO_PROJECT))('%s into a surplus project is 402', async (route) => {
  const [method = '', path = ''] = route.split(' ')
  const [body, query = '', type = 'text/csv'] = INTO_PROJECT[route]?.() ?? [{}]
  const headers: Record<string, string> = typeof body === 'string' ? { 'content-type': type } : {}
  const refused = await hub.call(
    method.toUpperCase(),
    path.replace('{id}', `${path.includes('merges') ? ids.merge : ids.import}`) + query,
    body,
    headers,
  )
  const problem = await refused.json()
  expect({ status: refused.status, code: problem.code, detail: problem.detail }).toEqual({
    status: 402,
    code: 'license_limit',
    detail: expect.stringContaining('"Surplus" is read-only'),
  })
})

test('the surplus project has not changed', async () => {
  const [row] = await hub.query(
    `select (select count(*)::int from hub.leads where project_id = $1) as leads,
       (select count(*)::int from hub.missions where project_id = $1) as missions,
       (select string_agg(state, ',') from hub.drafts where project_id = $1) as drafts,
       (select name from hub.leads where project_id = $1) as name`,
    [ids.project],
  )
  expect(row).toEqual({ leads: 1, missions: 2, drafts: 'draft', name: 'Ali' })
})

test('a sequence that runs there can be held and ended, and not let go on', async () => {
  const steer = async (step: string, more = {}) =>
    (await hub.call('POST', `sequence/${step}`, { id: ids.sequence, project, ...more })).status
  expect(await steer('pause')).toBe(200)
  expect(await steer('resume')).toBe(402)
  expect(await steer('take_out', { email: 'nobody@x.example' })).toBe(404)
  expect(await steer('clear', { outcome: 'sent' })).toBe(404)
  expect(await steer('stop')).toBe(200)
})

test('all of it can still be read and exported', async () => {
  for (const path of [
    `leads/list?project=${project}`,
    `drafts/list?project=${project}`,
    `missions/list?project=${project}`,
    `leads/export?project=${project}`,
    `projects/kpi/${project}`,
  ]) {
    expect([path, (await hub.call('GET', path)).status]).toEqual([path, 200])
  }
})
