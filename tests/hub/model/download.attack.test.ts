import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { download } from '../../../hub/model/download.ts'
import { temporaryFolder } from '../support/model.ts'
import { type Outside, startOutside } from '../support/outside.ts'
import { tinyGguf } from '../support/tiny-gguf.ts'

const model = tinyGguf()
const sha256 = createHash('sha256').update(model).digest('hex')

let world: Outside
let folder: string
let remove: () => Promise<void>
beforeAll(async () => {
  world = await startOutside()
  ;({ folder, remove } = await temporaryFolder())
})
afterAll(async () => {
  world.close()
  await remove()
})

const fetchFrom = (path: string, known: { bytes?: number; sha256?: string } = {}) =>
  download({
    url: `http://models.example.org/${path}`,
    folder,
    spare_bytes: 0,
    pause_ms: 1,
    sha256,
    ...known,
    outside: world.options,
  })

test('a server of models leads nowhere into the own network', async () => {
  world.answers['inside.example.org'] = ['192.168.1.1']
  const inner = `http://127.0.0.1:${world.inner_port}/model.gguf`
  for (const location of [
    inner,
    'http://169.254.169.254/',
    'http://inside.example.org/',
    'http://localhost/',
  ]) {
    world.sites['models.example.org'] = {
      '/model.gguf': (_, response) => void response.writeHead(302, { location }).end(),
    }
    for (const known of [{}, { bytes: model.length }]) {
      await expect(fetchFrom('model.gguf', known), location).rejects.toMatchObject({
        reason: 'refused',
        message: expect.stringContaining('own network'),
      })
    }
  }
  expect(world.inside).toEqual([])
})

test('a server that does not exist, or not for now, is told of', async () => {
  world.answers['nowhere.example.org'] = []
  const elsewhere = () =>
    download({
      ...{ url: 'http://nowhere.example.org/model.gguf', folder, spare_bytes: 0, pause_ms: 1 },
      ...{ sha256, bytes: model.length, outside: world.options },
    })
  await expect(elsewhere()).rejects.toMatchObject({
    reason: 'interrupted',
    message: 'nowhere.example.org could not be found.',
  })
})

test('a redirect to another public server is followed', async () => {
  world.sites['models.example.org'] = {
    '/model.gguf': (_, response) =>
      void response.writeHead(302, { location: 'http://cdn.example.org/model.gguf' }).end(),
  }
  world.sites['cdn.example.org'] = {
    '/model.gguf': (_, response) => {
      response.setHeader('content-length', model.length)
      response.end(model)
    },
  }
  expect(await fetchFrom('model.gguf')).toMatch(/model\.gguf$/)
})
