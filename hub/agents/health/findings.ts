import { bilingual, type Language, type Words } from '../../i18n/words.ts'
import type { ActionName } from '../actions.ts'
import { findingsText } from './findings.text.ts'

export type Measured = Record<string, string | number | null>
export type Finding = { says: Words; fix?: ActionName }

const say = bilingual(findingsText)

const MIN_PERCENT = 5
const MIN_DISK_MIB = 2048

/**
 * findingsOf says what is wrong by the numbers alone, the worst first, and which action helps. It
 * needs no model: the model may be what is wrong.
 */
export function findingsOf(measured: Measured, alert?: { kind: string }): Finding[] {
  const found: Finding[] = []
  const number = (name: string) => {
    const value = measured[name]
    return value === null || value === undefined || value === '' ? undefined : Number(value)
  }
  const { model_state } = measured
  const disk = number('disk_free_percent')
  const mib = number('disk_free_mib')
  const isFull = (disk !== undefined && disk < MIN_PERCENT) || (mib ?? MIN_DISK_MIB) < MIN_DISK_MIB
  if (isFull) {
    const hasOld = (number('backups') ?? 0) > 1
    const isShare = disk !== undefined && disk < MIN_PERCENT
    const says = isShare ? say.disk(String(disk)) : say.disk_mib(String(mib))
    found.push(hasOld ? { says, fix: 'delete_old_backups' } : { says })
  }
  if (model_state === 'crashed') found.push({ says: say.model_crashed, fix: 'restart_model' })
  if (model_state === 'unreachable') {
    found.push({ says: say.model_unreachable, fix: 'restart_model' })
  }
  if (model_state === 'none') found.push({ says: say.model_none })
  if (alert?.kind === 'mail') found.push({ says: say.mail, fix: 'pause_mail' })
  const [free, total] = [number('memory_free_mib'), number('memory_total_mib')]
  const memory = free !== undefined && total ? Math.round((100 * free) / total) : undefined
  if (memory !== undefined && memory < MIN_PERCENT) found.push({ says: say.memory(String(memory)) })
  const queued = number('missions_queued') ?? 0
  // This mission itself is running.
  const isStuck = alert?.kind === 'queue' && queued > 0 && (number('missions_processing') ?? 0) <= 1
  if (isStuck && model_state === 'ready') {
    found.push({ says: say.queue(String(queued)), fix: 'restart_hub' })
  }
  const failed = number('missions_failed_24h') ?? 0
  if (failed > 0) {
    const says = say.failed(String(failed))
    found.push(model_state === 'ready' ? { says, fix: 'retry_failed_missions' } : { says })
  }
  if (measured.backup_due === 'true') {
    // A backup needs the space that is missing.
    found.push(isFull ? { says: say.backup } : { says: say.backup, fix: 'run_backup' })
  }
  return found
}

/** The actions that the findings call for, at most three, each with its reason. */
export function fixesOf(findings: Finding[], language: Language) {
  const names = [...new Set(findings.flatMap(({ fix }) => fix ?? []))].slice(0, 3)
  return names.map((action) => ({ action, why: findingsText[language].why[action] }))
}

/** The measurements as their reader calls them. */
export function shownMeasures(measured: Measured, language: Language): [string, string | number][] {
  const { measures, states } = findingsText[language]
  return Object.entries(measured).map(([name, value]) => [
    Reflect.get(measures, name) ?? name,
    value === null ? '–' : (Reflect.get(states, String(value)) ?? value),
  ])
}
