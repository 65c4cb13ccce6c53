import { z } from 'zod'
import { bilingual, type Words } from '../i18n/words.ts'
import type { Searching, searchWeb } from '../reader/search.ts'
import { actionText } from './actions.text.ts'
import type { AgentSettings } from './settings.ts'

/** What the system agent may propose. Nothing else is ever done, whatever a model or a log says. */
export const ACTION_NAMES = [
  'retry_failed_missions',
  'restart_model',
  'restart_hub',
  'run_backup',
  'pause_mail',
  'delete_old_backups',
] as const
export const ActionName = z.enum(ACTION_NAMES)
export type ActionName = z.infer<typeof ActionName>

/** What each action does, in the words of its proposal. */
export const ACTION_WORDS: Record<ActionName, Words> = bilingual(actionText).ask

export const isDestructive = (name: ActionName) => name === 'delete_old_backups'

/** The actions that this hub can do, and what it knows about its own health. */
export type Actions = {
  run: Partial<Record<ActionName, () => Promise<Words>>>
  health: () => Promise<Record<string, string | number | null>>
  /** What the settings allow agents to do in addition. */
  allowed: () => Promise<Pick<AgentSettings, 'engineer_system' | 'web'> & Partial<AgentSettings>>
  /** Asks the search endpoint of the settings. */
  search: (given: Parameters<typeof searchWeb>[0]) => Promise<Searching>
}
