import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { vi } from 'vitest'
import type { z } from 'zod'
import type { MissionDetails } from '../../../hub/missions/mission.ts'
import type { TestHub } from './hub.ts'
import { writeTinyGguf } from './tiny-gguf.ts'

export type ShownMission = z.infer<typeof MissionDetails>

/** A project with a CONTEXT.md as a user writes one. */
export async function makeProject(hub: TestHub, slug = 'rota'): Promise<void> {
  const made = await hub.call('POST', 'projects/create', {
    name: 'Rota Planlama',
    slug,
    website: 'https://rota.example',
    industry: 'logistics software',
    icp: 'Logistics companies in Turkey with 20 to 200 vehicles.',
    value_proposition: 'We plan delivery routes. Our customers drive 18 % fewer kilometres.',
    tone: 'Plain and friendly.',
  })
  if (made.status !== 201) throw new Error(await made.text())
}

export async function compose(
  hub: TestHub,
  department: string,
  task: string,
  input?: Record<string, unknown>,
  project = 'rota',
): Promise<string> {
  const answer = await hub.call('POST', 'mission/compose', {
    department,
    task,
    project,
    ...(input ? { input } : {}),
  })
  const { mission, detail } = await answer.json()
  if (answer.status !== 202) throw new Error(`${answer.status} ${detail}`)
  return mission.id
}

export async function tell(hub: TestHub, id: string): Promise<ShownMission> {
  return (await (await hub.call('GET', `missions/${id}`)).json()).mission
}

/** Waits until a mission is in one of some states; the test's own timeout is the limit. */
export async function reach(
  hub: TestHub,
  id: string,
  states: string[] = ['done', 'failed', 'cancelled'],
): Promise<ShownMission> {
  return until(async () => {
    const mission = await tell(hub, id)
    return states.includes(mission.status) && mission
  })
}

/** Waits for what a function finds. */
export async function until<T>(look: () => Promise<T | undefined | false | null>): Promise<T> {
  // Thirteen missions that are asked for all the time would cost more than what they do.
  for (let pause_ms = 20; ; pause_ms = Math.min(pause_ms * 1.2, 200)) {
    const found = await look()
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, pause_ms))
  }
}

/** The model of random weights, with room for our prompts: one token a character. */
export async function useTinyModel(hub: TestHub, context = 16_384): Promise<void> {
  // Several threads would spin for each other where the cores are busy.
  vi.stubEnv('HUB_MODEL_THREADS', '1')
  const folder = join(hub.paths.data_dir, 'models')
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'tiny.gguf')
  await writeTinyGguf(file, { context, layers: 1 })
  await hub.deps.model.configure({ kind: 'local', file })
  await hub.deps.model.ready()
}

/** Puts a file where missions may read it. */
export async function putFile(hub: TestHub, path: string, text: string, slug = 'rota') {
  const file = join(hub.paths.data_dir, 'projects', slug, path)
  await mkdir(join(file, '..'), { recursive: true })
  await writeFile(file, text)
}

/** A short document: an outline and two sections. */
export const DOCUMENT = ({ name }: { name: string }) =>
  name === 'outline'
    ? { title: 'İade kılavuzu', headings: ['Giriş', 'Adımlar'] }
    : { paragraphs: ['Ürün <b>şöyle</b> iade edilir.'], points: ['Kutuyu kapatın'] }
