/**
 * The decision for events that several sources report: one alert for all of them. Live matching and preview decide with
 * it; explain reads what matching stored.
 */

import type { PreparedZone } from '../geometry/geometry.ts'
import { decisionReason } from '../reason/reason.ts'
import type { Update } from './alert-change.ts'
import type { DecidableEvent, ZoneRule } from './checks.ts'
import { type DecideOptions, type Decision, decide } from './decide.ts'
import {
  type Link,
  type LinkFacts,
  type LinkRule,
  linkFactsOf,
  linkKeys,
  linkRuleOf,
} from './link.ts'
import {
  findGroup,
  groupsAt,
  isStill,
  type Remembered,
  withGroup,
  withoutMember,
} from './link-groups.ts'
import { type EventMemory, type LinkGroup, type Memory, memoryKey } from './match-memory.ts'

export interface LinkedDecision extends Omit<Decision, 'update'> {
  /**
   * `linked`: another source reports what was alerted about; `unlinked`: one of several sources says that it is over
   * or withdraws it. Both are recorded and never sent.
   */
  update: Update | 'linked' | 'unlinked' | null
  /** Whether it is about an alert that exists already. */
  has_alert: boolean
  /** The event of that alert, if it is another one. */
  alert_event_id: string | null
  /** The highest effective severity of the events of the alert that still stand. */
  alert_severity: number
  /** The group of events with one alert that it belongs to; null for none. */
  group_id: string | null
  /** Why this decision adds the event to the alert of another one. */
  link: Link | null
  /** What changes in the memory of the zone. */
  memories: [key: string, memory: Memory][]
}

/** An event of a kind that several sources report, with what its decision depends on. */
interface Scene {
  event: DecidableEvent
  rule: LinkRule
  facts: LinkFacts
  at: Date
  decideWith: (memory: Memory | null) => Decision
}

/**
 * Decides a revision of an event like `decide`. An event that would raise an alert, and that is the same as a standing
 * event of another source that has done so in this zone, is added to that alert; it may escalate it. An alert ends with
 * the last of its events. `remembered` is what the zone remembers, by key.
 */
export function decideLinked(
  zone: ZoneRule | PreparedZone<ZoneRule>,
  event: DecidableEvent,
  remembered: Remembered,
  at: Date,
  options: DecideOptions = {},
): LinkedDecision {
  const own = remembered(memoryKey(event))
  const rule = linkRuleOf(event)
  const decideWith = (memory: Memory | null) => decide(zone, event, memory, at, options)
  const link = own?.kind === 'event' ? own.link : undefined
  if (!rule || (own && !link)) return alone(event, decideWith(own), own)

  const scene: Scene = { event, rule, facts: linkFactsOf(event), at, decideWith }
  if (own?.kind !== 'event' || !link) {
    const plain = decideWith(null)
    return plain.outcome === 'none' ? alone(event, plain, own) : enter(scene, plain, remembered)
  }
  const groups = groupsAt(remembered, link.key)
  const group = groups.find(({ id }) => id === link.group)
  if (!group) return alone(event, decideWith(own), own)
  const isAway = event.status === 'active' && !isStill(rule, scene.facts, group)
  const plain = isAway ? decideWith(null) : null
  if (!plain || plain.outcome === 'none') {
    return follow(scene, { groups, group, own, key: link.key, link: null })
  }
  const left: Memory = { kind: 'links', groups: withoutMember(groups, event.id) }
  const without: Remembered = (key) => (key === link.key ? left : remembered(key))
  const entered = enter(scene, plain, without)
  return { ...entered, memories: [[link.key, left], ...entered.memories] }
}

/** A decision without a group. */
function alone(event: DecidableEvent, decision: Decision, own: Memory | null): LinkedDecision {
  const { memory } = decision
  return {
    ...decision,
    ...{ alert_event_id: null, group_id: null, link: null },
    has_alert: hasAlert(own, decision),
    alert_severity: decision.effective_severity,
    memories: memory && memory !== own ? [[memoryKey(event), memory]] : [],
  }
}

/** Of a stay it is the alert of the same stay. */
function hasAlert(own: Memory | null, { memory }: Decision): boolean {
  if (own?.kind !== 'stay') return own !== null
  return own.alert !== null && memory?.kind === 'stay' && memory.began_at === own.began_at
}

/** An event that would raise an alert is added to the alert of the same thing, or raises it and begins a group. */
function enter(scene: Scene, plain: Decision, remembered: Remembered): LinkedDecision {
  const { event, rule, facts, at } = scene
  const found = findGroup(rule, facts, remembered)
  if (found) {
    const { key, group, sameness } = found
    return follow(scene, { groups: found.groups, group, own: null, key, link: sameness.link })
  }
  // safe: what raises an alert and does not move is remembered as an event
  const after = plain.memory as EventMemory
  const [key] = linkKeys(rule, facts)
  const { status, peak, held_until } = after
  const member = { ...facts, status: event.status, effective: plain.effective_severity }
  const id = `${event.id} ${at.toISOString()}`
  const group = { id, alert: event.id, status, peak, held_until, members: [member] }
  const memory = { ...after, link: { key, group: id } }
  return {
    ...plain,
    ...{ has_alert: false, alert_event_id: null, group_id: id, link: null, memory },
    alert_severity: plain.effective_severity,
    memories: [
      [event.id, memory],
      [key, withGroup(rule, groupsAt(remembered, key), group)],
    ],
  }
}

interface Known {
  groups: LinkGroup[]
  group: LinkGroup
  key: string
  /** Null for an event that is added now, because of `link`. */
  own: EventMemory | null
  link: Link | null
}

/** Decides on an event of a group: the alert is that of the group. */
function follow(scene: Scene, { groups, group, key, own, link }: Known): LinkedDecision {
  const { event, rule, facts, decideWith } = scene
  const { status, peak, held_until } = group
  const { severity, title, lat, lon, ts } = event
  const last = own?.last ?? { severity, title, lat, lon, ts, status: event.status }
  const before: EventMemory = { ...own, kind: 'event', status, peak, held_until, last }
  const decision = explained(event, decideWith(before), group, link)
  const base = {
    ...decision,
    has_alert: true,
    alert_event_id: group.alert === event.id ? null : group.alert,
    ...{ group_id: group.id, link, memories: [] },
  }
  const member = { ...facts, status: event.status, effective: decision.effective_severity }
  const others = group.members.filter(({ id }) => id !== event.id)
  const members = [...others, member]
  const standing = members.filter((one) => one.status === 'active')
  const alert_severity = Math.max(
    ...(standing.length > 0 ? standing : [member]).map(({ effective }) => effective),
  )
  // The state before, not a copy of it: nothing changed.
  if (decision.memory === before && !link) return { ...base, memory: own, alert_severity }

  // safe: decided with the memory of an event
  const after = decision.memory as EventMemory
  const memory = { ...after, link: { key, group: group.id } }
  const next: LinkGroup = {
    ...{ id: group.id, status: after.status, peak: after.peak, held_until: after.held_until },
    alert: decision.outcome === 'none' ? group.alert : event.id,
    members,
  }
  return {
    ...base,
    ...newsOf(decision, members, link),
    ...{ memory, alert_severity },
    memories: [
      [event.id, memory],
      [key, withGroup(rule, groups, next)],
    ],
  }
}

/** What the alert of a group is told: its end only when none of its events stands any more. */
function newsOf(
  { outcome, update, update_delivery }: Decision,
  members: LinkGroup['members'],
  link: Link | null,
): Pick<LinkedDecision, 'update' | 'update_delivery'> {
  const recorded = { update_delivery: 'suppressed' as const }
  if (link && outcome === 'none' && !update) return { update: 'linked', ...recorded }
  if (update !== 'ended' && update !== 'retracted') return { update, update_delivery }
  if (members.some(({ status }) => status === 'active')) return { update: 'unlinked', ...recorded }
  const isOver = members.some(({ status }) => status === 'ended')
  return { update: isOver ? 'ended' : 'retracted', update_delivery }
}

/** Names the event whose alert decides. */
function explained(
  event: DecidableEvent,
  decision: Decision,
  { alert }: LinkGroup,
  link: Link | null,
): Decision {
  if (alert === event.id) return decision
  const checks = decision.checks.map((check) =>
    check.name === 'duplicate' ? { ...check, linked_event_id: alert, link } : check,
  )
  const failed = checks.find(({ name }) => name === decision.failed_at) ?? null
  return { ...decision, checks, reason: decisionReason(event, checks, failed) }
}
