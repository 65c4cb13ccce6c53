import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { entail } from '../../agents/evidence/entail.ts'
import { allowedFor } from '../../agents/evidence/judge.ts'
import { opinionKey, saveOpinion } from '../../agents/evidence/opinions.ts'
import { fillIn } from '../../agents/evidence/readers.ts'
import { inProject } from '../../db/db.ts'
import type { Deps } from '../../deps.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { MODELS, type ModelSettings, modelPath } from '../../model/settings.ts'
import { modelsFolder } from '../../model/socket.ts'
import { readSetting } from '../../ops/settings.ts'
import { examine, readGateInputs } from './approval.ts'
import { readDraft } from './draft-view.ts'
import { evidenceFor } from './judged.ts'

/** Sentences that one request asks about. */
const MAX_ASKED = 20

type Asking = Pick<Deps, 'config' | 'db' | 'model'>

/**
 * askModel asks the model about the unsure sentences of a draft, outside of any transaction, and
 * keeps each answer as soon as it is there.
 */
export async function askModel(
  deps: Asking,
  given: { slug: string; id: string; signal?: AbortSignal },
): Promise<void> {
  const { config, db, model } = deps
  const { slug, id, signal } = given
  const inputs = await readGateInputs({ config, db })
  const { project, draft, sentences, evidence, reader } = await inProject(
    db,
    slug,
    async (sql, project) => {
      await requireWritable(sql, project, await readLicense(config))
      const draft = await readDraft(sql, project.id, id)
      const { sentences } = await examine(sql, project, inputs, draft)
      return { project, draft, sentences, ...(await evidenceFor(sql, project.id, draft)) }
    },
  )
  const name = await identityOf(config, await readSetting(config.paths, MODELS))
  const unsure = sentences.filter(
    ({ verdict, fails, opinion }) => verdict === 'unsure' && fails === 0 && opinion?.model !== name,
  )
  for (const { sentence } of unsure.slice(0, MAX_ASKED)) {
    const asked = reader ? fillIn(sentence, reader) : sentence
    const allowed = allowedFor(evidence, reader)
    const said = await entail(
      async (call) =>
        (await model.complete({ ...call, priority: 'user', ...(signal ? { signal } : {}) })).value,
      { sentence: asked, evidence: allowed, language: draft.language },
    )
    const opinion = { ...said, model: name }
    await inProject(db, slug, (sql) =>
      saveOpinion(sql, project.id, opinionKey(asked, allowed), opinion),
    )
  }
}

const digests = new Map<string, string>()

/** What a model is known by: the SHA-256 of its file. An endpoint is only known by its address. */
async function identityOf({ paths }: Deps['config'], settings: ModelSettings): Promise<string> {
  if (settings.kind === 'none') return 'none'
  if (settings.kind === 'endpoint') return `${settings.url} ${settings.model}`.slice(0, 200)
  const file = modelPath(modelsFolder(paths), settings.file)
  const { size, mtimeMs } = await stat(file)
  const key = `${file} ${size} ${mtimeMs}`
  const known = digests.get(key)
  if (known) return known
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  const digest = hash.digest('hex')
  digests.set(key, digest)
  return digest
}
