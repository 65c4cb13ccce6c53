import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { ApiError } from '../../shared/problem.ts'
import type { Sql } from '../../shared/sql.ts'
import { ApprovalNeeded, MissionFailure } from '../agents/agent.ts'
import { AGENTS } from '../agents/agents.ts'
import { isAgentName } from '../agents/names.ts'
import { ROUTER, whoDoesIt } from '../agents/run/router.ts'
import { createContext, MissionTaken, type RunDeps } from '../agents/run/run.ts'
import { everywhere, type Project } from '../db/db.ts'
import { failureOf } from '../i18n/failure.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import { type License, readLicense, requireWritable } from '../license/license.ts'
import type { Log } from '../log.ts'
import { type Model, ModelError, type ModelReason } from '../model/model.ts'
import { PathError } from '../projects/documents.ts'
import { missionText } from './mission.text.ts'
import {
  awaited,
  claimMission,
  dueMissions,
  type End,
  recoverMissions,
  releaseForLicense,
  releaseForModel,
  routeByModel,
  settleMission,
  waitForLicense,
} from './queue.ts'

/** How many missions run at once: while one waits for the model, another reads or writes. */
const AT_ONCE = 3
const SWEEP_MS = 1000
const say = bilingual(missionText)

type MissionsDeps = Omit<RunDeps, 'model'> & {
  log: Log
  model: Pick<Model, 'complete' | 'fit' | 'state'>
  /** How often it is checked whether missions can stop waiting. */
  sweep_ms?: number
}

export type Missions = {
  start: () => Promise<void>
  stop: () => Promise<void>
  /** Looks for missions to start now, instead of at the next sweep. */
  wake: () => void
  /** Ends the run of a cancelled mission, and its call of the model. */
  abort: (mission_id: string) => void
  /**
   * `event` <mission id>: an event was stored; `token` <mission id, text>: a piece of an answer.
   */
  events: EventEmitter<{ event: [string]; token: [string, string] }>
}

/** The reasons why a model is unavailable; it may come back. */
const AWAY: ModelReason[] = ['no_model', 'starting', 'unreachable']

class Shutdown extends Error {}
class Cancelled extends Error {}

/** createMissions runs missions from the queue, each by its agent's steps, with one model. */
export function createMissions(deps: MissionsDeps): Missions {
  const { db, log, model } = deps
  const events: Missions['events'] = new EventEmitter()
  events.setMaxListeners(0)
  const running = new Map<string, { controller: AbortController; work: Promise<void> }>()
  /** Runs whose end could not be stored: their rows still say that they work. */
  const lost = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let asked: 'due' | 'all' | undefined
  let isStopping = false

  /** Undefined if it must not start, or somebody else was first. */
  async function claim(id: string, run: string) {
    const license = await readLicense(deps.config)
    return everywhere(db, async (sql) => {
      const [project] = await sql<Project>`
        select project.id, project.slug, project.name, project.website, project.industry,
          project.icp, project.created_at
        from hub.projects as project
        join hub.missions as mission on mission.project_id = project.id
        where mission.id = ${id}`
      if (!project) return undefined
      const refused = await refusal(sql, project, license)
      if (refused) {
        await waitForLicense(sql, { project_id: project.id, mission_id: id }, refused)
        return undefined
      }
      const mission = await claimMission(sql, project, { id, run })
      return mission && { mission, project }
    })
  }

  /** Returns whether the mission was settled; its row has the outcome. */
  async function runOne(id: string, { signal }: AbortController): Promise<boolean> {
    const run = randomUUID()
    const started = performance.now()
    const line: Record<string, unknown> = { msg: 'mission', mission_id: id }
    try {
      const claimed = await claim(id, run)
      if (!claimed) return true
      events.emit('event', id)
      const { project, mission } = claimed
      line.project = project.slug
      const options = {
        mission,
        project,
        run,
        signal,
        spent: { tokens: mission.tokens },
        on_event: () => void events.emit('event', id),
        on_token: (text: string) => void events.emit('token', id, text),
      }
      const end = await work(options).catch((error: unknown) =>
        endOf(signal.aborted ? signal.reason : error, line),
      )
      line.department = mission.department
      line.outcome = end.status
      if ('reason' in end) line.reason = end.reason.en
      await settleMission(
        db,
        { project_id: project.id, id, run, tokens: options.spent.tokens },
        end,
      )
    } catch (error) {
      // The database is unavailable: the row stays as it is, until a sweep or a start finds it.
      lost.add(run)
      line.outcome = 'unsettled'
      line.error = error instanceof Error ? error.message : String(error)
    }
    log({ ...line, duration_ms: Math.round(performance.now() - started) })
    return line.outcome !== 'unsettled'
  }

  async function work(options: Parameters<typeof createContext>[2]): Promise<End> {
    const { mission } = options
    if (!isAgentName(mission.department)) mission.department = await askWho(options)
    const agent = isAgentName(mission.department) ? AGENTS[mission.department] : undefined
    if (!agent) throw new MissionFailure(say.no_agent(mission.department))
    const actor = { kind: 'agent', id: null, name: agent.name, role: 'seller' } as const
    const context = await createContext({ ...deps, db: db.as(actor) }, agent, options)
    const result = await agent.steps(context)
    await context.keepLeftOut()
    return { status: 'done', result }
  }

  /** The words did not decide, so the model chooses one of the thirteen agents. */
  async function askWho(options: Parameters<typeof createContext>[2]): Promise<string> {
    const { mission, project, run } = options
    const agent = await whoDoesIt(await createContext(deps, ROUTER, options))
    await db.transaction(project.id, (sql) => routeByModel(sql, { id: mission.id, run, agent }))
    return agent
  }

  function endOf(error: unknown, line: Record<string, unknown>): End {
    if (error instanceof MissionTaken || error instanceof Cancelled) return { status: 'taken' }
    if (error instanceof Shutdown) return { status: 'queued', reason: say.restarting }
    if (error instanceof ApiError && error.code === 'unavailable') throw error
    const reason = failureOf(error)
    if (error instanceof ApprovalNeeded) return { status: 'queued', reason, waits_for: 'approval' }
    if (error instanceof ModelError && error.reason === 'crashed') {
      return { status: 'interrupted', reason }
    }
    if (error instanceof ModelError && AWAY.includes(error.reason)) {
      return { status: 'queued', reason, waits_for: 'model' }
    }
    const isKnown = [MissionFailure, PathError, ModelError, ApiError].some(
      (one) => error instanceof one,
    )
    if (isKnown) return { status: 'failed', reason }
    line.error = error instanceof Error ? error.stack : String(error)
    return { status: 'failed', reason: say.fault }
  }

  /** Finds the missions that can continue, because what they waited for is there. */
  async function release(): Promise<void> {
    if (lost.size > 0) {
      const runs = [...lost]
      await recoverMissions(db, runs)
      for (const run of runs) lost.delete(run)
    }
    const what = await everywhere(db, awaited)
    const isReady = what.has('model') && (await model.state()).state === 'ready'
    const license = what.has('license') ? await readLicense(deps.config) : undefined
    if (!isReady && !license) return
    await everywhere(db, async (sql) => {
      if (isReady) await releaseForModel(sql)
      if (license) await releaseForLicense(sql, license.max_projects)
    })
  }

  /** Starts the queued missions, from any source, up to the number that may run at once. */
  async function beginDue(): Promise<void> {
    const limit = AT_ONCE - running.size
    if (limit === 0) return
    const except = [...running.keys()]
    for (const id of await everywhere(db, (sql) => dueMissions(sql, { limit, except }))) begin(id)
  }

  function begin(id: string): void {
    if (isStopping) return
    const controller = new AbortController()
    const work = runOne(id, controller).then((isSettled) => {
      running.delete(id)
      events.emit('event', id)
      // A mission that could not be settled waits for the next sweep, because its cause rarely
      // disappears at once.
      if (isSettled) look('due')
    })
    running.set(id, { controller, work })
  }

  /**
   * One sweep at a time; a mission that has just gone back to waiting is not checked before the
   * next sweep.
   */
  function look(what: 'due' | 'all'): void {
    if (!timer || isStopping) return
    asked = what === 'all' ? what : (asked ?? what)
    looking ??= lookAll().finally(() => {
      looking = undefined
    })
  }

  async function lookAll(): Promise<void> {
    while (asked && !isStopping) {
      const what = asked
      asked = undefined
      try {
        if (what === 'all') await release()
        await beginDue()
      } catch (error) {
        log({ msg: 'missions sweep', error: String(error) })
      }
    }
  }

  const wake = () => look('all')

  async function start(): Promise<void> {
    const count = await recoverMissions(db)
    if (count > 0) log({ msg: 'missions recovered', count })
    if (isStopping) return
    timer = setInterval(wake, deps.sweep_ms ?? SWEEP_MS)
    wake()
  }

  async function stop(): Promise<void> {
    isStopping = true
    clearInterval(timer)
    for (const { controller } of running.values()) controller.abort(new Shutdown())
    await looking
    await Promise.all([...running.values()].map(({ work }) => work))
  }

  return {
    start,
    stop,
    wake,
    abort: (id) => running.get(id)?.controller.abort(new Cancelled()),
    events,
  }
}

/** Why a project is read-only; undefined if it is not. */
async function refusal(sql: Sql, project: Project, license: License): Promise<Words | undefined> {
  return requireWritable(sql, project, license).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof ApiError && error.code === 'license_limit') return failureOf(error)
      throw error
    },
  )
}
