import { createHash } from 'node:crypto'
import { createReadStream, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Ask, entail } from '../../hub/agents/evidence/entail.ts'
import { allowedFor, JUDGE_VERSION } from '../../hub/agents/evidence/judge.ts'
import { pathsIn } from '../../hub/config.ts'
import { createModel, ModelError, type ModelSettings } from '../../hub/model/model.ts'
import { codeSays, type Pair, readPairs } from '../../tests/hub/evidence/pairs.ts'

const SMOLLM = resolve(import.meta.dirname, '../../.data/models/SmolLM2-135M-Instruct.Q4_1.gguf')

type Figures = Record<string, unknown> & { what: string; false_supported: number }

/**
 * proveEvidence asks code alone, and each model there is, about every pair of the first set, and
 * code alone about the held-out one: how often
 * "supported" is right (precision), and how many supported sentences are found (recall). A model
 * decides only about what the code is not sure of, as in the hub. `AGENTS_ENDPOINT` names the
 * OpenAI-compatible endpoint of another model, `AGENTS_MODEL` the model there, and `EVIDENCE_MODEL`
 * the file of a local one; `EVIDENCE_PAIRS` asks a model only about the first so many.
 */
export async function proveEvidence(): Promise<Figures[]> {
  const pairs = readPairs()
  const code = new Map(pairs.map((pair) => [pair, codeSays(pair)]))
  const isFound = (pair: Pair) => codeSays(pair) === 'supported'
  const rows = [
    figures('code alone', pairs, (pair) => code.get(pair) === 'supported'),
    figures('code alone, held out', readPairs('held-out'), isFound),
  ]
  for (const settings of modelsThere()) {
    const some = pairs.slice(0, Number(process.env.EVIDENCE_PAIRS ?? pairs.length))
    rows.push(await measure(settings, some, code))
  }
  return rows
}

function modelsThere(): ModelSettings[] {
  const url = process.env.AGENTS_ENDPOINT
  const model = process.env.AGENTS_MODEL ?? 'default'
  const file = process.env.EVIDENCE_MODEL ?? SMOLLM
  return [
    ...(existsSync(file) ? [{ kind: 'local' as const, file: resolve(file) }] : []),
    ...(url ? [{ kind: 'endpoint' as const, url, model }] : []),
  ]
}

async function measure(
  settings: ModelSettings,
  pairs: Pair[],
  code: Map<Pair, string>,
): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-evidence-'))
  const model = createModel({ settings, paths: pathsIn(folder), log: () => {}, environment: {} })
  const said = new Map<Pair, string>()
  let refused = 0
  try {
    await model.start()
    await model.ready(AbortSignal.timeout(600_000))
    const ask: Ask = async (call) => (await model.complete(call)).value
    for (const pair of pairs) {
      if (code.get(pair) !== 'unsure') continue
      const { sentence, scene, evidence } = pair
      const allowed = allowedFor(evidence, scene.reader)
      const given = { sentence, evidence: allowed, language: scene.language }
      try {
        said.set(pair, (await entail(ask, given)).verdict)
      } catch (error) {
        if (!(error instanceof ModelError)) throw error
        refused += 1
      }
    }
  } finally {
    await model.close()
    rmSync(folder, { recursive: true })
  }
  const isSupported = (pair: Pair) =>
    code.get(pair) === 'supported' || said.get(pair) === 'supported'
  const name = settings.kind === 'local' ? basename(settings.file) : 'endpoint'
  const digest = settings.kind === 'local' ? { sha256: await digestOf(settings.file) } : {}
  return {
    ...figures(`code, then ${name}`, pairs, isSupported),
    asked: said.size,
    refused,
    ...digest,
  }
}

function figures(what: string, pairs: Pair[], isSupported: (pair: Pair) => boolean): Figures {
  const supported = pairs.filter(({ label }) => label === 'supported')
  const said = pairs.filter(isSupported)
  const right = said.filter(({ label }) => label === 'supported')
  return {
    what,
    judge_version: JUDGE_VERSION,
    pairs: pairs.length,
    supported: supported.length,
    said: said.length,
    false_supported: said.length - right.length,
    precision: round(right.length / said.length),
    recall: round(right.length / supported.length),
  }
}

const round = (share: number) => Math.round(share * 1000) / 1000

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
