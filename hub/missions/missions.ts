import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { PgBoss } from 'pg-boss'
import { z } from 'zod'
import { ApiError } from '../../shared/problem.ts'
import type { Sql } from '../../shared/sql.ts'
import { type Result, Stop, Wait, type Waiting } from '../agents/agent.ts'
import { AGENTS } from '../agents/agents.ts'
import { AGENT_NAMES, isAgentName } from '../agents/names.ts'
import { createContext, Lost, type MissionRow, type RunDeps } from '../agents/run/run.ts'
import { everywhere, type Project } from '../db/db.ts'
import { failureOf } from '../i18n/failure.ts'
import { bilingual, stored, type Words } from '../i18n/words.ts'
import { type License, readLicense, requireWritable } from '../license/license.ts'
import type { Log } from '../log.ts'
import { type Model, ModelError, type ModelReason } from '../model/model.ts'
import { PathError } from '../projects/documents.ts'
import { missionText } from './mission.text.ts'
import { addEvent } from './mission.ts'

const QUEUE = 'missions'
/** A mission may take hours on a small machine; its row, not its job, is the truth. */
const LONGEST_SECONDS = 20 * 3600
/** So many missions work at once: while one waits for the model, another reads or writes. */
const AT_ONCE = 3
const SWEEP_MS = 1000
/** A mission that ends the process each time is not tried for ever. */
const MOST_INTERRUPTIONS = 3
const say = bilingual(missionText)

export type MissionsDeps = Omit<RunDeps, 'model'> & {
  url: string
  log: Log
  model: Pick<Model, 'complete' | 'fit' | 'state'>
  /** How often missions that wait are looked at. */
  sweep_ms?: number
}

export type Missions = {
  start: () => Promise<void>
  stop: () => Promise<void>
  /** Looks for missions to begin now, not at the next sweep. */
  wake: () => void
  /** Ends the run of a mission that was cancelled, and its call of the model. */
  abort: (mission_id: string) => void
  /** `event` <mission id>: something was noted; `token` <mission id, text>: a piece of an answer. */
  events: EventEmitter<{ event: [string]; token: [string, string] }>
}

/** What a model that is away says; it may come back. */
const AWAY: ModelReason[] = ['no_model', 'starting', 'unreachable']

class Shutdown extends Error {}
class Cancelled extends Error {}

/** createMissions runs missions from the queue: each by its agent's steps, on one model. */
export function createMissions(deps: MissionsDeps): Missions {
  const { db, log, model } = deps
  const events: Missions['events'] = new EventEmitter()
  events.setMaxListeners(0)
  const running = new Map<string, AbortController>()
  const ended = new Set<Promise<void>>()
  let boss: PgBoss | undefined
  let timer: NodeJS.Timeout | undefined
  let sweeping: Promise<void> | undefined
  let isStopping = false

  async function claim(id: string, run: string) {
    const license = await readLicense(deps.config)
    return db.transaction('*', async (sql) => {
      const [project] = await sql<Project>`
        select project.* from hub.projects as project
        join hub.missions as mission on mission.project_id = project.id
        where mission.id = ${id}`
      const refused = project && (await refusal(sql, project, license))
      if (refused) {
        await putOff(sql, { project_id: project.id, mission_id: id }, refused)
        return undefined
      }
      const [row] = await sql<MissionRow & { project: Project }>`
        update hub.missions as mission
        set status = 'processing', run = ${run}, reason = null, waits_for = null,
          started_at = coalesce(started_at, now())
        from hub.projects as project
        where mission.id = ${id} and mission.status = 'queued' and mission.waits_for is null
          and project.id = mission.project_id
        returning mission.id, mission.department, mission.task, mission.input, mission.routed_by,
          mission.created_at, mission.tokens,
          jsonb_build_object('id', project.id, 'slug', project.slug, 'name', project.name,
            'website', project.website, 'industry', project.industry, 'icp', project.icp,
            'created_at', project.created_at) as project`
      if (row) {
        const of = { project_id: row.project.id, mission_id: id }
        await addEvent(sql, of, 'state', { status: 'processing', department: row.department })
      }
      return row
    })
  }

  /** The licence may have shrunk since it was composed: a read-only project's missions wait for it. */
  async function putOff(sql: Sql, of: { project_id: string; mission_id: string }, reason: Words) {
    const put = await sql`
      update hub.missions set waits_for = 'license', reason = ${stored(reason)}
      where id = ${of.mission_id} and status = 'queued' and waits_for is null
      returning id`
    if (put.length > 0) await addEvent(sql, of, 'state', { status: 'queued' })
  }

  async function runOne(id: string): Promise<void> {
    const run = randomUUID()
    const controller = new AbortController()
    if (isStopping || running.has(id)) return
    running.set(id, controller)
    const started = performance.now()
    const line: Record<string, unknown> = { msg: 'mission', mission_id: id }
    try {
      const claimed = await claim(id, run)
      if (!claimed) return
      events.emit('event', id)
      const { project, ...mission } = claimed
      line.project = project.slug
      const options = {
        mission,
        project,
        run,
        signal: controller.signal,
        spent: { tokens: mission.tokens },
        on_event: () => void events.emit('event', id),
        on_token: (text: string) => void events.emit('token', id, text),
      }
      const end = await work(options).catch((error: unknown) =>
        endOf(controller.signal.aborted ? controller.signal.reason : error, line),
      )
      line.department = mission.department
      line.outcome = end.status
      if ('reason' in end) line.reason = end.reason.en
      await settle({ project_id: project.id, id, run, tokens: options.spent.tokens }, end)
    } catch (error) {
      // The database went away: the row stays as it is, and the next start finds it.
      line.outcome = 'unsettled'
      line.error = error instanceof Error ? error.message : String(error)
    } finally {
      running.delete(id)
      events.emit('event', id)
    }
    log({ ...line, duration_ms: Math.round(performance.now() - started) })
  }

  async function work(options: Parameters<typeof createContext>[2]): Promise<End> {
    const { mission } = options
    if (!isAgentName(mission.department)) mission.department = await askWho(options)
    const agent = isAgentName(mission.department) ? AGENTS[mission.department] : undefined
    if (!agent) throw new Stop(say.no_agent(mission.department))
    const context = await createContext(deps, agent, options)
    return { status: 'done', result: await agent.steps(context) }
  }

  /** The words did not tell who does it; the model chooses one of thirteen names. */
  async function askWho(options: Parameters<typeof createContext>[2]): Promise<string> {
    const { mission, project, run } = options
    const router = { name: 'docs', variables: {}, budget: { steps: 1, tokens: 4000 } } as const
    const context = await createContext(deps, router, options)
    const roles = AGENT_NAMES.map((name) => `${name}: ${AGENTS[name].role.en}`).join('\n')
    const { agent } = await context.complete('who does it', {
      schema: z.object({ agent: z.enum(AGENT_NAMES) }),
      task: `Which of these agents should do what the user asked for?\n${roles}`,
    })
    await db.transaction(project.id, async (sql) => {
      await sql`
        update hub.missions
        set department = ${agent}, routed_by = 'model',
          routed_because = ${stored(say.model_chose)}
        where id = ${mission.id} and run = ${run} and status = 'processing'`
    })
    return agent
  }

  function endOf(error: unknown, line: Record<string, unknown>): End {
    if (error instanceof Lost || error instanceof Cancelled) return { status: 'lost' }
    if (error instanceof Shutdown) return { status: 'queued', reason: say.restarting }
    if (error instanceof ApiError && error.code === 'unavailable') throw error
    const reason = failureOf(error)
    if (error instanceof Wait) return { status: 'queued', reason, waits_for: error.waiting.for }
    if (error instanceof ModelError && error.reason === 'crashed') {
      return { status: 'interrupted', reason }
    }
    if (error instanceof ModelError && AWAY.includes(error.reason)) {
      return { status: 'queued', reason, waits_for: 'model' }
    }
    const isKnown = [Stop, PathError, ModelError, ApiError].some((one) => error instanceof one)
    if (isKnown) return { status: 'failed', reason }
    line.error = error instanceof Error ? error.stack : String(error)
    return { status: 'failed', reason: say.fault }
  }

  async function settle(
    of: { project_id: string; id: string; run: string; tokens: number },
    end: End,
  ): Promise<void> {
    const { project_id, id, run, tokens } = of
    if (end.status === 'lost') return
    await db.transaction(project_id, async (sql) => {
      const reason = 'reason' in end ? stored(end.reason) : null
      const mission = { project_id, mission_id: id }
      if (end.status === 'done' || end.status === 'failed') {
        const result = end.status === 'done' ? JSON.stringify(end.result) : null
        const done = await sql`
          update hub.missions
          set status = ${end.status}, reason = ${reason}, result = ${result}, run = null,
            tokens = greatest(tokens, ${tokens}),
            progress = case when ${end.status === 'done'} then 1 else progress end, finished_at = now()
          where id = ${id} and run = ${run} and status = 'processing'
          returning id`
        if (done.length > 0) await addEvent(sql, mission, 'state', { status: end.status })
        return
      }
      const waits_for = end.status === 'queued' ? (end.waits_for ?? null) : 'model'
      const [back] = await sql<{ status: string }>`
        update hub.missions
        set run = null,
          tokens = greatest(tokens, ${tokens}),
          interruptions = interruptions + ${end.status === 'interrupted' ? 1 : 0},
          status = case when interruptions >= ${MOST_INTERRUPTIONS} then 'failed' else 'queued' end,
          finished_at = case when interruptions >= ${MOST_INTERRUPTIONS} then now() end,
          waits_for = case when interruptions >= ${MOST_INTERRUPTIONS} then null else ${waits_for}::text end,
          reason = ${reason}
        where id = ${id} and run = ${run} and status = 'processing'
        returning status`
      if (back) await addEvent(sql, mission, 'state', { ...back, waits_for })
      // The answer may have come between the question and this line.
      if (waits_for === 'approval') {
        await sql`
          update hub.missions set waits_for = null
          where id = ${id} and status = 'queued' and not exists (
            select from hub.approvals where mission_id = ${id} and status = 'waiting')`
      }
    })
  }

  /** Gives every mission that can go on a job, whoever made it and whatever was lost meanwhile. */
  async function sweep(): Promise<void> {
    if (!boss || isStopping) return
    const ids = await everywhere(db, async (sql) => {
      const waiting = await sql<{ waits_for: Waiting['for'] }>`
        select distinct waits_for from hub.missions
        where status = 'queued' and waits_for in ('model', 'license')`
      const waitsFor = (what: Waiting['for']) => waiting.some(({ waits_for }) => waits_for === what)
      if (waitsFor('model') && (await model.state()).state === 'ready') {
        await sql`
          update hub.missions set waits_for = null, reason = null
          where status = 'queued' and waits_for = 'model'`
      }
      if (waitsFor('license')) {
        const { max_projects } = await readLicense(deps.config)
        await sql`
          update hub.missions set waits_for = null, reason = null
          where status = 'queued' and waits_for = 'license' and (
            ${max_projects}::int is null or private.older_projects(project_id) < ${max_projects})`
      }
      return sql<{ id: string }>`
        select mission.id from hub.missions as mission
        where mission.status = 'queued' and mission.waits_for is null
          and not exists (
            select from pgboss.job as job
            where job.name = ${QUEUE} and job.state in ('created', 'retry')
              and job.data ->> 'mission_id' = mission.id::text)
        order by case when mission.routed_by = 'schedule' then 1 else 0 end, mission.created_at
        limit 100`
    })
    for (const { id } of ids) {
      if (!running.has(id)) await boss.send(QUEUE, { mission_id: id })
    }
  }

  function wake(): void {
    if (!boss || isStopping || sweeping) return
    sweeping = sweep()
      .catch((error: unknown) => log({ msg: 'missions sweep', error: String(error) }))
      .finally(() => {
        sweeping = undefined
      })
  }

  async function start(): Promise<void> {
    await recover()
    boss = new PgBoss({
      connectionString: deps.url,
      schema: 'pgboss',
      createSchema: false,
      max: 3,
      application_name: 'watchpost-hub queue',
    })
    boss.on('error', (error) => log({ msg: 'queue error', error: error.message }))
    await boss.start()
    const queue = { retryLimit: 0, expireInSeconds: LONGEST_SECONDS, deleteAfterSeconds: 3600 }
    await boss.createQueue(QUEUE, queue)
    // Jobs of a process that is gone; their missions are queued again and get new ones.
    await boss.deleteAllJobs(QUEUE)
    await boss.work<{ mission_id: string }>(
      QUEUE,
      { localConcurrency: AT_ONCE, pollingIntervalSeconds: 0.5, batchSize: 1 },
      async ([job]) => {
        if (!job) return
        const one = runOne(job.data.mission_id)
        ended.add(one)
        await one.finally(() => ended.delete(one))
      },
    )
    timer = setInterval(wake, deps.sweep_ms ?? SWEEP_MS)
    wake()
  }

  /** What was being worked on when the process ended goes on, or is given up with the reason. */
  async function recover(): Promise<void> {
    const found = await everywhere(db, async (sql) => {
      const rows = await sql<{ id: string; project_id: string; status: string }>`
        update hub.missions
        set run = null, interruptions = interruptions + 1,
          status = case when interruptions >= ${MOST_INTERRUPTIONS} then 'failed' else 'queued' end,
          finished_at = case when interruptions >= ${MOST_INTERRUPTIONS} then now() end,
          reason = case when interruptions >= ${MOST_INTERRUPTIONS}
            then ${stored(say.given_up)}::hub.words else ${stored(say.interrupted)}::hub.words end
        where status = 'processing'
        returning id, project_id, status`
      for (const { id, project_id, status } of rows) {
        await addEvent(sql, { project_id, mission_id: id }, 'state', { status })
      }
      return rows
    })
    if (found.length > 0) log({ msg: 'missions recovered', count: found.length })
  }

  async function stop(): Promise<void> {
    isStopping = true
    clearInterval(timer)
    for (const controller of running.values()) controller.abort(new Shutdown())
    await sweeping
    await Promise.allSettled(ended)
    await boss?.stop({ graceful: false, close: true })
  }

  return {
    start,
    stop,
    wake,
    abort: (id) => running.get(id)?.abort(new Cancelled()),
    events,
  }
}

/** Why a project may not be written to; undefined where it may. */
async function refusal(sql: Sql, project: Project, license: License): Promise<Words | undefined> {
  return requireWritable(sql, project, license).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof ApiError && error.code === 'license_limit') return failureOf(error)
      throw error
    },
  )
}

type End =
  | { status: 'done'; result: Result }
  | { status: 'failed'; reason: Words }
  | { status: 'queued'; reason: Words; waits_for?: Waiting['for'] }
  | { status: 'interrupted'; reason: Words }
  | { status: 'lost' }
