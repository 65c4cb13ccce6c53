import { afterAll, beforeAll, expect, test } from 'vitest'
import { BASE } from '../../../hub/app.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { makeProject } from '../support/mission-help.ts'

type Schema = {
  $ref?: string
  type?: string | string[]
  format?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  minimum?: number
  minLength?: number
  minItems?: number
  items?: Schema
  required?: string[]
  properties?: Record<string, Schema>
}
type Operation = {
  parameters?: { in: string; name: string; required?: boolean; schema: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}

const NOBODY = '00000000-0000-4000-8000-000000000000'
let hub: TestHub
let document: {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}
beforeAll(async () => {
  hub = await startHub()
  await makeProject(hub)
  document = await (await hub.call('GET', 'spec')).json()
})
afterAll(() => hub.close())

/** The least that a schema takes, with ids of nothing. */
function least(schema: Schema): unknown {
  const { $ref, anyOf, oneOf, allOf, type, format } = schema
  if ($ref) return least(document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {})
  const choice = anyOf ?? oneOf
  if (choice) return least(choice[0] ?? {})
  if (allOf) return Object.assign({}, ...allOf.map(least))
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  if (format === 'uuid') return NOBODY
  if (format === 'date') return '2026-03-01'
  if (format === 'email') return 'a@example.com'
  switch (Array.isArray(type) ? type[0] : type) {
    case 'object': {
      const fields = (schema.required ?? []).map((name) => [
        name,
        /^(project|slug)$/.test(name) ? 'rota' : least(schema.properties?.[name] ?? {}),
      ])
      return Object.fromEntries(fields)
    }
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => least(schema.items ?? {}))
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    default:
      return 'x'.repeat(Math.max(1, schema.minLength ?? 1))
  }
}

test('every route answers about what is not there as it was agreed', async () => {
  const lines: string[] = []
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, { parameters = [], requestBody }] of Object.entries(operations)) {
      const schema = requestBody?.content['application/json']?.schema
      const body = schema && least(schema)
      const address = path
        .slice(BASE.length + 1)
        .replaceAll(/\{(\w+)\}/g, (_, name) => (name === 'slug' ? 'nobody' : NOBODY))
      const query = parameters
        .filter((one) => one.in === 'query' && one.required)
        .map(({ name, schema }) => `${name}=${least(schema)}`)
      // Only what names something by its id: nothing else may be tried on a whim.
      if (!JSON.stringify([address, body, query]).includes(NOBODY)) continue
      const asked = `${address}${query.length > 0 ? `?${query.join('&')}` : ''}`
      const answer = await hub.call(method.toUpperCase(), asked, body)
      const text = await answer.text()
      const isProblem = answer.headers.get('content-type')?.includes('problem')
      const { code, detail, errors } = isProblem ? JSON.parse(text) : {}
      const why = errors ? ` ${JSON.stringify(errors)}` : ''
      const said = isProblem
        ? `${code}: ${detail}${why}`
        : (answer.headers.get('content-type') ?? '')
      lines.push(
        `${method.toUpperCase()} ${path.slice(BASE.length + 1)}\n  ${answer.status} ${said}`,
      )
    }
  }
  expect(lines.length).toBeGreaterThan(20)
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/absent.txt')
})
