import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import {
  type Evidence,
  judgeOf,
  type Scene,
  type Verdict,
} from '../../../hub/agents/evidence/judge.ts'
import { fillIn } from '../../../hub/agents/evidence/readers.ts'
import { isPersonal } from '../../../hub/agents/evidence/sentences.ts'

const About = z.enum(['lead', 'us', 'other'])
const Scenes = z.array(
  z.strictObject({
    us: z.string(),
    audience: z.enum(['lead', 'list']).default('lead'),
    reader: z.strictObject({ name: z.string(), company: z.string() }),
    evidence: z.record(z.string(), z.tuple([About, z.string()])),
    pairs: z.array(
      z
        .tuple([
          z.enum(['supported', 'contradicted', 'not_stated', 'harmless']),
          z.string(),
          z.string(),
        ])
        .rest(z.array(z.string())),
    ),
  }),
)

export type Pair = {
  label: 'supported' | 'contradicted' | 'not_stated' | 'harmless'
  trap: string
  sentence: string
  /** The evidence without which it is not supported. */
  needs: string[]
  scene: Scene
  evidence: Evidence[]
}

const LEADS = { lead: 'reader', us: null, other: 'somebody else' }

/** Every pair of the set, as the gate would give it to a judge. */
export function readPairs(set: 'pairs' | 'held-out' | 'fooled' = 'pairs'): Pair[] {
  return (['en', 'tr'] as const).flatMap((language) => {
    const file = join(import.meta.dirname, `${set}.${language}.yaml`)
    return Scenes.parse(parse(readFileSync(file, 'utf8'))).flatMap((given) => {
      const reader = { id: 'reader', ...given.reader }
      const evidence = Object.entries(given.evidence).map(([id, [about, fact]]) => ({
        id,
        lead_id: LEADS[about],
        fact,
      }))
      return given.pairs.map(([label, trap, written, needs = []]): Pair => {
        const isForReader = given.audience === 'lead' || isPersonal(written)
        const scene = { language, us: given.us, reader: isForReader ? reader : null }
        const sentence = isForReader ? fillIn(written, reader) : written
        return { label, trap, sentence, needs, scene, evidence }
      })
    })
  })
}

/** What code alone says of a pair. */
export function codeSays({ scene, evidence, sentence }: Pair): Verdict {
  return judgeOf(scene, evidence)(sentence).verdict
}
