import type { Schemas } from '../../api/client.ts'

export type NextAction = Schemas['NextAction']

const SETTINGS: Record<string, string> = {
  service_key: 'service-key',
  mail: 'mail',
  models: 'models',
}

/** isForAdmins says whether only an admin can do it: in the settings, or to a brand. */
export const isForAdmins = (action: NextAction): boolean =>
  action.kind === 'set_brand' || pathOf(action).startsWith('/settings/')

/** The page that lists what there is more of, inside a project. */
const LISTS: Partial<Record<NextAction['kind'], string>> = {
  check_unclear: 'drafts?state=unclear',
  answer_reply: 'leads?stage=replied',
  approve_draft: 'drafts?state=rendered',
  approve_sequence: 'sequences',
  check_sequence: 'sequences',
  decide_approval: 'missions',
  send_draft: 'drafts?state=approved',
  follow_up: 'leads?stage=contacted',
  look_at_failed_import: 'leads?do=import',
  correct_import: 'leads?do=import',
  look_at_failed_mission: 'missions',
}

/** The page where an action is done. */
export function pathOf(action: NextAction): string {
  const { ref, kind, lead_id } = action
  const base = `/p/${action.project}`
  const list = action.is_rest ? LISTS[kind] : undefined
  if (list) return `${base}/${list}`
  if (kind === 'create_project') return '/welcome/project'
  if (kind === 'add_leads') return `${base}/leads?do=import`
  if (kind === 'describe_project') return `${base}/project#writing`
  if (kind === 'set_brand') return `${base}/project/brand`
  if (kind === 'write_to_leads') return `${base}/missions?do=compose`
  if (kind === 'finish_draft') return `${base}/drafts?state=draft`
  if (ref?.kind === 'settings') return `/settings/${SETTINGS[ref.id] ?? ref.id}`
  if (lead_id) return `${base}/leads?lead=${lead_id}`
  if (ref?.kind === 'sequence') return `${base}/sequences?sequence=${ref.id}`
  if (ref?.kind === 'draft') return `${base}/drafts?draft=${ref.id}`
  if (ref?.kind === 'mission') return `${base}/missions?mission=${ref.id}`
  if (ref?.kind === 'import') return `${base}/leads?do=import&import=${ref.id}`
  if (ref?.kind === 'approval') return `${base}/missions?approval=${ref.id}`
  return `${base}/leads`
}
