import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { pathsIn } from '../../../hub/config.ts'
import { createModel, MODELS } from '../../../hub/model/model.ts'
import { writeSetting } from '../../../hub/ops/settings.ts'
import { temporaryFolder, until } from '../support/model.ts'
import { writeTinyGguf } from '../support/tiny-gguf.ts'

/** The model process by itself, as systemd runs it: it reads models.json and nobody supervises it. */
let unit: ChildProcess
let folder: string
let remove: () => Promise<void>
let agent: Agent

function start(): void {
  unit = spawn(process.execPath, [join(import.meta.dirname, '../../../hub/model/serve.ts')], {
    env: {
      ...process.env,
      HUB_CONFIG_DIR: folder,
      HUB_DATA_DIR: folder,
      HUB_MODEL_THREADS: '1',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

async function call(path: string, body?: unknown) {
  const response = await request(`http://model${path}`, {
    dispatcher: agent,
    method: body === undefined ? 'GET' : 'POST',
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { status: response.statusCode, text: await response.body.text() }
}
async function get(path: string) {
  return JSON.parse((await call(path)).text)
}
const isReady = () =>
  get('/health').then(
    ({ state }) => state === 'ready',
    () => false,
  )

beforeAll(async () => {
  ;({ folder, remove } = await temporaryFolder())
  agent = new Agent({ connect: { socketPath: join(folder, 'model.sock') } })
  await writeTinyGguf(join(folder, 'models', 'tiny.gguf'))
  await writeSetting(pathsIn(folder), MODELS, { kind: 'local', file: 'tiny.gguf' })
  start()
  await until(isReady)
})
afterAll(async () => {
  unit.kill('SIGKILL')
  await agent.destroy()
  await remove()
})

const messages = [{ role: 'user', content: 'Hello' }]

describe('the model process', () => {
  test('answers as OpenAI does', async () => {
    const answered = await call('/v1/chat/completions', { messages, max_tokens: 5 })
    expect(answered.status).toBe(200)
    expect(JSON.parse(answered.text)).toMatchObject({
      object: 'chat.completion',
      model: 'tiny',
      choices: [{ index: 0, message: { role: 'assistant', content: expect.any(String) } }],
      usage: { completion_tokens: 5, prompt_tokens: expect.any(Number) },
    })
    expect(await get('/v1/models')).toMatchObject({ data: [{ id: 'tiny', object: 'model' }] })
  })

  test('says the same for the same seed, and reads a prompt only once', async () => {
    const ask = { messages, max_tokens: 8, seed: 7, temperature: 1 }
    const first = JSON.parse((await call('/v1/chat/completions', ask)).text)
    const second = JSON.parse((await call('/v1/chat/completions', ask)).text)
    expect(second.choices[0].message).toEqual(first.choices[0].message)
    const { prompt_tokens, prompt_tokens_details } = second.usage
    expect(prompt_tokens_details.cached_tokens).toBe(prompt_tokens)
  })

  test('streams chunks, then the usage, then the end', async () => {
    const { text } = await call('/v1/chat/completions', { messages, max_tokens: 4, stream: true })
    const lines = text.split('\n\n').filter((line) => line !== '')
    expect(lines.at(-1)).toBe('data: [DONE]')
    const chunks = lines.slice(0, -1).map((line) => JSON.parse(line.replace('data: ', '')))
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 4 } })
    expect(chunks.at(-2).choices[0].finish_reason).toBe('length')
    expect(chunks[0].choices[0].delta.content).toEqual(expect.any(String))
  })

  test.each([
    ['{', 400, 'invalid'],
    [{ messages: [] }, 400, 'invalid'],
    [{ messages, max_tokens: 1_000_000 }, 400, 'context_length_exceeded'],
  ])('refuses %j in the same form', async (body, status, code) => {
    const refused = await call('/v1/chat/completions', body)
    expect(refused.status).toBe(status)
    const { error } = JSON.parse(refused.text)
    expect(error).toMatchObject({ code, type: 'invalid_request_error' })
    expect((await call('/v1/nothing')).status).toBe(404)
  })

  test('is there for its own user only', async () => {
    expect((await stat(join(folder, 'model.sock'))).mode & 0o077).toBe(0)
  })

  test('is not started twice on one socket', async () => {
    const second = spawn(
      process.execPath,
      [join(import.meta.dirname, '../../../hub/model/serve.ts')],
      { env: { ...process.env, HUB_CONFIG_DIR: folder, HUB_DATA_DIR: folder }, stdio: 'ignore' },
    )
    expect(await once(second, 'exit')).toEqual([1, null])
    expect(await isReady()).toBe(true)
  })

  test('as a unit of its own is used, told of new settings, and not started by the hub', async () => {
    const settings = { kind: 'local', file: 'tiny.gguf' } as const
    const model = createModel({
      settings,
      paths: pathsIn(folder),
      log: () => {},
      environment: { HUB_MODEL_EXTERNAL: '1' },
    })
    try {
      await model.start()
      await model.ready()
      expect(model.pid()).toBeUndefined()
      const word = {
        schema: z.object({ word: z.string().max(4) }),
        name: 'w',
        system: '',
        task: '',
      }
      expect((await model.complete(word)).attempts).toBe(1)

      const ended = once(unit, 'exit')
      const none = await writeSetting(pathsIn(folder), MODELS, { kind: 'none' })
      await model.configure(none)
      expect(await ended).toEqual([75, null])
      // systemd would start it again.
      start()
      await until(() =>
        get('/health').then(
          ({ state }) => state === 'none',
          () => false,
        ),
      )
      await model.configure(await writeSetting(pathsIn(folder), MODELS, settings))
      await expect(model.complete(word)).rejects.toMatchObject({
        reason: expect.stringMatching(/unreachable|no_model|crashed/),
      })
      start()
      await model.ready()
      expect((await model.complete(word)).attempts).toBe(1)
    } finally {
      await model.close()
    }
  })
})
