import { once } from 'node:events'
import { createServer } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { createDemoZones } from '../../scripts/start/demo-zones.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** A service that answers the n-th request with the n-th status. */
async function serviceOf(statuses: number[], body: unknown) {
  const asked: { key: string | undefined; label: string }[] = []
  const server = createServer(async (request, response) => {
    const text = (await request.toArray()).join('')
    const { label } = z.object({ label: z.string() }).parse(JSON.parse(text))
    asked.push({ key: request.headers.authorization, label })
    response.writeHead(statuses[asked.length - 1] ?? 201).end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => server.close())
  const { port } = z.object({ port: z.number() }).parse(server.address())
  return { url: `http://127.0.0.1:${port}`, asked }
}

test('creates a zone of each kind with the key, and says which', async () => {
  const { url, asked } = await serviceOf([], {})
  const labels = await createDemoZones(url, 'wp_live_x')
  expect(asked).toEqual(labels.map((label) => ({ key: 'Bearer wp_live_x', label })))
  expect(new Set(labels).size).toBe(6)
})

test('a refusal names the zone and says why', async () => {
  const refused = await serviceOf([201, 402], { detail: 'The plan allows one zone.' })
  await expect(createDemoZones(refused.url, 'wp_live_x')).rejects.toThrow(
    'The zone "Hurricanes near the Bahamas" was refused: The plan allows one zone.',
  )
  expect(refused.asked).toHaveLength(2)
  const silent = await serviceOf([503], {})
  await expect(createDemoZones(silent.url, 'wp_live_x')).rejects.toThrow(
    'The zone "Earthquakes in California" was refused: 503',
  )
})
