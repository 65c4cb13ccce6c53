import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { z } from 'zod'

/** A Worker as wrangler uploads it. */
export type Upload = {
  name: string
  metadata: z.infer<typeof Metadata>
  /** Its files by name, including source maps. */
  modules: Map<string, string>
}

const Metadata = z.looseObject({
  main_module: z.string(),
  bindings: z.array(z.looseObject({ name: z.string(), type: z.string() })),
})

type Hyperdrive = { user: string; host: string; disabled: boolean }

export type CloudflareStub = {
  /** The value for CLOUDFLARE_API_BASE_URL. */
  url: string
  /** The existing Hyperdrives, by id. */
  hyperdrives: Record<string, Hyperdrive>
  uploads: Upload[]
  /** The changes in their order, such as `PUT /workers/scripts/watchpost-jobs/schedules`. */
  changes: string[]
  /** Everything that was sent, to search for what must not be. */
  sent: string[]
  schedules: Record<string, unknown>
  stop: () => Promise<void>
}

const ACCOUNT = '/accounts/account'
const NOT_FOUND = { code: 10090, message: 'workers.api.error.service_not_found' }

/**
 * startCloudflareStub imitates the part of Cloudflare's API that a deployment uses, and stores what
 * it receives.
 */
export async function startCloudflareStub(): Promise<CloudflareStub> {
  const stub: Omit<CloudflareStub, 'url' | 'stop'> = {
    hyperdrives: {},
    uploads: [],
    changes: [],
    sent: [],
    schedules: {},
  }
  const server = createServer(async (request, response) => {
    const result = await answerTo(request, stub).catch((error) => ({ failed: String(error) }))
    const success = result !== undefined
    response.writeHead(success ? 200 : 404, { 'content-type': 'application/json' })
    const errors = success ? [] : [NOT_FOUND]
    response.end(JSON.stringify({ success, errors, messages: [], result, result_info: PAGE }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return Object.assign(stub, {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      server.close()
      server.closeAllConnections()
    },
  })
}

const PAGE = { page: 1, per_page: 50, total_pages: 1, count: 1, total_count: 1 }
const OURS = { id: 'account', name: 'Ours' }

/** Undefined means 404: nothing was deployed before. */
async function answerTo(
  request: IncomingMessage,
  stub: Omit<CloudflareStub, 'url' | 'stop'>,
): Promise<unknown> {
  const path = new URL(request.url ?? '/', 'http://stub').pathname.replace(ACCOUNT, '')
  const [, , , name = '', part = ''] = path.split('/')
  const call = `${request.method} ${path}`
  const body = await read(request)
  stub.sent.push(body.toString())
  if (request.method !== 'GET') stub.changes.push(call)
  if (part === 'schedules') stub.schedules[name] = JSON.parse(body.toString())
  if (part === 'assets-upload-session') {
    const { manifest } = z
      .object({ manifest: z.record(z.string(), z.object({ hash: z.string() })) })
      .parse(JSON.parse(body.toString()))
    return { jwt: 'upload', buckets: [Object.values(manifest).map(({ hash }) => hash)] }
  }
  if (/^PUT \/workers\/scripts\/[^/]+$/.test(call)) {
    stub.uploads.push(await unpack(name, request.headers['content-type'] ?? '', body))
    return { id: name, tag: name, etag: name, startup_time_ms: 1, available_on_subdomain: true }
  }
  if (path.startsWith('/workers/services/')) return undefined
  const hyperdrive = path.startsWith('/hyperdrive/') && stub.hyperdrives[name || lastOf(path)]
  if (hyperdrive) {
    return {
      id: 'x',
      name: 'watchpost',
      origin: { host: hyperdrive.host, user: hyperdrive.user, port: 5432, database: 'postgres' },
      caching: { disabled: hyperdrive.disabled },
    }
  }
  const known: Record<string, unknown> = {
    '/user/tokens/verify': { id: 'token', status: 'active' },
    '/user': { id: 'user', email: 'ops@example.com' },
    '/accounts': [OURS],
    '/memberships': [{ id: 'm', account: OURS, roles: [] }],
    '/workers/subdomain': { subdomain: 'ours' },
    '/workers/assets/upload': { jwt: 'uploaded' },
    [`/workers/scripts/${name}/deployments`]: { deployments: [] },
    [`/workers/scripts/${name}/secrets`]: [],
    [`/workers/workers/${name}`]: { id: name, name, subdomain: { enabled: false } },
  }
  return known[path] ?? {}
}

const lastOf = (path: string) => path.split('/').pop() ?? ''

async function read(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts)
}

async function unpack(name: string, contentType: string, body: Buffer): Promise<Upload> {
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': contentType },
  }).formData()
  const metadata = Metadata.parse(JSON.parse(String(form.get('metadata'))))
  const modules = new Map<string, string>()
  for (const [file, part] of form) {
    if (typeof part !== 'string') modules.set(file, await part.text())
  }
  return { name, metadata, modules }
}
