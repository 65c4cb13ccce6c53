import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { readContext } from '../../../hub/model/context.ts'
import { startModel } from '../support/model.ts'

const props = (n_ctx: unknown) => ({ props: { default_generation_settings: { n_ctx } } })
const models = (...data: object[]) => ({ 'v1/models': { object: 'list', data } })
const ps = (...models: object[]) => ({ 'api/ps': { models } })
const studio = (...data: object[]) => ({ 'api/v0/models': { data } })

// What each server answers, by route; any other is not there.
test.each([
  ['llama-server', props(8192), { size: 8192, source: 'llama.cpp' }],
  [
    'llama-server, not what the model was trained with',
    { ...models({ id: 'm', meta: { n_ctx_train: 131072 } }), ...props(4096) },
    { size: 4096, source: 'llama.cpp' },
  ],
  ['vLLM', models({ id: 'm', max_model_len: 32768 }), { size: 32768, source: 'models' }],
  ['a hosted list', models({ id: 'm', context_length: 65536 }), { size: 65536, source: 'models' }],
  ['another list', models({ id: 'm', context_window: 16384 }), { size: 16384, source: 'models' }],
  ['a list without our model', models({ id: 'x', max_model_len: 32768 }), undefined],
  [
    'Ollama with the model loaded',
    {
      ...models({ id: 'm' }),
      ...ps({ name: 'x', context_length: 4096 }, { name: 'm:latest', context_length: 8192 }),
      'api/show': { parameters: 'num_ctx 2048' },
    },
    { size: 8192, source: 'ollama' },
  ],
  [
    'Ollama before it loads the model',
    { ...ps(), 'api/show': { parameters: 'stop "x"\nnum_ctx                        16384\n' } },
    { size: 16384, source: 'ollama' },
  ],
  [
    'Ollama whose model asks for nothing, whatever it was trained with',
    { ...ps(), 'api/show': { model_info: { 'qwen3.context_length': 40960 } } },
    undefined,
  ],
  [
    'LM Studio',
    studio({ id: 'x', loaded_context_length: 1024 }, { id: 'm', loaded_context_length: 4096 }),
    { size: 4096, source: 'lm_studio' },
  ],
  ['LM Studio, not loaded', studio({ id: 'm', max_context_length: 32768 }), undefined],
  ['nonsense', { props: 'x', 'v1/models': [], 'api/ps': {}, 'api/v0/models': null }, undefined],
  ['a size of nothing', { ...props(0), ...models({ id: 'm', max_model_len: -1 }) }, undefined],
])('%s', async (_, routes, context) => {
  const asked: string[] = []
  const look = async (path: string, body?: object) => {
    asked.push(body ? `POST ${path}` : path)
    return (routes as Record<string, unknown>)[path]
  }
  expect(await readContext(look, 'm')).toEqual(context)
  // Nobody but an Ollama is sent a body.
  if (!('api/ps' in routes)) expect(asked).not.toContain('POST api/show')
})

let n_ctx: number | undefined = 8192
const paths: string[] = []
const stub = createServer((request, response) => {
  paths.push(`${request.method} ${request.url} ${request.headers.authorization}`)
  const found =
    request.url === '/proxy/props' && n_ctx
      ? props(n_ctx).props
      : request.url === '/proxy/v1/models'
        ? { data: [{ id: 'm' }] }
        : undefined
  response.writeHead(found ? 200 : 404).end(JSON.stringify(found ?? {}))
})
let url = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => void stub.listen(0, '127.0.0.1', resolve))
  // safe: it listens on a port
  url = `http://127.0.0.1:${(stub.address() as AddressInfo).port}/proxy/v1`
})
afterAll(() => void stub.close())

test.each([
  [8192, undefined, 8192, 'llama.cpp'],
  [8192, 2048, 2048, 'setting'],
  [8192, 32768, 8192, 'llama.cpp'],
  [undefined, 32768, 32768, 'setting'],
  [undefined, undefined, 4096, 'assumed'],
])('a server of %s and a setting of %s: %s (%s)', async (served, set, size, source) => {
  n_ctx = served
  paths.length = 0
  const { model, close } = await startModel({
    settings: {
      kind: 'endpoint',
      url,
      model: 'm',
      api_key: 'k',
      ...(set ? { context_size: set } : {}),
    },
  })
  try {
    expect(await model.state()).toMatchObject({ context_size: size, context_source: source })
    // What fits follows it: about three bytes a token.
    const part = 'x'.repeat(3 * 1000)
    const schema = z.object({ answer: z.string().max(20) })
    const call = { schema, system: 's', task: 't', max_tokens: 100 }
    const { parts } = await model.fit(
      call,
      Array.from({ length: 40 }, () => part),
    )
    expect(parts.length).toBe(Math.floor((size - 200) / 1002))
    expect(paths.filter((path) => path.includes('/props'))).toEqual(['GET /proxy/props Bearer k'])
  } finally {
    await close()
  }
})
