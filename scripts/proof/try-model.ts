import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { pathsIn } from '../../hub/config.ts'
import { createModel, ModelError } from '../../hub/model/model.ts'

/*
 * Tries a GGUF as the hub would use it: `node scripts/proof/try-model.ts <file.gguf> [--calls 5]`.
 * Prints how long it takes to load, how much memory it needs, how fast it reads and writes, and how
 * often its answers fit their schema.
 */

const Lead = z.object({
  company: z.string().max(60),
  city: z.string().max(40),
  employees: z.int().nullable(),
  industry: z.enum(['software', 'textile', 'food', 'logistics', 'other']),
  summary: z.string().max(160),
})
const COMPANIES = [
  'Yıldız Tekstil A.Ş., Bursa, makes cotton fabrics with 240 employees since 1987.',
  'Nordlicht Software GmbH from Hamburg sells planning software; 35 people work there.',
  'Demir Lojistik, based in Mersin, runs 80 trucks between Türkiye and Poland.',
  'Bäckerei Sonne, a bakery in Graz, employs twelve people.',
  'Kraków Data sp. z o.o. offers data warehouses to retailers.',
]

const { values, positionals } = parseArgs({
  options: { calls: { type: 'string', default: '5' } },
  allowPositionals: true,
})

async function main(file: string, calls: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'wpm-'))
  const settings = { kind: 'local', file: resolve(file) } as const
  const model = createModel({ settings, paths: pathsIn(folder), log: () => {}, environment: {} })
  try {
    const asked = performance.now()
    await model.start()
    await model.ready(AbortSignal.timeout(600_000))
    const { name, context_size } = await model.state()
    console.log(`${name}: ready in ${seconds(asked)} s, context ${context_size} tokens`)
    const system = `You extract facts about companies.\n${'Take only what the text says. '.repeat(20)}`
    for (let call = 0; call < calls; call++) {
      const begun = performance.now()
      let first = 0
      try {
        const { value, tokens, attempts } = await model.complete({
          schema: Lead,
          name: 'try',
          system,
          task: `Extract the facts:\n${COMPANIES[call % COMPANIES.length]}`,
          seed: call,
          on_token: () => {
            first ||= performance.now()
          },
        })
        const rate = (tokens.completion / ((performance.now() - first) / 1000)).toFixed(1)
        const read = `${tokens.prompt} tokens read in ${((first - begun) / 1000).toFixed(1)} s`
        console.log(`${read}, ${tokens.completion} written at ${rate}/s, attempt ${attempts}`)
        console.log(`  ${JSON.stringify(value)}`)
      } catch (error) {
        if (!(error instanceof ModelError)) throw error
        console.log(`${error.reason}: ${error.message}`)
      }
    }
    const { memory_bytes } = await model.state()
    console.log(`memory ${Math.round((memory_bytes ?? 0) / 1e6)} MB`)
  } finally {
    await model.close()
    await rm(folder, { recursive: true, force: true })
  }
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1)
}

const [file] = positionals
if (file === undefined) {
  console.error('Name a file: node scripts/proof/try-model.ts <file.gguf>')
  process.exit(2)
}
await main(file, Number(values.calls))
