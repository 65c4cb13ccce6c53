/** What the data agent's queries can see, as `{{tables}}` in its prompt: each table on its own line. */
export const TABLES = `projects(id, slug, name, website, industry, icp, created_at)
leads(id, project_id, name, email, company, title, phone, website, country, language, stage, source, lawful_basis, score, tags text[], domain, amount, currency, close_on, next_step, outcome_reason, closed_at, created_at)
  stage is one of new, contacted, replied, meeting, proposal, won, lost
evidence(id, lead_id, fact, quote, source, mission_id, created_at)
notes(lead_id, text, created_at)
tasks(lead_id, title, due_on, done_at, created_at)
activities(lead_id, kind, details jsonb, at)
  kind is one of created, imported, merged, edited, stage, tagged, moved, note, task, task_done, evidence, draft, approved, sent, opened, clicked, replied, bounced, unsubscribed
drafts(id, audience jsonb, template, language, subject, state, agent, mission_id, created_at, updated_at, edited_at)
  edited_at is when a person first changed what an agent wrote; state is one of draft, rendered, approved, pushed, sending, sent, unclear, rejected, failed
recipients(draft_id, lead_id, email, state, sent_at, opened_at, clicked_at, bounced_at, replied_at, unsubscribed_at)
sequences(id, name, language, state, agent, mission_id, approved_at, started_at, ended_at, created_at, updated_at, edited_at)
  mails in steps, each days after the one before; edited_at is when a person first changed what an agent wrote; state is one of draft, running, paused, done, stopped
sequence_recipients(sequence_id, lead_id, email, name, company, state, stop_reason, wait_until, started_at, ended_at)
  state is one of active, done, stopped; stop_reason is one of replied, bounced, complained, opted_out, stage, lead_deleted, erased, taken_out, left_out, failed, sequence_stopped
lead_fields(key, label, kind, choices text[], position)
  the fields that people added to leads; the value of one is a row of evidence with its key as field_key
deal_settings(probabilities jsonb, won_reasons text[], lost_reasons text[])
  probabilities has a percentage by stage
campaigns(draft_id, state, opened, clicked, started_at, finished_at)
  opens and clicks of mail that listmonk sent; one row for each part of a draft's recipients
missions(id, department, routed_by, task, status, reason, tokens, created_at, started_at, finished_at)
  reason is jsonb in two languages: read it as reason ->> 'en' or reason ->> 'tr'`

/** The tables and their columns, as TABLES names them. */
export const COLUMNS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  [...TABLES.matchAll(/^(\w+)\((.+)\)$/gm)].map(([, table = '', columns = '']) => [
    table,
    columns.split(', ').map((column) => column.replace(/ .*/, '')),
  ]),
)

/** tablesIn lists the tables that a statement names. */
export function tablesIn(sql: string): string[] {
  const words = new Set(sql.toLowerCase().match(/[a-z_]+/g))
  return Object.keys(COLUMNS).filter((table) => words.has(table))
}

/** columnsIn says which columns the tables of a statement have. */
export function columnsIn(sql: string): string {
  return tablesIn(sql)
    .map((table) => `${table}(${COLUMNS[table]?.join(', ')})`)
    .join('; ')
}
