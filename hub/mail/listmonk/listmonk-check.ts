import { z } from 'zod'
import { bilingual, type Words } from '../../i18n/words.ts'
import { serverText } from '../smtp/servers.text.ts'
import { type CallOptions, caller, ListmonkError, type ListmonkSettings } from './listmonk-call.ts'

const { listmonk: say } = bilingual(serverText)

/** The result of a connection test; `message` says what to do if `ok` is false. */
type ListmonkCheck = {
  ok: boolean
  version: string | null
  permissions: { name: string; what_for: Words; granted: boolean }[]
  missing: string[]
  message: Words
}

type Probe = {
  name: keyof typeof say.permissions
  method: 'GET' | 'POST' | 'PUT'
  path: string
  body?: unknown
}

/**
 * Each probe has no effect: it only reads, or passes the permission check and is then refused as
 * empty.
 */
const PROBES: Probe[] = [
  { name: 'lists:manage_all', method: 'POST', path: '/lists', body: {} },
  {
    name: 'subscribers:get_all',
    method: 'GET',
    path: '/subscribers?per_page=1',
  },
  {
    name: 'subscribers:sql_query',
    method: 'GET',
    path: '/subscribers?per_page=1&query=false',
  },
  {
    name: 'subscribers:manage',
    method: 'POST',
    path: '/subscribers',
    body: {},
  },
  {
    name: 'campaigns:get_all',
    method: 'GET',
    path: '/campaigns?per_page=1&no_body=true',
  },
  {
    name: 'campaigns:manage_all',
    method: 'POST',
    path: '/campaigns',
    body: {},
  },
  {
    name: 'campaigns:send',
    method: 'PUT',
    path: '/campaigns/0/status',
    body: { status: 'paused' },
  },
  { name: 'tx:send', method: 'POST', path: '/tx', body: {} },
  { name: 'bounces:get', method: 'GET', path: '/bounces?per_page=1' },
  { name: 'templates:get', method: 'GET', path: '/templates' },
  {
    name: 'templates:manage',
    method: 'POST',
    path: '/templates',
    body: { name: 'probe', type: 'campaign', body: '' },
  },
]

/**
 * Without this permission listmonk refuses no call: it shows no lists, and the hub would create its
 * own again. The role says it; a listmonk that does not show the role is taken at its word.
 */
async function grantedByRole(call: ReturnType<typeof caller>, name: string): Promise<boolean> {
  const Profile = z.object({ user_role: z.object({ permissions: z.array(z.string()) }) })
  try {
    const { user_role } = await call('GET', '/profile', Profile)
    return user_role.permissions.includes(name)
  } catch (error) {
    if (error instanceof ListmonkError) return true
    throw error
  }
}

/** Reads the version of a listmonk and tests every permission that the hub needs. */
export async function checkListmonk(
  settings: ListmonkSettings,
  options: CallOptions = {},
): Promise<ListmonkCheck> {
  const call = caller(settings, options)
  const failed = (message: Words): ListmonkCheck => ({
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
    if (error.status !== 403) return failed(error.words)
    return failed(say.unknown_user)
  }
  const permissions: ListmonkCheck['permissions'] = []
  for (const { name, method, path, body } of PROBES) {
    const what_for = say.permissions[name]
    try {
      await call(method, path, z.unknown(), { body })
      permissions.push({ name, what_for, granted: true })
    } catch (error) {
      if (!(error instanceof ListmonkError)) throw error
      if (error.kind === 'not_sent') return { ...failed(error.words), version, permissions }
      permissions.push({ name, what_for, granted: error.status !== 403 })
    }
  }
  const seesLists = await grantedByRole(call, 'lists:get_all')
  const lists = { name: 'lists:get_all', what_for: say.permissions['lists:get_all'] }
  permissions.unshift({ ...lists, granted: seesLists })
  const missing = permissions.filter((each) => !each.granted).map((each) => each.name)
  const message = missing.length ? say.missing(missing.join(', ')) : say.connected
  return { ok: missing.length === 0, version, permissions, missing, message }
}
