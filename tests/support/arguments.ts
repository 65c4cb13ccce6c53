import { readdirSync, readFileSync } from 'node:fs'

/**
 * watchArguments looks, as anybody on the machine could by `ps`, at the arguments of every program
 * that this process starts, and theirs; `stop` answers each command line that was seen.
 */
export function watchArguments(): { seen: () => string[]; stop: () => string[] } {
  const lines = new Set<string>()
  const look = (pid: number | string = process.pid) => {
    try {
      for (const task of readdirSync(`/proc/${pid}/task`)) {
        const children = readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')
        for (const child of children.split(' ').filter(Boolean)) {
          const line = readFileSync(`/proc/${child}/cmdline`, 'utf8').split('\0').join(' ').trim()
          if (line) lines.add(line)
          look(child)
        }
      }
    } catch {
      // It has ended meanwhile.
    }
  }
  const looking = setInterval(() => look(), 25)
  return {
    seen: () => [...lines],
    stop: () => {
      clearInterval(looking)
      return [...lines]
    },
  }
}
