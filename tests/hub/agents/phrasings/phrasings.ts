import { readdirSync, readFileSync } from 'node:fs'
import { type AgentName, isAgentName } from '../../../../hub/agents/names.ts'
import { route } from '../../../../hub/agents/run/route.ts'

type Phrasing = {
  list: string
  agent: AgentName
  language: string
  task: string
  is_held_out: boolean
}

/** Every phrasing of this folder; `README.md` says how the lists are written. */
export const PHRASINGS: Phrasing[] = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.txt'))
  .flatMap((name) =>
    phrasingsOf(name.replace('.txt', ''), readFileSync(`${import.meta.dirname}/${name}`, 'utf8')),
  )

function phrasingsOf(list: string, text: string): Phrasing[] {
  let language = ''
  return text.split('\n').flatMap((line) => {
    if (line === '') return []
    if (line.startsWith('# ')) {
      language = line.slice(2)
      return []
    }
    const is_held_out = line.startsWith('~ ')
    const said = is_held_out ? line.slice(2) : line
    const named = /^(\w+): (.*)$/.exec(said)
    const agent = list === 'subjects' ? named?.[1] : list
    const task = list === 'subjects' ? named?.[2] : said
    if (!agent || !task || !isAgentName(agent)) throw new Error(`${list}: no phrasing: ${line}`)
    return [{ list, agent, language, task, is_held_out }]
  })
}

/** How many phrasings go to their agent, to the model, and to a wrong agent. */
export function counted(phrasings: Phrasing[]): { right: number; left: number; wrong: number } {
  const found = phrasings.map(({ agent, task }) => ({ agent, got: route(task).agent }))
  const right = found.filter(({ agent, got }) => got === agent).length
  const left = found.filter(({ got }) => got === null).length
  return { right, left, wrong: found.length - right - left }
}
