import { z } from 'zod'
import { notFound } from '../../../shared/problem.ts'
import {
  createRoute,
  jsonBody,
  jsonResponse,
  noBody,
  pathId,
  resource,
  respond,
} from '../../../shared/route.ts'
import {
  ORG_READ_ONLY,
  Org,
  OrgCreate,
  OrgPatch,
  OrgTransfer,
} from '../../../shared/schemas/account.ts'
import { raw, type Sql } from '../../../shared/sql.ts'
import { signedIn } from '../../auth.ts'
import type { Env } from '../../context.ts'
import { sessionProblems } from '../../http.ts'
import { IdempotencyHeader, idempotent } from '../../idempotency.ts'
import { read, write } from '../../transaction.ts'
import { requireReadOnly } from '../whole-thing.ts'
import { LostWarnings, PassedOn, type Removal, tellRemoval } from './removal.ts'

const OrgId = z.object({ id: pathId('The id of an organisation of the caller.') })
const List = z.object({ orgs: z.array(Org) })
const One = z.object({ org: Org })
const Left = z.object({ passed_on: PassedOn, warnings: LostWarnings })
const security = [{ session: [] }]

/** SQL: the columns of an organisation `o` with the caller's member row `m`. */
const columns = raw(`o.id, o.name, m.role, o.created_at,
  (select count(*) from watchpost.members n where n.org_id = o.id and n.status = 'active') as members`)

export const accountOrgs = resource<Env>()

accountOrgs.openapi(
  createRoute({
    method: 'get',
    path: '/',
    operationId: 'listOrgs',
    tags: ['Organisations'],
    summary: 'List the organisations of the caller, by name',
    security,
    middleware: signedIn('read'),
    responses: { 200: jsonResponse(List, 'The complete list.'), ...sessionProblems() },
  }),
  async (c) => respond(c, List, { orgs: await read(c, listOrgs) }, 200),
)

accountOrgs.openapi(
  createRoute({
    method: 'get',
    path: '/{id}',
    operationId: 'getOrg',
    tags: ['Organisations'],
    summary: 'Get an organisation',
    security,
    middleware: signedIn('read'),
    request: { params: OrgId },
    responses: { 200: jsonResponse(One, 'The organisation.'), ...sessionProblems(404) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    return respond(c, One, { org: found(await read(c, (sql) => findOrg(sql, id))) }, 200)
  },
)

accountOrgs.openapi(
  createRoute({
    method: 'post',
    path: '/',
    operationId: 'createOrg',
    tags: ['Organisations'],
    summary: 'Create an organisation; the caller becomes its owner',
    security,
    middleware: signedIn('write'),
    request: { headers: IdempotencyHeader, body: jsonBody(OrgCreate) },
    responses: {
      201: jsonResponse(One, 'The organisation.'),
      ...sessionProblems(409, 413, 415, 422),
    },
  }),
  async (c) => {
    const { name } = c.req.valid('json')
    const { thing: org, status } = await idempotent(c, {
      create: async (sql) => {
        const [made] = await sql<{ id: string }>`select private.create_org(${name}) as id`
        return found(made && (await findOrg(sql, made.id)))
      },
      replay: findOrg,
    })
    return respond(c, One, { org }, status, { Location: `/api/v1/account/orgs/${org.id}` })
  },
)

accountOrgs.openapi(
  createRoute({
    method: 'patch',
    path: '/{id}',
    operationId: 'updateOrg',
    tags: ['Organisations'],
    summary: 'Rename an organisation; for its owner and admins',
    security,
    middleware: signedIn('write'),
    request: { params: OrgId, body: jsonBody(OrgPatch) },
    responses: {
      200: jsonResponse(One, 'The organisation.'),
      ...sessionProblems(404, 413, 415, 422),
    },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const patch = c.req.valid('json')
    const org = await write(c, async (sql, last) => {
      requireReadOnly(patch, found(await findOrg(sql, id)), ORG_READ_ONLY)
      const renamed = Promise.all([
        sql`select private.rename_org(${id}, ${patch.name ?? null})`,
        findOrg(sql, id),
      ])
      const [, changed] = await last(renamed)
      return found(changed)
    })
    return respond(c, One, { org }, 200)
  },
)

accountOrgs.openapi(
  createRoute({
    method: 'delete',
    path: '/{id}',
    operationId: 'deleteOrg',
    tags: ['Organisations'],
    summary: 'Delete an organisation; for its owner. What was shared stays with its owners',
    security,
    middleware: signedIn('write'),
    request: { params: OrgId },
    responses: { 204: { description: 'Deleted.' }, ...sessionProblems(404) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    await write(c, (sql, last) => last(sql`select private.delete_org(${id})`))
    return c.body(null, 204)
  },
)

accountOrgs.openapi(
  createRoute({
    method: 'post',
    path: '/{id}/leave',
    operationId: 'leaveOrg',
    tags: ['Organisations'],
    summary:
      'Leave an organisation; what the caller shared passes to the owner. The owner must transfer it first',
    security,
    middleware: signedIn('write'),
    request: { params: OrgId, body: noBody },
    responses: {
      200: jsonResponse(Left, 'What passed to the owner.'),
      ...sessionProblems(404, 409, 413, 415, 422),
    },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const [row] = await write(c, (sql, last) =>
      last(sql<{ left: Removal }>`select private.leave_org(${id}) as left`),
    )
    return respond(c, Left, tellRemoval(row?.left ?? { passed_on: null, zones: [] }), 200)
  },
)

accountOrgs.openapi(
  createRoute({
    method: 'post',
    path: '/{id}/transfer',
    operationId: 'transferOrg',
    tags: ['Organisations'],
    summary: 'Make another member the owner; the previous owner stays as an admin',
    security,
    middleware: signedIn('write'),
    request: { params: OrgId, body: jsonBody(OrgTransfer) },
    responses: {
      200: jsonResponse(One, 'The organisation.'),
      ...sessionProblems(404, 409, 413, 415, 422),
    },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const { user_id } = c.req.valid('json')
    const org = await write(c, async (sql, last) => {
      const moved = Promise.all([
        sql`select private.transfer_org(${id}, ${user_id})`,
        findOrg(sql, id),
      ])
      const [, changed] = await last(moved)
      return found(changed)
    })
    return respond(c, One, { org }, 200)
  },
)

/** The organisations of the caller. */
export function listOrgs(sql: Sql): Promise<Org[]> {
  return sql<Org>`
    select ${columns}
    from watchpost.members m
    join watchpost.organisations o on o.id = m.org_id
    where m.user_id = private.uid()
    order by o.name, o.id`
}

export async function findOrg(sql: Sql, id: string): Promise<Org | undefined> {
  const [org] = await sql<Org>`
    select ${columns}
    from watchpost.members m
    join watchpost.organisations o on o.id = m.org_id
    where m.user_id = private.uid() and o.id = ${id}`
  return org
}

function found(org: Org | undefined): Org {
  if (!org) throw notFound('organisation')
  return org
}
