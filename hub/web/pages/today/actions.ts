import type { Schemas } from '../../api/client.ts'
import type { Translation } from '../../i18n.ts'
import type { todayText } from './today.text.ts'

export type NextAction = Schemas['NextAction']
type Words = Translation<(typeof todayText)['en']>['actions']

/** What an action is about: the hub says it in an English sentence, the page words it anew. */
export function nameIn({ kind, title }: Pick<NextAction, 'kind' | 'title'>): string {
  if (kind === 'task_due' || kind === 'decide_approval') return title
  const patterns: Partial<Record<NextAction['kind'], RegExp>> = {
    answer_reply: /^Answer (.*), who replied\.$/s,
    follow_up: /^Follow up with (.*): no answer for/s,
  }
  return (patterns[kind] ?? /"(.*)"/s).exec(title)?.[1] ?? ''
}

/** The sentence of an action in the language of the page. */
export function sayAction(action: NextAction, words: Words): string {
  const { kind, count } = action
  switch (kind) {
    case 'finish_draft':
    case 'correct_import':
    case 'write_to_leads':
      return words[kind](count)
    case 'add_service_key':
    case 'create_project':
    case 'confirm_mail':
    case 'choose_model':
    case 'set_up_mail':
    case 'renew_license':
    case 'add_leads':
      return words[kind]
    default:
      return words[kind](nameIn(action))
  }
}

const SETTINGS: Record<string, string> = {
  service_key: 'service-key',
  mail: 'mail',
  models: 'models',
  license: 'licence',
}

/** Where an action is done. */
export function placeOf(action: NextAction): string {
  const { ref, kind, lead_id } = action
  const base = `/p/${action.project}`
  if (kind === 'create_project') return '/welcome/project'
  if (kind === 'add_leads') return `${base}/leads?do=import`
  if (kind === 'write_to_leads') return `${base}/missions?do=compose`
  if (kind === 'finish_draft') return `${base}/drafts?state=draft`
  if (ref?.kind === 'settings') return `/settings/${SETTINGS[ref.id] ?? ref.id}`
  if (lead_id) return `${base}/leads?lead=${lead_id}`
  if (ref?.kind === 'draft') return `${base}/drafts?draft=${ref.id}`
  if (ref?.kind === 'mission') return `${base}/missions?mission=${ref.id}`
  if (ref?.kind === 'approval') return `${base}/missions?approval=${ref.id}`
  return `${base}/leads`
}
