import { setTimeout } from 'node:timers/promises'
import type { AgentName } from '../../../hub/agents/names.ts'
import { readText } from '../../../hub/files.ts'
import type { Language } from '../../../shared/words/texts.ts'
import { checkOutcome, type Outcome } from './checks.ts'
import type { BookHub } from './hub.ts'
import { type Task, worldOf } from './task.ts'

export type Entry = { agent: AgentName; language: Language; task: Task; number: number }
/** What came of one task, kept for a look at it. */
export type Kept = {
  agent: AgentName
  language: Language
  name: string
  passed: boolean
  wrong: string[]
  seconds: number
  tokens: number
  outcome: Outcome
}

const LOOK_MS = 100
const PROMPTS = new URL('../../../hub/prompts/', import.meta.url)

/** runTask gives a task to its agent in a project of its own, and checks what comes of it. */
export async function runTask(hub: BookHub, entry: Entry, limit_ms: number): Promise<Kept> {
  const { agent, language, task, number } = entry
  const slug = `${agent.replace('_', '-')}-${language}-${number}`
  const begun = performance.now()
  await makeWorld(hub, slug, task)
  const { mission } = await hub.call('POST', 'mission/compose', {
    department: agent,
    task: task.task[language],
    project: slug,
    ...(task.input ? { input: inputIn(task.input, language) } : {}),
  })
  const { outcome, tokens } = await follow(hub, slug, mission.id, limit_ms)
  const seconds = Math.round((performance.now() - begun) / 100) / 10
  return judged(entry, { seconds, tokens, outcome })
}

/** judged checks a result, which may be an old one: the checks may have become stricter since. */
export async function judged(
  { agent, language, task }: Entry,
  what: Pick<Kept, 'seconds' | 'tokens' | 'outcome'>,
): Promise<Kept> {
  const prompt = (await readText(new URL(`${agent}.md`, PROMPTS).pathname)) ?? ''
  const wrong = checkOutcome(what.outcome, { task, language, prompt })
  return {
    agent,
    language,
    name: task.name,
    passed: wrong.length === 0,
    wrong,
    seconds: what.seconds,
    tokens: what.tokens,
    outcome: what.outcome,
  }
}

function inputIn({ alert, ...rest }: NonNullable<Task['input']>, language: Language) {
  if (!alert) return rest
  return { ...rest, alert: { kind: alert.kind, message: alert.message[language] } }
}

async function makeWorld(hub: BookHub, slug: string, task: Task): Promise<void> {
  const { context, leads, files, failed } = worldOf(task)
  const settings = { engineer_system: false, web: 'ask', improve: 'never', ...task.settings }
  await hub.call('PUT', 'settings/agents', settings)
  await hub.call('POST', 'projects/create', {
    name: 'Rota Planlama',
    slug,
    website: 'https://rota.example',
    industry: 'logistics software',
    ...context,
  })
  for (const { facts = [], ...data } of leads) {
    const { lead } = await hub.call('POST', 'lead/quick_add', { slug, data })
    for (const fact of facts) {
      const given = { project: slug, lead_id: lead.id, fact, source: 'fair.csv' }
      await hub.call('POST', 'evidence/add', given)
    }
  }
  for (const [path, text] of Object.entries(files)) await hub.put(slug, path, text)
  for (const text of failed) {
    await hub.query(
      `insert into hub.missions (project_id, department, task, status, reason, started_at, finished_at)
       select id, 'marketing', $2, 'failed', '{"en": "No lead of that name.", "tr": "Bu adda aday yok."}', now(), now()
       from hub.projects where slug = $1`,
      [slug, text],
    )
  }
}

async function follow(hub: BookHub, slug: string, id: string, limit_ms: number) {
  const until = performance.now() + limit_ms
  let mission = (await hub.call('GET', `missions/${id}`)).mission
  const isOver = () =>
    ['done', 'failed', 'cancelled'].includes(mission.status) || mission.waits_for === 'approval'
  while (!isOver() && performance.now() < until) {
    await setTimeout(LOOK_MS)
    mission = (await hub.call('GET', `missions/${id}`)).mission
  }
  if (!isOver()) {
    await hub.call('POST', 'mission/cancel', { id })
    mission = { ...mission, status: 'cancelled', reason: `took more than ${limit_ms / 1000} s` }
  }
  const { result } = mission
  const documents = []
  for (const { path } of result?.documents ?? []) {
    const query = new URLSearchParams({ project: slug, path })
    const { document } = await hub.call('GET', `documents/get?${query}`)
    documents.push({ path, text: document.text })
  }
  const drafts = []
  for (const draft of result?.drafts ?? []) {
    const { draft: one, recipients } = await hub.call(
      'GET',
      `drafts/get?project=${slug}&id=${draft}`,
    )
    const to = one.audience.kind === 'list' ? 'list' : (recipients.sample[0]?.email ?? 'nobody')
    drafts.push({ to, subject: one.subject, text: one.text })
  }
  const outcome: Outcome = {
    status: mission.status,
    reason: mission.reason,
    waits_for: mission.waits_for,
    summary: result?.summary ?? '',
    documents,
    drafts,
    table: result?.table ?? null,
    has_chart: result?.chart !== undefined && result?.chart !== null,
    today: mission.created_at.slice(0, 10),
  }
  return { outcome, tokens: mission.tokens as number }
}
