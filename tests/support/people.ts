import { z } from 'zod'
import type { Service, Signed } from './service.ts'

export const ZONES = '/api/v1/zones'
export const ACCOUNT = '/api/v1/account'
export const zone = { label: 'A place', lat: 41, lon: 29 }
export const Invited = z.object({ invite_url: z.string() })

/** What a key and a session are answered: reading, writing, the account, MCP. */
export async function statuses(service: Service, { key, token }: Signed): Promise<number[]> {
  const mcp = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'list_zones', arguments: {} },
  }
  const headers = { Accept: 'application/json, text/event-stream' }
  const asked = [key, token].flatMap((each) => [
    service.request('GET', '/api/v1/me', { key: each }),
    service.request('POST', ZONES, { key: each, body: zone }),
    service.request('POST', '/api/v1/mcp', { key: each, body: mcp, headers }),
  ])
  asked.push(service.request('GET', ACCOUNT, { key: token }))
  return (await Promise.all(asked)).map(({ status }) => status)
}

export const WORKS = [200, 201, 200, 200, 201, 200, 200]
export const SHUT = [401, 401, 401, 401, 401, 401, 401]
