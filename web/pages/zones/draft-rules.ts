import type { Schemas } from '../../api/client.ts'
import type { Channel, Zone } from '../../api/queries.ts'

/** The days on which a quiet window may begin, in the order of the week. */
export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Day = (typeof DAYS)[number]

/** dayName writes a day in a language: `Fri` for `fri` in English, if short. */
export const dayName = (locale: string, day: Day, weekday: 'long' | 'short') =>
  new Intl.DateTimeFormat(locale, { weekday, timeZone: 'UTC' }).format(
    // The first of January 2024 was a Monday.
    Date.UTC(2024, 0, 1 + DAYS.indexOf(day)),
  )

/** The limits of the API. */
export const MAX_WINDOWS = 8
export const MAX_STEPS = 5
export const MAX_STEP_MINUTES = 1440

const FIRST_STEP_MINUTES = 10

/** A window as it is typed; `key` tells it from the others while they are added and removed. */
export type WindowDraft = { key: number; days: readonly Day[]; start: string; end: string }

export type QuietDraft = {
  windows: WindowDraft[]
  /** Whether the zone has windows of its own already: a single one for all days then stays one. */
  isListed: boolean
}

/** A step as it is typed. */
export type StepDraft = { key: number; after_minutes: string; channel_ids: string[] }

/** The number that is typed into a field; null where it is empty. */
export const numberIn = (text: string) => (text.trim() === '' ? null : Number(text))

const nextKey = (list: readonly { key: number }[]) => Math.max(0, ...list.map(({ key }) => key)) + 1

type QuietFields = Pick<Zone, 'quiet_windows' | 'quiet_hours_start' | 'quiet_hours_end'>

/** The windows of a zone; its two times are one window for all days. */
export function quietDraft(zone: QuietFields | undefined): QuietDraft {
  const { quiet_windows = null, quiet_hours_start, quiet_hours_end } = zone ?? {}
  const start = quiet_hours_start ?? ''
  const end = quiet_hours_end ?? ''
  const daily = start || end ? [{ days: DAYS, start, end }] : []
  const windows = (quiet_windows ?? daily).map((window, key) => ({ ...window, key }))
  return { windows, isListed: quiet_windows !== null }
}

/** Whether the windows are one for all days, which the API takes as two times. */
export function isDaily({ windows, isListed }: QuietDraft): boolean {
  const [only, second] = windows
  if (isListed || !only || second) return false
  // Two times from midnight to midnight would mean that it is off.
  return only.days.length === DAYS.length && !(only.start === '00:00' && only.end === '24:00')
}

/** The name of a field of a window in the API's refusals. */
export function windowField(quiet: QuietDraft, nth: number, field: 'days' | 'start' | 'end') {
  return isDaily(quiet) && field !== 'days'
    ? `quiet_hours_${field}`
    : `quiet_windows.${nth}.${field}`
}

/** The windows with another one: the first for the night of every day. */
export function withWindow({ windows, isListed }: QuietDraft): QuietDraft {
  const added = { key: nextKey(windows), days: DAYS, start: '22:00', end: '07:00' }
  return { windows: [...windows, added], isListed }
}

/** What the API is sent of the windows: two times, a list of windows, or nothing. */
export function quietBody(quiet: QuietDraft) {
  const [first] = quiet.windows
  const none = { quiet_hours_start: null, quiet_hours_end: null, quiet_windows: null }
  if (!first) return none
  if (isDaily(quiet)) {
    const end = first.end === '24:00' ? '00:00' : first.end
    return { ...none, quiet_hours_start: first.start || null, quiet_hours_end: end || null }
  }
  return {
    ...none,
    quiet_windows: quiet.windows.map(({ days, start, end }) => ({ days: [...days], start, end })),
  }
}

/** The steps of a zone. */
export const stepsDraft = (zone: Pick<Zone, 'escalation'> | undefined): StepDraft[] =>
  (zone?.escalation ?? []).map(({ after_minutes, channel_ids }, key) => ({
    key,
    after_minutes: String(after_minutes),
    channel_ids,
  }))

/** The steps with another one, later than the last, which tells nobody yet. */
export function withStep(steps: StepDraft[]): StepDraft[] {
  const last = numberIn(steps.at(-1)?.after_minutes ?? '') ?? 0
  const minutes = Math.min(MAX_STEP_MINUTES, last === 0 ? FIRST_STEP_MINUTES : last * 2)
  return [...steps, { key: nextKey(steps), after_minutes: String(minutes), channel_ids: [] }]
}

/** What the API is sent of the steps. */
export const stepsBody = (steps: StepDraft[]): Schemas['EscalationStep'][] | null =>
  steps.length === 0
    ? null
    : steps.map(({ after_minutes, channel_ids }) => ({
        // Nothing typed is refused as a number that is too small.
        after_minutes: numberIn(after_minutes) ?? 0,
        channel_ids,
      }))

/** Why a step tells nobody: none is chosen, or none of the chosen channels takes its message now. */
export function silenceOf(
  { channel_ids }: Pick<StepDraft, 'channel_ids'>,
  channels: readonly Pick<Channel, 'id' | 'status' | 'messages'>[],
): 'no_channel' | 'no_receiver' | null {
  if (channel_ids.length === 0) return 'no_channel'
  const isTold = channels.some(
    ({ id, status, messages }) =>
      channel_ids.includes(id) &&
      (status === 'ok' || status === 'failing') &&
      messages.includes('alert.raised'),
  )
  return isTold ? null : 'no_receiver'
}
