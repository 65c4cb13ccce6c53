import { z } from 'zod'
import { type CallOptions, caller, ListmonkError, type ListmonkSettings } from './listmonk-call.ts'

/** What connecting to a listmonk found out; `message` says what to do when `ok` is false. */
export type ListmonkCheck = {
  ok: boolean
  version: string | null
  permissions: { name: string; what_for: string; granted: boolean }[]
  missing: string[]
  message: string
}

type Probe = {
  name: string
  what_for: string
  method: 'GET' | 'POST' | 'PUT'
  path: string
  body?: unknown
}

/** Each probe passes the permission and is then refused as empty, or only reads: nothing changes. */
const PROBES: Probe[] = [
  { name: 'lists:manage_all', what_for: 'make lists', method: 'POST', path: '/lists', body: {} },
  {
    name: 'subscribers:get_all',
    what_for: 'see who unsubscribed',
    method: 'GET',
    path: '/subscribers?per_page=1',
  },
  {
    name: 'subscribers:sql_query',
    what_for: 'find a recipient by address',
    method: 'GET',
    path: '/subscribers?per_page=1&query=false',
  },
  {
    name: 'subscribers:manage',
    what_for: 'put recipients on a list',
    method: 'POST',
    path: '/subscribers',
    body: {},
  },
  {
    name: 'campaigns:get_all',
    what_for: 'read what was sent',
    method: 'GET',
    path: '/campaigns?per_page=1&no_body=true',
  },
  {
    name: 'campaigns:manage_all',
    what_for: 'make campaigns',
    method: 'POST',
    path: '/campaigns',
    body: {},
  },
  {
    name: 'campaigns:send',
    what_for: 'start campaigns',
    method: 'PUT',
    path: '/campaigns/0/status',
    body: { status: 'paused' },
  },
  { name: 'tx:send', what_for: 'send single letters', method: 'POST', path: '/tx', body: {} },
  { name: 'bounces:get', what_for: 'see bounces', method: 'GET', path: '/bounces?per_page=1' },
  { name: 'templates:get', what_for: 'find its template', method: 'GET', path: '/templates' },
  {
    name: 'templates:manage',
    what_for: 'make its template',
    method: 'POST',
    path: '/templates',
    body: { name: 'probe', type: 'campaign', body: '' },
  },
]

/** Asks a listmonk for its version and tries every permission the hub needs. */
export async function checkListmonk(
  settings: ListmonkSettings,
  options: CallOptions = {},
): Promise<ListmonkCheck> {
  const call = caller(settings, options)
  const failed = (message: string): ListmonkCheck => ({
    ok: false,
    version: null,
    permissions: [],
    missing: [],
    message,
  })
  let version: string
  try {
    const about = await call('GET', '/about', z.object({ version: z.string() }), { bare: true })
    version = about.version
  } catch (error) {
    if (!(error instanceof ListmonkError)) throw error
    if (error.status !== 403) return failed(error.message)
    return failed('listmonk does not know this API user and token. Copy both from Admin > Users.')
  }
  const permissions: ListmonkCheck['permissions'] = []
  for (const { name, what_for, method, path, body } of PROBES) {
    try {
      await call(method, path, z.unknown(), { body })
      permissions.push({ name, what_for, granted: true })
    } catch (error) {
      if (!(error instanceof ListmonkError)) throw error
      if (error.kind === 'not_sent') return { ...failed(error.message), version, permissions }
      permissions.push({ name, what_for, granted: error.status !== 403 })
    }
  }
  const missing = permissions.filter((each) => !each.granted).map((each) => each.name)
  const message = missing.length
    ? `The API user lacks ${missing.join(', ')}. Add it to its role under Admin > User roles.`
    : 'Connected.'
  return { ok: missing.length === 0, version, permissions, missing, message }
}
