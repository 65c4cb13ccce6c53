import { once } from 'node:events'
import { mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { PRESETS } from '../../../hub/model/catalog.ts'
import { createDownloads } from '../../../hub/model/downloads.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { temporaryFolder, until } from '../support/model.ts'
import { startOrigin } from '../support/model-origin.ts'

let origin: Awaited<ReturnType<typeof startOrigin>>
let hub: TestHub
beforeAll(async () => {
  // Several threads would spin for each other where the cores are busy.
  vi.stubEnv('HUB_MODEL_THREADS', '1')
  origin = await startOrigin()
  hub = await startHub()
})
afterAll(async () => {
  await hub.close()
  origin.close()
  vi.unstubAllEnvs()
})

const get = async () => (await hub.call('GET', 'settings/models')).json()
const put = (value: unknown) => hub.call('PUT', 'settings/models', value)

describe('the settings of the model', () => {
  test('begin with none, and say what fits this machine and why', async () => {
    const models = await get()
    expect(models.settings).toEqual({ kind: 'none' })
    expect(models.state).toMatchObject({ state: 'none', name: null })
    expect(models.presets.map(({ id }: { id: string }) => id)).toEqual(PRESETS.map(({ id }) => id))
    const recommended = models.presets.filter((p: { is_recommended: boolean }) => p.is_recommended)
    expect(recommended.map(({ id }: { id: string }) => id)).toEqual(
      models.machine.recommended === null ? [] : [models.machine.recommended],
    )
    expect(models.machine.why).toMatch(/^This machine has/)
    const turkish = await hub.call('GET', 'settings/models', undefined, { 'Accept-Language': 'tr' })
    expect((await turkish.json()).machine.why).toMatch(/bellek/)
    expect(models.files).toEqual([])
    expect(models.download).toBeNull()
  })

  test('keep the key of an endpoint to themselves, and send it to no other server', async () => {
    const endpoint = { kind: 'endpoint', url: 'http://127.0.0.1:9', model: 'qwen' }
    const first = await put({ ...endpoint, api_key: 'sk-secret' })
    expect(first.status).toBe(200)
    const text = await first.text()
    expect(text).not.toContain('sk-secret')
    expect(JSON.parse(text).settings).toEqual({
      ...endpoint,
      has_api_key: true,
      context_size: null,
    })
    expect(JSON.parse(text).state.state).toBe('unreachable')

    const kept = await (await put({ ...endpoint, model: 'other' })).json()
    expect(kept.settings.has_api_key).toBe(true)
    const moved = await (await put({ ...endpoint, url: 'http://127.0.0.1:10' })).json()
    expect(moved.settings.has_api_key).toBe(false)
    await put({ ...endpoint, api_key: 'sk-secret' })
    const cleared = await (await put({ ...endpoint, api_key: null })).json()
    expect(cleared.settings.has_api_key).toBe(false)
    const file = await readFile(join(hub.paths.config_dir, 'models.json'), 'utf8')
    expect(JSON.parse(file)).toEqual(endpoint)
    expect(JSON.stringify(hub.lines)).not.toContain('sk-secret')
  })

  test.each([
    [{ kind: 'local', file: '/nowhere/a.gguf' }, 'file', 'cannot read'],
    [{ kind: 'local', file: join(import.meta.dirname, '../support/model.ts') }, 'file', '.gguf'],
    [{ kind: 'endpoint', url: 'file:///etc/passwd', model: 'x' }, 'url', 'http'],
    [{ kind: 'endpoint', url: 'http://a.example', model: 'x', key: 'y' }, 'key', ''],
    [{ kind: 'cloud' }, 'kind', ''],
  ])('refuse %j', async (value, path, words) => {
    const response = await put(value)
    expect(response.status).toBe(422)
    const { errors } = await response.json()
    expect(JSON.stringify(errors)).toContain(path)
    expect(JSON.stringify(errors)).toContain(words)
  })

  test('refuse a file that is no model', async () => {
    const before = (await get()).settings
    const file = join(hub.paths.data_dir, 'words.gguf')
    for (const words of ['These are words.', 'GGU', '']) {
      await writeFile(file, words)
      const response = await put({ kind: 'local', file })
      expect(response.status).toBe(422)
      expect(await response.text()).toContain('not a GGUF')
    }
    await rm(file)
    await mkdir(file)
    expect((await put({ kind: 'local', file })).status).toBe(422)
    expect((await get()).settings).toEqual(before)
  })

  test('keep the key at its server under another path, and the size of the context as it was set', async () => {
    const endpoint = { kind: 'endpoint', url: 'http://127.0.0.1:9', model: 'qwen' }
    await put({ ...endpoint, api_key: 'sk-secret' })
    const url = 'http://127.0.0.1:9/other/v1'
    const { settings } = await (await put({ ...endpoint, url, context_size: 8192 })).json()
    expect(settings).toMatchObject({ url, has_api_key: true, context_size: 8192 })
    await put({ kind: 'none' })
    const { settings: after } = await (await put(endpoint)).json()
    expect(after.has_api_key).toBe(false)
  })

  test('know a preset as downloaded when all its files are whole, and list models alone', async () => {
    const folder = join(hub.paths.data_dir, 'models')
    await mkdir(folder, { recursive: true })
    const preset = PRESETS.find(({ files }) => files.length === 1)
    const [file] = preset?.files ?? []
    if (!preset || !file) throw new Error('No preset of one file.')
    const whole = join(folder, file.name)
    const downloaded = async () =>
      (await get()).presets
        .filter((one: { is_downloaded: boolean }) => one.is_downloaded)
        .map(({ id }: { id: string }) => id)
    try {
      // A file with a hole: it takes no space.
      await writeFile(whole, '')
      await truncate(whole, file.bytes - 1)
      await writeFile(join(folder, 'notes.txt'), 'no model')
      expect(await downloaded()).toEqual([])
      await truncate(whole, file.bytes)
      expect(await downloaded()).toEqual([preset.id])
      const { files, presets } = await get()
      expect(files).toEqual([{ name: file.name, bytes: file.bytes }])
      for (const { files: parts, id } of PRESETS) {
        const sum = parts.reduce((total, { bytes }) => total + bytes, 0)
        const shown = presets.find((one: { id: string }) => one.id === id)
        expect(shown.download_bytes, id).toBe(sum)
      }
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

describe('a model', () => {
  test('that was not chosen cannot be tested, and the answer says where to choose one', async () => {
    await put({ kind: 'none' })
    const response = await hub.call('POST', 'model/test', { prompt: 'Hello?' })
    expect(response.status).toBe(503)
    expect((await response.json()).detail).toContain('Settings > Models')
    const headers = { 'Accept-Language': 'tr' }
    const turkish = await hub.call('POST', 'model/test', { prompt: 'Selam?' }, headers)
    expect((await turkish.json()).detail).toMatch(/^Model seçilmemiş/)
  })

  test('whose context a question does not fit refuses the question, not the model', async () => {
    const server = createServer((_, response) =>
      response.writeHead(400).end('{"error":{"message":"The prompt exceeds the context window."}}'),
    ).listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      // safe: a server that listens on TCP has an address with a port
      const { port } = server.address() as AddressInfo
      await put({ kind: 'endpoint', url: `http://127.0.0.1:${port}`, model: 'small' })
      const response = await hub.call('POST', 'model/test', { prompt: 'Hello?' })
      expect(response.status).toBe(422)
      const [error] = (await response.json()).errors
      expect(error).toMatchObject({ path: 'prompt', code: 'too_long' })
      expect(error.message).toContain('exceeds the context window')
    } finally {
      server.close()
    }
  })

  test('is downloaded, put to use and tested', async () => {
    const { gguf, url, sha256 } = origin
    const started = await hub.call('POST', 'model/download', { url, sha256 })
    expect(started.status).toBe(202)
    expect((await started.json()).download).toMatchObject({ status: 'processing', url, sha256 })
    const progress = async () => (await (await hub.call('GET', 'model/download')).json()).download
    await until(async () => (await progress()).status !== 'processing')
    expect(await progress()).toMatchObject({
      status: 'done',
      bytes: gguf.length,
      total_bytes: gguf.length,
      error: null,
    })
    await until(async () => (await get()).state.state === 'ready')
    const models = await get()
    expect(models.settings).toEqual({ kind: 'local', file: 'tiny.gguf', preset: null })
    expect(models.files).toEqual([{ name: 'tiny.gguf', bytes: gguf.length }])

    const response = await hub.call('POST', 'model/test', { prompt: 'Hello?' })
    expect(response.status).toBe(200)
    const tested = await response.json()
    expect(tested.answer).toEqual(expect.any(String))
    expect(tested.tokens.completion).toBeGreaterThan(0)
    expect(tested.tokens_per_second).toBeGreaterThan(0)
  })

  test('is not downloaded twice at once, and the first can be stopped', async () => {
    origin.hold(true)
    const asked = {
      url: origin.url.replace('tiny', 'other'),
      sha256: origin.sha256,
      use: false,
    }
    expect((await hub.call('POST', 'model/download', asked)).status).toBe(202)
    const second = await hub.call('POST', 'model/download', asked)
    expect(second.status).toBe(409)
    const cancelled = await hub.call('POST', 'model/download/cancel')
    expect((await cancelled.json()).download.status).toBe('cancelled')
    expect((await hub.call('POST', 'model/download/cancel')).status).toBe(409)
    origin.hold(false)
    expect((await get()).settings.file).toBe('tiny.gguf')
  })

  test('that cannot be had says why', async () => {
    const asked = { url: origin.url.replace('tiny', 'third'), sha256: 'f'.repeat(64) }
    await hub.call('POST', 'model/download', asked)
    await until(async () => (await get()).download.status === 'failed')
    expect((await get()).download.error).toContain('SHA-256 is')
    expect(hub.lines).toContainEqual({
      msg: 'model download failed',
      error: expect.stringContaining('SHA-256 is'),
    })
    const headers = { 'Accept-Language': 'tr' }
    const turkish = await hub.call('GET', 'model/download', undefined, headers)
    expect((await turkish.json()).download.error).toMatch(/^Dosyanın SHA-256 değeri/)
    expect((await get()).settings.file).toBe('tiny.gguf')
  })

  test.each([
    [{ preset: 'gpt-9' }, 'qwen3-4b'],
    [{ url: 'ftp://a.example/a.gguf' }, 'url'],
    [{ url: 'https://a.example/a.gguf', sha256: 'abc' }, '64'],
    [{}, ''],
  ])('asked for as %j is 422', async (asked, words) => {
    const response = await hub.call('POST', 'model/download', asked)
    expect(response.status).toBe(422)
    expect(await response.text()).toContain(words)
  })
})

test('a download that the end of the hub interrupted goes on when it starts again', async () => {
  const { folder, remove } = await temporaryFolder()
  await mkdir(join(folder, 'models'))
  const paths = { config_dir: folder, data_dir: folder, prompts_dir: folder }
  const used: unknown[] = []
  const make = () =>
    createDownloads({
      paths,
      log: () => {},
      spare_bytes: 0,
      model: { configure: async (settings) => void used.push(settings) },
    })
  try {
    origin.hold(true)
    const before = make()
    await before.start({ url: origin.url, sha256: origin.sha256, use: true })
    await until(async () => ((await before.read())?.bytes ?? 0) > 0)
    await before.close()
    origin.hold(false)
    const after = make()
    expect((await after.read())?.status).toBe('processing')
    await after.resume()
    await until(async () => (await after.read())?.status === 'done')
    expect(used).toEqual([{ kind: 'local', file: 'tiny.gguf' }])
    expect(await readFile(join(folder, 'models', 'tiny.gguf'))).toEqual(origin.gguf)
    await after.resume()
    expect(await after.cancel()).toBeUndefined()
  } finally {
    await remove()
  }
})

test('a preset that is not known starts no download and leaves no note', async () => {
  const { folder, remove } = await temporaryFolder()
  const paths = { config_dir: folder, data_dir: folder, prompts_dir: folder }
  const model = { configure: async () => {} }
  try {
    const downloads = createDownloads({ paths, log: () => {}, spare_bytes: 0, model })
    expect(await downloads.start({ preset: 'gpt-9', use: true })).toBeUndefined()
    expect(await downloads.read()).toBeNull()
    expect(await readdir(folder)).toEqual([])
    const asked = { url: origin.url, sha256: origin.sha256.toUpperCase(), use: false }
    expect(await downloads.start(asked)).toMatchObject({ preset: null, sha256: origin.sha256 })
    await until(async () => (await downloads.read())?.status === 'done')
  } finally {
    await remove()
  }
})
