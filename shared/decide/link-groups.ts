/** The groups of events that a zone was alerted about once, as its memory holds them. */
import { compareEvents, type LinkFacts, type LinkRule, linkKeys, type Sameness } from './link.ts'
import type { LinkGroup, LinksMemory, Memory } from './match-memory.ts'

/** What a zone remembers under a key. */
export type Remembered = (key: string) => Memory | null

/** In one key; more would make one alert two at worst. */
const MAX_GROUPS = 100
const DAY_MS = 86_400_000
/** How long a group is kept after the latest time in it. */
const KEPT_MS: Record<LinkRule, number> = {
  earthquake: DAY_MS,
  tsunami: 2 * DAY_MS,
  storm: 10 * DAY_MS,
  wildfire: 15 * DAY_MS,
}
/** How many times wider the limits are for an event to stay in its group when it is revised. */
const STAY_SLACK = 2

type FoundGroup = { key: string; groups: LinkGroup[]; group: LinkGroup; sameness: Sameness }

export const groupsAt = (remembered: Remembered, key: string): LinkGroup[] => {
  const memory = remembered(key)
  return memory?.kind === 'links' ? memory.groups : []
}

/**
 * The group that an event belongs to: the one with the event of another source that is nearest to it, among those that
 * still stand. A group has one standing event of a source. If two tsunamis may be meant, it is none of them.
 */
export function findGroup(
  rule: LinkRule,
  facts: LinkFacts,
  remembered: Remembered,
): FoundGroup | null {
  const found = linkKeys(rule, facts).flatMap((key) => {
    const groups = groupsAt(remembered, key)
    return groups.flatMap((group) => {
      const sameness = nearest(rule, facts, group)
      return sameness ? [{ key, groups, group, sameness }] : []
    })
  })
  if (rule === 'tsunami' && found.length > 1) return null
  return found.reduce<FoundGroup | null>(
    (best, next) => (best && best.sameness.apart <= next.sameness.apart ? best : next),
    null,
  )
}

function nearest(rule: LinkRule, facts: LinkFacts, { members }: LinkGroup): Sameness | null {
  const standing = members.filter(({ status }) => status === 'active')
  if (standing.some(({ source }) => source === facts.source)) return null
  const alike = standing.flatMap((member) => compareEvents(rule, facts, member) ?? [])
  return alike.sort((a, b) => a.apart - b.apart)[0] ?? null
}

/** Whether an event still belongs to its group; not if it was revised away from all the others. */
export function isStill(rule: LinkRule, facts: LinkFacts, { alert, members }: LinkGroup): boolean {
  // The alert is about the event that raised it, wherever that is now.
  if (alert === facts.id) return true
  return members.some((member) => compareEvents(rule, facts, member, STAY_SLACK) !== null)
}

/** The groups of a key with one of them new or changed; old ones are dropped. */
export function withGroup(
  rule: LinkRule,
  groups: readonly LinkGroup[],
  next: LinkGroup,
): LinksMemory {
  const since = latestIn(next) - KEPT_MS[rule]
  const others = groups.filter((group) => group.id !== next.id && latestIn(group) >= since)
  return { kind: 'links', groups: [...others, next].slice(-MAX_GROUPS) }
}

/** Each group is compared with every later one of its key, and groups never change. */
const latest = new WeakMap<LinkGroup, number>()

/** The latest time of a group, in milliseconds since 1970. */
function latestIn(group: LinkGroup): number {
  const known = latest.get(group)
  if (known !== undefined) return known
  const found = Math.max(...group.members.map(({ ts }) => Date.parse(ts)))
  latest.set(group, found)
  return found
}

export function withoutMember(groups: readonly LinkGroup[], id: string): LinkGroup[] {
  return groups.map((group) => ({
    ...group,
    members: group.members.filter((member) => member.id !== id),
  }))
}
