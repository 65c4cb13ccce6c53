import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathsIn } from '../../../hub/config.ts'
import { createModel, type ModelOptions, type ModelSettings } from '../../../hub/model/model.ts'
import { writeTinyGguf } from './tiny-gguf.ts'

/** A folder of a test's own, short enough for a socket in it. */
export async function temporaryFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'wpm-'))
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** A model over the settings, in a folder of its own; by default the tiny GGUF, ready to be called. */
export async function startModel(
  options: Partial<ModelOptions> & { settings?: ModelSettings } = {},
) {
  const { folder, remove } = await temporaryFolder()
  const file = join(folder, 'tiny.gguf')
  await writeTinyGguf(file)
  const lines: Record<string, unknown>[] = []
  const model = createModel({
    settings: { kind: 'local', file },
    paths: pathsIn(folder),
    log: (line) => void lines.push(line),
    environment: {},
    pause_ms: 50,
    // One thread: several would spin for each other where the cores are busy.
    args: ['--context-size', '1024', '--sequences', '2', '--threads', '1'],
    ...options,
  })
  await model.start()
  return {
    model,
    folder,
    file,
    lines,
    async close() {
      await model.close()
      await remove()
    },
  }
}

/** Waits until the claim holds; the test's own timeout is the limit. */
export async function until(claim: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await claim())) await new Promise((resolve) => setTimeout(resolve, 20))
}
