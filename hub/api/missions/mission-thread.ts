import { z } from 'zod'
import { createRoute, jsonBody, jsonResponse, pathId, resource } from '../../../shared/route.ts'
import type { Sql } from '../../../shared/sql.ts'
import { MissionInput } from '../../agents/agent.ts'
import { everywhere, type Project } from '../../db/db.ts'
import { answer, type Ctx, type Env, problems, write } from '../../http/http.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { continueMission } from '../../missions/continue.ts'
import { Department, getMission } from '../../missions/mission.ts'
import {
  editResult,
  MAX_DOCUMENT,
  ResultVersion,
  readVersions,
  SUMMARY,
} from '../../missions/result-versions.ts'
import { OneMission, Routed, Task } from './missions.ts'

const Continued = OneMission.extend({ routed: Routed })
const Versions = z.object({ versions: z.array(ResultVersion) })
const Part = z
  .string()
  .min(1)
  .max(500)
  .default(SUMMARY)
  .meta({ description: '`summary`, or the path of one of its documents.' })

/** Runs a transaction on the project of a mission, which must be writable. */
async function withMission<T>(
  c: Ctx,
  id: string,
  work: (sql: Sql, project_id: string) => Promise<T>,
): Promise<T> {
  const { db, config } = c.get('deps')
  const license = await readLicense(config)
  return everywhere(db, async (sql) => {
    const { project: slug } = await getMission(sql, id)
    const [project] = await sql<Project>`select * from hub.projects where slug = ${slug}`
    if (!project) throw new Error('a mission without a project')
    await sql`select set_config('hub.project', ${project.id}, true)`
    await requireWritable(sql, project, license)
    return work(sql, project.id)
  })
}

/** Going on from the result of a mission, and editing it. */
export const missionThread = resource<Env>()

missionThread.openapi(
  createRoute({
    method: 'post',
    path: '/continue',
    operationId: 'continueMission',
    tags: ['Missions'],
    summary: 'Go on from the result of a mission',
    description:
      'Makes a mission of the same conversation: “shorter”, “in Turkish”, “for the other two as well”. It is given the tasks before, the result as it is now, and what that mission was given. The same agent takes it, unless the words name another.',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          id: z.uuid().meta({ description: 'The mission to go on from; it must be done.' }),
          task: Task,
          department: Department.default('auto'),
          input: MissionInput.optional(),
        }),
      ),
    },
    responses: { 202: jsonResponse(Continued, 'Queued.'), ...problems(402, 404, 409, 422) },
  }),
  async (c) => {
    const { input, ...given } = c.req.valid('json')
    const made = await withMission(c, given.id, async (sql, project_id) => {
      const { id, routed } = await continueMission(sql, project_id, {
        ...given,
        ...(input ? { input } : {}),
      })
      return { mission: await getMission(sql, id), routed }
    })
    c.get('deps').missions.wake()
    const headers = { Location: `/api/cockpit/missions/${made.mission.id}` }
    return answer(c, Continued, made, 202, headers)
  },
)

missionThread.openapi(
  createRoute({
    method: 'post',
    path: '/edit',
    operationId: 'editMissionResult',
    tags: ['Missions'],
    summary: 'Edit the text of a result',
    description:
      'Every version is kept, the agent’s first. Drafts are edited as drafts: `draft/edit`.',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          id: z.uuid(),
          part: Part,
          version: z.int().min(1).meta({ description: 'The version that was edited.' }),
          text: z
            .string()
            .overwrite((text) => text.replaceAll('\0', ''))
            .max(MAX_DOCUMENT),
        }),
      ),
    },
    responses: {
      200: jsonResponse(Versions, 'All versions, the new one last.'),
      ...problems(402, 404, 409, 422),
    },
  }),
  async (c) => {
    const given = c.req.valid('json')
    const by = c.get('caller') ?? 'token'
    const { paths } = c.get('deps').config
    const versions = await withMission(c, given.id, (sql) =>
      editResult(sql, paths, { ...given, by }),
    )
    return answer(c, Versions, { versions }, 200)
  },
)

/** The versions of a result. */
export const missionVersions = resource<Env>()

missionVersions.openapi(
  createRoute({
    method: 'get',
    path: '/{id}/versions',
    operationId: 'listResultVersions',
    tags: ['Missions'],
    summary: 'List the versions of a result’s text, the current one last',
    request: {
      params: z.object({ id: pathId('The mission.') }),
      query: z.strictObject({ part: Part }),
    },
    responses: { 200: jsonResponse(Versions, 'The versions.'), ...problems(404, 422) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const { part } = c.req.valid('query')
    const { db, config } = c.get('deps')
    const versions = await everywhere(db, async (sql) => {
      await getMission(sql, id)
      return readVersions(sql, config.paths, { id, part })
    })
    return answer(c, Versions, { versions }, 200)
  },
)
