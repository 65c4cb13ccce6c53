import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { METHODS } from '../../functions/openapi/document.ts'

export type Schema = { readonly [keyword: string]: unknown }
export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  schema: Schema
}
type Content = { [type: string]: { schema: Schema; example?: unknown } }
type Described = { headers: string[]; required_headers: string[]; content: Content }
export type Operation = {
  id: string
  method: string
  path: string
  is_keyed: boolean
  /** Whether it requires a session; keys are refused. */
  is_account: boolean
  parameters: Parameter[]
  body: { schema: Schema; is_required: boolean; example?: unknown } | undefined
  responses: Map<number, Described>
}

/** The parsed document with its operations, and a validator for each body. */
export type Description = {
  operations: Operation[]
  messages: Map<string, { schema: Schema; example: unknown }>
  resolve: (schema: Schema) => Schema
  /** What is wrong with a value; undefined if it is valid. */
  complaint: (schema: Schema, value: unknown) => string | undefined
}

type Json = { [key: string]: unknown }

/** describeOperations reads an OpenAPI 3.1 document. */
export function describeOperations(document: Json): Description {
  const ajv = new Ajv2020({ strict: false, allErrors: false, unicodeRegExp: true })
  addFormats.default(ajv)
  ajv.addSchema(document, 'openapi')
  const validators = new Map<Schema, ValidateFunction>()
  const resolve = <T extends object>(value: T): T => {
    const reference = (value as { $ref?: string }).$ref // safe: read, not trusted
    if (reference === undefined) return value
    const keys = reference.slice(2).split('/')
    // safe: the linter has tested that every reference can be resolved
    return keys.reduce((part, key) => part[key] as Json, document) as T
  }
  const described = (response: Json): Described => {
    const { headers = {}, content = {} } = resolve(response) as {
      headers?: { [name: string]: { $ref: string } }
      content?: Content
    }
    const names = Object.keys(headers)
    return {
      headers: names,
      required_headers: names.filter(
        (name) => resolve<{ $ref?: string; required?: boolean }>(headers[name] ?? {}).required,
      ),
      content,
    }
  }
  return {
    resolve,
    complaint: (schema, value) => {
      let validate = validators.get(schema)
      if (!validate) {
        validate = ajv.compile(absolute(schema) as Schema)
        validators.set(schema, validate)
      }
      return validate(value) ? undefined : ajv.errorsText(validate.errors)
    },
    operations: Object.entries(document.paths as Json).flatMap(([path, item]) =>
      METHODS.flatMap((method): Operation[] => {
        const operation = (item as Json)[method] as RawOperation | undefined
        if (!operation) return []
        const body = operation.requestBody
        // A route without its own security uses that of the document.
        const security = operation.security ?? (document.security as object[])
        const media = body?.content['application/json']
        return [
          {
            id: operation.operationId,
            method: method.toUpperCase(),
            path,
            is_keyed: security.length > 0,
            is_account:
              security.some((scheme) => 'session' in scheme) &&
              !security.some((scheme) => 'key' in scheme),
            parameters: operation.parameters ?? [],
            body: media && { ...media, is_required: body?.required ?? false },
            responses: new Map(
              Object.entries(operation.responses).map(([status, response]) => [
                Number(status),
                described(response),
              ]),
            ),
          },
        ]
      }),
    ),
    messages: new Map(
      Object.entries((document.webhooks ?? {}) as { [type: string]: { post: RawOperation } }).map(
        ([type, { post }]) => {
          const media = post.requestBody?.content['application/json']
          if (!media) throw new Error(`the message ${type} has no body`)
          return [type, { schema: media.schema, example: media.example }]
        },
      ),
    ),
  }
}

type RawOperation = {
  operationId: string
  security?: object[]
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Content }
  responses: { [status: string]: Json }
}

/** The schema with absolute references into the document. */
function absolute(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(absolute)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) =>
      key === '$ref' && typeof inner === 'string'
        ? [key, `openapi${inner}`]
        : [key, absolute(inner)],
    ),
  )
}
