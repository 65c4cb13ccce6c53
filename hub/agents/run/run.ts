import type { z } from 'zod'
import type { Sql } from '../../../shared/sql.ts'
import type { Config } from '../../config.ts'
import type { Database, Project } from '../../db/db.ts'
import { readText, writeWhole } from '../../files.ts'
import { hashOf } from '../../hash.ts'
import { bilingual, joined, perLanguage, type Words } from '../../i18n/words.ts'
import { footerOf } from '../../mail/brand/brand-parts.ts'
import { readersOf } from '../../mail/drafts/audience.ts'
import { countHeld } from '../../mail/drafts/held.ts'
import { readRefusals } from '../../mail/opt-outs.ts'
import { renderDraft } from '../../mail/render/rendering.ts'
import { propose } from '../../missions/approvals.ts'
import { addEvent } from '../../missions/mission.ts'
import { readEarlier } from '../../missions/thread.ts'
import { type Model, ModelError } from '../../model/model.ts'
import { tidied } from '../../model/prompt.ts'
import { ensureFolder, listIn, resolveIn } from '../../projects/documents.ts'
import { folderOf, readContext } from '../../projects/project-folder.ts'
import type { Reader } from '../../reader/web-reader.ts'
import type { Actions } from '../actions.ts'
import {
  type Agent,
  type AgentContext,
  ApprovalNeeded,
  type ApprovalRequest,
  type Call,
  MissionFailure,
  type MissionInput,
  type Thread,
} from '../agent.ts'
import { leftOutText } from '../left-out.text.ts'
import { type StepName, stepTitle } from '../step-names.ts'
import { stopText } from '../stop.text.ts'
import { factName } from './fact-names.ts'
import { fence, languageOfTask, MAX_FACT, markOf, messageOf, namedLanguage } from './facts.ts'
import { withRules } from './project-rules.ts'
import { currentPrompt, fillPrompt } from './prompts.ts'
import { queryAs } from './query.ts'
import { languageIn, MAX_TASK, namedIn, resultFact, taskOf } from './thread.ts'

const say = bilingual(stopText)
const told = bilingual(leftOutText)

/** What reading long texts may cost besides an agent's budget; their number is limited by itself. */
const SUMMARY_TOKENS = 60_000
const isSummary = (step: string) => step.startsWith('summary ')

/** What a run needs from the hub. */
export type RunDeps = {
  config: Config
  db: Database
  model: Pick<Model, 'complete' | 'fit'>
  actions: Actions
  reader: Pick<Reader, 'read'> & { isThere: () => Promise<boolean> }
}

export type MissionRow = {
  id: string
  department: string
  task: string
  input: MissionInput
  routed_by: string
  created_at: string
  tokens: number
  continues: string | null
}

/** Somebody has cancelled the mission, or another run has it: this run may not write any more. */
export class MissionTaken extends Error {}

type RunOptions = {
  mission: MissionRow
  project: Project
  run: string
  signal: AbortSignal
  /**
   * The tokens of every call so far, including refused answers; the caller reads them at the end.
   */
  spent: { tokens: number }
  on_event: () => void
  on_token: (text: string) => void
}

type Done = { output: unknown; tokens: number }

/**
 * createContext creates what the steps of a run work with. `keepLeftOut` stores what was left out
 * after the last step; call it when the agent is done.
 */
export async function createContext(
  deps: RunDeps,
  agent: Pick<Agent, 'name' | 'variables' | 'budget'> & { prompt?: string },
  options: RunOptions,
): Promise<AgentContext & { keepLeftOut: () => Promise<void> }> {
  const { db, config } = deps
  const { mission, project, run, signal } = options
  const of = { project_id: project.id, mission_id: mission.id }
  const folder = folderOf(config.paths, project.slug)
  const finished = await db.transaction(project.id, async (sql) => {
    const rows = await sql<Done & { name: string }>`
      select name, output, tokens from hub.mission_steps
      where mission_id = ${mission.id} and finished_at is not null`
    return new Map(rows.map(({ name, ...done }) => [name, done]))
  })
  const thread = await threadOf(db, project, mission)
  // Includes what an earlier run used for answers without a result.
  let tokens = Math.max(
    mission.tokens,
    [...finished.values()].reduce((sum, done) => sum + done.tokens, 0),
  )
  const spentOnTheWeb = { bytes: 0 }
  let expected = 4
  /** What was left out since the last step; kept with the next, so that it survives a kill. */
  let left_out: Words[] = []
  let system: string | undefined
  const task = thread ? taskOf(thread, leaveOut) : mission.task

  /**
   * Runs a step once; `work` and the record of its end are one transaction, valid only for this
   * run.
   */
  async function keep<T>(
    name: StepName,
    work: (sql: Sql) => Promise<T>,
    given: { tokens?: number; started_at?: Date } = {},
  ): Promise<T> {
    const started_at = given.started_at ?? new Date()
    const output = await db.transaction(project.id, async (sql) => {
      await requireMine(sql)
      const value = tidied(JSON.parse(JSON.stringify((await work(sql)) ?? null)))
      const position = finished.size + 1
      await sql`
        insert into hub.mission_steps (
          mission_id, project_id, position, name, output, tokens, left_out, started_at, finished_at)
        values (${mission.id}, ${project.id}, ${position}, ${name}, ${JSON.stringify(value)},
          ${given.tokens ?? 0}, ${JSON.stringify(left_out)}, ${started_at}, clock_timestamp())`
      const progress = Math.min(0.95, position / Math.max(expected, position + 1))
      await sql`
        update hub.missions
        set tokens = tokens + ${given.tokens ?? 0}, progress = greatest(progress, ${progress})
        where id = ${mission.id}`
      await addEvent(sql, of, 'step', { name, position, tokens: given.tokens ?? 0, progress })
      return value
    })
    left_out = []
    finished.set(name, { output, tokens: given.tokens ?? 0 })
    options.on_event()
    return output as T // safe: T after a round through JSON, as in every later run
  }

  async function requireMine(sql: Sql): Promise<void> {
    const [mine] = await sql`
      select from hub.missions
      where id = ${mission.id} and run = ${run} and status = 'processing' for update`
    if (!mine) throw new MissionTaken('The mission is no longer this run’s.')
  }

  function begin(name: StepName): Done | undefined {
    signal.throwIfAborted()
    const known = finished.get(name)
    const own = [...finished.keys()].filter((done) => !isSummary(done)).length
    if (!known && !isSummary(name) && own >= agent.budget.steps) {
      throw new MissionFailure(say.steps_used(agent.budget.steps))
    }
    return known
  }

  async function step<T>(name: StepName, work: (sql: Sql) => Promise<T>): Promise<T> {
    const known = begin(name)
    return known ? (known.output as T) : keep(name, work) // safe: the same step wrote it
  }

  async function outside<T>(name: StepName, work: () => Promise<T>): Promise<T> {
    const known = begin(name)
    if (known) return known.output as T // safe: the same step wrote it
    const started_at = new Date()
    const value = await work()
    signal.throwIfAborted()
    return keep(name, async () => value, { started_at })
  }

  async function complete<S extends z.ZodType>(
    name: StepName,
    call: Call<S>,
  ): Promise<z.output<S>> {
    const known = begin(name)
    if (known) return call.schema.parse(known.output)
    const started_at = new Date()
    const first = await ask(name, call)
    const objection = call.check?.(first.value)
    if (objection === undefined) {
      return keep(name, async () => first.value, { tokens: first.tokens, started_at })
    }
    const second = await ask(name, call, objection.en)
    const still = call.check?.(second.value)
    const used = first.tokens + second.tokens
    if (still !== undefined && call.if_wrong !== 'keep') {
      const title = stepTitle(name)
      throw new MissionFailure(say.wrong_step(title, still))
    }
    // The second answer may be worse; what both got wrong is repaired by code.
    return keep(name, async () => second.value, { tokens: used, started_at })
  }

  function leaveOut(what: Words): void {
    if (!left_out.some(({ en }) => en === what.en)) left_out.push(what)
  }

  function spend({ prompt, completion }: { prompt: number; completion: number }): number {
    tokens += prompt + completion
    options.spent.tokens = tokens
    return prompt + completion
  }

  async function ask<S extends z.ZodType>(name: string, call: Call<S>, objection?: string) {
    const extra = [name, ...finished.keys()].some(isSummary) ? SUMMARY_TOKENS : 0
    if (tokens >= agent.budget.tokens + extra) {
      throw new MissionFailure(say.tokens_used(agent.budget.tokens + extra))
    }
    system ??= await systemOf()
    const { schema, max_tokens } = call
    const before = thread ? await resultFact(thread, { agent: agent.name, read, leaveOut }) : []
    const facts = [...before, ...(call.facts ?? [])]
    const limit = max_tokens === undefined ? {} : { max_tokens }
    const user_task = task.slice(0, MAX_TASK)
    if (user_task !== task) leaveOut(told.cut(told.task, MAX_TASK, task.length))
    for (const { label, text } of facts) {
      if (text.length > MAX_FACT) leaveOut(told.cut(factName(label), MAX_FACT, text.length))
    }
    const mark = markOf([...facts, { label: '', text: `${user_task}\n${objection ?? ''}` }])
    const rest = {
      task: call.task,
      user_task,
      mark,
      language: context.language,
      today: mission.created_at.slice(0, 10),
      is_continued: thread !== undefined,
      objection,
    }
    const bare = { schema, system, task: messageOf({ ...rest, facts: [] }), ...limit }
    // What does not fit into the model's context is left out from the end; the first fact is cut.
    const fenced = facts.map((fact) => fence(fact, mark))
    const { parts } = facts.length > 0 ? await deps.model.fit(bare, fenced) : { parts: [] }
    const kept = parts.map((part, index) => ({
      label: facts[index]?.label ?? '',
      text:
        facts[index] && fenced[index] === part
          ? facts[index].text
          : part.split('\n').slice(1).join('\n'),
    }))
    for (const [index, { label }] of facts.entries()) {
      const part = parts[index]
      if (part === undefined) leaveOut(told.full(factName(label)))
      else if (part !== fenced[index]) leaveOut(told.cut_by_context(factName(label)))
    }
    const answer = await deps.model
      .complete({
        schema,
        // Endpoints accept no other characters in the name of a schema.
        name: name.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 60),
        system,
        task: messageOf({ ...rest, facts: kept }),
        ...limit,
        priority: mission.routed_by === 'schedule' ? 'background' : 'mission',
        signal,
        on_token: options.on_token,
      })
      .catch((error: unknown) => {
        if (error instanceof ModelError) spend(error.tokens)
        throw error
      })
    const used = spend(answer.tokens)
    return { value: answer.value, tokens: used }
  }

  /** The agent's prompt with the rules of the project; whoever brings a prompt has no rules. */
  async function systemOf(): Promise<string> {
    if (agent.prompt !== undefined) return fillPrompt(agent.prompt, agent, context)
    const text = await fillPrompt(await currentPrompt(config.paths, agent.name), agent, context)
    return withRules(text, { paths: config.paths, slug: project.slug, agent: agent.name })
  }

  async function approved(name: StepName, request: ApprovalRequest): Promise<void> {
    if (begin(name)) return
    const hash = hashOf(request.action)
    const title = sentence(request.title)
    const found = await db.transaction(project.id, async (sql) => {
      await requireMine(sql)
      const [row] = await sql<{ status: string; outcome: Words | null }>`
        select status, outcome from hub.approvals
        where mission_id = ${mission.id} and action_hash = ${hash}
        order by created_at desc limit 1`
      if (!row) await propose(sql, of, request)
      return row
    })
    if (found?.status === 'rejected') {
      const no = say.you_said_no(title)
      throw new MissionFailure(found.outcome ? joined([no, found.outcome]) : no)
    }
    if (found?.status !== 'approved') {
      throw new ApprovalNeeded(say.waits_for_yes(title))
    }
    await keep(name, async (sql) => {
      await sql`
        update hub.approvals set status = 'done'
        where mission_id = ${mission.id} and action_hash = ${hash} and status = 'approved'`
      return true
    })
  }

  const read = async (path: string) => readText(await resolveIn(folder, path))

  const keepLeftOut = async () => {
    if (left_out.length > 0) await keep('left out', async () => left_out.length)
  }

  const context: AgentContext & { keepLeftOut: typeof keepLeftOut } = {
    keepLeftOut,
    mission: {
      id: mission.id,
      task,
      input: mission.input,
      created_on: mission.created_at.slice(0, 10),
    },
    ...(thread ? { thread } : {}),
    project,
    language: thread ? languageIn(thread) : languageOfTask(mission.task, mission.input.language),
    named_language: thread ? namedIn(thread) : namedLanguage(mission.task),
    speak: (language) => {
      context.language = language
    },
    brief: await readContext(config.paths, project.slug),
    signal,
    expect: (steps) => {
      expected = steps
    },
    step,
    outside,
    complete,
    leaveOut,
    write: async (path, content) => {
      const file = await resolveIn(folder, path)
      await ensureFolder(file)
      await writeWhole(file, content, 0o640)
      return path
    },
    read,
    list: (below) => listIn(folder, below),
    readers: async (sql, filter) =>
      readersOf(sql, {
        project_id: project.id,
        filter,
        refusals: await readRefusals(config.paths),
      }),
    footer: () => footerOf({ config, db }, project.slug, context.language),
    propose: (sql, request) => propose(sql, of, request),
    ask: approved,
    render: (sql, draft) => renderDraft(sql, project, config, draft),
    held: (sql, id) => countHeld(sql, project, config, id),
    query: (statement) =>
      db.transaction(project.id, (_, client) =>
        queryAs(client, statement, config.model_query_timeout_ms),
      ),
    actions: deps.actions,
    reader: {
      isThere: deps.reader.isThere,
      read: (url, signal) => deps.reader.read(url, signal, spentOnTheWeb),
    },
  }
  return context
}

async function threadOf(
  db: Database,
  project: Project,
  { task, continues }: MissionRow,
): Promise<Thread | undefined> {
  if (continues === null) return undefined
  const earlier = await db.transaction(project.id, (sql) => readEarlier(sql, continues))
  return { words: task, earlier }
}

/** A title as the end of a sentence. */
function sentence(title: Words): Words {
  return perLanguage((language) => title[language].replace(/(?<![.!?])$/, '.'))
}
