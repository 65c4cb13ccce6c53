import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { ErrorCode, ListResourcesRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js'
import { VERSION } from '../../shared/version.ts'
import type { Caller } from '../context.ts'
import { type Call, query, TOOLS } from './mcp-tools.ts'

/** Makes a request of a tool or resource to the API, as the caller. */
export type Ask = (call: Call) => Promise<{ ok: boolean; text: string }>

/** The code of the protocol for a resource that does not exist or cannot be read. */
const RESOURCE_NOT_FOUND = -32002

/**
 * Answers the messages of one request (a parsed body) with the tools and resources that the caller may
 * use. Nothing of it is kept for the next request.
 */
export async function answerMessages(
  request: Request,
  { parsedBody, caller, ask }: { parsedBody: unknown; caller: Caller; ask: Ask },
): Promise<Response> {
  const server = new McpServer({ name: 'watchpost', title: 'Watchpost', version: VERSION })
  offerTools(server, caller, ask)
  offerResources(server, ask)
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await transport.handleRequest(request, { parsedBody })
  } finally {
    await server.close()
  }
}

function offerTools(server: McpServer, caller: Caller, ask: Ask): void {
  for (const { name, title, description, scope, input: inputSchema, call } of TOOLS) {
    if (!caller.scopes.includes(scope)) continue
    const annotations = { readOnlyHint: scope === 'read', openWorldHint: false }
    server.registerTool(
      name,
      { title, description, inputSchema, annotations },
      async (input: Record<string, unknown>) => {
        const { ok, text } = await ask(call(input))
        return { content: [{ type: 'text' as const, text }], isError: !ok }
      },
    )
  }
}

const RESOURCES = [
  {
    name: 'zone',
    plural: 'zones',
    title: 'Watch zone',
    list: { geometry: 'none' },
    labelOf: (zone: Record<string, unknown>) => String(zone.label),
  },
  {
    name: 'alert',
    plural: 'alerts',
    title: 'Alert',
    list: { days: 7 },
    labelOf: (alert: Record<string, unknown>) => String(alert.reason),
  },
] as const

/** A request for a page of resources. */
type Listed = { params?: { cursor?: string | undefined } | undefined }

/** Offers each zone and alert as a resource, `watchpost://zones/<id>` and `watchpost://alerts/<id>`. */
function offerResources(server: McpServer, ask: Ask): void {
  const get = async (path: string) => {
    const { ok, text } = await ask({ method: 'GET', path })
    if (!ok) throw new McpError(RESOURCE_NOT_FOUND, JSON.parse(text).detail)
    return text
  }
  const mimeType = 'application/json'
  for (const { name, plural, title } of RESOURCES) {
    server.registerResource(
      name,
      // Listed below, page by page: the SDK's own listing has no cursor.
      new ResourceTemplate(`watchpost://${plural}/{id}`, { list: undefined }),
      { title, mimeType, description: `One ${name} of this account or its organisations.` },
      async (uri: URL, { id }: { [name: string]: string | string[] }) => {
        const text = await get(`/${plural}/${encodeURIComponent(String(id))}`)
        return { contents: [{ uri: uri.href, mimeType, text }] }
      },
    )
  }
  server.server.setRequestHandler(ListResourcesRequestSchema, async ({ params }: Listed) => {
    const [plural = '', cursor = ''] = splitOnce(params?.cursor ?? `${RESOURCES[0].plural}:`)
    const index = RESOURCES.findIndex((kind) => kind.plural === plural)
    const kind = RESOURCES[index]
    if (!kind) throw new McpError(ErrorCode.InvalidParams, 'The cursor is not one of this list.')
    const parameters = { ...kind.list, ...(cursor === '' ? {} : { cursor }) }
    const page = JSON.parse(await get(`/${plural}${query(parameters)}`))
    const next = RESOURCES[index + 1]
    const nextCursor = page.next_cursor
      ? `${plural}:${page.next_cursor}`
      : next && `${next.plural}:`
    return {
      resources: page[plural].map((row: Record<string, unknown>) => ({
        uri: `watchpost://${plural}/${row.id}`,
        name: kind.labelOf(row),
        mimeType,
      })),
      ...(nextCursor ? { nextCursor } : {}),
    }
  })
}

function splitOnce(text: string): string[] {
  const at = text.indexOf(':')
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
