import { z } from 'zod'
import { Org, OrgFields, OrgTransfer } from '../../shared/account.ts'
import { notFound } from '../../shared/problem.ts'
import { answer, body, createRoute, json, pathId, resource } from '../../shared/route.ts'
import { raw, type Sql } from '../../shared/sql.ts'
import { signedIn } from '../auth.ts'
import type { Env } from '../context.ts'
import { personProblems } from '../http.ts'
import { IdempotencyHeader, idempotent } from '../idempotency.ts'
import { read, write } from '../transaction.ts'
import { PassedOn } from './orgs.ts'

const OrgId = z.object({ id: pathId('The id of an organisation of the caller.') })
const List = z.object({ orgs: z.array(Org) })
const One = z.object({ org: Org })
const Left = z.object({ passed_on: PassedOn })
const security = [{ session: [] }]

/** The columns of an organisation: of the caller's member row `m` and organisation `o`. */
const columns = raw(`o.id, o.name, m.role, o.created_at,
  (select count(*) from watchpost.members n where n.org_id = o.id and n.status = 'active') as members`)

export const accountOrgs = resource<Env>()

accountOrgs.openapi(
  createRoute({
    method: 'get',
    path: '/',
    operationId: 'listOrgs',
    tags: ['Organisations'],
    summary: 'The organisations of the caller, by name',
    security,
    middleware: signedIn('read'),
    responses: { 200: json(List, 'All of them.'), ...personProblems() },
  }),
  async (c) => answer(c, List, { orgs: await read(c, listOrgs) }, 200),
)

accountOrgs.openapi(
  createRoute({
    method: 'get',
    path: '/{id}',
    operationId: 'getOrg',
    tags: ['Organisations'],
    summary: 'One organisation',
    security,
    middleware: signedIn('read'),
    request: { params: OrgId },
    responses: { 200: json(One, 'The organisation.'), ...personProblems(404) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    return answer(c, One, { org: found(await read(c, (sql) => findOrg(sql, id))) }, 200)
  },
)

accountOrgs.openapi(
  createRoute({
    method: 'post',
    path: '/',
    operationId: 'createOrg',
    tags: ['Organisations'],
    summary: 'Found an organisation and become its owner',
    security,
    middleware: signedIn('write'),
    request: { headers: IdempotencyHeader, body: body(OrgFields) },
    responses: { 201: json(One, 'The organisation.'), ...personProblems(409, 413, 415, 422) },
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
    return answer(c, One, { org }, status, { Location: `/api/v1/account/orgs/${org.id}` })
  },
)

accountOrgs.openapi(
  createRoute({
    method: 'patch',
    path: '/{id}',
    operationId: 'updateOrg',
    tags: ['Organisations'],
    summary: 'Rename; for its owner and admins',
    security,
    middleware: signedIn('write'),
    request: { params: OrgId, body: body(OrgFields) },
    responses: { 200: json(One, 'The organisation.'), ...personProblems(404, 413, 415, 422) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const { name } = c.req.valid('json')
    const org = await write(c, async (sql, last) => {
      const renamed = Promise.all([
        sql`select private.rename_org(${id}, ${name})`,
        findOrg(sql, id),
      ])
      const [, changed] = await last(renamed)
      return found(changed)
    })
    return answer(c, One, { org }, 200)
  },
)

accountOrgs.openapi(
  createRoute({
    method: 'delete',
    path: '/{id}',
    operationId: 'deleteOrg',
    tags: ['Organisations'],
    summary: 'Delete; for its owner. What was shared is unshared and stays with whom it belongs to',
    security,
    middleware: signedIn('write'),
    request: { params: OrgId },
    responses: { 204: { description: 'It is gone.' }, ...personProblems(404) },
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
    summary: 'Leave; what one shared passes to the owner. The owner transfers first',
    security,
    middleware: signedIn('write'),
    request: { params: OrgId },
    responses: { 200: json(Left, 'What passed on.'), ...personProblems(404, 409) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const left = await write(c, (sql, last) =>
      last(sql<z.infer<typeof PassedOn>>`select zones, channels from private.leave_org(${id})`),
    )
    return answer(c, Left, { passed_on: left[0] ?? { zones: 0, channels: 0 } }, 200)
  },
)

accountOrgs.openapi(
  createRoute({
    method: 'post',
    path: '/{id}/transfer',
    operationId: 'transferOrg',
    tags: ['Organisations'],
    summary: 'Make another member the owner; who was it stays as an admin',
    security,
    middleware: signedIn('write'),
    request: { params: OrgId, body: body(OrgTransfer) },
    responses: { 200: json(One, 'The organisation.'), ...personProblems(404, 409, 413, 415, 422) },
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
    return answer(c, One, { org }, 200)
  },
)

/** The organisations of the caller. */
export function listOrgs(sql: Sql): Promise<Org[]> {
  return sql<Org>`
    select ${columns}
    from watchpost.members m
    join watchpost.organisations o on o.id = m.org_id
    where m.user_id = private.uid() and m.status = 'active'
    order by o.name, o.id`
}

export async function findOrg(sql: Sql, id: string): Promise<Org | undefined> {
  const [org] = await sql<Org>`
    select ${columns}
    from watchpost.members m
    join watchpost.organisations o on o.id = m.org_id
    where m.user_id = private.uid() and m.status = 'active' and o.id = ${id}`
  return org
}

function found(org: Org | undefined): Org {
  if (!org) throw notFound('organisation')
  return org
}
