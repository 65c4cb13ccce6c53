import { readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { readText } from '../files.ts'
import { bilingual } from '../i18n/words.ts'
import { type Agent, COMMON, MissionFailure } from './agent.ts'
import { patchMission } from './engineering/engineering.ts'
import { stopText } from './stop.text.ts'

const HUB = join(import.meta.dirname, '..')
const OURS = /\.(ts|sql|md|mjml)$/

/** A patch file for the hub itself. Off by default; the hub only changes by an upgrade. */
export const engineer_system: Agent = {
  name: 'engineer_system',
  role: {
    en: 'Proposes changes of the hub itself as a patch file',
    tr: 'Hub’ın kendisi için değişiklikleri yama dosyası olarak önerir',
  },
  variables: COMMON,
  budget: { steps: 16, tokens: 40_000 },
  steps: async (context) => {
    const { engineer_system: isAllowed } = await context.actions.allowed()
    if (!isAllowed) {
      throw new MissionFailure(bilingual(stopText).agent_off)
    }
    const files = await sources()
    return patchMission(context, {
      agent: 'engineer_system',
      below: 'hub/',
      most: 60,
      tree: {
        list: async () => files,
        read: async (path) => (files.includes(path) ? readText(join(HUB, path)) : undefined),
      },
    })
  },
}

async function sources(folder = HUB): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const found = await Promise.all(
    entries.map(async (entry): Promise<string[]> => {
      const path = join(folder, entry.name)
      if (entry.name === 'node_modules' || entry.name.startsWith('.')) return []
      if (entry.isDirectory()) return sources(path)
      return OURS.test(entry.name) ? [relative(HUB, path).split(sep).join('/')] : []
    }),
  )
  return found.flat().sort()
}
