import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startModel } from '../support/model.ts'

/** A real chat model, which `npm run proof -- smollm2` fetches; npm test leaves this file out. */
const file = join(import.meta.dirname, '../../../.data/models/SmolLM2-135M-Instruct.Q4_1.gguf')

describe('a real chat model', () => {
  let started: Awaited<ReturnType<typeof startModel>>
  beforeAll(async () => {
    started = await startModel({
      settings: { kind: 'local', file },
      args: ['--context-size', '2048', '--sequences', '1', '--threads', '1'],
    })
    await started.model.ready()
  })
  afterAll(() => started.close())

  test('finds in a text what a schema asks for', async () => {
    const { value, tokens } = await started.model.complete({
      schema: z.object({
        company: z.string().max(40),
        city: z.string().max(40),
        employees: z.int().nullable(),
      }),
      name: 'extract',
      system: 'You extract facts about companies. Take only what the text says.',
      task: 'Extract the facts:\nNordlicht Software GmbH from Hamburg has 35 employees.',
      temperature: 0,
    })
    expect(value).toEqual({ company: 'Nordlicht Software GmbH', city: 'Hamburg', employees: 35 })
    expect(tokens.prompt).toBeGreaterThan(50)
  }, 120_000)

  test('keeps Turkish letters', async () => {
    const [plain = 0, turkish = 0] = await started.model.count(['gunes isiklari', 'güneş ışıkları'])
    expect(plain).toBeGreaterThan(0)
    expect(turkish).toBeGreaterThan(plain)
    const { value } = await started.model.complete({
      schema: z.object({ city: z.enum(['İstanbul', 'Diyarbakır', 'Muğla']) }),
      name: 'choose',
      system: 'You answer with one of the choices.',
      task: 'Which city is in this text? "Firmamız Diyarbakır merkezlidir."',
      temperature: 0,
    })
    expect(['İstanbul', 'Diyarbakır', 'Muğla']).toContain(value.city)
  }, 120_000)
})
