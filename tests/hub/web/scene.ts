import { LICENSE } from '../../../hub/license/license.ts'
import { pauseMail } from '../../../hub/mail/settings.ts'
import { writeSetting } from '../../../hub/ops/settings.ts'
import type { ServedHub } from './browser.ts'

/** Everything that can happen to a lead. */
export const KINDS: [string, object][] = [
  ['created', { by: 'hand' }],
  ['created', { mission_id: 'x' }],
  ['imported', { file: 'Veri.csv', row: 2 }],
  ['merged', { file: 'Veri.csv', row: 2 }],
  ['unmerged', {}],
  ['edited', { fields: ['name', 'lawful_basis', 'phone'] }],
  ['stage', { from: 'new', to: 'contacted' }],
  ['stage', { to: 'replied', by: 'replied' }],
  ['tagged', { tags: ['Veri'] }],
  ['moved', { from: 'Veri', to: 'veri' }],
  ['note', { text: 'Veri notu' }],
  ['task', { title: 'Veri işi' }],
  ['task_done', { title: 'Veri işi' }],
  ['evidence', { source: 'Veri.csv:2' }],
  ...['draft', 'approved', 'sent', 'opened', 'clicked', 'replied', 'bounced', 'unsubscribed'].map(
    (kind): [string, object] => [kind, { subject: 'Veri konusu', opt_out: 'open' }],
  ),
]

/**
 * A project with all that can wait for somebody; answers a lead to whom everything has happened.
 */
export async function makeScene(hub: ServedHub): Promise<string> {
  const [project] = await hub.query<{ id: string }>(
    `insert into hub.projects (slug, name) values ('veri', 'Veri Lojistik') returning id`,
  )
  const insert = async (statement: string, ...values: unknown[]): Promise<string> =>
    (await hub.query<{ id: string }>(`${statement} returning id`, [project?.id, ...values]))[0]
      ?.id ?? ''
  const lead = await insert(
    `insert into hub.leads (project_id, name, email, company, source, lawful_basis, stage)
     values ($1, 'Veri Kişi', 'veri@firma.example', 'Veri A.Ş.', 'Veri.csv', 'consent', 'replied')`,
  )
  const quiet = await insert(
    `insert into hub.leads (project_id, name, stage) values ($1, 'Veri Aday', 'contacted')`,
  )
  await insert(
    `insert into hub.leads (project_id, name, stage) values ($1, 'Veri Yanıt', 'replied')`,
  )
  const activity = `insert into hub.activities (project_id, lead_id, kind, details, at)
    values ($1, $2, $3, $4, now() - make_interval(days => $5))`
  await insert(activity, quiet, 'sent', '{}', 9)
  for (const [kind, details] of KINDS) {
    await insert(activity, lead, kind, JSON.stringify(details), 1)
  }
  await insert(
    `insert into hub.tasks (project_id, lead_id, title, due_on)
     values ($1, $2, 'Veri işi', '2026-01-02')`,
    lead,
  )
  await insert(
    `insert into hub.evidence (project_id, lead_id, fact, quote, source)
     values ($1, $2, 'Ad: Veri Kişi', 'Ad: Veri Kişi; Bölge: Veri', 'Veri.csv:2')`,
    lead,
  )
  for (const state of ['unclear', 'rendered', 'approved', 'draft']) {
    await insert(
      `insert into hub.drafts (project_id, audience, state, subject)
       values ($1, '{"kind": "list"}', $2, $3)`,
      state,
      `Veri ${state}`,
    )
  }
  await hub.query(
    `insert into hub.recipients (draft_id, project_id, lead_id, email, state, opt_out)
     select id, project_id, $2, 'veri@firma.example', 'sent', 'open'
     from hub.drafts where project_id = $1 and state = 'draft'`,
    [project?.id, lead],
  )
  await insert(
    `insert into hub.approvals (project_id, kind, title, action, action_hash)
     values ($1, 'external', '{"en": "Read the Veri site", "tr": "Veri sitesini oku"}', '{}', 'x')`,
  )
  await insert(
    `insert into hub.missions (project_id, department, task, status, finished_at)
     values ($1, 'docs', 'Veri araştır', 'failed', now())`,
  )
  await insert(
    `insert into hub.imports (project_id, file, options, status, total, refused, finished_at)
     values ($1, 'Veri.csv', '{}', 'done', 3, 3, now())`,
  )
  await pauseMail(hub.paths, 'agent', { en: 'x', tr: 'x' })
  await writeSetting(hub.paths, LICENSE, { license: 'no license' })
  return lead
}
