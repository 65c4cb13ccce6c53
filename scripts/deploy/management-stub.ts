import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join, normalize, relative } from 'node:path'
import { z } from 'zod'

/** What Supabase's CLI uploads for one function. */
export type Upload = { slug: string; metadata: z.infer<typeof Metadata>; files: string[] }

const Metadata = z.looseObject({
  entrypoint_path: z.string(),
  import_map_path: z.string().optional(),
  verify_jwt: z.boolean().optional(),
})

export type ManagementStub = {
  /** For the CLI's --profile. */
  profile: string
  /** The folder of the uploaded files, as the platform would unpack them. */
  folder: string
  uploads: Upload[]
  /** Every call, as `POST /v1/…`. */
  calls: string[]
  /** The secrets that `secrets set` has set. */
  secrets: Map<string, string>
  stop: () => Promise<void>
}

const JSON_OF: Record<string, unknown> = {
  'GET /api-keys': [{ name: 'anon', api_key: 'public-key', type: 'legacy', id: 'anon' }],
  'GET /functions': [],
  'GET /secrets': [],
  'GET /addons': { selected_addons: [], available_addons: [] },
}

/**
 * startManagementStub imitates the part of Supabase's management API that a deployment uses, and
 * stores what it receives.
 */
export async function startManagementStub(): Promise<ManagementStub> {
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-upload-'))
  const uploads: Upload[] = []
  const calls: string[] = []
  const secrets = new Map<string, string>()

  async function answerTo(request: IncomingMessage): Promise<unknown> {
    const url = new URL(request.url ?? '/', 'http://stub')
    const call = `${request.method} ${url.pathname}`
    calls.push(call)
    const body = await read(request)
    if (url.pathname.endsWith('/functions/deploy')) {
      const slug = z.string().parse(url.searchParams.get('slug'))
      uploads.push(await unpack(slug, folder, request.headers['content-type'] ?? '', body))
      return { id: slug, slug, name: slug, version: 1, status: 'ACTIVE', created_at: 1 }
    }
    if (call.endsWith('/secrets') && request.method === 'POST') {
      const given = z.array(z.object({ name: z.string(), value: z.string() }))
      for (const { name, value } of given.parse(JSON.parse(body.toString()))) {
        secrets.set(name, value)
      }
    }
    return JSON_OF[`${request.method} /${url.pathname.split('/').pop()}`] ?? {}
  }

  const server = createServer(async (request, response) => {
    try {
      const answer = await answerTo(request)
      response.writeHead(request.method === 'POST' ? 201 : 200, {
        'content-type': 'application/json',
      })
      response.end(JSON.stringify(answer))
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0

  const profile = join(folder, 'profile.yaml')
  await writeFile(
    profile,
    `name: stub\napi_url: http://127.0.0.1:${port}\ndashboard_url: http://127.0.0.1:${port}\nproject_host: stub.example\n`,
  )
  return {
    profile,
    folder,
    uploads,
    calls,
    secrets,
    stop: async () => {
      server.close()
      server.closeAllConnections()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts)
}

async function unpack(slug: string, folder: string, contentType: string, body: Buffer) {
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': contentType },
  }).formData()
  const files: string[] = []
  for (const part of form.getAll('file')) {
    if (typeof part === 'string') continue
    const path = normalize(join(folder, slug, part.name))
    if (relative(folder, path).startsWith('..')) {
      throw new Error(`${part.name} lies outside the upload`)
    }
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, new Uint8Array(await part.arrayBuffer()))
    files.push(part.name)
  }
  const metadata = Metadata.parse(JSON.parse(String(form.get('metadata'))))
  return { slug, metadata, files: files.sort() }
}
