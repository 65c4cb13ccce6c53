import { readdirSync, readFileSync } from 'node:fs'

/**
 * watchArguments records, as any user of the machine could with `ps`, the arguments of every
 * program that this process starts, directly or not; `stop` returns each command line that it saw.
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
      // The process has ended meanwhile.
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
