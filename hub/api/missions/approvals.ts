import { z } from 'zod'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { everywhere, inProject } from '../../db/db.ts'
import { answer, type Env, problems, requireAdmin, write } from '../../http/http.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { FOR_MISSIONS } from '../../missions/approval-actions.ts'
import {
  Approval,
  type ApprovalKept,
  approvalColumns,
  approve,
  carryOut,
  getApproval,
  reject,
} from '../../missions/approvals.ts'

const OneApproval = z.object({ approval: Approval })
const Approvals = z.object({ approvals: z.array(Approval) })

/** Actions that agents propose and may do only after an approval. */
export const approvals = resource<Env>()

approvals.openapi(
  createRoute({
    method: 'get',
    path: '/list',
    operationId: 'listApprovals',
    tags: ['Missions'],
    summary: 'Approvals, newest first',
    request: {
      query: z.strictObject({
        project: z.string().max(60).optional(),
        status: Approval.shape.status.optional(),
      }),
    },
    responses: { 200: jsonResponse(Approvals, 'The newest 200.'), ...problems() },
  }),
  async (c) => {
    const { project = null, status = null } = c.req.valid('query')
    const approvals = await everywhere(
      c.get('deps').db,
      (sql) => sql<ApprovalKept>`
        select ${approvalColumns}
        from hub.approvals as approval
        join hub.projects as project on project.id = approval.project_id
        where (${project}::text is null or project.slug = ${project})
          and (${status}::text is null or approval.status = ${status})
        order by approval.created_at desc, approval.id desc
        limit 200`,
    )
    return answer(c, Approvals, { approvals }, 200)
  },
)

approvals.openapi(
  createRoute({
    method: 'post',
    path: '/approve',
    operationId: 'approve',
    tags: ['Missions'],
    summary: 'Approve exactly what was shown',
    description:
      'An action is carried out at once; a mission that waited for the approval continues. What changes the hub itself needs an admin.',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          id: z.uuid(),
          hash: z.string().length(64),
          for_all_projects: z.boolean().optional().meta({
            description: 'A rule for a prompt: for all projects instead of its own.',
          }),
        }),
      ),
    },
    responses: { 200: jsonResponse(OneApproval, 'Decided.'), ...problems(402, 404, 409, 422) },
  }),
  async (c) => {
    const { id, ...decision } = c.req.valid('json')
    const { db, config, actions, missions, log } = c.get('deps')
    const asked = await everywhere(db, (sql) => getApproval(sql, id))
    const isForMission = FOR_MISSIONS.includes(String(asked.action.do))
    if (asked.kind !== 'external' || !isForMission) requireAdmin(c)
    if (isForMission) {
      const license = await readLicense(config)
      await inProject(db, asked.project, (sql, project) => requireWritable(sql, project, license))
    }
    const approved = await everywhere(db, (sql) => approve(sql, { id, ...decision }))
    missions.wake()
    await carryOut({ db, paths: config.paths, actions, log }, approved)
    const approval = await everywhere(db, (sql) => getApproval(sql, id))
    return answer(c, OneApproval, { approval }, 200)
  },
)

approvals.openapi(
  createRoute({
    method: 'post',
    path: '/reject',
    operationId: 'reject',
    tags: ['Missions'],
    summary: 'Reject',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          id: z.uuid(),
          reason: z.string().trim().max(1000).nullable().default(null),
        }),
      ),
    },
    responses: { 200: jsonResponse(OneApproval, 'Decided.'), ...problems(404, 409, 422) },
  }),
  async (c) => {
    const { id, reason } = c.req.valid('json')
    const { db, missions } = c.get('deps')
    const approval = await everywhere(db, (sql) => reject(sql, id, reason))
    missions.wake()
    return answer(c, OneApproval, { approval }, 200)
  },
)
