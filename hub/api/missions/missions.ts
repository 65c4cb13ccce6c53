import { streamSSE } from 'hono/streaming'
import { z } from 'zod'
import { ApiError } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, pathId, resource } from '../../../shared/route.ts'
import {
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integerParameter,
  NextCursor,
  splitPage,
} from '../../../shared/schemas/page.ts'
import { languageOf } from '../../../shared/words/language-of.ts'
import { MissionInput } from '../../agents/agent.ts'
import { AGENTS } from '../../agents/agents.ts'
import { AGENT_NAMES } from '../../agents/names.ts'
import { route } from '../../agents/run/route.ts'
import { stepTitle } from '../../agents/step-names.ts'
import { isStillLetIn } from '../../auth/sessions.ts'
import { everywhere, inProject, type Project } from '../../db/db.ts'
import { answer, type Env, problems, write } from '../../http/http.ts'
import { NEWEST, Position, positionOf } from '../../http/page.ts'
import { bilingual, type Words } from '../../i18n/words.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { missionText } from '../../missions/mission.text.ts'
import {
  addMission,
  cancelMission,
  Department,
  getMission,
  Mission,
  MissionDetails,
  type MissionKept,
  missionColumns,
  retryMission,
  Status,
  type Step,
} from '../../missions/mission.ts'
import { readConversation } from '../../missions/thread.ts'
import { Slug } from '../projects/projects.ts'
import { streamEvents } from './mission-events.ts'

const say = bilingual(missionText)

export const OneMission = z.object({ mission: Mission })
const Missions = z.object({ missions: z.array(Mission), next_cursor: NextCursor })
export const Task = z
  .string()
  .overwrite((text) => text.replaceAll('\0', '').trim())
  .min(1)
  .max(20_000)

export const Routed = z
  .object({
    agent: z.enum(AGENT_NAMES).nullable().meta({
      description:
        '`null`: the wording is not clear enough, and the model decides when the mission starts.',
    }),
    decided_by: z.enum(['given', 'command', 'phrases', 'model']),
    reason: z.string(),
    candidates: z.array(
      z.object({ agent: z.enum(AGENT_NAMES), points: z.int(), words: z.array(z.string()) }),
    ),
  })
  .meta({ id: 'Routed' })
const Agents = z.object({
  agents: z.array(z.object({ name: z.enum(AGENT_NAMES), role: z.string() })),
})

/** One mission: composing it, its preview, cancelling and retrying it. */
export const mission = resource<Env>()

mission.openapi(
  createRoute({
    method: 'post',
    path: '/compose',
    operationId: 'composeMission',
    tags: ['Missions'],
    summary: 'Give an agent a mission',
    description:
      'With department `auto`, the wording of the task (English or Turkish) decides which agent takes it, and the model where the wording does not. `/gelistir` goes to pm.',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          department: Department.default('auto'),
          task: Task,
          project: Slug,
          input: MissionInput.optional(),
        }),
      ),
    },
    responses: {
      202: jsonResponse(OneMission.extend({ routed: Routed }), 'Queued.'),
      ...problems(402, 404, 422),
    },
  }),
  async (c) => {
    const { department, task, project: slug, input } = c.req.valid('json')
    const { db, config, missions } = c.get('deps')
    const license = await readLicense(config)
    const routed =
      department === 'auto'
        ? route(task)
        : {
            agent: department,
            decided_by: 'given' as const,
            reason: say.by_hand,
            candidates: [],
          }
    const made = await inProject(db, slug, async (sql, project: Project) => {
      await requireWritable(sql, project, license)
      const id = await addMission(sql, {
        project_id: project.id,
        department: routed.agent ?? 'auto',
        task,
        routed_by: department === 'auto' ? 'phrase' : 'given',
        routed_because: department === 'auto' ? routed.reason : null,
        input: { language: languageOf(c), ...input },
      })
      return getMission(sql, id)
    })
    missions.wake()
    const headers = { Location: `/api/cockpit/missions/${made.id}` }
    return answer(c, OneMission.extend({ routed: Routed }), { mission: made, routed }, 202, headers)
  },
)

mission.openapi(
  createRoute({
    method: 'post',
    path: '/route',
    operationId: 'routeMission',
    tags: ['Missions'],
    summary: 'Preview which agent would take a task',
    description: 'Looks at the wording only: the model is not asked, and nothing is stored.',
    request: { body: jsonBody(z.strictObject({ task: Task })) },
    responses: {
      200: jsonResponse(z.object({ routed: Routed }), 'The agent and why.'),
      ...problems(422),
    },
  }),
  async (c) => {
    const { task } = c.req.valid('json')
    return answer(c, z.object({ routed: Routed }), { routed: route(task) }, 200)
  },
)

for (const [path, summary] of [
  ['/cancel', 'End a mission that waits or works'],
  ['/retry', 'Try a failed or cancelled mission again, as a new one'],
] as const) {
  mission.openapi(
    createRoute({
      method: 'post',
      path,
      operationId: `${path.slice(1)}Mission`,
      tags: ['Missions'],
      summary,
      middleware: write,
      request: { body: jsonBody(z.strictObject({ id: z.uuid() })) },
      responses: { 202: jsonResponse(OneMission, 'Done.'), ...problems(402, 404, 409, 422) },
    }),
    async (c) => {
      const { id } = c.req.valid('json')
      const { db, config, missions } = c.get('deps')
      const license = await readLicense(config)
      const changed = await everywhere(db, async (sql) => {
        const { project: slug } = await getMission(sql, id)
        if (path === '/cancel') {
          await cancelMission(sql, id, say.you_cancelled)
          return getMission(sql, id)
        }
        const [project] = await sql<Project>`select * from hub.projects where slug = ${slug}`
        if (project) await requireWritable(sql, project, license)
        return getMission(sql, await retryMission(sql, id))
      })
      if (path === '/cancel') missions.abort(id)
      missions.events.emit('event', id)
      missions.wake()
      const headers = { Location: `/api/cockpit/missions/${changed.id}` }
      return answer(c, OneMission, { mission: changed }, 202, headers)
    },
  )
}

/** All missions and their events. */
export const missions = resource<Env>()

missions.openapi(
  createRoute({
    method: 'get',
    path: '/list',
    operationId: 'listMissions',
    tags: ['Missions'],
    summary: 'List missions, newest first',
    request: {
      query: z.strictObject({
        project: z.string().max(60).optional(),
        status: Status.optional(),
        department: Department.optional(),
        limit: integerParameter(1, 200, 50, 'Missions a page.'),
        cursor: CursorQuery,
      }),
    },
    responses: { 200: jsonResponse(Missions, 'A page.'), ...problems(404) },
  }),
  async (c) => {
    const { limit, cursor, ...filter } = c.req.valid('query')
    const [at, before] = (await decodeCursor(filter, cursor, Position)) ?? NEWEST
    const { db } = c.get('deps')
    const list = async (
      sql: Parameters<Parameters<typeof everywhere>[1]>[0],
      project_id: string | null,
    ) =>
      sql<MissionKept & { position: string }>`
        select ${missionColumns}, ${positionOf('mission.created_at')} as position
        from hub.missions as mission
        join hub.projects as project on project.id = mission.project_id
        where (${project_id}::uuid is null or mission.project_id = ${project_id})
          and (${filter.status ?? null}::text is null or mission.status = ${filter.status ?? null})
          and (${filter.department ?? null}::text is null or mission.department = ${filter.department ?? null})
          and (mission.created_at, mission.id) < (${at}, ${before})
        order by mission.created_at desc, mission.id desc
        limit ${limit + 1}`
    const rows = filter.project
      ? await inProject(db, filter.project, (sql, { id }) => list(sql, id))
      : await everywhere(db, (sql) => list(sql, null))
    const { page, last } = splitPage(rows, limit)
    const next_cursor = last ? await encodeCursor(filter, [last.position, last.id]) : null
    return answer(c, Missions, { missions: page, next_cursor }, 200)
  },
)

missions.openapi(
  createRoute({
    method: 'get',
    path: '/agents',
    operationId: 'listAgents',
    tags: ['Missions'],
    summary: 'List the thirteen agents',
    responses: { 200: jsonResponse(Agents, 'All agents.'), ...problems() },
  }),
  async (c) => {
    const agents = AGENT_NAMES.map((name) => ({ name, role: AGENTS[name].role }))
    return answer(c, Agents, { agents }, 200)
  },
)

const IdParam = z.object({ id: pathId('The mission.') })
const Detailed = z.object({ mission: MissionDetails })

missions.openapi(
  createRoute({
    method: 'get',
    path: '/{id}',
    operationId: 'getMission',
    tags: ['Missions'],
    summary: 'Get a mission with its steps and its result',
    request: { params: IdParam },
    responses: { 200: jsonResponse(Detailed, 'The mission.'), ...problems(404) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const mission = await everywhere(c.get('deps').db, async (sql) => {
      const mission = await getMission(sql, id)
      const [more] = await sql<{ input: Record<string, unknown>; result: never }>`
        select input - 'text' || case when input ? 'text'
            then jsonb_build_object('text_length', length(input ->> 'text')) else '{}' end as input,
          result
        from hub.missions where id = ${id}`
      const steps = await sql<Omit<z.infer<typeof Step>, 'title'>>`
        select position, name, tokens, started_at, finished_at
        from hub.mission_steps where mission_id = ${id} order by position`
      const left_out = await sql<{ what: Words }>`
        select distinct on (what) what
        from hub.mission_steps, jsonb_array_elements(left_out) as what
        where mission_id = ${id} order by what`
      return {
        ...mission,
        left_out: left_out.map(({ what }) => what),
        input: more?.input ?? {},
        result: more?.result ?? null,
        conversation: await readConversation(sql, mission.thread),
        steps: steps.map((step) => ({ ...step, title: stepTitle(step.name) })),
      }
    })
    return answer(c, Detailed, { mission }, 200)
  },
)

missions.openapi(
  createRoute({
    method: 'get',
    path: '/{id}/events',
    operationId: 'missionEvents',
    tags: ['Missions'],
    summary: 'Follow a mission live',
    description:
      'Server-sent events: `state` and `step`, which are numbered, so reconnect with Last-Event-ID; and `tokens`, parts of the answer being written. The stream ends when the mission ends.',
    request: {
      params: IdParam,
      headers: z.object({ 'last-event-id': z.string().max(20).optional() }),
    },
    responses: {
      200: {
        description: 'The event stream.',
        content: { 'text/event-stream': { schema: z.string() } },
      },
      ...problems(404),
    },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const after = Number(c.req.header('last-event-id') ?? 0)
    if (!Number.isSafeInteger(after) || after < 0) {
      throw new ApiError('malformed', 'Last-Event-ID is the id of an event of this stream.')
    }
    const { db, missions } = c.get('deps')
    await everywhere(db, (sql) => getMission(sql, id))
    const isLetIn = () => isStillLetIn(c)
    return streamSSE(c, (stream) =>
      streamEvents({ db, missions, stream, id, after, isLetIn }),
    ) as never // safe: the document says text/event-stream
  },
)
