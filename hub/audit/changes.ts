import { AsyncLocalStorage } from 'node:async_hooks'

/** The settings that a request changed so far, by file and field. */
const changed = new AsyncLocalStorage<Set<string>>()

/** Files that sign people in or count for the hub alone: no settings. */
const NOT_SETTINGS = ['sessions.json', 'admin.json']

/** Collects the names of the settings that `work` changes. */
export function collectChanges<T>(names: Set<string>, work: () => Promise<T>): Promise<T> {
  return changed.run(names, work)
}

/** noteChange notes which fields of a settings file differ; their values may be secrets. */
export function noteChange(file: string, before: unknown, after: unknown): void {
  const names = changed.getStore()
  if (!names || NOT_SETTINGS.includes(file)) return
  const [old, now] = [leavesOf(before), leavesOf(after)]
  const section = file.replace(/\.json$/, '')
  for (const name of new Set([...old.keys(), ...now.keys()])) {
    if (old.get(name) !== now.get(name)) names.add(name ? `${section}.${name}` : section)
  }
}

/** Every value of a settings file by its path; lists count as one. */
function leavesOf(value: unknown, path = '', into = new Map<string, string>()) {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return into.set(path, JSON.stringify(value))
  }
  for (const [key, one] of Object.entries(value)) leavesOf(one, path ? `${path}.${key}` : key, into)
  return into
}
